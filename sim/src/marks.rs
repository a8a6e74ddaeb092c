//! Marks of what a campaign must reach. An engine that does nothing breaks no invariant; so what is worth testing is
//! named where it happens, and a campaign that never gets there has failed.

use std::cell::Cell;

/// All marks. A name that is used and not listed does not compile.
pub const MARKS: &[&str] = &[
    "prompt refused as empty",
    "prompt refused as contradictory",
    "prompt id reused with another text",
    "prompt submitted again after its end",
    "prompt submitted again before its end",
    "session not found",
    "run exits with 0",
    "run ended by a signal",
    "run whose reader went away",
    "run out of time",
    "run that was refused",
    "run id of another refused",
    "conversation summed up",
    "conversation summed up before a step",
    "summary refused as too long",
    "summary empty",
    "cancel during a summary",
    "crash during a summary",
    "prompt queued",
    "prompt joined a turn",
    "prompt given back by a cleared queue",
    "prompt given back by a cancel",
    "prompt given back after a crash",
    "prompt begun again by a server",
    "prompt of its own begun from the queue",
    "cancel before the preparation ended",
    "cancel of a run in the queue",
    "cancel while the model was asked",
    "cancel while tools ran",
    "cancel during the wait before a retry",
    "cancel with nothing to cancel",
    "cancel while the session was opening",
    "cancel and its answer in one batch",
    "effect taken back in its own batch",
    "tool outlived its turn",
    "outcome that nobody awaited",
    "tools overlapped",
    "call denied",
    "call that made no sense",
    "call with the id of another",
    "answer cut by its limit",
    "answer withheld",
    "answer too long",
    "answer empty",
    "attempt failed and was repeated",
    "attempt failed for good",
    "wait asked for was too long",
    "preparation took too long",
    "preparation failed",
    "turn ended by its steps",
    "turn ended by denials",
    "turn interrupted by a crash",
    "session held by another process",
    "lock taken over after waiting",
    "lock came too late to be wanted",
    "commit failed",
    "commit failed although it was done",
    "commit busy",
    "killed before the commit",
    "killed during the commit",
    "killed between two effects",
    "killed while it was stopping",
    "power lost records",
    "refused while the disk was bad",
    "log could not be read",
    "person came back",
    "clock went back",
    "turn ended by repetition",
    "tool outlived its turn and spoke",
    "quiet with something broken",
    "prompt after the storm answered",
    "prompt after the storm refused",
    "permission answered",
    "permission answered too late",
    "permission withdrawn",
    "permission asked for a sub-agent",
    "permission given by an earlier grant",
    "turn ended by a person's no",
    "answer and cancel in one batch",
    "question of a sub-agent withdrawn",
    "directory permitted",
    "sub-agent stopped by a person's no",
    "key found out anew",
    "sub-agent done",
    "sub-agent failed",
    "sub-agent stopped",
    "sub-agent interrupted by a crash",
    "list of what is to be done changed",
    "answer said to be done that does not end",
    "session renamed",
    "title refused",
    "title made by a model",
    "title waited for too long",
    "title of a person kept",
    "session made from another one",
    "session to be made there already",
    "session forgotten",
    "session at work not forgotten",
    "session that the disk did not forget",
    "prompt for a session that is being forgotten",
    "answer refused",
    "answer refused as often as it may be",
    "answer without words refused",
    "cancel while an answer was looked at",
    "seals refused",
    "run ended by its cost",
];

/// The number of a mark, found while compiling.
#[allow(clippy::panic, reason = "it ends the compilation, not the program")]
pub const fn index(name: &str) -> usize {
    let mut at = 0;
    while at < MARKS.len() {
        if same(MARKS[at].as_bytes(), name.as_bytes()) {
            return at;
        }
        at += 1;
    }
    panic!("this mark is not listed")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u128);

const _: () = assert!(MARKS.len() <= 128);

impl Marks {
    /// Adds another set.
    pub fn add(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    /// The marks that are not in it.
    pub fn missing(self) -> Vec<&'static str> {
        MARKS.iter().enumerate().filter(|(at, _)| self.0 & (1 << at) == 0).map(|(_, name)| *name).collect()
    }

    /// How many are in it.
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }
}

thread_local! {
    static HIT: Cell<Marks> = const { Cell::new(Marks(0)) };
}

/// Notes that a mark was reached in this thread.
pub fn hit(mark: usize) {
    HIT.set(Marks(HIT.get().0 | 1 << mark));
}

/// Takes what was reached in this thread since the last time.
pub fn take() -> Marks {
    HIT.take()
}

/// Notes that something worth testing happened: `sometimes!("prompt queued")`, or `sometimes!("prompt queued", if x)`.
#[macro_export]
macro_rules! sometimes {
    ($name:literal) => {{
        const MARK: usize = $crate::marks::index($name);
        $crate::marks::hit(MARK);
    }};
    ($name:literal, if $condition:expr) => {
        $crate::marks::hit_if(
            {
                const MARK: usize = $crate::marks::index($name);
                MARK
            },
            $condition,
        )
    };
}

/// Notes a mark if that is so.
pub fn hit_if(mark: usize, is_so: bool) {
    if is_so {
        hit(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hit_is_not_missing() {
        take();
        sometimes!("prompt queued");
        sometimes!("call denied", if false);
        let marks = take();
        assert_eq!(marks.count(), 1);
        assert!(!marks.missing().contains(&"prompt queued"));
        assert!(marks.missing().contains(&"call denied"));
        assert_eq!(take(), Marks::default());
    }
}
