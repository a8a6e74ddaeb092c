//! What the reference makes of tool calls as they go: which start, what is asked about them, and how they end.

use std::collections::BTreeSet;

use hostler_core::ids::CallId;
use hostler_core::prompt::Terms;
use hostler_core::protocol::{Answer, Breadth};
use hostler_core::record::RunStatus;
use hostler_core::time::Timestamp;
use hostler_core::tools::Intent;

use super::Fate;
use super::family::{Name, Word};
use super::story::{Doing, Story};
use super::tools::{Call, May, by_directory, grantable, may_run, missing, needs, overlaps};

impl Story {
    /// Starts what may start, in order, and goes on if everything is over.
    pub(super) fn run_calls(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        while let Some(at) = self.next_call() {
            let Some(turn) = self.turn.as_mut() else { return };
            let Doing::Running(calls, _) = &mut turn.doing else { return };
            let (name, call) = &mut calls[at];
            *call = match name.as_str() {
                "agent" => {
                    let id = CallId { step: turn.attempt.step, call: at as u32 + 1 };
                    // What the run must answer is no business of a sub-agent's.
                    let terms = Terms { answer_schema: None, ..turn.prompts[0].terms.clone() };
                    self.words.push(Word::Open(id, Box::new(terms), self.renews));
                    Call::Runs
                }
                "todos" => Call::Over,
                _ => Call::Looks,
            };
        }
        self.after_tools(now, fates);
    }

    fn next_call(&self) -> Option<usize> {
        let turn = self.turn.as_ref().filter(|turn| turn.settle.is_none() && !turn.stopped)?;
        let Doing::Running(calls, _) = &turn.doing else { return None };
        let at = calls.iter().position(|(_, call)| *call == Call::Waits)?;
        let busy: Vec<_> = calls.iter().filter(|(_, call)| call.is_at_work()).collect();
        let room = if overlaps(&calls[at].0) {
            busy.len() < self.settings.parallel && busy.iter().all(|(name, _)| overlaps(name))
        } else {
            busy.is_empty()
        };
        room.then_some(at)
    }

    fn call(&mut self, id: CallId) -> Option<&mut (String, Call)> {
        let turn = self.turn.as_mut().filter(|turn| turn.attempt.step == id.step)?;
        let Doing::Running(calls, _) = &mut turn.doing else { return None };
        calls.get_mut(id.call as usize - 1)
    }

    /// Gives up a call that was waited for too long. Sub-agents, and what people are asked about, take what they take.
    pub(super) fn is_given_up(&mut self, id: CallId) -> bool {
        let cancelled = self.turn.as_ref().is_some_and(|turn| turn.settle.is_some());
        match self.call(id) {
            Some((name, call @ (Call::Looks | Call::Runs))) if name != "agent" && !cancelled => {
                *call = Call::Over;
                true
            }
            _ => false,
        }
    }

    fn set(&mut self, id: CallId, to: Call) {
        if let Some((_, call)) = self.call(id) {
            *call = to;
        }
    }

    pub(super) fn inspected(&mut self, now: Timestamp, id: CallId, intent: &Intent, fates: &mut Vec<Fate>) {
        let Some((tool, Call::Looks)) = self.call(id).cloned() else { return };
        let needs = needs(&tool, intent);
        match self.may(&needs) {
            May::Run => self.set(id, Call::Runs),
            May::Not => self.set(id, Call::Denied),
            May::Ask => {
                self.set(id, Call::Asked);
                if self.is_agent {
                    self.words.push(Word::Needs(id, needs));
                } else {
                    self.put(now, Name { agent: None, call: id }, needs, fates);
                }
            }
        }
        self.run_calls(now, fates);
    }

    fn may(&self, needs: &BTreeSet<String>) -> May {
        let Some(turn) = &self.turn else { return May::Not };
        may_run(&missing(needs, &self.past.granted), turn.prompts[0].terms.permission)
    }

    /// Asks a person, unless what has been granted is enough.
    pub(super) fn put(&mut self, now: Timestamp, name: Name, needs: BTreeSet<String>, fates: &mut Vec<Fate>) {
        match self.may(&needs) {
            May::Ask => {
                fates.push(Fate::Asks(name.clone()));
                self.past.asked.push((name, missing(&needs, &self.past.granted)));
            }
            may => self.decide(now, &name, may == May::Run, false, fates),
        }
    }

    fn decide(&mut self, now: Timestamp, name: &Name, allowed: bool, ends: bool, fates: &mut Vec<Fate>) {
        fates.push(Fate::Decides(name.clone(), allowed));
        self.past.asked.retain(|(asked, _)| asked != name);
        match name.agent {
            Some(agent) => self.words.push(Word::Decided(agent, name.call, allowed, ends)),
            None => self.set(name.call, if allowed { Call::Runs } else { Call::Denied }),
        }
        if ends {
            self.stop_turn(now, fates);
        }
    }

    /// A person answers.
    pub(super) fn answer(&mut self, now: Timestamp, name: &Name, answer: Answer, fates: &mut Vec<Fate>) {
        let Some((_, missing)) = self.past.asked.iter().find(|(asked, _)| asked == name).cloned() else {
            return;
        };
        let allowed = answer != Answer::Deny;
        self.past.granted.extend(match answer {
            Answer::Deny | Answer::Once => BTreeSet::new(),
            Answer::Session(Breadth::Exact) | Answer::Always(Breadth::Exact) => grantable(&missing),
            Answer::Session(Breadth::Directory) | Answer::Always(Breadth::Directory) => {
                by_directory(&missing)
            }
        });
        self.decide(now, name, allowed, !allowed, fates);
        if allowed {
            for (name, missing) in self.past.asked.clone() {
                if self.may(&missing) == May::Run {
                    self.decide(now, &name, true, false, fates);
                }
            }
            self.run_calls(now, fates);
        }
    }

    /// What was decided about a call of this sub-agent.
    pub(super) fn hear_decision(
        &mut self,
        now: Timestamp,
        id: CallId,
        allowed: bool,
        ends: bool,
        fates: &mut Vec<Fate>,
    ) {
        if !matches!(self.call(id), Some((_, Call::Asked))) {
            return;
        }
        self.set(id, if allowed { Call::Runs } else { Call::Denied });
        if ends {
            self.stop_turn(now, fates);
        } else {
            self.run_calls(now, fates);
        }
    }

    /// A person's no: nothing of the turn starts any more.
    fn stop_turn(&mut self, now: Timestamp, fates: &mut Vec<Fate>) {
        self.withdraw(|_| true, fates);
        if let Some(turn) = self.turn.as_mut() {
            turn.stopped = true;
        }
        self.stop_calls();
        self.after_tools(now, fates);
    }

    /// Nothing that has not started starts any more, and what sub-agents do is stopped.
    pub(super) fn stop_calls(&mut self) {
        let agent = self.is_agent;
        let Some(turn) = self.turn.as_mut() else { return };
        let step = turn.attempt.step;
        let late = matches!(turn.settle, Some((_, RunStatus::Limit)));
        let Doing::Running(calls, _) = &mut turn.doing else { return };
        for (at, (name, call)) in calls.iter_mut().enumerate() {
            let id = CallId { step, call: at as u32 + 1 };
            match call {
                Call::Runs if name == "agent" => self.words.push(Word::Stop(id, late)),
                Call::Asked if agent => {
                    self.words.push(Word::Withdraws(id));
                    *call = Call::Over;
                }
                Call::Waits | Call::Looks | Call::Asked => *call = Call::Over,
                Call::Runs | Call::Denied | Call::Over => {}
            }
        }
    }

    /// Nobody needs to answer that any more.
    pub(super) fn withdraw(&mut self, which: impl Fn(&Name) -> bool, fates: &mut Vec<Fate>) {
        let (gone, kept): (Vec<_>, Vec<_>) = self.past.asked.drain(..).partition(|(name, _)| which(name));
        self.past.asked = kept;
        fates.extend(gone.into_iter().map(|(name, _)| Fate::Withdraws(name)));
    }

    /// The sub-agent of a call has ended.
    pub(super) fn agent_ended(&mut self, now: Timestamp, agent: CallId, fates: &mut Vec<Fate>) {
        self.withdraw(|name| name.agent == Some(agent), fates);
        self.tool_ended(now, agent, fates);
    }

    pub(super) fn tool_ended(&mut self, now: Timestamp, id: CallId, fates: &mut Vec<Fate>) {
        if matches!(self.call(id), Some((_, Call::Runs))) {
            self.set(id, Call::Over);
            self.run_calls(now, fates);
        }
    }
}
