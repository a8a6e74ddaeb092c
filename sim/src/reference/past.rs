//! What the log says about the prompts of a session, read as a person would.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::MessageBody;
use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::prompt::Prompt;
use hostler_core::record::Record;
use hostler_core::time::Timestamp;
use hostler_core::tools::Part;

use super::family::Name;
use super::tools::by_directory;

/// A prompt that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) prompt: Prompt,
    pub(super) accepted: Timestamp,
    pub(super) queued: bool,
}

/// What was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Prompts that have not ended, in the order of acceptance.
    pub(super) open: Vec<Open>,
    /// Every prompt that was ever accepted: its text and its run.
    pub(super) known: BTreeMap<PromptId, (String, RunId)>,
    /// Those of the open ones that are in the turn that has not ended.
    pub(super) turn: Option<Vec<PromptId>>,
    /// How many turns there were.
    pub(super) turns: u32,
    /// The turns to which the prompts since the beginning or the last summary belong.
    pub(super) prompted: Vec<u32>,
    /// Whether a model has said something since the beginning or the last summary.
    pub(super) spoken: bool,
    /// Whether it has said something in the attempt that is under way.
    pub(super) streamed: bool,
    /// Whether the last turn sums the conversation up.
    pub(super) summing: bool,
    /// What a person is asked about: which call, and what it needs.
    pub(super) asked: Vec<(Name, BTreeSet<String>)>,
    /// What people have permitted for good.
    pub(super) granted: BTreeSet<String>,
    /// Whether it was made at all.
    pub(super) created: bool,
    /// Whether somebody but its first prompt has said what it is called.
    pub(super) titled: bool,
}

impl Past {
    /// A turn begins with a prompt.
    pub(super) fn begin(&mut self) {
        self.turns += 1;
        self.prompted.push(self.turns);
    }

    /// A summary has been written.
    pub(super) fn sum_up(&mut self) {
        self.spoken = false;
        self.prompted.clear();
    }

    /// Whether there is anything that a summary would make shorter.
    pub(super) fn is_worth_a_summary(&self) -> bool {
        self.spoken || self.prompted.iter().any(|turn| *turn != self.turns)
    }

    /// Something that was said in the session that this one was made from.
    fn take_over(&mut self, body: &MessageBody) {
        match body {
            MessageBody::User(user) => self.prompted.push(user.turn.0),
            MessageBody::Assistant(answer) => self.spoken |= !answer.blocks.is_empty(),
            MessageBody::Summary(_) => self.sum_up(),
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.created
    }

    pub(super) fn record(&mut self, own: &SessionId, at: Timestamp, record: &Record) {
        match record {
            Record::SessionCreated { .. } => self.created = true,
            Record::TitleChanged { .. } => self.titled = true,
            Record::SessionForked { titled_by, messages, turn, .. } => {
                self.titled = titled_by.is_some();
                self.turns = turn.0;
                messages.iter().for_each(|message| self.take_over(&message.body));
            }
            Record::PromptAccepted { prompt, .. } => {
                self.known.insert(prompt.id.clone(), (prompt.text.clone(), prompt.run_id()));
                self.open.push(Open { prompt: prompt.clone(), accepted: at, queued: false });
            }
            Record::PromptQueued { prompt } => {
                let open = self.open.iter_mut().find(|open| open.prompt.id == *prompt);
                open.into_iter().for_each(|open| open.queued = true);
            }
            Record::TurnStarted { prompt, .. } => {
                self.begin();
                self.summing = false;
                self.turn = Some(vec![prompt.clone()]);
            }
            Record::PromptFolded { prompt, .. } => {
                self.prompted.push(self.turns);
                self.turn.iter_mut().for_each(|turn| turn.push(prompt.clone()));
            }
            Record::SummaryStarted { .. } => {
                self.turns += 1;
                self.summing = true;
            }
            Record::TurnContinued { .. } => {
                self.begin();
                self.summing = false;
            }
            Record::SummaryFinished { .. } => self.sum_up(),
            Record::TextAppended { .. } | Record::ReasoningAppended { .. } => self.streamed = true,
            Record::AttemptFailed { retry_after: Some(_), .. } => self.streamed = false,
            Record::MessageFinished { blocks, .. } => {
                self.spoken |= !blocks.is_empty() && !self.summing;
                self.streamed = false;
            }
            Record::PermissionAsked { session, call, ask } => {
                let parts = ask.parts.iter().map(|part| match part {
                    Part::Tool | Part::Rest => "anything".to_owned(),
                    known => known.to_string(),
                });
                self.asked.push((Name::of(session, *call), parts.collect()));
            }
            Record::PermissionWithdrawn { session, call } => {
                let name = Name::of(session, *call);
                self.asked.retain(|(asked, _)| *asked != name);
            }
            Record::PermissionDecided { call, session, grants, .. } => {
                let name = Name::of(session.as_ref().unwrap_or(own), *call);
                if let Some(at) = self.asked.iter().position(|(asked, _)| *asked == name) {
                    let (_, needs) = self.asked.remove(at);
                    let widened = grants.iter().any(|rule| rule.to_string().contains("/**)"));
                    self.granted.extend(match (grants.is_empty(), widened) {
                        (true, _) => BTreeSet::new(),
                        (_, true) => by_directory(&needs),
                        (_, false) => needs,
                    });
                }
            }
            Record::RunFinished(finished) => {
                self.open.retain(|open| open.prompt.id != finished.prompt);
                self.turn.iter_mut().for_each(|turn| turn.retain(|prompt| *prompt != finished.prompt));
                self.turn = self.turn.take().filter(|turn| !turn.is_empty());
            }
            _ => {}
        }
    }
}
