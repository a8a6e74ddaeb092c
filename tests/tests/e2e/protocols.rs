//! All that a provider can do well or badly, in every protocol: no request is refused, no text is doubled, and the answer
//! is the same.
//!
//! What each module tests of chat completions in more detail is in `faults`, `streams`, `work`, `agents` and `too_long`.

mod refusals;
mod seals;
mod splits;
mod streams;
mod summaries;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use hostler_tests::harness::{Finished, Home, Lines};
use hostler_tests::strict::{Answer, Protocol, StrictProvider};
use serde_json::Value;

use crate::home;

/// The protocols that are tested.
pub(crate) const SPOKEN: [Protocol; 4] = Protocol::ALL;

/// How many runs are in progress at the same time, where they do not mostly wait.
const AT_ONCE: usize = 8;

/// Tries every case in every protocol, a few at the same time.
fn each<T: Sync>(cases: &[T], try_one: impl Fn(Protocol, &T) + Sync) {
    together(AT_ONCE, cases, try_one);
}

/// Tries every case in every protocol, all at the same time: they wait for most of it.
fn each_that_waits<T: Sync>(cases: &[T], try_one: impl Fn(Protocol, &T) + Sync) {
    together(usize::MAX, cases, try_one);
}

fn together<T: Sync>(at_once: usize, cases: &[T], try_one: impl Fn(Protocol, &T) + Sync) {
    let all: Vec<_> = SPOKEN.iter().flat_map(|protocol| (0..cases.len()).map(|at| (*protocol, at))).collect();
    let mut failed = Vec::new();
    for some in all.chunks(at_once.min(all.len().max(1))) {
        let attempt = |&(protocol, at): &(Protocol, usize)| {
            catch_unwind(AssertUnwindSafe(|| try_one(protocol, &cases[at]))).is_err()
        };
        let attempt = &attempt;
        failed.extend(thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|one| (*one, scope.spawn(move || attempt(one)))).collect();
            let ended = threads.into_iter().map(|(one, thread)| (one, thread.join()));
            ended.filter(|(_, failed)| !matches!(failed, Ok(false))).map(|(one, _)| one).collect::<Vec<_>>()
        }));
    }
    assert!(failed.is_empty(), "these cases failed, by number: {failed:?}");
}

/// Runs a prompt with everything allowed in that protocol against those answers, and expects that code. Whatever
/// happened, the session is one that a provider accepts.
#[track_caller]
fn run(protocol: Protocol, words: &[&str], answers: Vec<Answer>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(answers));
    let finished = run_in(&home, protocol, &provider, words, code);
    goes_on(&home, protocol);
    (finished, provider)
}

/// Runs a prompt there, and checks that what was streamed is what was answered.
#[track_caller]
fn run_in(home: &Home, protocol: Protocol, provider: &StrictProvider, words: &[&str], code: i32) -> Finished {
    let finished =
        home.run_as(protocol, provider, ["--yolo"]).words(words.to_vec()).finish().expect_code(code);
    if code == 0 {
        assert_eq!(Value::from(spoken(&finished.lines())), finished.last()["answer"], "{}", finished.out);
    }
    finished
}

#[track_caller]
fn goes_on(home: &Home, protocol: Protocol) {
    let provider = StrictProvider::start(Answer::say("Still here."));
    let finished = run_in(home, protocol, &provider, &["--continue", "Are you there?"], 0);
    assert_eq!(finished.last()["answer"], "Still here.");
}

/// The last message as it was streamed; none if nothing was said.
fn spoken(lines: &Lines) -> Option<String> {
    let last = lines.of("text.delta").pop()?["message_id"].clone();
    Some(lines.streamed(&last))
}
