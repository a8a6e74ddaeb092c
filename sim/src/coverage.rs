//! What has met what: the phase of a session against the kind of what happens to it.

use std::collections::BTreeSet;

use hostler_core::content::Finish;
use hostler_core::ids::SessionId;
use hostler_core::machine::Entry;
use hostler_core::model::ModelEvent;
use hostler_core::protocol::Command;
use hostler_core::record::{CancelScope, Record};
use hostler_core::session::{Durable, Input as SessionInput, Purpose};
use hostler_core::time::{Deadline, Timestamp};
use hostler_core::workspace::{Input, Opened, Workspace};

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is not open in this process.
    Away,
    /// A prompt is being prepared and there is no turn.
    Preparing,
    /// A model is asked and has said nothing.
    Asking,
    /// A model is answering.
    Streaming,
    /// An attempt has failed, and the next one is waited for.
    Pausing,
    /// Tools are looked at or run.
    Tools,
    /// The turn was cancelled, and its tools have not ended.
    Settling,
    /// The conversation is summed up.
    Summing,
    /// The answer is held against its schema.
    Checking,
}

/// The names of the phases, in order.
pub const PHASES: [&str; 9] =
    ["away", "preparing", "asking", "streaming", "pausing", "tools", "settling", "summing", "checking"];

/// The names of the kinds of input, in order.
pub const KINDS: [&str; 36] = [
    "submit",
    "cancel session",
    "cancel run",
    "clear queue",
    "held",
    "opened",
    "opened empty",
    "open failed",
    "prepared",
    "not prepared",
    "connected",
    "content",
    "usage",
    "finished",
    "failed",
    "inspected",
    "tool output",
    "tool finished",
    "tick flush",
    "tick prepare",
    "tick connect",
    "tick first",
    "tick idle",
    "tick retry",
    "tick settle",
    "answer to ask",
    "tick inspect",
    "tick tool",
    "rename",
    "fork",
    "delete",
    "deleted",
    "title",
    "tick title",
    "checked",
    "tick check",
];

/// How often each kind of input met each phase.
#[derive(Clone, Debug)]
pub struct Coverage {
    counts: [[u32; KINDS.len()]; PHASES.len()],
    pausing: BTreeSet<SessionId>,
}

impl Default for Coverage {
    fn default() -> Self {
        Self { counts: [[0; KINDS.len()]; PHASES.len()], pausing: BTreeSet::new() }
    }
}

impl Coverage {
    /// Adds what another has seen.
    pub fn add(&mut self, other: &Coverage) {
        for (row, more) in self.counts.iter_mut().zip(&other.counts) {
            row.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
    }

    /// How often that kind of input met that phase.
    pub fn count(&self, phase: usize, kind: usize) -> u32 {
        self.counts[phase][kind]
    }

    /// The phase of a session in a machine.
    pub fn phase(&self, machine: &Workspace, session: &SessionId) -> Phase {
        match machine.durable(session) {
            None => Phase::Away,
            Some(durable) => self.phase_of(durable),
        }
    }

    fn phase_of(&self, durable: &Durable) -> Phase {
        let Some(turn) = &durable.turn else { return Phase::Preparing };
        if turn.cancelling.is_some() {
            return Phase::Settling;
        }
        if turn.purpose != Purpose::Work {
            return Phase::Summing;
        }
        if turn.message.is_none() {
            return Phase::Checking;
        }
        let finish = durable.current().and_then(|(_, answer)| answer.finish.as_ref());
        match finish {
            Some(Finish::ToolUse | Finish::MaxTokens | Finish::Unknown | Finish::EndTurn) => Phase::Tools,
            Some(_) => Phase::Settling,
            None if self.pausing.contains(&durable.id) => Phase::Pausing,
            None if turn.streamed.is_empty() => Phase::Asking,
            None => Phase::Streaming,
        }
    }

    /// An input is about to be handled.
    pub fn input(&mut self, now: Timestamp, input: &Input, machine: &Workspace, open: &BTreeSet<SessionId>) {
        let Some(session) = session_of(input) else {
            open.iter().for_each(|session| self.tick(now, machine, session));
            return;
        };
        self.counts[self.phase(machine, session) as usize][kind_of(input)] += 1;
    }

    /// Time has passed; that matters to the sessions of which a deadline has.
    fn tick(&mut self, now: Timestamp, machine: &Workspace, session: &SessionId) {
        let Some((_, deadline)) = machine.deadline_of(session).filter(|(at, _)| *at <= now) else { return };
        let kind = match deadline {
            Deadline::Flush => 18,
            Deadline::Prepare => 19,
            Deadline::Connect => 20,
            Deadline::FirstEvent => 21,
            Deadline::Idle => 22,
            Deadline::Retry => 23,
            Deadline::Settle => 24,
            Deadline::Inspect => 26,
            Deadline::Tool => 27,
            Deadline::Title => 33,
            Deadline::Check => 35,
            Deadline::Run | Deadline::Exit => return,
        };
        self.counts[self.phase(machine, session) as usize][kind] += 1;
    }

    /// Records were decided.
    pub fn entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.record {
                Record::AttemptFailed { .. } => {
                    self.pausing.insert(entry.session.clone());
                }
                Record::AttemptStarted { .. } | Record::TurnStarted { .. } => {
                    self.pausing.remove(&entry.session);
                }
                _ => {}
            }
        }
    }

    /// The matrix, for people.
    pub fn table(&self) -> String {
        let mut table = format!("{:<14}", "");
        PHASES.iter().for_each(|phase| table.push_str(&format!("{phase:>11}")));
        for (kind, name) in KINDS.iter().enumerate() {
            table.push_str(&format!("\n{name:<14}"));
            for phase in 0..PHASES.len() {
                let count = self.counts[phase][kind];
                let reason = IMPOSSIBLE.iter().position(|cell| cell.covers(phase, kind));
                let cell = match (count, reason) {
                    (0, Some(reason)) => format!("({})", reason + 1),
                    (0, None) => "MISSING".to_owned(),
                    (count, _) => count.to_string(),
                };
                table.push_str(&format!("{cell:>11}"));
            }
        }
        for (nth, cell) in IMPOSSIBLE.iter().enumerate() {
            table.push_str(&format!("\n({}) {}", nth + 1, cell.why));
        }
        table
    }

    /// What has met although it is said that it cannot.
    pub fn refuted(&self) -> Vec<String> {
        let mut refuted = Vec::new();
        for (phase, phase_name) in PHASES.iter().enumerate() {
            for (kind, kind_name) in KINDS.iter().enumerate() {
                let met = self.counts[phase][kind] > 0;
                if met && IMPOSSIBLE.iter().any(|cell| cell.covers(phase, kind)) {
                    refuted.push(format!("{kind_name} while {phase_name}"));
                }
            }
        }
        refuted
    }

    /// What has never met although it can.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (phase, phase_name) in PHASES.iter().enumerate() {
            for (kind, kind_name) in KINDS.iter().enumerate() {
                let empty = self.counts[phase][kind] == 0;
                if empty && !IMPOSSIBLE.iter().any(|cell| cell.covers(phase, kind)) {
                    missing.push(format!("{kind_name} while {phase_name}"));
                }
            }
        }
        missing
    }
}

/// Phases and kinds of input that cannot meet, and why.
struct Impossible {
    phases: &'static [usize],
    kinds: &'static [usize],
    why: &'static str,
}

impl Impossible {
    fn covers(&self, phase: usize, kind: usize) -> bool {
        self.phases.contains(&phase) && self.kinds.contains(&kind)
    }
}

const IMPOSSIBLE: &[Impossible] = &[
    Impossible {
        phases: &[0, 1, 2, 3, 4, 6, 7, 8],
        kinds: &[26, 27],
        why: "only calls that are looked at or run have a limit, and those of a cancelled turn have one together",
    },
    Impossible {
        phases: &[1, 2, 3, 4, 5, 6, 7, 8],
        kinds: &[5, 6, 7],
        why: "a session that is open in a process is not opened there once more: its lock is not free",
    },
    Impossible {
        phases: &[1, 2, 3, 4, 5, 6, 7, 8],
        kinds: &[31],
        why: "a session in which something is under way is not forgotten",
    },
    Impossible {
        phases: &[1, 2, 3, 4, 5, 6, 7, 8],
        kinds: &[4],
        why: "who has a session is told only to whoever waits for it, and that is over once it is open",
    },
    Impossible {
        phases: &[0],
        kinds: &[18, 19, 20, 21, 22, 23, 24, 33],
        why: "a session that is not open has no deadline",
    },
    Impossible {
        phases: &[1],
        kinds: &[18, 20, 21, 22, 23, 24],
        why: "without a turn there is no answer, no retry and no tool to wait for",
    },
    Impossible {
        phases: &[2],
        kinds: &[18, 23, 24],
        why: "the first words are recorded at once, no attempt has failed since the last one began, and nothing was cancelled",
    },
    Impossible {
        phases: &[3],
        kinds: &[20, 21, 23, 24],
        why: "the provider has begun to answer, no attempt has failed, and nothing was cancelled",
    },
    Impossible {
        phases: &[4],
        kinds: &[18, 20, 21, 22, 24],
        why: "during the wait before a retry nothing is awaited of the provider, and nothing was cancelled",
    },
    Impossible {
        phases: &[5],
        kinds: &[18, 20, 21, 22, 23, 24],
        why: "the answer is complete, and tools have no deadline until they are cancelled",
    },
    Impossible {
        phases: &[6],
        kinds: &[18, 20, 21, 22, 23],
        why: "a cancel ends the answer at once, and no other attempt is made",
    },
    Impossible {
        phases: &[7],
        kinds: &[24],
        why: "a cancelled summary has no tools to wait for, and is over at once",
    },
    Impossible {
        phases: &[0, 1, 2, 3, 4, 5, 6, 7],
        kinds: &[35],
        why: "only an answer that is held against a schema is waited for so long",
    },
    Impossible {
        phases: &[8],
        kinds: &[18, 20, 21, 22, 23, 24],
        why: "the answer is complete, its calls have ended, and a cancel ends the turn at once",
    },
];

/// What an input is called in the matrix; nothing if time has passed.
pub fn name_of(input: &Input) -> &'static str {
    match input {
        Input::Tick => "",
        other => KINDS[kind_of(other)],
    }
}

/// What a request is called in the matrix.
pub fn name_of_command(command: &Command) -> &'static str {
    KINDS[kind_of_command(command)]
}

fn kind_of_command(command: &Command) -> usize {
    match command {
        Command::Submit { .. } => 0,
        Command::Cancel { scope: CancelScope::Session, .. } => 1,
        Command::Cancel { scope: CancelScope::Run(_), .. } => 2,
        Command::ClearQueue { .. } => 3,
        Command::Answer { .. } => 25,
        Command::Rename { .. } => 28,
        Command::Fork { .. } => 29,
        Command::Delete { .. } => 30,
    }
}

/// The kind of an input that concerns a session from outside.
fn kind_of(input: &Input) -> usize {
    match input {
        Input::Request { command, .. } => kind_of_command(command),
        Input::SessionHeld { .. } => 4,
        Input::SessionOpened { opened: Opened::Ready(Some(_)), .. } => 5,
        Input::SessionOpened { opened: Opened::Ready(None), .. } => 6,
        Input::SessionOpened { opened: Opened::Failed(_), .. } => 7,
        Input::Session { input, .. } => kind_of_outcome(input),
        Input::SessionDeleted { .. } => 31,
        // Counted with the deadline that has passed.
        Input::Tick => 18,
    }
}

fn kind_of_outcome(input: &SessionInput) -> usize {
    match input {
        SessionInput::Prepared { result, .. } if result.is_ok() => 8,
        SessionInput::Prepared { .. } => 9,
        SessionInput::Model { event, .. } => match event {
            ModelEvent::Connected => 10,
            ModelEvent::Text { .. }
            | ModelEvent::Reasoning { .. }
            | ModelEvent::Opaque { .. }
            | ModelEvent::Call { .. }
            | ModelEvent::Input { .. } => 11,
            // Both say something about an answer and nothing of it.
            ModelEvent::Usage(_) | ModelEvent::Ending(_) => 12,
            ModelEvent::Finished(_) => 13,
            ModelEvent::Failed(_) => 14,
        },
        SessionInput::Inspected { .. } => 15,
        SessionInput::ToolOutput { .. } => 16,
        SessionInput::ToolFinished { .. } => 17,
        // These are what the workspace makes of requests, of a lock and of time; nothing outside says them.
        SessionInput::Submit { .. } => 0,
        SessionInput::Cancel { scope: CancelScope::Session, .. } => 1,
        SessionInput::Cancel { scope: CancelScope::Run(_), .. } => 2,
        SessionInput::ClearQueue { .. } => 3,
        SessionInput::Opened => 5,
        SessionInput::Answer { .. } => 25,
        SessionInput::Checked { .. } => 34,
        SessionInput::Rename { .. } => 28,
        SessionInput::Fork { .. } => 29,
        SessionInput::Title { .. } => 32,
        SessionInput::Tick => 18,
    }
}

fn session_of(input: &Input) -> Option<&SessionId> {
    match input {
        Input::Request { command, .. } => Some(match command {
            Command::Submit { session, .. } => session.id(),
            Command::Cancel { session, .. }
            | Command::ClearQueue { session }
            | Command::Answer { session, .. }
            | Command::Rename { session, .. }
            | Command::Fork { session, .. }
            | Command::Delete { session } => session,
        }),
        Input::SessionHeld { session, .. }
        | Input::SessionOpened { session, .. }
        | Input::SessionDeleted { session, .. }
        | Input::Session { session, .. } => Some(session),
        Input::Tick => None,
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::session::Settings;

    use super::*;

    #[test]
    fn a_meeting_is_counted_and_what_never_met_is_missing() {
        let (machine, mut coverage) = (Workspace::new(Settings::default()), Coverage::default());
        let all = coverage.missing().len();
        let command = Command::ClearQueue { session: SessionId::new("s") };
        let input =
            Input::Request { id: hostler_core::ids::RequestId(1), command, taken: None, source: None };
        coverage.input(Timestamp::default(), &input, &machine, &BTreeSet::new());
        assert_eq!(coverage.count(Phase::Away as usize, 3), 1);
        assert_eq!(coverage.missing().len(), all - 1);
        assert!(coverage.table().contains("MISSING"));
    }
}
