//! Short words for what tests say over and over.

use hostler_core::content::{ToolOutcome, ToolStatus, Usage};
use hostler_core::ids::{CallId, ClientId, PromptId, RunId, SessionId, StepId, TurnId};
use hostler_core::model::{
    CallError, CallErrorKind, FinishReason, ModelEvent, ModelRef, Preparation, ToolSpec,
};
use hostler_core::prompt::{Delivery, PermissionMode, Prompt, Terms};
use hostler_core::protocol::{Command, SessionChoice};
use hostler_core::record::{CancelScope, Reason};
use hostler_core::session;
use hostler_core::tools::{self, Intent, PathUse};
use hostler_core::workspace::{Effect, Input};

/// The session of tests that need only one.
pub(crate) fn session() -> SessionId {
    SessionId::new("s")
}

/// A prompt that joins a turn that is under way.
pub(crate) fn prompt(id: &str, text: &str) -> Prompt {
    Prompt {
        id: PromptId::new(id),
        run: None,
        client: ClientId::new("client"),
        text: text.into(),
        attachments: Vec::new(),
        terms: Terms { permission: PermissionMode::Yolo, ..Terms::headless() },
    }
}

/// A prompt with a run of its own, and so a turn of its own; the run is called `run-` and the prompt's id.
pub(crate) fn run(id: &str, text: &str) -> Prompt {
    Prompt { run: Some(RunId::new(format!("run-{id}"))), ..prompt(id, text) }
}

/// A prompt of which nobody can be asked.
pub(crate) fn headless(id: &str, text: &str) -> Prompt {
    Prompt { terms: Terms::headless(), ..prompt(id, text) }
}

pub(crate) fn delivered(delivery: Delivery, prompt: Prompt) -> Prompt {
    Prompt { terms: Terms { delivery, ..prompt.terms.clone() }, ..prompt }
}

pub(crate) fn submit(session: &SessionId, prompt: Prompt) -> Command {
    Command::Submit { session: SessionChoice::New { id: session.clone() }, prompt }
}

pub(crate) fn cancel(session: &SessionId, scope: CancelScope) -> Command {
    Command::Cancel { session: session.clone(), scope, reason: Reason::User }
}

pub(crate) fn model() -> ModelRef {
    ModelRef { provider: "p".into(), model: "m".into() }
}

pub(crate) fn preparation() -> Preparation {
    Preparation {
        model: model(),
        system: "You are tested.".into(),
        answer_schema: None,
        tools: offered(),
        context_window: None,
        prices: None,
        notices: Vec::new(),
        small: None,
        renewable: false,
    }
}

/// All tools by their names alone, so that requests are as short as tests about their length want them. Only the words that a
/// list insists on are said, since whatever hides texts leaves those.
fn offered() -> Vec<ToolSpec> {
    let named = |spec: ToolSpec| {
        let schema = if spec.name == "todos" { r#"{"enum":["pending"]}"# } else { "" };
        ToolSpec { description: String::new(), schema: schema.into(), ..spec }
    };
    tools::specs().into_iter().map(named).collect()
}

pub(crate) fn text(block: u32, text: &str) -> ModelEvent {
    ModelEvent::Text { block, text: text.into() }
}

/// The events of a tool call.
pub(crate) fn called(block: u32, name: &str, input: &str) -> [ModelEvent; 2] {
    let id = format!("provider-{block}");
    [ModelEvent::Call { block, id, name: name.into() }, ModelEvent::Input { block, text: input.into() }]
}

pub(crate) fn used(input: u64, output: u64) -> ModelEvent {
    ModelEvent::Usage(Usage { input, output, ..Usage::default() })
}

pub(crate) fn stop() -> ModelEvent {
    ModelEvent::Finished(FinishReason::Stop)
}

pub(crate) fn broken(kind: CallErrorKind) -> CallError {
    CallError { kind, message: "it broke".into(), retry_after: None, should_retry: None }
}

pub(crate) fn overloaded(retry_after: Option<u64>) -> CallError {
    let kind = CallErrorKind::Status { status: 503, code: String::new() };
    CallError { retry_after, ..broken(kind) }
}

/// What a call that only reads would touch.
pub(crate) fn reading(inside: bool) -> Intent {
    let path = PathUse { path: "/w/a".into(), inside };
    Intent { reads: vec![path], complete: true, ..Intent::default() }
}

pub(crate) fn outcome(status: ToolStatus, text: &str) -> ToolOutcome {
    ToolOutcome::text(status, text)
}

pub(crate) fn call_id(turn: u32, step: u32, call: u32) -> CallId {
    CallId { step: StepId { turn: TurnId(turn), step }, call }
}

pub(crate) fn to(session: &SessionId, input: session::Input) -> Input {
    Input::Session { session: session.clone(), input }
}

/// An effect in a few words.
pub(crate) fn ask(effect: &Effect) -> String {
    use session::Effect as Ask;
    match effect {
        Effect::OpenSession { session } => format!("open {session}"),
        Effect::CancelOpen { session } => format!("stop opening {session}"),
        Effect::CloseSession { session } => format!("close {session}"),
        Effect::DeleteSession { session } => format!("delete {session}"),
        Effect::Notify(_) => "notify".into(),
        Effect::Reply { to, .. } => format!("reply {}", to.0),
        Effect::Session(owned) => match &owned.effect {
            Ask::Prepare { prompt, .. } => format!("prepare {prompt}"),
            Ask::CancelPrepare { prompt } => format!("stop preparing {prompt}"),
            Ask::CallModel { attempt, .. } => format!("call {attempt}"),
            Ask::CancelCall { attempt } => format!("stop calling {attempt}"),
            Ask::InspectCall { call, .. } => format!("inspect {call}"),
            Ask::RunTool { call, .. } => format!("run {call}"),
            Ask::CancelTool { call } => format!("stop running {call}"),
            Ask::MakeTitle { .. } => "make a title".into(),
            Ask::CancelTitle => "stop making a title".into(),
            Ask::CheckAnswer { step } => format!("check the answer of {step}"),
            Ask::CancelCheck { step } => format!("stop checking the answer of {step}"),
            Ask::KeepRules { .. } => "keep rules".into(),
            Ask::Reply { to, .. } => format!("reply {}", to.0),
        },
    }
}
