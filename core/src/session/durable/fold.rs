//! The fold: what each record changes. It decides nothing.

use alloc::string::String;
use alloc::vec::Vec;

use super::length::{block_bytes, bytes_of, copied_bytes, outcome_bytes};
use super::{Asked, ClosedPrompt, Durable, Length, OpenPrompt, Phase, Purpose, Turn};
use crate::content::{
    AssistantMessage, Block, Finish, Message, MessageBody, Reasoning, ToolOutcome, ToolStatus,
};
use crate::content::{Usage, UserMessage, text_of};
use crate::digest;
use crate::ids::{CallId, MessageId, PromptId, RunId, SessionId, StepId, TurnId};
use crate::model::ModelRef;
use crate::prompt::Prompt;
use crate::protocol::AskId;
use crate::record::{CancelScope, Reason, Record, RunFinished, Totals};
use crate::time::Timestamp;
use crate::tools::Rule;

impl Durable {
    /// Applies a record that was decided at that time.
    pub fn evolve(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::SessionCreated { title, parent } => {
                self.created = true;
                self.title.clone_from(title);
                self.parent.clone_from(parent);
            }
            Record::SessionForked { titled_by, messages, turn, todos, .. } => {
                self.titled_by = *titled_by;
                self.last_turn = *turn;
                self.todos.clone_from(todos);
                for message in messages {
                    self.push(message.id, message.body.clone());
                    self.length.since += copied_bytes(&message.body);
                }
            }
            Record::TitleChanged { title, by, usage, cost } => {
                self.title.clone_from(title);
                self.titled_by = Some(*by);
                self.totals.usage.add(usage);
                self.totals.add_cost(*cost);
            }
            Record::PromptAccepted { sequence, prompt } => self.accept(at, *sequence, prompt),
            Record::PromptQueued { prompt } => {
                self.set_phase(prompt, Phase::Queued);
            }
            Record::PromptFolded { prompt, turn, message } => self.join(prompt, *turn, *message),
            Record::PromptReturned { .. } | Record::ToolCallStarted { .. } => {}
            Record::PermissionAsked { session, call, ask } => {
                let id = AskId { session: session.clone(), call: *call };
                self.asks.push(Asked { id, at, what: ask.clone() });
            }
            Record::PermissionWithdrawn { session, call } => self.forget_ask(session, *call),
            Record::PermissionDecided { call, allowed, session, person, grants, .. } => {
                let whose = session.clone().unwrap_or_else(|| self.id.clone());
                self.forget_ask(&whose, *call);
                self.grant(grants);
                self.with_turn(|turn| turn.stopped |= *person && !allowed);
            }
            Record::ToolOutputAppended { .. } => {}
            Record::Prepared { preparation } => self.preparation = Some(preparation.clone()),
            Record::TurnStarted { turn, run, prompt, message } => {
                self.start_turn(*turn, run, prompt, *message)
            }
            Record::SummaryStarted { turn, budget } => {
                self.next_turn(*turn, Purpose::Summary { budget: *budget, refused: 0 });
            }
            Record::SummaryFinished { message, text, .. } => self.sum_up(*message, text),
            Record::TurnContinued { turn, prompt, message, text, crowded, .. } => {
                self.continue_run(*turn, prompt, *message, text);
                self.with_turn(|turn| turn.crowded = if *crowded { turn.crowded + 1 } else { 0 });
            }
            Record::AnswerRefused { turn, prompt, message, text, .. } => {
                self.with_turn(|turn| {
                    (turn.repairs, turn.answer) = (turn.repairs + 1, None);
                    // A step that was to be the answer stands between what was denied before it and what is after it.
                    turn.denied_steps = 0;
                });
                let (prompt, text, attachments) = (prompt.clone(), text.clone(), Vec::new());
                let user = UserMessage { turn: *turn, prompt, text, attachments };
                self.push(*message, MessageBody::User(user));
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
            Record::AttemptFailed { usage, cost, retry_after, too_long, seals, .. } => {
                self.fail_attempt(usage, *cost, retry_after.is_some());
                if *too_long {
                    self.refuse_summary();
                }
                if *seals {
                    // The last one is the answer that is still to come.
                    self.unsealed = MessageId(self.last_message.0.saturating_sub(1));
                }
            }
            Record::MessageFinished { message, blocks, finish, usage } => {
                self.finish_message(*message, blocks, finish);
                self.measure(*message, blocks, usage);
                self.with_turn(|turn| turn.usage = *usage);
            }
            Record::ToolCallFinished { message, call, outcome, .. } => {
                self.finish_call(*message, *call, outcome)
            }
            Record::SubAgentFinished { usage, cost, .. } => self.with_turn(|turn| {
                turn.totals.usage.add(usage);
                turn.totals.add_cost(*cost);
            }),
            Record::TodosChanged { todos } => self.todos.clone_from(todos),
            Record::StepFinished { usage, cost, context, estimated, .. } => {
                self.finish_step(usage, *cost, (*context, *estimated));
            }
            Record::CancelAccepted { scope, reason, .. } => self.cancel(scope, *reason),
            Record::TurnFinished { turn, totals, .. } => self.finish_turn(*turn, totals.as_ref()),
            Record::RunFinished(finished) => self.finish_run(finished),
        }
    }

    fn forget_ask(&mut self, session: &SessionId, call: CallId) {
        self.asks.retain(|asked| asked.id.call != call || asked.id.session != *session);
    }

    fn grant(&mut self, rules: &[Rule]) {
        for rule in rules {
            if !self.grants.contains(rule) {
                self.grants.push(rule.clone());
            }
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
        let next = match self.turn.take() {
            Some(over) => Turn {
                answer: over.answer,
                totals: over.totals,
                denied_steps: over.denied_steps,
                crowded: over.crowded,
                repairs: over.repairs,
                ..Turn::new(id, over.run, over.prompts)
            },
            None => Turn::new(id, RunId::new(""), Vec::new()),
        };
        self.turn = Some(Turn { purpose, ..next });
    }

    /// A turn is over. What was said for a summary that did not come about is no part of the conversation, and a turn of
    /// no run leaves nothing behind that a run's end would clear away.
    fn finish_turn(&mut self, id: TurnId, totals: Option<&Totals>) {
        let Some(turn) = self.turn.as_ref().filter(|turn| turn.id == id) else { return };
        let (sums_up, of_no_run) = (turn.purpose != Purpose::Work, turn.prompts.is_empty());
        if sums_up && self.messages.last().is_some_and(|last| last.body.is_answer_of(id)) {
            self.messages.pop();
        }
        if let Some(totals) = totals {
            self.totals.add(totals);
        }
        if of_no_run {
            self.turn = None;
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
        let attachments = self.find_open(prompt).map(|(_, open)| open.prompt.attachments.clone());
        let (prompt, text, attachments) = (prompt.clone(), text.into(), attachments.unwrap_or_default());
        self.push(message, MessageBody::User(UserMessage { turn: id, prompt, text, attachments }));
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

    fn fail_attempt(&mut self, usage: &Usage, cost: Option<u64>, void: bool) {
        self.with_turn(|turn| {
            if void {
                turn.streamed.clear();
            }
            turn.totals.usage.add(usage);
            turn.totals.add_cost(cost);
        });
    }

    fn refuse_summary(&mut self) {
        self.with_turn(|turn| match &mut turn.purpose {
            Purpose::Summary { refused, .. } => *refused += 1,
            Purpose::Work => {}
        });
    }

    fn finish_message(&mut self, message: MessageId, blocks: &[Block], finish: &Finish) {
        // Half a summary stands for nothing, and the agent would take it for something that it had said.
        let sums_up = self.turn.as_ref().is_some_and(|turn| turn.purpose != Purpose::Work);
        let broken_off = matches!(finish, Finish::Cancelled | Finish::Interrupted | Finish::Error(_));
        if let Some(answer) = self.answer_mut(message) {
            answer.blocks = if sums_up && broken_off { Vec::new() } else { blocks.to_vec() };
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

    /// A request for a summary shows another conversation, and its usage says nothing about this one.
    fn measure(&mut self, message: MessageId, blocks: &[Block], usage: &Usage) {
        let works = self.turn.as_ref().is_some_and(|turn| turn.purpose == Purpose::Work);
        if !works || self.answer(message).is_none() {
            return;
        }
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
        self.length.since += outcome_bytes(outcome);
        self.with_turn(|turn| turn.totals.tools.count(outcome.status));
    }

    fn finish_step(&mut self, usage: &Usage, cost: Option<u64>, (context, estimated): (u64, bool)) {
        let answer = self.current().map(|(_, answer)| answer.clone());
        let calls = answer.as_ref().is_some_and(|answer| answer.calls().next().is_some());
        let denied = answer.as_ref().is_some_and(all_denied);
        self.with_turn(|turn| {
            if let Some(answer) = &answer {
                turn.trail.add(answer);
            }
            turn.message = None;
            turn.usage = Usage::default();
            // A step without calls, such as one that a summary comes before, says nothing about denials.
            if calls {
                turn.denied_steps = if denied { turn.denied_steps + 1 } else { 0 };
            }
            turn.totals.usage.add(usage);
            (turn.totals.context, turn.totals.estimated) = (context, estimated);
            turn.totals.add_cost(cost);
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
        let (run, status, reason) = (finished.run.clone(), finished.status, finished.reason);
        if run.as_str() != finished.prompt.as_str() {
            self.runs.insert(run.clone());
        }
        let closed = ClosedPrompt { sequence, run, digest, status, reason };
        self.open.remove(&sequence);
        self.closed.insert(finished.prompt.clone(), closed);
        self.totals.add(&finished.totals);
        // A turn that belongs to no run ends by itself.
        let over = |turn: &Turn| {
            !turn.prompts.is_empty() && turn.prompts.iter().all(|own| !self.open.contains_key(own))
        };
        if self.turn.as_ref().is_some_and(over) {
            self.turn = None;
        }
    }
}

fn all_denied(answer: &AssistantMessage) -> bool {
    let denied = |call: &crate::content::ToolCall| {
        call.outcome.as_ref().is_some_and(|outcome| outcome.status == ToolStatus::Denied)
    };
    answer.calls().next().is_some() && answer.calls().all(denied)
}
