//! Short words for handmade histories.

use std::collections::BTreeMap;

use hostler_core::content::{Block, Finish, ToolCall, ToolOutcome, ToolStatus, Usage};
use hostler_core::ids::{AttemptId, CallId, ClientId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::model::ModelRef;
use hostler_core::prompt::{Prompt, Terms};
use hostler_core::record::{CancelScope, Reason, Record, ReturnReason, RunFinished, RunStatus, Totals};
use hostler_core::session::{Effect as Ask, Owned, Settings};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Workspace};

use super::{Oracle, Seen};

pub(super) const STEP: StepId = StepId { turn: TurnId(1), step: 1 };
pub(super) const CALL: CallId = CallId { step: STEP, call: 1 };
pub(super) const ATTEMPT: AttemptId = AttemptId { step: STEP, attempt: 1 };

pub(super) fn session() -> SessionId {
    SessionId::new("s")
}

pub(super) fn entry(record: Record) -> Entry {
    Entry { session: session(), at: Timestamp::from_millis(1), record }
}

pub(super) fn prompt(id: &str) -> Prompt {
    let (id, client) = (PromptId::new(id), ClientId::new("c"));
    let text = format!("Do {id}.");
    Prompt { id, run: None, client, text, attachments: Vec::new(), terms: Terms::headless() }
}

pub(super) fn accepted(sequence: u64, id: &str) -> Record {
    Record::PromptAccepted { sequence, prompt: prompt(id) }
}

pub(super) fn queued(id: &str) -> Record {
    Record::PromptQueued { prompt: PromptId::new(id) }
}

pub(super) fn started(turn: u32, id: &str) -> Record {
    Record::TurnStarted {
        turn: TurnId(turn),
        run: RunId::new(id),
        prompt: PromptId::new(id),
        message: MessageId(u64::from(turn) * 10),
    }
}

pub(super) fn joined(id: &str, turn: u32) -> Record {
    Record::PromptFolded { prompt: PromptId::new(id), turn: TurnId(turn), message: MessageId(77) }
}

pub(super) fn returned(id: &str) -> Record {
    Record::PromptReturned {
        prompt: PromptId::new(id),
        client: ClientId::new("c"),
        text: String::new(),
        reason: ReturnReason::Cleared,
    }
}

pub(super) fn ended(turn: u32) -> Record {
    let outcome = hostler_core::record::TurnOutcome::Completed;
    Record::TurnFinished { turn: TurnId(turn), outcome, totals: None }
}

pub(super) fn finished(id: &str) -> Record {
    Record::RunFinished(RunFinished {
        run: RunId::new(id),
        prompt: PromptId::new(id),
        status: RunStatus::Ok,
        reason: Reason::Completed,
        message: String::new(),
        answer: None,
        totals: Totals::default(),
        duration: 0,
    })
}

pub(super) fn step(step: u32) -> Record {
    let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
    let message = MessageId(10 + u64::from(step));
    Record::StepStarted { step: StepId { step, ..STEP }, message, model }
}

pub(super) fn attempt(attempt: u32) -> Record {
    Record::AttemptStarted { attempt: AttemptId { attempt, ..ATTEMPT } }
}

pub(super) fn answered(blocks: Vec<Block>) -> Record {
    let finish = Finish::EndTurn;
    Record::MessageFinished { message: MessageId(11), blocks, finish, usage: Usage::default() }
}

pub(super) fn call() -> Block {
    Block::Call(ToolCall {
        id: CALL,
        provider_id: "x".to_owned(),
        name: "ls".to_owned(),
        input: "{}".to_owned(),
        opaque: None,
        outcome: None,
    })
}

pub(super) fn tool_started() -> Record {
    Record::ToolCallStarted { message: MessageId(11), call: CALL }
}

pub(super) fn tool_finished() -> Record {
    let outcome = ToolOutcome::text(ToolStatus::Ok, "done");
    Record::ToolCallFinished { message: MessageId(11), call: CALL, outcome, duration: 0 }
}

pub(super) fn cancel(watermark: u64) -> Record {
    Record::CancelAccepted { scope: CancelScope::Session, watermark, reason: Reason::User }
}

pub(super) fn asks(effect: Ask) -> Effect {
    Effect::Session(Owned { session: session(), effect })
}

pub(super) fn run_tool() -> Effect {
    let input = hostler_core::tools::ToolInput::Ls(hostler_core::tools::LsInput { path: None, depth: None });
    asks(Ask::RunTool { call: CALL, input: Box::new(input) })
}

pub(super) fn call_model() -> Effect {
    let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
    asks(Ask::CallModel { attempt: ATTEMPT, model, renew: false })
}

pub(super) fn machine() -> Workspace {
    Workspace::new(Settings::default())
}

/// Shows an oracle a log, and then that a process starts something.
pub(super) fn shown(oracle: &mut impl Oracle, log: &[Record], starts: &[Effect]) -> Result<(), String> {
    for (at, record) in log.iter().enumerate() {
        oracle.see(&Seen::Log { seq: at as u64 + 1, entry: &entry(record.clone()) })?;
    }
    starts.iter().try_for_each(|effect| oracle.see(&Seen::Start { process: 0, effect }))
}

/// Shows an oracle that nothing is under way any more.
pub(super) fn quiet(oracle: &mut impl Oracle, tidy: bool) -> Result<(), String> {
    oracle.see(&Seen::Quiet { folds: &BTreeMap::new(), tidy })
}
