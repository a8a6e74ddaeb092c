//! What a script can see of the world: the log, what waits, and what people were told.

use hostler_core::ids::{PromptId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::protocol::RefusalKind;
use hostler_core::record::{Record, RunFinished};
use hostler_core::session::Durable;
use hostler_core::workspace::Input;

use super::World;
use super::process::{Message, Stage};
use crate::coverage;

/// Whom something is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A prompt.
    Prompt(PromptId),
    /// A sub-agent, counted from 1 in the order in which they were opened.
    Agent(u64),
}

/// A kind of record, and whom it is about if that matters.
pub type About = (String, Option<Whom>);

/// Whether a record is of that kind and about that one, where these are the sub-agents in the order in which they were
/// opened.
pub(super) fn is(entry: &Entry, (kind, whom): &About, agents: &[SessionId]) -> bool {
    let about = match whom {
        None => true,
        Some(Whom::Prompt(prompt)) => prompt_of(&entry.record) == Some(prompt),
        Some(Whom::Agent(number)) => {
            let agent = agents.get(number.saturating_sub(1) as usize);
            agent.is_some() && (agent == Some(&entry.session) || agent == agent_of(&entry.record))
        }
    };
    entry.record.kind() == kind && about
}

fn prompt_of(record: &Record) -> Option<&PromptId> {
    match record {
        Record::PromptAccepted { prompt, .. } => Some(&prompt.id),
        Record::PromptQueued { prompt }
        | Record::PromptFolded { prompt, .. }
        | Record::PromptReturned { prompt, .. }
        | Record::TurnStarted { prompt, .. }
        | Record::TurnContinued { prompt, .. }
        | Record::AnswerRefused { prompt, .. } => Some(prompt),
        Record::RunFinished(finished) => Some(&finished.prompt),
        _ => None,
    }
}

/// The sub-agent that a record of another session is about.
fn agent_of(record: &Record) -> Option<&SessionId> {
    match record {
        Record::PermissionAsked { session, .. }
        | Record::PermissionWithdrawn { session, .. }
        | Record::SubAgentFinished { session, .. } => Some(session),
        Record::PermissionDecided { session, .. } => session.as_ref(),
        _ => None,
    }
}

impl World {
    /// The sessions of sub-agents in the order in which they were opened, also of those in batches that are decided and
    /// not committed, and of those among these records.
    pub(super) fn agents(&self, more: &[Entry]) -> Vec<SessionId> {
        let decided = self.processes.iter().flat_map(|it| match &it.stage {
            Stage::Committing(batch) => batch.entries.as_slice(),
            _ => &[],
        });
        let opened = |entry: &Entry| matches!(entry.record, Record::SessionCreated { parent: Some(_), .. });
        let log = self.disk.log.iter().map(|(_, entry)| &**entry);
        let mut agents: Vec<SessionId> = Vec::new();
        for entry in log.chain(decided).chain(more).filter(|entry| opened(entry)) {
            if !agents.contains(&entry.session) {
                agents.push(entry.session.clone());
            }
        }
        agents
    }

    /// The prompt that somebody is about.
    pub fn prompt_of(&self, whom: &Whom) -> Option<PromptId> {
        match whom {
            Whom::Prompt(prompt) => Some(prompt.clone()),
            Whom::Agent(number) => {
                let agents = self.agents(&[]);
                agents.get(number.saturating_sub(1) as usize).map(|agent| PromptId::new(agent.as_str()))
            }
        }
    }

    /// Whether a batch with such a record is decided and not committed.
    pub fn is_deciding(&self, about: &About) -> bool {
        let agents = self.agents(&[]);
        self.processes.iter().any(|it| match &it.stage {
            Stage::Committing(batch) => batch.entries.iter().any(|entry| is(entry, about, &agents)),
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

    /// How many such records the log has.
    pub fn count(&self, about: &About) -> usize {
        let agents = self.agents(&[]);
        self.disk.log.iter().filter(|(_, entry)| is(entry, about, &agents)).count()
    }

    /// The place in the log, from there on, of such a record.
    pub fn place_of(&self, about: &About, from: usize) -> Option<usize> {
        let agents = self.agents(&[]);
        let place = self.disk.log.iter().skip(from).position(|(_, entry)| is(entry, about, &agents))?;
        Some(from + place)
    }

    /// What the log says of a session.
    pub fn log_of(&self, session: &SessionId) -> Option<&Durable> {
        self.disk.folds.get(session)
    }

    /// The session in which a prompt's run ended.
    pub fn session_of(&self, prompt: &PromptId) -> Option<SessionId> {
        let about = ("RunFinished".to_owned(), Some(Whom::Prompt(prompt.clone())));
        self.place_of(&about, 0).map(|place| self.disk.log[place].1.session.clone())
    }

    /// How many questions wait for people.
    pub fn questions(&self) -> usize {
        self.disk.folds.values().map(|durable| durable.asks.len()).sum()
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
    pub fn told(&self, prompt: &PromptId) -> Option<Option<RefusalKind>> {
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
}
