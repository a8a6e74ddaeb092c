//! What happens, kept as it is for whoever tells the story of a run.

use hostler_core::ids::PromptId;
use hostler_core::machine::Entry;
use hostler_core::protocol::{Command, Reply};
use hostler_core::workspace::{Effect, Input};

use super::World;
use super::agenda::Happening;
use super::disk::Verdict;
use super::process::Message;
use crate::plan;
use crate::timeline::words;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Told {
    /// When, in simulated milliseconds.
    pub at: u64,
    /// In the how-manieth event.
    pub event: u64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum What {
    /// An action of the plan was done.
    Acts(plan::What),
    /// A machine was handed an input.
    Hears {
        /// In which process.
        process: usize,
        /// The input.
        input: Box<Input>,
    },
    /// A machine decided a record.
    Decides {
        /// In which process.
        process: usize,
        /// The record.
        entry: Box<Entry>,
    },
    /// A commit returned.
    Commits {
        /// Of which process.
        process: usize,
        /// How many records it was about.
        records: usize,
        /// What became of it.
        verdict: Verdict,
    },
    /// An effect was started.
    Starts {
        /// By which process.
        process: usize,
        /// The effect.
        effect: Box<Effect>,
    },
    /// Somebody was answered.
    Answered {
        /// What was asked for.
        command: Box<Command>,
        /// The answer.
        reply: Box<Reply>,
    },
    /// A `hostler run` ended.
    Exits {
        /// The run of which prompt.
        prompt: PromptId,
        /// With which code.
        code: u8,
    },
    /// A process was killed or lost its power.
    Dies {
        /// Which.
        process: usize,
    },
    /// A process started.
    Boots {
        /// Which.
        process: usize,
    },
    /// Faults stop.
    Calms,
}

impl World {
    /// Keeps what happens, if anybody wants to know.
    pub(super) fn tell(&mut self, what: impl FnOnce() -> What) {
        if self.trace.speaks() {
            self.trace.told.push(Told { at: self.now - super::START, event: self.events, what: what() });
        }
    }

    /// Keeps what an event is, in a few words, if anybody wants to know.
    pub(super) fn name(&mut self, what: &Happening) {
        if self.trace.speaks() {
            let name = self.name_of(what);
            self.trace.names.push(name);
        }
    }

    fn name_of(&self, what: &Happening) -> String {
        match what {
            Happening::Act(nth) | Happening::Unaimed(nth) => {
                let action = &self.plan.actions[*nth];
                format!("action {}: {}", action.id, words::action(&action.what))
            }
            Happening::Wake(process, _) => {
                let it = &self.processes[*process];
                let pending = it.pending.front().map(words::heard);
                let first = pending.or_else(|| it.inbox.front().map(reached));
                let first = first.unwrap_or_else(|| "a deadline has passed".to_owned());
                format!("process {process} takes in that {first}")
            }
            Happening::Commit(process, _) => format!("the commit of process {process} returns"),
            Happening::Start(process, _) => format!("process {process} goes on starting effects"),
            Happening::Stopped(process, _) => format!("process {process} has stopped after a failed commit"),
            Happening::Boot(process) => format!("process {process} starts"),
            Happening::Job(job, _) => match self.jobs.jobs.get(job).and_then(|job| job.script.front()) {
                Some((_, input)) => format!("from outside comes word that {}", words::reported(input)),
                None => "from outside comes nothing more".to_owned(),
            },
            Happening::Locked(process, _, session) => {
                format!("the lock of {session} comes to process {process}")
            }
            Happening::Heal(_) => "the disk is well again".to_owned(),
            Happening::Hear(run) => format!("run {run} hears something"),
            Happening::Alarm(run, _) => format!("a deadline of run {run} passes"),
            Happening::Again(ask) => format!("asking {ask} is repeated"),
        }
    }
}

/// What has reached a process, in a few words.
fn reached(message: &Message) -> String {
    match message {
        Message::Input(input) => words::heard(input),
        Message::Locked(session) => format!("the lock of {session} has come"),
        Message::Command(_, command) => format!("somebody asks to {}", words::asked(command)),
    }
}
