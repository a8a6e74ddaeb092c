//! Sub-agents: a call of the `agent` tool opens a session of its own, and what comes of that is the call's outcome.
//!
//! The two sessions know nothing of each other but what is here. A [`Crossing`] is what one of them has for the other;
//! the workspace, which has both, carries it over in the same batch, so that both sides are committed together.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::asks::{Decided, Question};
use super::{Decisions, Session, entry};
use crate::content::{ToolOutcome, ToolStatus};
use crate::ids::{CallId, MessageId, PromptId, SessionId};
use crate::instructions;
use crate::model::Preparation;
use crate::prompt::{Delivery, Prompt, Terms};
use crate::protocol::AskId;
use crate::record::{Parent, Reason, Record, RunFinished, RunStatus, Totals};
use crate::time::Timestamp;
use crate::tools::{self, AgentInput, CallInput};

/// What a session has for one that it opened, or for the one that opened it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Crossing {
    /// A session is opened for a task.
    Open(Box<Task>),
    /// What that call opened is to be stopped.
    Stop {
        /// The session.
        child: SessionId,
        /// Why.
        reason: Reason,
    },
    /// What was opened has ended.
    Ended(Box<Report>),
    /// A call of a sub-agent needs permission.
    Ask {
        /// The session that asks for it.
        root: SessionId,
        /// What it would do.
        question: Box<Question>,
    },
    /// What was decided about a sub-agent's call.
    Decided {
        /// The sub-agent's session.
        child: SessionId,
        /// The call.
        call: CallId,
        /// The decision.
        decided: Box<Decided>,
    },
    /// A sub-agent does not need an answer any more.
    Withdraw {
        /// The session that asks for it.
        root: SessionId,
        /// What for.
        ask: AskId,
    },
}

/// The task of a sub-agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    /// The call that gives it.
    parent: Parent,
    /// The task, in the name of whoever submitted what the parent works on.
    prompt: Prompt,
    /// What the sub-agent's requests are made of.
    preparation: Preparation,
}

impl Task {
    /// The sub-agent's session.
    pub(crate) fn session(&self) -> SessionId {
        SessionId::child(&self.parent.session, self.parent.message, self.parent.call)
    }
}

/// What came of a sub-agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    /// The call that opened it.
    pub(crate) parent: Parent,
    /// Its session.
    session: SessionId,
    /// How its run ended.
    status: RunStatus,
    /// What the call's model is told.
    outcome: ToolOutcome,
    /// What it used.
    totals: Totals,
}

impl Session {
    /// Has a session opened for a task. It works on the same terms as the turn that gives the task, and can only read.
    pub(super) fn open_sub_agent(
        &mut self,
        message: MessageId,
        call: CallId,
        task: AgentInput,
        out: &mut Decisions,
    ) {
        let Some(preparation) = &self.durable.preparation else { return };
        let Some(first) = self.durable.turn.as_ref().and_then(|turn| turn.prompts.first()) else { return };
        let Some(open) = self.durable.open.get(first) else { return };
        let parent = Parent { session: self.durable.id.clone(), message, call };
        let preparation = Preparation {
            system: instructions::for_sub_agent(&preparation.system),
            answer_schema: None,
            tools: tools::sub_agent_specs(&preparation.tools),
            ..preparation.clone()
        };
        let id = SessionId::child(&self.durable.id, message, call);
        let prompt = Prompt {
            id: PromptId::new(id.as_str()),
            run: None,
            client: open.prompt.client.clone(),
            text: task.prompt,
            attachments: alloc::vec![],
            terms: Terms {
                delivery: Delivery::OwnTurn,
                max_cost: self.cost_left(),
                // What the run must answer is the agent's business.
                answer_schema: None,
                ..open.prompt.terms.clone()
            },
        };
        out.crossings.push(Crossing::Open(Box::new(Task { parent, prompt, preparation })));
    }

    /// Begins the session of a sub-agent with its task.
    pub(crate) fn begin_task(&mut self, now: Timestamp, task: Task, out: &mut Decisions) {
        let title = entry::title_of(&task.prompt.text);
        let id = task.prompt.id.clone();
        self.record(now, Record::SessionCreated { title, parent: Some(task.parent) }, out);
        self.record(now, Record::PromptAccepted { sequence: 1, prompt: task.prompt }, out);
        self.start_turn(now, &id, Ok(task.preparation), out);
    }

    /// Has the sub-agent of a call stopped. Says whether the call has one.
    pub(super) fn stop_sub_agent(&self, call: CallId, reason: Reason, out: &mut Decisions) -> bool {
        let agent =
            |tool: &super::live::Tool| matches!(tool.input, CallInput::Agent(_)) && tool.started.is_some();
        let Some((message, _)) = self.durable.current() else { return false };
        let has = self.live.tools.get(&call).is_some_and(agent);
        if has {
            let child = SessionId::child(&self.durable.id, message, call);
            out.crossings.push(Crossing::Stop { child, reason });
        }
        has
    }

    /// Tells the session whose call opened this one how its run ended.
    pub(super) fn report(&self, finished: &RunFinished, out: &mut Decisions) {
        let Some(parent) = self.durable.parent.clone() else { return };
        let answer = finished.answer.and_then(|answer| self.durable.answer(answer));
        let said = answer.map(|answer| answer.text()).unwrap_or_default();
        out.crossings.push(Crossing::Ended(Box::new(Report {
            parent,
            session: self.durable.id.clone(),
            status: finished.status,
            outcome: outcome(finished, said.trim()),
            totals: finished.totals,
        })));
    }

    /// What the sub-agent of a call has come to. What it used counts, however it ended, also if the process that ran it
    /// is gone and nobody awaits its answer any more.
    pub(crate) fn sub_agent_ended(&mut self, now: Timestamp, report: Report, out: &mut Decisions) {
        let Report { parent, session, status, outcome, totals } = report;
        let call = parent.call;
        let open = |call: &crate::content::ToolCall| call.outcome.is_none();
        let Some((_, answer)) = self.durable.current() else { return };
        if !answer.call(call).is_some_and(open) {
            return;
        }
        self.withdraw_of(now, &session, out);
        let (usage, cost) = (totals.usage, totals.cost);
        self.record(now, Record::SubAgentFinished { call, session, status, usage, cost }, out);
        self.tool_finished(now, call, outcome, out);
    }
}

/// What the model is told whose call opened the sub-agent, and for which a denial or a limit is only another failure.
fn outcome(finished: &RunFinished, said: &str) -> ToolOutcome {
    let (status, why) = match finished.status {
        RunStatus::Ok if said.is_empty() => {
            (ToolStatus::Error, "The sub-agent ended without an answer.".to_string())
        }
        RunStatus::Ok => return ToolOutcome::text(ToolStatus::Ok, said),
        RunStatus::Cancelled => {
            (ToolStatus::Cancelled, "The sub-agent was cancelled before it was done.".to_string())
        }
        RunStatus::Error | RunStatus::Limit | RunStatus::Denied => {
            (ToolStatus::Error, format!("The sub-agent did not finish. {}", finished.message))
        }
    };
    let so_far = if said.is_empty() { String::new() } else { format!("\n\nIt had said:\n{said}") };
    ToolOutcome::text(status, format!("{why}{so_far}"))
}
