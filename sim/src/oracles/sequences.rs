//! Numbers only rise: places in the log, and in each session the sequences of prompts and the numbers of messages, turns,
//! steps and attempts, each by one.

use std::collections::BTreeMap;

use hostler_core::ids::{AttemptId, MessageId, SessionId, StepId, TurnId};
use hostler_core::record::Record;

use super::{Oracle, Seen};

#[derive(Clone, Debug, Default)]
struct Last {
    sequence: u64,
    message: u64,
    turn: u32,
    step: u32,
    attempt: u32,
}

/// The numbers that were given last.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    place: u64,
    sessions: BTreeMap<SessionId, Last>,
}

impl Last {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { sequence, .. } => next("sequence", &mut self.sequence, *sequence),
            Record::PromptFolded { message, .. } => self.message(*message),
            Record::TurnStarted { turn, message, .. } => {
                self.turn(*turn)?;
                self.message(*message)
            }
            Record::SummaryStarted { turn, .. } => self.turn(*turn),
            Record::SummaryFinished { message, .. } | Record::AnswerRefused { message, .. } => {
                self.message(*message)
            }
            Record::TurnContinued { turn, message, .. } => {
                self.turn(*turn)?;
                self.message(*message)
            }
            Record::StepStarted { step, message, .. } => {
                self.step(*step)?;
                self.message(*message)
            }
            // It goes on where the other one was.
            Record::SessionForked { messages, turn, .. } => {
                self.message = messages.last().map_or(0, |message| message.id.0);
                self.turn = turn.0;
                Ok(())
            }
            Record::AttemptStarted { attempt } => self.attempt(*attempt),
            _ => Ok(()),
        }
    }

    fn message(&mut self, message: MessageId) -> Result<(), String> {
        next("message", &mut self.message, message.0)
    }

    fn turn(&mut self, turn: TurnId) -> Result<(), String> {
        self.step = 0;
        next("turn", &mut self.turn, turn.0)
    }

    fn step(&mut self, step: StepId) -> Result<(), String> {
        self.attempt = 0;
        if step.turn.0 != self.turn {
            return Err(format!("step {step} in turn {}", self.turn));
        }
        next("step", &mut self.step, step.step)
    }

    fn attempt(&mut self, attempt: AttemptId) -> Result<(), String> {
        if (attempt.step.turn.0, attempt.step.step) != (self.turn, self.step) {
            return Err(format!("attempt {attempt} in step {} of turn {}", self.step, self.turn));
        }
        next("attempt", &mut self.attempt, attempt.attempt)
    }
}

fn next<T: Copy + PartialEq + std::fmt::Display + std::ops::Add<Output = T> + From<u8>>(
    what: &str,
    last: &mut T,
    given: T,
) -> Result<(), String> {
    if given != *last + T::from(1) {
        return Err(format!("{what} {given} comes after {last}"));
    }
    *last = given;
    Ok(())
}

impl Oracle for Sequences {
    fn name(&self) -> &'static str {
        "sequences"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let Seen::Log { seq, entry } = seen else { return Ok(()) };
        if *seq <= self.place {
            return Err(format!("place {seq} in the log is given after {}", self.place));
        }
        self.place = *seq;
        let last = self.sessions.entry(entry.session.clone()).or_default();
        last.record(&entry.record).map_err(|what| format!("{}: {what}", entry.session))
    }

    fn forget(&mut self, session: &SessionId) {
        self.sessions.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // The place of the last record is the disk's own count.
        &self.sessions
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{accepted, attempt, entry, shown, started, step};
    use super::*;

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Sequences { place: 0, sessions: BTreeMap::new() }, log, &[])
    }

    #[test]
    fn a_number_that_is_given_twice_or_left_out_is_noticed() {
        assert!(check(&[accepted(1, "a"), accepted(1, "b")]).is_err());
        assert!(check(&[accepted(2, "a")]).is_err());
        assert!(check(&[started(1, "a")]).is_err(), "its message should be the first");
        assert!(check(&[step(2)]).is_err());
        assert!(check(&[attempt(1)]).is_err());
        assert_eq!(check(&[accepted(1, "a"), accepted(2, "b")]), Ok(()));
    }

    #[test]
    fn a_place_that_does_not_rise_is_noticed() {
        let mut oracle = Sequences::default();
        let entry = entry(accepted(1, "a"));
        assert_eq!(oracle.see(&Seen::Log { seq: 5, entry: &entry }), Ok(()));
        assert!(oracle.see(&Seen::Log { seq: 5, entry: &entry }).is_err());
    }
}
