//! One session: everything that is decided between a prompt and its end.
//!
//! State is in two halves. [`Durable`] is a fold over the log, changed only by records. [`Live`] is what concerns this
//! process: what is being waited for, and text that is not yet recorded. Nothing that anyone was told exists only
//! there, so after a crash the durable half is all there is to go on from.
//!
//! What is decided where: acceptance and order of prompts in `entry`, cancels in `cancel`, turns and steps in `turn`,
//! a model's answer in `answer` (put together in `stream`, retried by `retry`), whether that will do in `schema`, what a run
//! may cost in `cost`, tool calls
//! in `calls` (and how long they are waited for in `overtime`), sub-agents in `agents`, permission in `asks`, what it is
//! called in `title`, what it takes over in `fork`, and what a broken-off turn leaves behind in `settle`.

mod agents;
mod answer;
mod asks;
mod calls;
mod cancel;
mod cost;
mod durable;
mod entry;
mod fork;
mod live;
mod overtime;
mod repetition;
mod retry;
mod schema;
mod settings;
mod settle;
mod stream;
mod summary;
mod title;
mod turn;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::ToolOutcome;
use crate::history;
use crate::ids::{AttemptId, CallId, ClientId, EffectId, PromptId, RequestId, SessionId, StepId};
use crate::machine::{Effects, Entry, Machine};
use crate::model::{ModelEvent, ModelRef, ModelRequest, Preparation, PrepareError};
use crate::prompt::{Prompt, Terms};
use crate::protocol::{Answer, AskId, Reply};
use crate::record::{CancelScope, Reason, Record};
use crate::time::{Deadline, Timestamp, earliest};
use crate::tools::{Intent, Rule, ToolInput};

pub(crate) use agents::{Crossing, Report, Task};
pub(crate) use calls::Allowing;
pub use durable::{
    Asked, ClosedPrompt, Durable, FOLD_VERSION, Length, OpenPrompt, Phase, Purpose, Turn, snapshot_is_due,
};
pub use fork::Seed;
pub use live::Live;
pub use repetition::Trail;
pub(crate) use repetition::footprint;
pub(crate) use retry::telling;
pub use schema::{REPAIRS, Verdict};
pub use settings::Settings;

/// The state of one session, and its decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What the log amounts to.
    durable: Durable,
    /// What concerns this process.
    live: Live,
    /// The limits that it works under.
    settings: Settings,
}

/// What can happen to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// Its lock was taken and its log read: whatever was under way belongs to a process that is gone.
    Opened,
    /// A prompt is submitted.
    Submit {
        /// Whom to answer.
        to: RequestId,
        /// The prompt.
        prompt: Box<Prompt>,
    },
    /// Something is to be stopped.
    Cancel {
        /// Whom to answer.
        to: RequestId,
        /// What.
        scope: CancelScope,
        /// Why.
        reason: Reason,
    },
    /// The prompts that wait are to be given back.
    ClearQueue {
        /// Whom to answer.
        to: RequestId,
    },
    /// A person says what the session is called.
    Rename {
        /// Whom to answer.
        to: RequestId,
        /// The title.
        title: String,
    },
    /// It is new and goes on from what another one has come to.
    Fork {
        /// Whom to answer.
        to: RequestId,
        /// What it takes over.
        seed: Box<Seed>,
    },
    /// The model that was asked for a title said something.
    Title {
        /// What it said.
        event: ModelEvent,
    },
    /// It is found out whether an answer satisfies its run's schema.
    Checked {
        /// The step that gave the answer.
        step: StepId,
        /// What was found.
        verdict: Verdict,
    },
    /// A person answers something that needs permission.
    Answer {
        /// Whom to answer.
        to: RequestId,
        /// What it is about.
        ask: AskId,
        /// The answer.
        answer: Answer,
        /// Who gives it.
        client: ClientId,
    },
    /// Preparing a prompt's run has ended.
    Prepared {
        /// The prompt.
        prompt: PromptId,
        /// What was found, or why nothing was.
        result: Box<Result<Preparation, PrepareError>>,
    },
    /// The provider said something.
    Model {
        /// The attempt that it answers.
        attempt: AttemptId,
        /// What it said.
        event: ModelEvent,
    },
    /// The shell has looked at what a tool call would touch.
    Inspected {
        /// The call.
        call: CallId,
        /// What it would touch.
        intent: Intent,
    },
    /// A running tool said something.
    ToolOutput {
        /// The call.
        call: CallId,
        /// What it said.
        text: String,
    },
    /// A tool has ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: ToolOutcome,
    },
    /// Time has passed.
    Tick,
}

/// What a session asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Find out what a prompt's run needs: model, credentials, context.
    Prepare {
        /// The prompt.
        prompt: PromptId,
        /// The terms on which it is run.
        terms: Terms,
    },
    /// Stop finding it out.
    CancelPrepare {
        /// The prompt.
        prompt: PromptId,
    },
    /// Ask the model. The request is made from the state by [`Session::request`] when this is carried out.
    CallModel {
        /// The attempt.
        attempt: AttemptId,
        /// Whom to ask.
        model: ModelRef,
        /// Whether to get its credentials anew before that, because it has just refused them.
        #[serde(default)]
        renew: bool,
    },
    /// Stop asking the model.
    CancelCall {
        /// The attempt.
        attempt: AttemptId,
    },
    /// Find out what a tool call would touch.
    InspectCall {
        /// The call.
        call: CallId,
        /// What is called.
        input: Box<ToolInput>,
    },
    /// Run a tool.
    RunTool {
        /// The call.
        call: CallId,
        /// What is called.
        input: Box<ToolInput>,
    },
    /// Stop a tool; it still says how it ended, also if it was never started. A look at what it would touch that has not
    /// begun is taken back.
    CancelTool {
        /// The call.
        call: CallId,
    },
    /// Ask a model for a title. The request is made from the state by [`Session::title_request`] when this is carried out.
    MakeTitle {
        /// Whom to ask.
        model: ModelRef,
    },
    /// Stop asking for a title.
    CancelTitle,
    /// Find out whether the answer of a step satisfies its run's schema. Both are had from the state by
    /// [`Session::answer_to_check`] when this is carried out.
    CheckAnswer {
        /// The step that gave the answer.
        step: StepId,
    },
    /// Stop finding that out.
    CancelCheck {
        /// The step that gave the answer.
        step: StepId,
    },
    /// Keep rules for all that will ever be done in this workspace.
    KeepRules {
        /// The rules.
        rules: Vec<Rule>,
    },
    /// Answer a request at the door.
    Reply {
        /// Whose.
        to: RequestId,
        /// The answer.
        reply: Box<Reply>,
    },
}

impl Effect {
    /// The name under which its outcome comes back to the session's owner.
    pub fn id(&self, session: &SessionId) -> Option<EffectId> {
        match self {
            Effect::Prepare { prompt, .. } => Some(EffectId::Prepare(session.clone(), prompt.clone())),
            Effect::CallModel { attempt, .. } => Some(EffectId::Attempt(session.clone(), *attempt)),
            Effect::InspectCall { call, .. } | Effect::RunTool { call, .. } => {
                Some(EffectId::Call(session.clone(), *call))
            }
            Effect::MakeTitle { .. } => Some(EffectId::Title(session.clone())),
            Effect::CheckAnswer { step } => Some(EffectId::Check(session.clone(), *step)),
            Effect::Reply { to, .. } => Some(EffectId::Reply(*to)),
            Effect::CancelPrepare { .. }
            | Effect::CancelCall { .. }
            | Effect::CancelTool { .. }
            | Effect::CancelTitle
            | Effect::CancelCheck { .. }
            | Effect::KeepRules { .. } => None,
        }
    }
}

/// Where a session's decisions go: its records and its effects, in order.
#[derive(Debug, Default)]
pub struct Decisions {
    /// What is to be committed.
    pub records: Vec<Entry>,
    /// What is to be started then.
    pub effects: Vec<Effect>,
    /// What other sessions of the workspace are to be told now.
    pub(crate) crossings: Vec<Crossing>,
}

impl Session {
    /// A session as its log left it.
    pub fn new(durable: Durable, settings: Settings) -> Self {
        Self { durable, live: Live::default(), settings }
    }

    /// What its log amounts to.
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    /// Whether nothing is under way and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.durable.is_idle() && self.live.title.is_none()
    }

    /// The request that asks the model for the answer of the step that is under way; none if that is over.
    pub fn request(&self) -> Option<ModelRequest> {
        let preparation = self.durable.preparation.as_ref()?;
        let turn = self.durable.turn.as_ref()?;
        turn.message?;
        Some(match turn.purpose {
            Purpose::Work => history::request(preparation, &self.durable.messages, self.durable.unsealed),
            Purpose::Summary { budget, refused } => {
                history::summary_request(preparation, &self.durable.messages, budget >> refused)
            }
        })
    }

    /// Lets the texts of an answer that is under way be replaced, each by what is made of it in the original.
    pub(crate) fn replace_streamed(
        &mut self,
        original: &Self,
        mut replace: impl FnMut(AttemptId, u32, bool, &mut String),
    ) {
        if let (Some(call), Some(before)) = (&mut self.live.call, &original.live.call) {
            let attempt = before.attempt;
            call.assembly.replace(&before.assembly, |block, is_json, text| {
                replace(attempt, block, is_json, text);
            });
        }
    }

    /// Decides about an input.
    pub fn decide(&mut self, now: Timestamp, input: Input, out: &mut Decisions) {
        match input {
            Input::Opened => self.opened(now, out),
            Input::Submit { to, prompt } => self.submit(now, to, *prompt, out),
            Input::Cancel { to, scope, reason } => self.cancel(now, to, scope, reason, out),
            Input::ClearQueue { to } => self.clear_queue(now, to, out),
            Input::Rename { to, title } => self.rename(now, to, &title, out),
            Input::Fork { to, seed } => self.fork(now, to, *seed, out),
            Input::Title { event } => self.title_said(now, event, out),
            Input::Checked { step, verdict } => self.checked(now, step, verdict, out),
            Input::Answer { to, ask, answer, client } => self.answer(now, to, &ask, answer, &client, out),
            Input::Prepared { prompt, result } => self.prepared(now, &prompt, *result, out),
            Input::Model { attempt, event } => self.model(now, attempt, event, out),
            Input::Inspected { call, intent } => self.inspected(now, call, &intent, out),
            Input::ToolOutput { call, text } => self.tool_output(now, call, text, out),
            Input::ToolFinished { call, outcome } => self.tool_finished(now, call, outcome, out),
            Input::Tick => self.tick(now, out),
        }
    }

    /// The earliest time at which a tick would do something, and what for.
    pub fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        let preparing = self.live.preparing.values().map(|at| (*at, Deadline::Prepare)).min();
        let settle = self.live.settle.map(|at| (at, Deadline::Settle));
        [settle, self.tool_deadline(), preparing, self.title_deadline(), self.check_deadline()]
            .into_iter()
            .fold(self.call_deadline(), earliest)
    }

    fn tick(&mut self, now: Timestamp, out: &mut Decisions) {
        self.tick_call(now, out);
        self.tick_tools(now, out);
        self.tick_settle(now, out);
        self.tick_preparing(now, out);
        self.tick_title(now, out);
        self.tick_check(now, out);
    }

    /// Decides a fact: it changes the durable state and will be committed.
    fn record(&mut self, now: Timestamp, record: Record, out: &mut Decisions) {
        self.durable.evolve(now, &record);
        out.records.push(Entry { session: self.durable.id.clone(), at: now, record });
    }
}

/// A session by itself is a machine too; a workspace drives it through [`Session::decide`].
impl Machine for Session {
    type Input = Input;
    type Effect = Owned;

    fn handle(&mut self, now: Timestamp, input: Input, out: &mut Effects<Owned>) {
        let mut decisions = Decisions::default();
        self.decide(now, input, &mut decisions);
        decisions.records.into_iter().for_each(|entry| out.record(entry));
        for effect in decisions.effects {
            push_effect(Owned { session: self.durable.id.clone(), effect }, out, |owned| owned);
        }
    }

    fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        Session::deadline(self)
    }
}

/// An effect and the session that asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owned {
    /// The session.
    pub session: SessionId,
    /// What it asks for.
    pub effect: Effect,
}

impl crate::machine::Effect for Owned {
    fn id(&self) -> Option<EffectId> {
        self.effect.id(&self.session)
    }
}

/// Passes an effect on. One that stops another of the same batch takes that back, so that nothing starts after its own
/// cancel, and is gone itself; only the stop of a tool is passed on all the same, because its outcome is awaited.
pub(crate) fn push_effect<E: crate::machine::Effect>(
    owned: Owned,
    out: &mut Effects<E>,
    wrap: impl FnOnce(Owned) -> E,
) {
    let retracted = match &owned.effect {
        Effect::CancelPrepare { prompt } => {
            out.cancel(&EffectId::Prepare(owned.session.clone(), prompt.clone()))
        }
        Effect::CancelCall { attempt } => out.cancel(&EffectId::Attempt(owned.session.clone(), *attempt)),
        Effect::CancelTitle => out.cancel(&EffectId::Title(owned.session.clone())),
        Effect::CancelCheck { step } => out.cancel(&EffectId::Check(owned.session.clone(), *step)),
        Effect::CancelTool { call } => {
            out.cancel(&EffectId::Call(owned.session.clone(), *call));
            false
        }
        Effect::Prepare { .. }
        | Effect::CallModel { .. }
        | Effect::InspectCall { .. }
        | Effect::RunTool { .. }
        | Effect::MakeTitle { .. }
        | Effect::CheckAnswer { .. }
        | Effect::KeepRules { .. }
        | Effect::Reply { .. } => false,
    };
    if !retracted {
        out.push(wrap(owned));
    }
}

#[cfg(test)]
mod sentences;
#[cfg(test)]
mod tests;
