//! Permission: asked once, answered once, and gone with the turn whose call needs it.
//!
//! A session without a parent asks, also for its sub-agents, so that whoever watches it sees everything that waits for them in
//! one place, and what they grant holds for all that works on it. Nothing else waits: calls that may run beside the one
//! that is asked about go on, and so do other sessions.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Crossing, Decisions, Effect, Session};
use crate::content::{ToolCall, ToolOutcome, ToolStatus};
use crate::ids::{CallId, ClientId, RequestId, SessionId};
use crate::protocol::{Answer, AskId, Breadth, Reply};
use crate::record::{Reason, Record};
use crate::time::Timestamp;
use crate::tools::{Intent, Rule, Verdict};

/// What a call that needs permission would do: kept to judge it again when something else has been granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The call.
    pub(crate) ask: AskId,
    /// The tool.
    pub(crate) tool: String,
    /// What it would touch.
    pub(crate) intent: Intent,
}

/// What was decided about a call that needed permission.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decided {
    allowed: bool,
    by: String,
    /// Whether a person decided: their no ends the turn, while that of a rule is a result like any other.
    person: bool,
    grants: Vec<Rule>,
}

const DENIED: &str =
    "The user denied this call; nothing was done. Wait for the user to say what to do instead.";
const FORBIDDEN: &str = "Permission denied by a rule; nothing was done.";
const NOT_REACHED: &str = "The user denied another call before this was started; nothing was done.";
const GRANT: &str = "grant";

impl Session {
    /// A call needs permission that no rule gives.
    pub(super) fn need_permission(
        &mut self,
        now: Timestamp,
        call: CallId,
        tool: String,
        intent: &Intent,
        out: &mut Decisions,
    ) {
        if let Some(live) = self.live.tools.get_mut(&call) {
            live.asked = true;
            // People may take as long as they like.
            live.until = None;
        }
        let ask = AskId { session: self.durable.id.clone(), call };
        let question = Question { ask, tool, intent: intent.clone() };
        match &self.durable.parent {
            None => self.put(now, question, out),
            Some(parent) => {
                out.crossings
                    .push(Crossing::Ask { root: parent.session.clone(), question: Box::new(question) });
            }
        }
    }

    /// Asks, for itself or for a sub-agent, unless what has been granted since is enough.
    pub(crate) fn put(&mut self, now: Timestamp, question: Question, out: &mut Decisions) {
        let decided =
            |allowed, by: &str| Decided { allowed, by: by.to_string(), person: false, grants: Vec::new() };
        match self.verdict(&question.tool, &question.intent) {
            Verdict::Allow => self.decided(now, &question.ask, decided(true, GRANT), out),
            Verdict::Deny(_) => self.decided(now, &question.ask, decided(false, "policy"), out),
            Verdict::Ask(what) => {
                let AskId { session, call } = question.ask.clone();
                self.live.questions.push(question);
                self.record(now, Record::PermissionAsked { session, call, ask: what }, out);
            }
        }
    }

    /// A person answers. Only the first answer counts.
    pub(super) fn answer(
        &mut self,
        now: Timestamp,
        to: RequestId,
        ask: &AskId,
        answer: Answer,
        client: &ClientId,
        out: &mut Decisions,
    ) {
        let asked = self.durable.asks.iter().find(|asked| asked.id == *ask).map(|asked| asked.what.clone());
        let resolved = asked.is_some();
        if let Some(what) = asked {
            let granted = |breadth| match breadth {
                Breadth::Exact => what.grants.clone(),
                Breadth::Directory => what.by_directory(),
            };
            let (allowed, grants) = match answer {
                Answer::Deny => (false, Vec::new()),
                Answer::Once => (true, Vec::new()),
                Answer::Session(breadth) => (true, granted(breadth)),
                Answer::Always(breadth) => (true, granted(breadth)),
            };
            if matches!(answer, Answer::Always(_)) && !grants.is_empty() {
                out.effects.push(Effect::KeepRules { rules: grants.clone() });
            }
            let decided = Decided { allowed, by: client.to_string(), person: true, grants };
            self.decided(now, ask, decided, out);
            if allowed {
                self.judge_again(now, out);
                self.run_calls(now, out);
            } else {
                self.stop_turn(now, out);
            }
        }
        out.effects.push(Effect::Reply { to, reply: Box::new(Reply::Answered { resolved }) });
    }

    /// Records a decision and lets the call know of it, wherever that is.
    fn decided(&mut self, now: Timestamp, ask: &AskId, decided: Decided, out: &mut Decisions) {
        let AskId { session, call } = ask.clone();
        self.live.questions.retain(|question| question.ask != *ask);
        if session == self.durable.id {
            return self.permitted(now, call, decided, out);
        }
        let mut record = decided.record(call);
        if let Record::PermissionDecided { session: whose, .. } = &mut record {
            *whose = Some(session.clone());
        }
        self.record(now, record, out);
        // What is granted is kept here alone, and asked for here.
        let decided = Box::new(Decided { grants: Vec::new(), ..decided });
        out.crossings.push(Crossing::Decided { child: session, call, decided });
    }

    /// A call of this session may run or may not. Whoever calls this sees to what runs next.
    fn permitted(&mut self, now: Timestamp, call: CallId, decided: Decided, out: &mut Decisions) {
        self.record(now, decided.record(call), out);
        let Some(tool) = self.live.tools.get_mut(&call) else { return };
        tool.asked = false;
        if decided.allowed {
            return self.start_call(now, call, out);
        }
        let text = if decided.person { DENIED } else { FORBIDDEN };
        self.live.tools.remove(&call);
        self.end_call(now, call, ToolOutcome::text(ToolStatus::Denied, text), 0, out);
    }

    /// The session that asked for this one has an answer.
    pub(crate) fn hear(&mut self, now: Timestamp, call: CallId, decided: Decided, out: &mut Decisions) {
        if !self.live.tools.get(&call).is_some_and(|tool| tool.asked) {
            return;
        }
        let ends = decided.person && !decided.allowed;
        self.permitted(now, call, decided, out);
        if ends { self.stop_turn(now, out) } else { self.run_calls(now, out) }
    }

    /// What was granted may be all that other calls wait for.
    fn judge_again(&mut self, now: Timestamp, out: &mut Decisions) {
        for question in self.live.questions.clone() {
            if self.verdict(&question.tool, &question.intent) == Verdict::Allow {
                let by = GRANT.to_string();
                let decided = Decided { allowed: true, by, person: false, grants: Vec::new() };
                self.decided(now, &question.ask, decided, out);
            }
        }
    }

    /// A person's no: nothing of the turn starts any more, and it ends when what runs has ended.
    fn stop_turn(&mut self, now: Timestamp, out: &mut Decisions) {
        self.withdraw(now, out);
        let Some((_, answer)) = self.durable.current() else { return };
        let open = answer.calls().filter(|call| call.outcome.is_none());
        let open: Vec<_> = open.map(|call: &ToolCall| call.id).collect();
        for call in open {
            match self.live.tools.get(&call) {
                Some(tool) if tool.started.is_some() => {
                    self.stop_sub_agent(call, Reason::Denied, out);
                }
                waiting => {
                    if waiting.is_some_and(|tool| !tool.asked) {
                        out.effects.push(Effect::CancelTool { call });
                    }
                    self.live.tools.remove(&call);
                    self.end_call(now, call, ToolOutcome::text(ToolStatus::NotReached, NOT_REACHED), 0, out);
                }
            }
        }
        self.run_calls(now, out);
    }

    /// Nobody needs to answer any more.
    pub(super) fn withdraw(&mut self, now: Timestamp, out: &mut Decisions) {
        self.live.questions.clear();
        let asks: Vec<_> = self.durable.asks.iter().map(|asked| asked.id.clone()).collect();
        for AskId { session, call } in asks {
            self.record(now, Record::PermissionWithdrawn { session, call }, out);
        }
        if let Some(parent) = &self.durable.parent {
            let asked = self.live.tools.iter().filter(|(_, tool)| tool.asked);
            let ids = asked.map(|(call, _)| AskId { session: self.durable.id.clone(), call: *call });
            let root = &parent.session;
            out.crossings.extend(ids.map(|ask| Crossing::Withdraw { root: root.clone(), ask }));
        }
    }

    /// A sub-agent does not need an answer any more.
    pub(crate) fn withdraw_one(&mut self, now: Timestamp, ask: &AskId, out: &mut Decisions) {
        self.live.questions.retain(|question| question.ask != *ask);
        if self.durable.asks.iter().any(|asked| asked.id == *ask) {
            let AskId { session, call } = ask.clone();
            self.record(now, Record::PermissionWithdrawn { session, call }, out);
        }
    }

    /// Whatever a sub-agent that has ended had asked for.
    pub(super) fn withdraw_of(&mut self, now: Timestamp, session: &SessionId, out: &mut Decisions) {
        let asks = self.durable.asks.iter().filter(|asked| asked.id.session == *session);
        let asks: Vec<_> = asks.map(|asked| asked.id.clone()).collect();
        for ask in asks {
            self.withdraw_one(now, &ask, out);
        }
    }
}

impl Decided {
    fn record(&self, call: CallId) -> Record {
        let Decided { allowed, by, person, grants } = self.clone();
        Record::PermissionDecided { call, allowed, by, session: None, person, grants }
    }
}
