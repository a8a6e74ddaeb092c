//! What is under way outside the machine: what effects have started and no input has ended.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hostler_core::content::{ToolOutcome, ToolStatus};
use hostler_core::ids::{AttemptId, CallId, PromptId, SessionId, StepId};
use hostler_core::model::ModelEvent;
use hostler_core::session::{self, Owned};
use hostler_core::tools::ToolInput;
use hostler_core::workspace::{Effect, Input};

/// What is under way outside the machine.
#[derive(Default)]
pub(crate) struct Flights {
    pub(crate) opens: BTreeSet<SessionId>,
    pub(crate) prepares: BTreeSet<(SessionId, PromptId)>,
    pub(crate) calls: BTreeSet<(SessionId, AttemptId)>,
    pub(crate) inspections: BTreeMap<(SessionId, CallId), ToolInput>,
    pub(crate) tools: BTreeMap<(SessionId, CallId), Running>,
    pub(crate) titles: BTreeSet<SessionId>,
    pub(crate) checks: BTreeSet<(SessionId, StepId)>,
    /// What the shell says by itself with the next batch.
    pub(crate) own_words: VecDeque<Input>,
}

/// A tool that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) input: ToolInput,
    /// Whether it was told to stop.
    pub(crate) stopped: bool,
}

impl Flights {
    pub(crate) fn start(&mut self, effect: &Effect) {
        match effect {
            Effect::OpenSession { session } => {
                assert!(self.opens.insert(session.clone()), "{session} is opened twice");
            }
            Effect::CancelOpen { session } => {
                self.opens.remove(session);
            }
            Effect::Session(owned) => self.start_for_session(owned),
            Effect::CloseSession { session } => self.nothing_is_left(session),
            Effect::DeleteSession { session } => {
                let (session, error) = (session.clone(), None);
                self.own_words.push_back(Input::SessionDeleted { session, error });
            }
            Effect::Reply { .. } | Effect::Notify(_) => {}
        }
    }

    fn start_for_session(&mut self, Owned { session, effect }: &Owned) {
        use session::Effect as Ask;
        let session = session.clone();
        match effect.clone() {
            Ask::Prepare { prompt, .. } => {
                let new = self.prepares.insert((session, prompt.clone()));
                assert!(new, "{prompt} is prepared twice at the same time");
            }
            Ask::CancelPrepare { prompt } => drop(self.prepares.remove(&(session, prompt))),
            Ask::CallModel { attempt, .. } => drop(self.calls.insert((session, attempt))),
            Ask::CancelCall { attempt } => drop(self.calls.remove(&(session, attempt))),
            Ask::InspectCall { call, input } => drop(self.inspections.insert((session, call), *input)),
            Ask::RunTool { call, input } => {
                drop(self.tools.insert((session, call), Running { input: *input, stopped: false }));
            }
            Ask::CancelTool { call } => self.stop_tool(session, call),
            Ask::MakeTitle { .. } => {
                assert!(self.titles.insert(session.clone()), "two titles of {session} are asked for");
            }
            Ask::CancelTitle => drop(self.titles.remove(&session)),
            Ask::CheckAnswer { step } => {
                assert!(self.checks.insert((session, step)), "the answer of {step} is looked at twice");
            }
            Ask::CancelCheck { step } => drop(self.checks.remove(&(session, step))),
            Ask::KeepRules { .. } => {}
            Ask::Reply { .. } => panic!("a workspace answers by itself"),
        }
    }

    /// A tool that runs is told to stop; of one that was never started the shell says so itself.
    fn stop_tool(&mut self, session: SessionId, call: CallId) {
        if let Some(running) = self.tools.get_mut(&(session.clone(), call)) {
            running.stopped = true;
            return;
        }
        let outcome = ToolOutcome::text(ToolStatus::Cancelled, "It was not started.");
        let input = session::Input::ToolFinished { call, outcome };
        self.own_words.push_back(Input::Session { session, input });
    }

    /// A session that is closed leaves nothing behind but tools that were told to stop and did not.
    fn nothing_is_left(&self, session: &SessionId) {
        let of = |id: &SessionId| id == session;
        assert!(
            !self.prepares.iter().any(|(id, _)| of(id)),
            "{session} is closed while a prompt is prepared"
        );
        assert!(!self.calls.iter().any(|(id, _)| of(id)), "{session} is closed while a model is asked");
        assert!(!self.titles.contains(session), "{session} is closed while a title is made");
        assert!(
            !self.checks.iter().any(|(id, _)| of(id)),
            "{session} is closed while an answer is looked at"
        );
        let left = self.tools.iter().any(|((id, _), running)| of(id) && !running.stopped);
        assert!(!left, "{session} is closed while a tool runs that nobody told to stop");
    }

    /// An input ends what it is the outcome of.
    pub(crate) fn ended(&mut self, input: &Input) {
        match input {
            Input::SessionOpened { session, .. } => drop(self.opens.remove(session)),
            Input::Session { session, input } => self.ended_for_session(session.clone(), input),
            Input::Request { .. }
            | Input::SessionDeleted { .. }
            | Input::SessionHeld { .. }
            | Input::Tick => {}
        }
    }

    fn ended_for_session(&mut self, session: SessionId, input: &session::Input) {
        use session::Input as Said;
        match input {
            Said::Prepared { prompt, .. } => drop(self.prepares.remove(&(session, prompt.clone()))),
            Said::Model { attempt, event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                self.calls.remove(&(session, *attempt));
            }
            Said::Title { event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                self.titles.remove(&session);
            }
            Said::Checked { step, .. } => drop(self.checks.remove(&(session, *step))),
            Said::Inspected { call, .. } => drop(self.inspections.remove(&(session, *call))),
            Said::ToolFinished { call, .. } => drop(self.tools.remove(&(session, *call))),
            Said::Model { .. }
            | Said::Opened
            | Said::Submit { .. }
            | Said::Cancel { .. }
            | Said::ClearQueue { .. }
            | Said::Answer { .. }
            | Said::Rename { .. }
            | Said::Fork { .. }
            | Said::Title { .. }
            | Said::ToolOutput { .. }
            | Said::Tick => {}
        }
    }

    /// Whether something will still be heard about a session.
    pub(crate) fn awaits(&self, session: &SessionId) -> bool {
        let own = |input: &Input| matches!(input, Input::Session { session: id, .. } if id == session);
        self.prepares.iter().any(|(id, _)| id == session)
            || self.titles.contains(session)
            || self.checks.iter().any(|(id, _)| id == session)
            || self.calls.iter().any(|(id, _)| id == session)
            || self.inspections.keys().any(|(id, _)| id == session)
            || self.tools.keys().any(|(id, _)| id == session)
            || self.own_words.iter().any(own)
    }

    /// Whether nothing is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.opens.is_empty()
            && self.prepares.is_empty()
            && self.calls.is_empty()
            && self.inspections.is_empty()
            && self.tools.is_empty()
            && self.titles.is_empty()
            && self.checks.is_empty()
            && self.own_words.is_empty()
    }
}
