//! The durable state of a session: a fold over its records, and nothing else.
//!
//! [`Durable::evolve`] is the only code that changes it, live and at recovery alike, and it decides nothing. What the
//! numbers in it mean for the next step is decided in the modules beside.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::{
    AssistantMessage, Block, Finish, Message, MessageBody, Reasoning, ToolOutcome, ToolStatus,
};
use crate::content::{Usage, UserMessage, text_of};
use crate::digest;
use crate::ids::{CallId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use crate::model::{ModelRef, Preparation};
use crate::prompt::Prompt;
use crate::record::{CancelScope, Parent, Reason, Record, RunFinished, Totals};
use crate::time::Timestamp;

use super::repetition::Trail;

/// The version of the fold. A snapshot of another version is not used; the log is folded anew.
pub const FOLD_VERSION: u32 = 1;

/// How many bytes a session's log may grow before a snapshot of it is worth its while.
const TAIL_BYTES: u64 = 1 << 20;

/// Whether a snapshot is to be taken at a turn's end, from the bytes of the log since the last one and the size of
/// that one: so the cost of snapshots stays in proportion to what is written anyway.
pub fn snapshot_is_due(tail: u64, last: u64) -> bool {
    tail > TAIL_BYTES.max(last)
}

/// What a session's log amounts to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Durable {
    /// The session.
    pub id: SessionId,
    /// Whether its log has begun.
    pub created: bool,
    /// What people call it.
    pub title: String,
    /// The call that opened it, for a sub-agent's session.
    pub parent: Option<Parent>,
    /// The sequence that was given last.
    pub sequence: u64,
    /// The number of the message that came last.
    pub last_message: MessageId,
    /// The number of the turn that came last.
    pub last_turn: TurnId,
    /// What requests are made of besides the conversation.
    pub preparation: Option<Preparation>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Prompts without an end, by their sequence.
    pub open: BTreeMap<u64, OpenPrompt>,
    /// Prompts that have ended.
    pub closed: BTreeMap<PromptId, ClosedPrompt>,
    /// The turn that is under way.
    pub turn: Option<Turn>,
    /// What all finished runs used.
    pub totals: Totals,
    /// How long the conversation is.
    pub length: Length,
}

/// How long the conversation is: what was measured last, and what came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Tokens after the last step that a provider counted; 0 if none has.
    pub measured: u64,
    /// Bytes that came since.
    pub since: u64,
}

impl Length {
    /// About how many tokens that is, at four bytes a token.
    pub fn tokens(&self) -> u64 {
        self.measured.saturating_add(self.since.div_ceil(4))
    }
}

/// A prompt without an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPrompt {
    /// The prompt.
    pub prompt: Prompt,
    /// When it was accepted.
    pub accepted: Timestamp,
    /// How far it has come.
    pub phase: Phase,
}

/// How far a prompt without an end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It is accepted, and its run is being prepared.
    Preparing,
    /// It waits behind a turn.
    Queued,
    /// It is part of the turn that is under way.
    InTurn,
}

/// What is kept of a prompt that has ended, to recognise it when it is submitted again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPrompt {
    /// Its sequence.
    pub sequence: u64,
    /// Its run.
    pub run: RunId,
    /// The digest of its text.
    pub digest: String,
}

/// The turn that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number.
    pub id: TurnId,
    /// The run that it belongs to.
    pub run: RunId,
    /// What it is for.
    pub purpose: Purpose,
    /// The sequences of the prompt that it answers and of those that joined it.
    pub prompts: Vec<u64>,
    /// The number of its step that came last; 0 before the first.
    pub step: u32,
    /// The number of that step's attempt that came last.
    pub attempt: u32,
    /// The message of that step, until the step is finished.
    pub message: Option<MessageId>,
    /// What has been streamed of that message and recorded, by the number of its block.
    pub streamed: BTreeMap<u32, Block>,
    /// What the answer of the step that is under way used.
    pub usage: Usage,
    /// Why it is being cancelled, if it is.
    pub cancelling: Option<Reason>,
    /// How many steps in a row consisted of nothing but denied calls.
    pub denied_steps: u32,
    /// What its last steps did.
    pub trail: Trail,
    /// The last message with text.
    pub answer: Option<MessageId>,
    /// What it has used.
    pub totals: Totals,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To do what its prompt asks for.
    Work,
    /// To sum the conversation up.
    Summary {
        /// About how many tokens the model is shown of it.
        budget: u64,
        /// How often even that was refused as too long.
        refused: u32,
    },
}

impl Turn {
    fn new(id: TurnId, run: RunId, prompts: Vec<u64>) -> Self {
        Self {
            id,
            run,
            purpose: Purpose::Work,
            prompts,
            step: 0,
            attempt: 0,
            message: None,
            streamed: BTreeMap::new(),
            usage: Usage::default(),
            cancelling: None,
            denied_steps: 0,
            trail: Trail::default(),
            answer: None,
            totals: Totals::default(),
        }
    }

    /// The id of its step that came last.
    pub fn step_id(&self) -> StepId {
        StepId { turn: self.id, step: self.step }
    }
}

impl Durable {
    /// A session whose log is empty.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            created: false,
            title: String::new(),
            parent: None,
            sequence: 0,
            last_message: MessageId(0),
            last_turn: TurnId(0),
            preparation: None,
            messages: Vec::new(),
            open: BTreeMap::new(),
            closed: BTreeMap::new(),
            turn: None,
            totals: Totals::default(),
            length: Length::default(),
        }
    }

    /// Whether nothing is under way and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none() && self.open.is_empty()
    }

    /// The open prompt with that id, and its sequence.
    pub fn find_open(&self, prompt: &PromptId) -> Option<(u64, &OpenPrompt)> {
        self.open.iter().find(|(_, open)| open.prompt.id == *prompt).map(|(sequence, open)| (*sequence, open))
    }

    /// The message with that number.
    pub fn message(&self, id: MessageId) -> Option<&Message> {
        let at = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        self.messages.get(at)
    }

    /// The answer with that number.
    pub fn answer(&self, id: MessageId) -> Option<&AssistantMessage> {
        match &self.message(id)?.body {
            MessageBody::Assistant(answer) => Some(answer),
            MessageBody::User(_) | MessageBody::Summary(_) => None,
        }
    }

    /// The answer of the step that is under way.
    pub fn current(&self) -> Option<(MessageId, &AssistantMessage)> {
        let id = self.turn.as_ref()?.message?;
        Some((id, self.answer(id)?))
    }

    /// Applies a record that was decided at that time.
    pub fn evolve(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::SessionCreated { title, parent } => {
                self.created = true;
                self.title.clone_from(title);
                self.parent.clone_from(parent);
            }
            Record::PromptAccepted { sequence, prompt } => self.accept(at, *sequence, prompt),
            Record::PromptQueued { prompt } => {
                self.set_phase(prompt, Phase::Queued);
            }
            Record::PromptFolded { prompt, turn, message } => self.join(prompt, *turn, *message),
            Record::PromptReturned { .. }
            | Record::PermissionDecided { .. }
            | Record::ToolCallStarted { .. } => {}
            Record::ToolOutputAppended { .. } | Record::TurnFinished { .. } => {}
            Record::Prepared { preparation } => self.preparation = Some(preparation.clone()),
            Record::TurnStarted { turn, run, prompt, message } => {
                self.start_turn(*turn, run, prompt, *message)
            }
            Record::SummaryStarted { turn, budget } => {
                self.next_turn(*turn, Purpose::Summary { budget: *budget, refused: 0 });
            }
            Record::SummaryFinished { message, text, .. } => self.sum_up(*message, text),
            Record::TurnContinued { turn, prompt, message, text, .. } => {
                self.continue_run(*turn, prompt, *message, text);
            }
            Record::StepStarted { step, message, model } => self.start_step(*step, *message, model),
            Record::AttemptStarted { attempt } => self.with_turn(|turn| {
                turn.attempt = attempt.attempt;
                turn.totals.attempts += 1;
            }),
            Record::TextAppended { block, text, .. } => {
                self.append(*block, text, || Block::Text(String::new()))
            }
            Record::ReasoningAppended { block, text, .. } => {
                self.append(*block, text, || Block::Reasoning(Reasoning::default()));
            }
            Record::AttemptFailed { usage, retry_after, too_long, .. } => {
                self.fail_attempt(usage, retry_after.is_some());
                if *too_long {
                    self.refuse_summary();
                }
            }
            Record::MessageFinished { message, blocks, finish, usage } => {
                self.finish_message(*message, blocks, finish);
                self.measure(blocks, usage);
                self.with_turn(|turn| turn.usage = *usage);
            }
            Record::ToolCallFinished { message, call, outcome, .. } => {
                self.finish_call(*message, *call, outcome)
            }
            Record::StepFinished { usage, cost, context, .. } => self.finish_step(usage, *cost, *context),
            Record::CancelAccepted { scope, reason, .. } => self.cancel(scope, *reason),
            Record::RunFinished(finished) => self.finish_run(finished),
        }
    }

    fn with_turn(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = self.turn.as_mut() {
            change(turn);
        }
    }

    fn accept(&mut self, at: Timestamp, sequence: u64, prompt: &Prompt) {
        self.sequence = sequence;
        let open = OpenPrompt { prompt: prompt.clone(), accepted: at, phase: Phase::Preparing };
        self.open.insert(sequence, open);
    }

    fn set_phase(&mut self, prompt: &PromptId, phase: Phase) -> Option<(u64, Prompt)> {
        let (sequence, open) = self.open.iter_mut().find(|(_, open)| open.prompt.id == *prompt)?;
        open.phase = phase;
        Some((*sequence, open.prompt.clone()))
    }

    fn join(&mut self, prompt: &PromptId, turn: TurnId, message: MessageId) {
        if let Some((sequence, prompt)) = self.set_phase(prompt, Phase::InTurn) {
            self.push_user(turn, message, prompt);
            self.with_turn(|turn| turn.prompts.push(sequence));
        }
    }

    fn push_user(&mut self, turn: TurnId, id: MessageId, prompt: Prompt) {
        let user =
            UserMessage { turn, prompt: prompt.id, text: prompt.text, attachments: prompt.attachments };
        self.push(id, MessageBody::User(user));
    }

    fn push(&mut self, id: MessageId, body: MessageBody) {
        self.last_message = id;
        self.length.since += bytes_of(&body);
        self.messages.push(Message { id, body });
    }

    fn start_turn(&mut self, id: TurnId, run: &RunId, prompt: &PromptId, message: MessageId) {
        self.last_turn = id;
        let Some((sequence, prompt)) = self.set_phase(prompt, Phase::InTurn) else { return };
        self.push_user(id, message, prompt);
        self.turn = Some(Turn::new(id, run.clone(), alloc::vec![sequence]));
    }

    /// Puts the next turn of the same run in the place of the one that is over.
    fn next_turn(&mut self, id: TurnId, purpose: Purpose) {
        self.last_turn = id;
        if let Some(over) = self.turn.take() {
            let (answer, totals) = (over.answer, over.totals);
            let next = Turn::new(id, over.run, over.prompts);
            self.turn = Some(Turn { purpose, answer, totals, ..next });
        }
    }

    /// The summary stands for all before it. What it was made from stays in the log.
    fn sum_up(&mut self, message: MessageId, text: &str) {
        self.messages.clear();
        self.length = Length::default();
        self.push(message, MessageBody::Summary(text.into()));
    }

    fn continue_run(&mut self, id: TurnId, prompt: &PromptId, message: MessageId, text: &str) {
        self.next_turn(id, Purpose::Work);
        let (prompt, text) = (prompt.clone(), text.into());
        self.push(
            message,
            MessageBody::User(UserMessage { turn: id, prompt, text, attachments: Vec::new() }),
        );
    }

    fn start_step(&mut self, step: StepId, message: MessageId, model: &ModelRef) {
        let answer = AssistantMessage { step, model: model.clone(), blocks: Vec::new(), finish: None };
        self.push(message, MessageBody::Assistant(answer));
        self.with_turn(|turn| {
            turn.step = step.step;
            turn.attempt = 0;
            turn.message = Some(message);
            turn.totals.steps += 1;
        });
    }

    fn append(&mut self, block: u32, more: &str, empty: impl FnOnce() -> Block) {
        self.with_turn(|turn| match turn.streamed.entry(block).or_insert_with(empty) {
            Block::Text(text) => text.push_str(more),
            Block::Reasoning(reasoning) => reasoning.text.push_str(more),
            Block::Call(_) => {}
        });
    }

    fn fail_attempt(&mut self, usage: &Usage, void: bool) {
        self.with_turn(|turn| {
            if void {
                turn.streamed.clear();
            }
            turn.totals.usage.add(usage);
        });
    }

    fn refuse_summary(&mut self) {
        self.with_turn(|turn| match &mut turn.purpose {
            Purpose::Summary { refused, .. } => *refused += 1,
            Purpose::Work => {}
        });
    }

    fn finish_message(&mut self, message: MessageId, blocks: &[Block], finish: &Finish) {
        if let Some(answer) = self.answer_mut(message) {
            answer.blocks = blocks.to_vec();
            answer.finish = Some(finish.clone());
        }
        let speaks = !text_of(blocks).trim().is_empty();
        self.with_turn(|turn| {
            turn.streamed.clear();
            if speaks && turn.purpose == Purpose::Work {
                turn.answer = Some(message);
            }
        });
    }

    fn measure(&mut self, blocks: &[Block], usage: &Usage) {
        if usage.context() > 0 {
            self.length = Length { measured: usage.context(), since: 0 };
        } else {
            self.length.since += blocks.iter().map(block_bytes).sum::<u64>();
        }
    }

    fn answer_mut(&mut self, id: MessageId) -> Option<&mut AssistantMessage> {
        let at = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        match &mut self.messages.get_mut(at)?.body {
            MessageBody::Assistant(answer) => Some(answer),
            MessageBody::User(_) | MessageBody::Summary(_) => None,
        }
    }

    fn finish_call(&mut self, message: MessageId, call: CallId, outcome: &ToolOutcome) {
        if let Some(call) = self.answer_mut(message).and_then(|answer| answer.call_mut(call)) {
            call.outcome = Some(outcome.clone());
        }
        self.length.since += outcome.text.len() as u64;
        self.with_turn(|turn| {
            let tools = &mut turn.totals.tools;
            match outcome.status {
                ToolStatus::Ok => tools.ok += 1,
                ToolStatus::Error => tools.failed += 1,
                ToolStatus::Denied => tools.denied += 1,
                ToolStatus::Cancelled | ToolStatus::Interrupted | ToolStatus::NotReached => {
                    tools.cancelled += 1
                }
            }
        });
    }

    fn finish_step(&mut self, usage: &Usage, cost: Option<u64>, context: u64) {
        let answer = self.current().map(|(_, answer)| answer.clone());
        let denied = answer.as_ref().is_some_and(all_denied);
        self.with_turn(|turn| {
            if let Some(answer) = &answer {
                turn.trail.add(answer);
            }
            turn.message = None;
            turn.usage = Usage::default();
            turn.denied_steps = if denied { turn.denied_steps + 1 } else { 0 };
            turn.totals.usage.add(usage);
            turn.totals.context = context;
            turn.totals.cost = sum(turn.totals.cost, cost);
        });
    }

    fn cancel(&mut self, scope: &CancelScope, reason: Reason) {
        self.with_turn(|turn| {
            let covered = match scope {
                CancelScope::Session => true,
                CancelScope::Run(run) => turn.run == *run,
            };
            if covered && turn.cancelling.is_none() {
                turn.cancelling = Some(reason);
            }
        });
    }

    fn finish_run(&mut self, finished: &RunFinished) {
        let Some((sequence, open)) = self.find_open(&finished.prompt) else { return };
        let digest = digest::of(open.prompt.text.as_bytes());
        let closed = ClosedPrompt { sequence, run: finished.run.clone(), digest };
        self.open.remove(&sequence);
        self.closed.insert(finished.prompt.clone(), closed);
        add_totals(&mut self.totals, &finished.totals);
        if self.turn.as_ref().is_some_and(|turn| turn.prompts.iter().all(|own| !self.open.contains_key(own)))
        {
            self.turn = None;
        }
    }
}

fn block_bytes(block: &Block) -> u64 {
    let bytes = match block {
        Block::Text(text) => text.len(),
        Block::Reasoning(reasoning) => reasoning.text.len(),
        Block::Call(call) => call.name.len() + call.input.len(),
    };
    bytes as u64
}

fn bytes_of(body: &MessageBody) -> u64 {
    let bytes = match body {
        MessageBody::User(user) => {
            user.text.len() + user.attachments.iter().map(|attachment| attachment.data.len()).sum::<usize>()
        }
        MessageBody::Summary(text) => text.len(),
        MessageBody::Assistant(_) => 0,
    };
    bytes as u64
}

fn all_denied(answer: &AssistantMessage) -> bool {
    let denied = |call: &crate::content::ToolCall| {
        call.outcome.as_ref().is_some_and(|outcome| outcome.status == ToolStatus::Denied)
    };
    answer.calls().next().is_some() && answer.calls().all(denied)
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// Adds what one run used to what others used.
pub fn add_totals(all: &mut Totals, one: &Totals) {
    all.usage.add(&one.usage);
    if one.context > 0 {
        all.context = one.context;
    }
    all.cost = sum(all.cost, one.cost);
    all.steps = all.steps.saturating_add(one.steps);
    all.attempts = all.attempts.saturating_add(one.attempts);
    all.tools.ok += one.tools.ok;
    all.tools.failed += one.tools.failed;
    all.tools.denied += one.tools.denied;
    all.tools.cancelled += one.tools.cancelled;
}
