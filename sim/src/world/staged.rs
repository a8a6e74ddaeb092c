//! What a script has laid down: answers, tools, looks at calls and preparations in the order in which they will be asked
//! for, and what came of it so far. What a script can see of the world is in `seen`.

use std::collections::{BTreeMap, VecDeque};

use hostler_core::ids::{ClientId, RunId};
use hostler_core::model::{ModelEvent, ModelRequest};
use hostler_core::protocol::{Answer, Command};
use hostler_core::record::{CancelScope, Reason, Record};

use super::World;
use super::agenda::Happening;
use super::people::{Heard, session_id};
use super::seen::{About, is};
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
    /// How long looks at calls will take; never if none.
    pub looks: VecDeque<Option<u64>>,
    /// The requests that models were asked with.
    pub requests: Vec<ModelRequest>,
    /// How many tools were run.
    pub ran: usize,
    /// How many preparations were begun.
    pub prepared: usize,
    /// The runs that the last cancel is said to cover.
    pub covered: Option<Vec<RunId>>,
    /// What people who answered questions were told last, by their names.
    pub heard: BTreeMap<ClientId, Heard>,
    /// How many rules were handed over to be kept for always.
    pub kept: usize,
    /// A record whose batch is to be held once it is committed, and whether it was.
    pub watch: Option<About>,
    /// Whether that was met.
    pub met: bool,
}

/// What a script does.
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

    /// A person answers the question of that number, counted from 1 in the order of the log, through a process: in the
    /// session that asked it, or in another one. Fails if there is no such question.
    pub fn person_says(&mut self, says: &Says) -> Result<(), String> {
        let questions = self.disk.log.iter().filter_map(|(_, entry)| match &entry.record {
            Record::PermissionAsked { session, call, .. } => {
                Some((entry.session.clone(), session.clone(), *call))
            }
            _ => None,
        });
        let question = questions.into_iter().nth(says.question.saturating_sub(1) as usize);
        let (root, session, call) = question.ok_or("that has not been asked")?;
        let session_asked = says.session.map_or(root, session_id);
        let ask = hostler_core::protocol::AskId { session, call };
        self.staged.heard.insert(says.person.clone(), Heard::Nothing);
        let (answer, client) = (says.answer, says.person.clone());
        self.ask(says.process, Command::Answer { session: session_asked, ask, answer, client });
        Ok(())
    }

    /// Somebody cancels the session of a sub-agent, counted from 1 in the order in which they were opened.
    pub fn cancel_agent(&mut self, number: u64, process: u64) -> Result<(), String> {
        let agents = self.agents(&[]);
        let session =
            agents.get(number.saturating_sub(1) as usize).cloned().ok_or("there is no such sub-agent")?;
        self.ask(process, Command::Cancel { session, scope: CancelScope::Session, reason: Reason::User });
        Ok(())
    }

    /// A batch is committed. Returns whether its effects are to wait.
    pub(super) fn is_watched(&mut self, entries: &[hostler_core::machine::Entry]) -> bool {
        let Some(about) = &self.staged.watch else { return false };
        let agents = self.agents(entries);
        let met = entries.iter().any(|entry| is(entry, about, &agents));
        self.staged.met |= met;
        met
    }
}

/// What somebody says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Says {
    /// Who.
    pub person: ClientId,
    /// What.
    pub answer: Answer,
    /// To the how-manieth question.
    pub question: u64,
    /// Through which process.
    pub process: u64,
    /// In which session, if not in the one that asked.
    pub session: Option<u64>,
}
