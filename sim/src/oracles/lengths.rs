//! A conversation is summed up when it has become too long for its model and not before, and how long it is said to be is how
//! long it is: what a provider counted last, and a token for every four bytes since.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::content::{Attachment, Block, MessageBody, Usage};
use hostler_core::ids::{PromptId, SessionId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::model::{Item, ModelRequest, Preparation};
use hostler_core::record::{Record, TurnOutcome};

use super::{Oracle, Seen};

/// Of a window of more than so many tokens a fixed part is left free, of a smaller one a fifth.
const LARGE: u64 = 200_000;
const FREE: u64 = 20_000;

/// How many bytes of text a picture counts for at the most.
const PICTURE: usize = 6_400;

/// How much of a request for a summary is not the conversation, in bytes, at the most.
const FRAME: u64 = 100;

#[derive(Clone, Debug, Default)]
struct Session {
    window: u64,
    /// What stands before the conversation, in bytes.
    before: u64,
    counted: u64,
    since: u64,
    turn: Option<TurnId>,
    summing: bool,
    /// Whether anything has been answered since the last summary.
    spoken: bool,
    /// The turns in which something was asked since then.
    asked: BTreeSet<TurnId>,
    /// What the text of each open prompt adds and what is attached to it, and whether it may join.
    prompts: BTreeMap<PromptId, (u64, u64, bool)>,
    queued: BTreeSet<PromptId>,
    used: Usage,
    /// Whether the provider has just said that it is too long.
    refused: bool,
    /// How much of it the summary that is asked for may show, in tokens, and how often that was too much.
    budget: (u64, u32),
}

/// How long the conversation of each session is.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths(BTreeMap<SessionId, Session>);

fn attached(attachments: &[Attachment]) -> u64 {
    let one = |attachment: &Attachment| {
        let bytes = attachment.data.len();
        if attachment.media_type.starts_with("text/") { bytes } else { bytes.min(PICTURE) }
    };
    attachments.iter().map(one).sum::<usize>() as u64
}

fn said(blocks: &[Block]) -> u64 {
    let one = |block: &Block| match block {
        Block::Text(text) => text.len(),
        Block::Reasoning(reasoning) => reasoning.text.len(),
        Block::Call(call) => call.name.len() + call.input.len(),
    };
    blocks.iter().map(one).sum::<usize>() as u64
}

fn context(usage: &Usage) -> u64 {
    usage.input + usage.output + usage.cache_read + usage.cache_write
}

impl Session {
    fn tokens(&self, more: u64) -> u64 {
        let before = if self.counted == 0 { self.before.div_ceil(4) } else { 0 };
        self.counted + (self.since + more).div_ceil(4) + before
    }

    fn is_crowded(&self, more: u64) -> bool {
        let free = if self.window > LARGE { FREE } else { self.window / 5 };
        self.window > 0 && self.tokens(more) + free >= self.window
    }

    /// What would join the turn.
    fn joining(&self) -> u64 {
        let joins = self.queued.iter().filter_map(|prompt| self.prompts.get(prompt));
        joins.filter(|(_, _, joins)| *joins).map(|(text, attached, _)| text + attached).sum()
    }

    fn is_worth_a_summary(&self) -> bool {
        self.spoken || self.asked.iter().any(|turn| Some(*turn) != self.turn)
    }

    fn prepared(&mut self, preparation: &Preparation) {
        let tools = preparation.tools.iter();
        let tools = tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.len());
        let schema = preparation.answer_schema.as_deref().unwrap_or_default();
        self.before = (tools.sum::<usize>() + schema.len() + preparation.system.len()) as u64;
        self.window = preparation.context_window.unwrap_or(0);
    }

    fn asks(&mut self, turn: TurnId, bytes: u64) {
        (self.turn, self.since) = (Some(turn), self.since + bytes);
        self.asked.insert(turn);
    }

    fn begins(&mut self, turn: TurnId, prompt: &PromptId) {
        self.queued.remove(prompt);
        let bytes = self.prompts.get(prompt).map_or(0, |(text, attached, _)| text + attached);
        self.asks(turn, bytes);
    }

    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let bytes = (prompt.text.len() as u64, attached(&prompt.attachments));
                self.prompts.insert(prompt.id.clone(), (bytes.0, bytes.1, prompt.folds()));
            }
            Record::PromptQueued { prompt } => drop(self.queued.insert(prompt.clone())),
            Record::Prepared { preparation } => self.prepared(preparation),
            Record::SessionForked { messages, .. } => {
                messages.iter().for_each(|message| self.copied(&message.body))
            }
            Record::TurnStarted { turn, prompt, .. } => {
                (self.summing, self.refused) = (false, false);
                self.begins(*turn, prompt);
            }
            Record::PromptFolded { turn, prompt, .. } => self.begins(*turn, prompt),
            Record::AnswerRefused { turn, text, .. } => self.asks(*turn, text.len() as u64),
            Record::TurnContinued { turn, prompt, text, crowded, .. } => {
                self.continues(*turn, (prompt, text), *crowded)?;
            }
            Record::SummaryStarted { turn, budget } => self.sums_up(*turn, *budget)?,
            Record::SummaryFinished { text, .. } => {
                (self.counted, self.since, self.spoken) = (0, text.len() as u64, false);
                self.asked.clear();
            }
            Record::StepStarted { .. } => {
                self.refused = false;
                if !self.summing && self.is_crowded(0) && self.is_worth_a_summary() {
                    return Err(format!("{} tokens leave no room, and it is not summed up", self.tokens(0)));
                }
            }
            Record::AttemptFailed { too_long: true, retry_after, .. } => self.too_long(*retry_after)?,
            Record::MessageFinished { blocks, usage, .. } => self.answered(blocks, *usage),
            Record::ToolCallFinished { outcome, .. } => {
                self.since += outcome.text.len() as u64 + attached(&outcome.media);
            }
            Record::StepFinished { usage, context, estimated, .. } => {
                self.step(*usage, (*context, *estimated))?
            }
            Record::TurnFinished { outcome, totals, .. } => {
                if *outcome != TurnOutcome::Continued {
                    self.turn = None;
                }
                let known = totals.map(|totals| (totals.context, totals.estimated));
                if known.is_some_and(|known| known != (self.tokens(0), true)) {
                    return Err(format!("of {} tokens it says {known:?}", self.tokens(0)));
                }
            }
            Record::RunFinished(finished) => {
                self.queued.remove(&finished.prompt);
                self.prompts.remove(&finished.prompt);
            }
            _ => {}
        }
        Ok(())
    }

    fn copied(&mut self, body: &MessageBody) {
        match body {
            MessageBody::User(user) => {
                self.asks(user.turn, user.text.len() as u64 + attached(&user.attachments))
            }
            MessageBody::Assistant(answer) => {
                let outcomes = answer.calls().filter_map(|call| call.outcome.as_ref());
                let results = outcomes.map(|outcome| outcome.text.len() as u64 + attached(&outcome.media));
                self.since += said(&answer.blocks) + results.sum::<u64>();
                self.spoken |= !answer.blocks.is_empty();
            }
            MessageBody::Summary(text) => self.since += text.len() as u64,
        }
        self.turn = None;
    }

    fn continues(
        &mut self,
        turn: TurnId,
        (prompt, text): (&PromptId, &str),
        crowded: bool,
    ) -> Result<(), String> {
        self.summing = false;
        // What is attached is sent again with it.
        let bytes = text.len() as u64 + self.prompts.get(prompt).map_or(0, |(_, attached, _)| *attached);
        if crowded != self.is_crowded(bytes) {
            return Err(format!("{} tokens after a summary: {crowded}", self.tokens(bytes)));
        }
        self.asks(turn, bytes);
        Ok(())
    }

    fn sums_up(&mut self, turn: TurnId, budget: u64) -> Result<(), String> {
        let tokens = self.tokens(0);
        if !self.refused && !self.is_crowded(self.joining()) {
            return Err(format!("{tokens} tokens of {} are summed up", self.window));
        }
        if !self.is_worth_a_summary() {
            return Err("there is nothing to sum up".to_owned());
        }
        let most = if self.window > 0 { self.window / 10 * 6 } else { u64::MAX };
        if budget == 0 || budget > most.min(tokens / 2).max(1) {
            return Err(format!("of {tokens} tokens the summary is shown {budget}"));
        }
        (self.summing, self.turn, self.budget) = (true, Some(turn), (budget, 0));
        Ok(())
    }

    /// A request for a summary that was too long is made again only if it can be made shorter.
    fn too_long(&mut self, retry_after: Option<u64>) -> Result<(), String> {
        if !self.summing {
            self.refused = true;
            return Ok(());
        }
        let (budget, refused) = self.budget;
        let again = refused < 3 && budget >> (refused + 1) > 0;
        self.budget.1 += 1;
        if retry_after.is_some() != again {
            return Err(format!(
                "a summary of {budget} tokens was refused {} times: {retry_after:?}",
                refused + 1
            ));
        }
        Ok(())
    }

    fn answered(&mut self, blocks: &[Block], usage: Usage) {
        self.used = usage;
        if self.summing {
            return;
        }
        self.spoken |= !blocks.is_empty();
        if context(&usage) > 0 {
            (self.counted, self.since) = (context(&usage), 0);
        } else {
            self.since += said(blocks);
        }
    }

    fn step(&mut self, usage: Usage, stated: (u64, bool)) -> Result<(), String> {
        let used = std::mem::take(&mut self.used);
        if used != usage {
            return Err(format!("a step used {usage:?}, and its answer {used:?}"));
        }
        let known = !self.summing && context(&usage) > 0;
        let expected = if known { (context(&usage), false) } else { (self.tokens(0), true) };
        if stated != expected {
            return Err(format!("it is said to be {stated:?} tokens long, and is {expected:?}"));
        }
        Ok(())
    }

    /// A request for a summary shows as much as there is room for, and less each time that this was too much.
    fn asked_for_summary(&self, request: &ModelRequest) -> Result<(), String> {
        let Some(Item::User { text, .. }) = request.items.first() else { return Ok(()) };
        let (budget, refused) = self.budget;
        let (bytes, most) = (text.len() as u64, (budget >> refused) * 4 + FRAME);
        if bytes > most {
            return Err(format!("a request for a summary has {bytes} bytes, and {most} are left"));
        }
        Ok(())
    }
}

impl Oracle for Lengths {
    fn name(&self) -> &'static str {
        "room"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry: Entry { session, record, .. }, .. } => {
                let known = self.0.entry(session.clone()).or_default();
                known.record(record).map_err(|what| format!("{session}: {what}"))
            }
            Seen::Asks { session, request, .. } => match self.0.get(session) {
                Some(known) if known.summing => {
                    known.asked_for_summary(request).map_err(|what| format!("{session}: {what}"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::{ToolOutcome, ToolStatus};
    use hostler_core::ids::{MessageId, RunId};
    use hostler_core::model::ModelRef;

    use super::super::fixture::{STEP, accepted, answered, finished, shown, started, step};
    use super::*;

    fn prepared(window: u64) -> Record {
        let preparation = Preparation {
            model: ModelRef { provider: "p".to_owned(), model: "m".to_owned() },
            system: "x".repeat(40),
            answer_schema: None,
            tools: Vec::new(),
            context_window: Some(window),
            prices: None,
            notices: Vec::new(),
            small: None,
            renewable: false,
        };
        Record::Prepared { preparation }
    }

    fn counted(input: u64) -> Record {
        let Record::MessageFinished { message, blocks, finish, .. } =
            answered(vec![Block::Text("ab".to_owned())])
        else {
            return finished("a");
        };
        Record::MessageFinished { message, blocks, finish, usage: Usage { input, ..Usage::default() } }
    }

    fn over(input: u64, context: u64, estimated: bool) -> Record {
        let usage = Usage { input, ..Usage::default() };
        Record::StepFinished { step: STEP, usage, cost: None, context, estimated }
    }

    fn check(log: &[Record]) -> Result<(), String> {
        shown(&mut Lengths::default(), log, &[])
    }

    /// A turn whose answer was counted in a window of 100 tokens, of which 20 are left free.
    fn after(input: u64, more: &[Record]) -> Result<(), String> {
        let log = [
            accepted(1, "a"),
            prepared(100),
            started(1, "a"),
            step(1),
            counted(input),
            over(input, input, false),
        ];
        check(&[&log[..], more].concat())
    }

    fn sums_up(budget: u64) -> Record {
        Record::SummaryStarted { turn: TurnId(2), budget }
    }

    #[test]
    fn what_is_too_long_is_summed_up_and_nothing_else() {
        assert_eq!(after(79, &[step(2)]), Ok(()));
        assert!(after(80, &[step(2)]).is_err());
        assert_eq!(after(80, &[sums_up(40)]), Ok(()));
        assert!(after(79, &[sums_up(39)]).is_err());
        for budget in [0, 41] {
            assert!(after(80, &[sums_up(budget)]).is_err(), "{budget}");
        }
    }

    #[test]
    fn how_long_it_is_is_stated_as_it_is() {
        assert!(after(50, &[step(2), counted(0), over(0, 50, true)]).is_err());
        assert_eq!(after(50, &[step(2), counted(0), over(0, 51, true)]), Ok(()));
        let outcome = ToolOutcome::text(ToolStatus::Ok, "12345");
        let call = super::super::fixture::CALL;
        let done = Record::ToolCallFinished { message: MessageId(11), call, outcome, duration: 0 };
        assert_eq!(after(50, &[step(2), counted(0), done.clone(), over(0, 52, true)]), Ok(()));
        assert!(after(50, &[step(2), counted(0), done, over(0, 51, true)]).is_err());
        assert!(after(50, &[step(2), counted(5), over(4, 4, false)]).is_err());
    }

    #[test]
    fn a_summary_that_cannot_be_shorter_is_not_asked_for_again() {
        let refused = |retry_after| Record::AttemptFailed {
            attempt: super::super::fixture::ATTEMPT,
            message: MessageId(12),
            error: hostler_core::model::CallError {
                kind: hostler_core::model::CallErrorKind::Protocol,
                message: String::new(),
                retry_after: None,
                should_retry: None,
            },
            usage: Usage::default(),
            cost: None,
            too_long: true,
            seals: false,
            retry_after,
        };
        assert_eq!(after(80, &[sums_up(2), refused(Some(0)), refused(None)]), Ok(()));
        assert!(after(80, &[sums_up(2), refused(Some(0)), refused(Some(0))]).is_err());
        assert!(after(80, &[sums_up(2), refused(None)]).is_err());
        let run = RunId::new("a");
        let continued = |crowded| Record::TurnContinued {
            turn: TurnId(3),
            run: run.clone(),
            prompt: PromptId::new("a"),
            message: MessageId(30),
            text: "x".repeat(100),
            crowded,
        };
        let summed = |length| Record::SummaryFinished {
            turn: TurnId(2),
            message: MessageId(20),
            text: "x".repeat(length),
        };
        assert_eq!(after(80, &[sums_up(2), summed(80), continued(false)]), Ok(()));
        assert!(after(80, &[sums_up(2), summed(200), continued(false)]).is_err());
        assert!(after(80, &[sums_up(2), summed(80), continued(true)]).is_err());
    }
}
