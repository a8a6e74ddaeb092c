//! What tests do with one session, in one line each.

use hostler_core::content::{ErrorClass, ErrorInfo, ToolStatus};
use hostler_core::ids::{AttemptId, CallId, PromptId, RequestId, RunId, SessionId};
use hostler_core::model::{CallError, FinishReason, ModelEvent, Preparation};
use hostler_core::prompt::Prompt;
use hostler_core::protocol::{Command, Reply};
use hostler_core::record::{CancelScope, Record, RunFinished, TurnOutcome};
use hostler_core::session;
use hostler_core::tools::Intent;
use hostler_core::workspace::{Input, Opened};

use super::words::{self, session};
use super::{Batch, Rig};

impl Rig {
    /// Something happens to the session.
    pub(crate) fn happens(&mut self, input: session::Input) -> Batch {
        self.batch(vec![words::to(&session(), input)])
    }

    /// A client asks for something.
    pub(crate) fn asks_for(&mut self, command: Command) -> (RequestId, Batch) {
        let (id, input) = self.request(command);
        (id, self.batch(vec![input]))
    }

    /// The lock of a session is taken and its log is read.
    pub(crate) fn open(&mut self, session: &SessionId) -> Batch {
        let input = self.opening(session);
        self.batch(vec![input])
    }

    pub(crate) fn opening(&self, session: &SessionId) -> Input {
        let opened = Opened::Ready(self.folded(session).map(Box::new));
        let children = self.unfinished_children(session);
        Input::SessionOpened { session: session.clone(), opened, children, taken: Vec::new() }
    }

    /// A prompt is submitted, and its session opened if it is not open.
    pub(crate) fn submit(&mut self, prompt: Prompt) -> (RequestId, Batch) {
        let (id, batch) = self.asks_for(words::submit(&session(), prompt));
        if self.flights.opens.contains(&session()) {
            return (id, self.open(&session()));
        }
        (id, batch)
    }

    pub(crate) fn reply(&self, id: RequestId) -> &Reply {
        self.replies.get(&id).expect("the request is answered")
    }

    pub(crate) fn prepared(&mut self, prompt: &str) -> Batch {
        self.prepared_with(prompt, Ok(words::preparation()))
    }

    pub(crate) fn unprepared(&mut self, prompt: &str) -> Batch {
        self.prepared_with(prompt, Err(ErrorInfo::new(ErrorClass::NoProvider, "there is no provider")))
    }

    pub(crate) fn prepared_with(&mut self, prompt: &str, result: Result<Preparation, ErrorInfo>) -> Batch {
        self.happens(words_prepared(prompt, result))
    }

    /// A prompt is submitted and its run prepared.
    pub(crate) fn enter(&mut self, prompt: Prompt) -> Batch {
        let id = prompt.id.clone();
        self.submit(prompt);
        self.prepared(id.as_str())
    }

    /// A prompt is submitted, its turn begins, and the provider has accepted the request.
    pub(crate) fn begin(&mut self, prompt: Prompt) {
        self.enter(prompt);
        self.stream(vec![ModelEvent::Connected]);
    }

    /// The attempt that is being carried out.
    pub(crate) fn attempt(&self) -> AttemptId {
        self.attempt_in(&session())
    }

    /// The attempt that is being carried out in that session.
    pub(crate) fn attempt_in(&self, session: &SessionId) -> AttemptId {
        let calls: Vec<_> = self.flights.calls.iter().filter(|(id, _)| id == session).collect();
        assert_eq!(calls.len(), 1, "one model call is under way: {calls:?}");
        calls[0].1
    }

    /// The provider says something, in one batch.
    pub(crate) fn stream(&mut self, events: Vec<ModelEvent>) -> Batch {
        let attempt = self.attempt();
        self.stream_to(attempt, events)
    }

    pub(crate) fn stream_to(&mut self, attempt: AttemptId, events: Vec<ModelEvent>) -> Batch {
        let input = |event| words::to(&session(), session::Input::Model { attempt, event });
        self.batch(events.into_iter().map(input).collect())
    }

    /// The model answers with text and is done.
    pub(crate) fn answer(&mut self, text: &str) -> Batch {
        self.stream(vec![words::text(0, text), words::stop()])
    }

    /// The model calls tools.
    pub(crate) fn call(&mut self, calls: &[(&str, &str)]) -> Batch {
        self.call_and_finish(calls, FinishReason::ToolCalls)
    }

    pub(crate) fn call_and_finish(&mut self, calls: &[(&str, &str)], finish: FinishReason) -> Batch {
        let calls = (0..).zip(calls).flat_map(|(block, (name, input))| words::called(block, name, input));
        self.stream(calls.chain([ModelEvent::Finished(finish)]).collect())
    }

    pub(crate) fn fail(&mut self, error: CallError) -> Batch {
        self.stream(vec![ModelEvent::Failed(error)])
    }

    /// The id of a call of the step that is under way.
    pub(crate) fn nth(&self, call: u32) -> CallId {
        let turn = self.durable(&session()).turn.as_ref().expect("a turn is under way");
        CallId { step: turn.step_id(), call }
    }

    /// The shell has looked at a call that turns out to be harmless.
    pub(crate) fn inspected(&mut self, call: u32) -> Batch {
        self.inspected_as(call, words::reading(true))
    }

    pub(crate) fn inspected_as(&mut self, call: u32, intent: Intent) -> Batch {
        let call = self.nth(call);
        self.happens(session::Input::Inspected { call, intent })
    }

    /// A tool ends well.
    pub(crate) fn done(&mut self, call: u32, text: &str) -> Batch {
        let call = self.nth(call);
        self.done_with(call, ToolStatus::Ok, text)
    }

    pub(crate) fn done_with(&mut self, call: CallId, status: ToolStatus, text: &str) -> Batch {
        self.happens(session::Input::ToolFinished { call, outcome: words::outcome(status, text) })
    }

    /// A call is looked at, run, and ends well.
    pub(crate) fn run_tool(&mut self, call: u32, text: &str) -> Batch {
        self.inspected(call);
        self.done(call, text)
    }

    /// Everything in the session is cancelled.
    pub(crate) fn cancel(&mut self) -> Batch {
        self.asks_for(words::cancel(&session(), CancelScope::Session)).1
    }

    /// One run is cancelled; says which runs that ends.
    pub(crate) fn cancel_run(&mut self, run: &str) -> (Vec<RunId>, Batch) {
        let scope = CancelScope::Run(RunId::new(run));
        let (id, batch) = self.asks_for(words::cancel(&session(), scope));
        match self.reply(id) {
            Reply::Cancelled { runs } => (runs.clone(), batch),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn clear_queue(&mut self) -> (Vec<PromptId>, Batch) {
        let (id, batch) = self.asks_for(Command::ClearQueue { session: session() });
        match self.reply(id) {
            Reply::Cleared { prompts } => (prompts.clone(), batch),
            other => panic!("{other:?}"),
        }
    }

    /// The schema and the answer that is to be held against it.
    pub(crate) fn answer_to_check(&self) -> Option<(String, String)> {
        self.machine.answer_to_check(&session())
    }

    /// How a prompt ended, if it did.
    pub(crate) fn ended(&self, prompt: &str) -> Option<&RunFinished> {
        self.log.iter().find_map(|entry| match &entry.record {
            Record::RunFinished(finished) if finished.prompt.as_str() == prompt => Some(finished),
            _ => None,
        })
    }

    /// How a prompt ended.
    pub(crate) fn end(&self, prompt: &str) -> &RunFinished {
        self.ended(prompt).unwrap_or_else(|| panic!("{prompt} has not ended"))
    }

    /// How the turns ended, in order.
    pub(crate) fn turns(&self) -> Vec<&TurnOutcome> {
        let ends = self.log.iter().filter_map(|entry| match &entry.record {
            Record::TurnFinished { outcome, .. } => Some(outcome),
            _ => None,
        });
        ends.collect()
    }

    /// The prompts that began turns, in order.
    pub(crate) fn begun(&self) -> Vec<&str> {
        let begun = self.log.iter().filter_map(|entry| match &entry.record {
            Record::TurnStarted { prompt, .. } => Some(prompt.as_str()),
            _ => None,
        });
        begun.collect()
    }

    /// How a call ended: its status and what the model is told.
    pub(crate) fn outcome(&self, call: CallId) -> (ToolStatus, String) {
        let found = self.log.iter().find_map(|entry| match &entry.record {
            Record::ToolCallFinished { call: own, outcome, .. } if *own == call => Some(outcome),
            _ => None,
        });
        let outcome = found.unwrap_or_else(|| panic!("{call} has not ended"));
        (outcome.status, outcome.text.clone())
    }
}

fn words_prepared(prompt: &str, result: Result<Preparation, ErrorInfo>) -> session::Input {
    session::Input::Prepared { prompt: PromptId::new(prompt), result: Box::new(result) }
}
