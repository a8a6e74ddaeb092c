//! What is under way outside the machine: preparations, model calls, tools, and waits for locks.
//!
//! Every job says how it ended, also if it panics, unless it is stopped because nobody awaits that any more.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_core::content::{ErrorClass, ErrorInfo, ToolOutcome, ToolStatus};
use hostler_core::ids::{AttemptId, CallId, EffectId, PromptId, SessionId, StepId};
use hostler_core::model::{CallError, CallErrorKind, ModelEvent, ModelRequest, Preparation, PrepareError};
use hostler_core::session::{Input as SessionInput, Verdict};
use hostler_core::tools::{Intent, ToolInput};
use hostler_core::workspace::Input;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use super::{Message, logged};
use crate::aside::aside;
use crate::models::{Model, Sink};
use crate::schema;
use crate::tools::{self, Canceller, Control, Progress};

/// How many pieces of a tool's output may wait to be shown.
const SHOWN: usize = 64;

/// How long stopped tools may take to end before they are killed.
const ENDING: Duration = Duration::from_secs(3);

/// Everything that is under way.
#[derive(Debug)]
pub(super) struct Jobs {
    sender: mpsc::Sender<Message>,
    running: BTreeMap<EffectId, Job>,
    opening: BTreeSet<SessionId>,
}

#[derive(Debug)]
struct Job {
    /// Says how the work ended.
    task: JoinHandle<()>,
    /// The work.
    work: AbortHandle,
    cancel: Option<Canceller>,
    /// Whether it is a tool, whose processes are to be gone before it is forgotten.
    is_tool: bool,
}

impl Job {
    /// Stops it without a word.
    fn stop(self) -> JoinHandle<()> {
        self.work.abort();
        self.task
    }
}

impl Jobs {
    pub(super) fn new(sender: mpsc::Sender<Message>) -> Self {
        Self { sender, running: BTreeMap::new(), opening: BTreeSet::new() }
    }

    /// A session's lock is being waited for.
    pub(super) fn expect_open(&mut self, session: SessionId) {
        self.opening.insert(session);
    }

    /// Nobody wants a session's lock any more.
    pub(super) fn forget_open(&mut self, session: &SessionId) {
        self.opening.remove(session);
    }

    /// Whether a lock that has come is still wanted.
    pub(super) fn opened(&mut self, session: &SessionId) -> bool {
        self.opening.remove(session)
    }

    pub(super) fn prepare(
        &mut self,
        session: SessionId,
        prompt: PromptId,
        work: impl Future<Output = Result<Preparation, PrepareError>> + Send + 'static,
    ) {
        let id = EffectId::Prepare(session.clone(), prompt.clone());
        let say = move |result| {
            let result = Box::new(result);
            Input::Session { session, input: SessionInput::Prepared { prompt, result } }
        };
        let failed = || {
            Err(ErrorInfo::new(
                ErrorClass::Internal,
                "Preparing the run failed inside hostler; try again, and report it if that does not help.",
            ))
        };
        self.spawn(id, None, work, say, failed);
    }

    pub(super) fn cancel_prepare(&mut self, session: SessionId, prompt: PromptId) {
        self.stop_one(&EffectId::Prepare(session, prompt));
    }

    pub(super) fn call(
        &mut self,
        session: SessionId,
        attempt: AttemptId,
        model: Arc<dyn Model>,
        request: ModelRequest,
    ) {
        let id = EffectId::Attempt(session.clone(), attempt);
        let sink = Sink::of_attempt(self.sender.clone(), session, attempt);
        self.ask(id, model, request, attempt.attempt, sink);
    }

    /// Asks a model for a title.
    pub(super) fn title(&mut self, session: SessionId, model: Arc<dyn Model>, request: ModelRequest) {
        let id = EffectId::Title(session.clone());
        self.ask(id, model, request, 1, Sink::of_title(self.sender.clone(), session));
    }

    pub(super) fn cancel_title(&mut self, session: SessionId) {
        self.stop_one(&EffectId::Title(session));
    }

    /// Finds out whether an answer satisfies a schema.
    pub(super) fn check(&mut self, session: SessionId, step: StepId, schema: String, answer: String) {
        let id = EffectId::Check(session.clone(), step);
        let undecided =
            || Verdict::Undecided("Checking the answer failed inside hostler; try again.".to_owned());
        let work = async move {
            aside(move || schema::judge(&schema, &answer)).await.unwrap_or_else(|_| undecided())
        };
        let say = move |verdict| Input::Session { session, input: SessionInput::Checked { step, verdict } };
        self.spawn(id, None, work, say, undecided);
    }

    pub(super) fn cancel_check(&mut self, session: SessionId, step: StepId) {
        self.stop_one(&EffectId::Check(session, step));
    }

    fn ask(&mut self, id: EffectId, model: Arc<dyn Model>, request: ModelRequest, nth: u32, sink: Sink) {
        // A call speaks through its sink and has nothing to say at its end, unless it panicked.
        let work = tokio::spawn(model.call(request, nth, sink.clone()));
        let abort = work.abort_handle();
        let task = tokio::spawn(async move {
            if work.await.is_err_and(|error| error.is_panic()) {
                sink.say(ModelEvent::Failed(broken_call())).await;
            }
        });
        self.running.insert(id, Job { task, work: abort, cancel: None, is_tool: false });
    }

    pub(super) fn cancel_call(&mut self, session: SessionId, attempt: AttemptId) {
        self.stop_one(&EffectId::Attempt(session, attempt));
    }

    fn stop_one(&mut self, id: &EffectId) {
        if let Some(job) = self.running.remove(id) {
            // Nobody awaits what it was doing; it is gone as soon as the runtime comes to it.
            drop(job.stop());
        }
    }

    pub(super) fn inspect(
        &mut self,
        session: SessionId,
        call: CallId,
        place: tools::Workspace,
        input: ToolInput,
    ) {
        let id = EffectId::Call(session.clone(), call);
        // What cannot be found out is not taken for harmless.
        let work = async move { aside(move || tools::inspect(&place, &input)).await.unwrap_or_default() };
        let say = move |intent| Input::Session { session, input: SessionInput::Inspected { call, intent } };
        self.spawn(id, None, work, say, Intent::default);
    }

    pub(super) fn run_tool(
        &mut self,
        session: SessionId,
        call: CallId,
        place: tools::Workspace,
        input: ToolInput,
    ) {
        let id = EffectId::Call(session.clone(), call);
        let (shown, output) = mpsc::channel(SHOWN);
        let (cancel, control) = Control::new(Progress::to(shown));
        let show = self.show(session.clone(), call, output);
        let (name, began, of) = (logged::tool(&input), Instant::now(), session.clone());
        let work = async move {
            let (outcome, ()) = tokio::join!(tools::run(&place, input, control), show);
            logged::tool_ended(&of, call, name, &outcome, began.elapsed());
            outcome
        };
        let say =
            move |outcome| Input::Session { session, input: SessionInput::ToolFinished { call, outcome } };
        let failed = || {
            ToolOutcome::text(
                ToolStatus::Error,
                "The tool failed inside hostler; it may have had some effect.",
            )
        };
        self.spawn(id, Some(cancel), work, say, failed);
    }

    /// Passes on what a tool shows, until it has ended.
    fn show(
        &self,
        session: SessionId,
        call: CallId,
        mut output: mpsc::Receiver<String>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let sender = self.sender.clone();
        async move {
            while let Some(text) = output.recv().await {
                let input = SessionInput::ToolOutput { call, text };
                let message = Message::Input(Input::Session { session: session.clone(), input });
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Stops a tool; it says itself how it ended. One that was never started ends here; a look at what it would touch is
    /// awaited by nobody any more.
    pub(super) fn cancel_tool(&mut self, session: SessionId, call: CallId) -> Option<Input> {
        match self.running.get_mut(&EffectId::Call(session.clone(), call)) {
            Some(job) => {
                if let Some(cancel) = job.cancel.take() {
                    cancel.cancel();
                }
                None
            }
            None => {
                let outcome = ToolOutcome::never_started();
                Some(Input::Session { session, input: SessionInput::ToolFinished { call, outcome } })
            }
        }
    }

    fn spawn<T: Send + 'static>(
        &mut self,
        id: EffectId,
        cancel: Option<Canceller>,
        work: impl Future<Output = T> + Send + 'static,
        say: impl FnOnce(T) -> Input + Send + 'static,
        failed: impl FnOnce() -> T + Send + 'static,
    ) {
        let sender = self.sender.clone();
        let work = tokio::spawn(work);
        let abort = work.abort_handle();
        let task = tokio::spawn(async move {
            let ended = match work.await {
                Ok(ended) => ended,
                Err(error) if error.is_panic() => failed(),
                Err(_) => return,
            };
            // A driver that is gone awaits nothing.
            let _ = sender.send(Message::Input(say(ended))).await;
        });
        let is_tool = cancel.is_some();
        self.running.insert(id, Job { task, work: abort, cancel, is_tool });
    }

    /// Forgets a job that has said how it ended.
    pub(super) fn ended(&mut self, input: &Input) {
        let Input::Session { session, input } = input else { return };
        let id = match input {
            SessionInput::Prepared { prompt, .. } => EffectId::Prepare(session.clone(), prompt.clone()),
            SessionInput::Checked { step, .. } => EffectId::Check(session.clone(), *step),
            SessionInput::Inspected { call, .. } | SessionInput::ToolFinished { call, .. } => {
                EffectId::Call(session.clone(), *call)
            }
            SessionInput::Model { attempt, event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                EffectId::Attempt(session.clone(), *attempt)
            }
            SessionInput::Title { event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                EffectId::Title(session.clone())
            }
            SessionInput::Model { .. }
            | SessionInput::Title { .. }
            | SessionInput::Answer { .. }
            | SessionInput::Rename { .. }
            | SessionInput::Fork { .. }
            | SessionInput::Opened
            | SessionInput::Submit { .. }
            | SessionInput::Cancel { .. }
            | SessionInput::ClearQueue { .. }
            | SessionInput::ToolOutput { .. }
            | SessionInput::Tick => return,
        };
        self.running.remove(&id);
    }

    /// Stops everything and waits until it is gone, the processes of tools included.
    pub(super) async fn stop(&mut self) {
        self.opening.clear();
        let mut jobs: Vec<_> = std::mem::take(&mut self.running).into_values().collect();
        let tools = jobs.iter_mut().filter_map(|job| job.cancel.take().map(Canceller::cancel)).count();
        if tools > 0 {
            let _ = tokio::time::timeout(ENDING, async {
                for job in jobs.iter_mut().filter(|job| job.is_tool) {
                    // How it ended does not matter any more.
                    let _ = (&mut job.task).await;
                }
            })
            .await;
        }
        for job in jobs {
            job.task.abort();
            drop(job.stop());
        }
    }
}

fn broken_call() -> CallError {
    let message = "asking the model failed inside hostler".to_owned();
    CallError { kind: CallErrorKind::Protocol, message, retry_after: None, should_retry: None }
}
