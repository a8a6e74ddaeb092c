//! What a script has laid down: answers, tools and preparations in the order in which they will be asked for, and what came
//! of it so far.

use std::collections::VecDeque;

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::{ModelEvent, ModelRequest};
use hostler_core::record::{Record, RunFinished};
use hostler_core::session::Durable;
use hostler_core::workspace::Input;

use super::World;
use super::agenda::Happening;
use super::process::{Message, Stage};
use crate::coverage;
use crate::plan::{Action, Aim, What};

/// What the next model call will say, each so long after what came before, and how many of the last it says even if it
/// is cancelled.
#[derive(Clone, Debug, Default)]
pub struct StagedAnswer {
    /// What it says.
    pub events: Vec<(u64, ModelEvent)>,
    /// How much of that comes too late.
    pub late: usize,
}

/// What the next tool will do.
#[derive(Clone, Copy, Debug, Default)]
pub struct StagedTool {
    /// How long it takes.
    pub after: u64,
    /// Whether it fails.
    pub fails: bool,
    /// Whether it does not listen to a cancel.
    pub deaf: bool,
}

/// What the next preparation will come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct StagedPreparation {
    /// How long it takes; never if none.
    pub after: Option<u64>,
    /// Whether it fails.
    pub fails: bool,
}

/// What is laid down and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Staged {
    /// What models will say.
    pub answers: VecDeque<StagedAnswer>,
    /// What tools will do.
    pub tools: VecDeque<StagedTool>,
    /// What preparations will come to.
    pub preparations: VecDeque<StagedPreparation>,
    /// The requests that models were asked with.
    pub requests: Vec<ModelRequest>,
    /// How many tools were run.
    pub ran: usize,
    /// How many preparations were begun.
    pub prepared: usize,
    /// The runs that the last cancel is said to cover.
    pub covered: Option<Vec<RunId>>,
    /// A record whose batch is to be held once it is committed, and whether it was.
    pub watch: Option<(String, Option<PromptId>)>,
    /// Whether that was met.
    pub met: bool,
}

impl Staged {
    /// A batch is committed. Returns whether its effects are to wait.
    pub(super) fn committed(&mut self, entries: &[Entry]) -> bool {
        let Some((kind, prompt)) = &self.watch else { return false };
        let met = entries.iter().any(|entry| is(&entry.record, kind, prompt.as_ref()));
        self.met |= met;
        met
    }
}

/// Whether a record is of that kind and about that prompt.
pub fn is(record: &Record, kind: &str, prompt: Option<&PromptId>) -> bool {
    record.kind() == kind && prompt.is_none_or(|prompt| about(record) == Some(prompt))
}

fn about(record: &Record) -> Option<&PromptId> {
    match record {
        Record::PromptAccepted { prompt, .. } => Some(&prompt.id),
        Record::PromptQueued { prompt }
        | Record::PromptFolded { prompt, .. }
        | Record::PromptReturned { prompt, .. }
        | Record::TurnStarted { prompt, .. }
        | Record::TurnContinued { prompt, .. } => Some(prompt),
        Record::RunFinished(finished) => Some(&finished.prompt),
        _ => None,
    }
}

/// What a script sees and does.
impl World {
    /// What a script has laid down.
    pub fn staged(&mut self) -> &mut Staged {
        &mut self.staged
    }

    /// Does something at once.
    pub fn act_now(&mut self, what: What) {
        let (id, at) = (self.plan.actions.len() as u64, self.now - super::START);
        self.plan.actions.push(Action { id, at, aim: Aim::None, what });
        self.act(id as usize);
    }

    /// Lets the next thing happen outside of the processes that are held. Returns whether there was one.
    pub fn next(&mut self, held: &[usize], until: u64) -> bool {
        let free = |what: &Happening, world: &World| {
            world.place(what).is_none_or(|process| !held.contains(&process))
        };
        let choices = self.choices();
        let next =
            choices.into_iter().filter(|choice| choice.at.max(self.now) <= until && free(&choice.what, self));
        let Some(next) = next.min_by_key(|choice| (choice.at, choice.order)) else { return false };
        self.choose(next);
        true
    }

    /// Whether a batch with such a record is decided and not committed.
    pub fn is_deciding(&self, kind: &str, prompt: Option<&PromptId>) -> bool {
        self.processes.iter().any(|it| match &it.stage {
            Stage::Committing(batch) => batch.entries.iter().any(|entry| is(&entry.record, kind, prompt)),
            _ => false,
        })
    }

    /// Whether an input of that kind (as `coverage` names them) has reached a process and waits.
    pub fn is_waiting(&self, kind: &str) -> bool {
        let named = |input: &Input| coverage::name_of(input) == kind;
        self.processes.iter().any(|it| {
            it.pending.iter().any(named)
                || it.inbox.iter().any(|message| match message {
                    Message::Input(input) => named(input),
                    Message::Command(_, command) => coverage::name_of_command(command) == kind,
                    Message::Locked(_) => kind == "locked",
                })
        })
    }

    /// The log.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.disk.log.iter().map(|(_, entry)| &entry.record)
    }

    /// What the log says of a session.
    pub fn log_of(&self, session: &SessionId) -> Option<&Durable> {
        self.disk.folds.get(session)
    }

    /// Whether some process has a session open.
    pub fn is_open(&self, session: &SessionId) -> bool {
        self.processes.iter().any(|it| it.machine.durable(session).is_some())
    }

    /// How a prompt's run ended.
    pub fn end_of(&self, prompt: &PromptId) -> Option<&RunFinished> {
        self.finished(prompt)
    }

    /// What whoever submitted a prompt was told last: nothing, or that it is accepted, or the kind of the refusal.
    pub fn told(&self, prompt: &PromptId) -> Option<Option<hostler_core::protocol::RefusalKind>> {
        self.people.last.get(prompt).copied()
    }

    /// With what code the `hostler run` of a prompt has ended.
    pub fn code_of(&self, prompt: &PromptId) -> Option<u8> {
        self.runs.iter().find(|run| run.prompt() == prompt)?.code()
    }

    /// Whether the record that is watched for was committed.
    pub fn has_met(&self) -> bool {
        self.staged.met
    }

    /// The place in the log, from there on, of such a record.
    pub fn place_of(&self, kind: &str, prompt: Option<&PromptId>, from: usize) -> Option<usize> {
        let place = self.records().skip(from).position(|record| is(record, kind, prompt))?;
        Some(from + place)
    }
}
