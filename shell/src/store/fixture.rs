//! Short names for the entries that the store's tests are about.

use hostler_core::content::{Block, Finish, ToolCall, ToolOutcome, ToolStatus, Usage};
use hostler_core::ids::{AttemptId, CallId, ClientId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::model::{CallError, CallErrorKind, ModelRef};
use hostler_core::prompt::{Prompt, Terms};
use hostler_core::record::{Parent, Reason, Record, RunFinished, RunStatus, Totals};
use hostler_core::time::Timestamp;

pub(super) const DB: &str = super::FILE;

/// An entry at a time that does not matter.
pub(super) fn entry(session: &str, record: Record) -> Entry {
    Entry { session: SessionId::new(session), at: Timestamp::from_millis(1), record }
}

pub(super) fn at(millis: u64, entry: Entry) -> Entry {
    Entry { at: Timestamp::from_millis(millis), ..entry }
}

pub(super) fn created(session: &str, millis: u64) -> Entry {
    at(millis, entry(session, Record::SessionCreated { title: format!("title of {session}"), parent: None }))
}

/// The session that call `t1.s1.c1` of message 2 opened.
pub(super) fn child_of(parent: &str) -> (SessionId, Entry) {
    let (session, message, call) = (SessionId::new(parent), MessageId(2), call_id(1, 1));
    let child = SessionId::child(&session, message, call);
    let parent = Some(Parent { session, message, call });
    let record = Record::SessionCreated { title: "child".to_string(), parent };
    (child.clone(), entry(child.as_str(), record))
}

pub(super) fn step_id(turn: u32) -> StepId {
    StepId { turn: TurnId(turn), step: 1 }
}

pub(super) fn call_id(turn: u32, call: u32) -> CallId {
    CallId { step: step_id(turn), call }
}

/// A prompt with the text `say {prompt}`.
pub(super) fn accepted(session: &str, prompt: &str, sequence: u64) -> Entry {
    let prompt = Prompt {
        id: PromptId::new(prompt),
        run: None,
        client: ClientId::new("c"),
        text: format!("say {prompt}"),
        attachments: Vec::new(),
        terms: Terms::headless(),
    };
    entry(session, Record::PromptAccepted { sequence, prompt })
}

pub(super) fn turn(session: &str, run: &str, turn: u32, message: u64) -> Entry {
    let (turn, message) = (TurnId(turn), MessageId(message));
    entry(session, Record::TurnStarted { turn, run: RunId::new(run), prompt: PromptId::new(run), message })
}

pub(super) fn model() -> ModelRef {
    ModelRef { provider: "p".to_string(), model: "m".to_string() }
}

pub(super) fn step(session: &str, turn: u32, message: u64) -> Entry {
    entry(session, Record::StepStarted { step: step_id(turn), message: MessageId(message), model: model() })
}

/// A chunk of text for the first block.
pub(super) fn text(session: &str, message: u64, text: &str) -> Entry {
    entry(session, Record::TextAppended { message: MessageId(message), block: 0, text: text.to_string() })
}

pub(super) fn attempt_failed(session: &str, turn: u32, message: u64) -> Entry {
    let kind = CallErrorKind::Transport;
    let error = CallError { kind, message: "broke".to_string(), retry_after: None, should_retry: None };
    let attempt = AttemptId { step: step_id(turn), attempt: 1 };
    let message = MessageId(message);
    entry(
        session,
        Record::AttemptFailed {
            attempt,
            message,
            error,
            usage: Usage::default(),
            cost: None,
            too_long: false,
            seals: false,
            retry_after: None,
        },
    )
}

pub(super) fn call(turn: u32, call: u32) -> ToolCall {
    let (provider_id, name, input) = ("toolu_1".to_string(), "bash".to_string(), "{}".to_string());
    ToolCall { id: call_id(turn, call), provider_id, name, input, opaque: None, outcome: None }
}

pub(super) fn finished(session: &str, message: u64, blocks: Vec<Block>, finish: Finish) -> Entry {
    entry(
        session,
        Record::MessageFinished { message: MessageId(message), blocks, finish, usage: Usage::default() },
    )
}

pub(super) fn outcome(session: &str, message: u64, call: CallId, text: &str) -> Entry {
    let outcome = ToolOutcome::text(ToolStatus::Ok, text);
    entry(session, Record::ToolCallFinished { message: MessageId(message), call, outcome, duration: 3 })
}

/// The end of a run that used ten tokens.
pub(super) fn end(run: &str) -> RunFinished {
    RunFinished {
        run: RunId::new(run),
        prompt: PromptId::new(run),
        status: RunStatus::Ok,
        reason: Reason::Completed,
        message: String::new(),
        answer: None,
        totals: Totals { usage: Usage { input: 10, ..Usage::default() }, steps: 1, ..Totals::default() },
        duration: 5,
    }
}

pub(super) fn run_finished(session: &str, run: &str) -> Entry {
    entry(session, Record::RunFinished(end(run)))
}

/// The `count`th run of a session, whole: its question is message `2 * count - 1`, and its answer, streamed as two
/// chunks of text, the next one.
pub(super) fn run(session: &str, run: &str, count: u32) -> Vec<Entry> {
    let answer = u64::from(count) * 2;
    let blocks = vec![Block::Text(format!("{run} said"))];
    vec![
        accepted(session, run, u64::from(count)),
        turn(session, run, count, answer - 1),
        step(session, count, answer),
        text(session, answer, run),
        text(session, answer, " said"),
        finished(session, answer, blocks, Finish::EndTurn),
        run_finished(session, run),
    ]
}
