//! What a process starts once its batch is committed.

use std::collections::VecDeque;

use hostler_core::ids::{AttemptId, CallId, EffectId, PromptId, SessionId, StepId};
use hostler_core::protocol::Holder;
use hostler_core::session::{Effect as Ask, Input as SessionInput, Owned, Verdict};
use hostler_core::time::Timestamp;
use hostler_core::tools::ToolInput;
use hostler_core::workspace::{Effect, Input};

use super::World;
use super::agenda::Happening;
use super::jobs::{Job, Manner};
use super::process::{Message, Stage};
use super::told::What;
use super::{provider, tools};
use crate::dice::{Roll, Stream, mix, name};
use crate::failure::Class;
use crate::oracles::Seen;
use crate::sometimes;

/// How many of a thousand looks at answers take their time at least, in the storm and behind it.
const SLOW_CHECK: u64 = 400;

impl World {
    /// Starts the effects of a batch, all at once or some of them later.
    pub(super) fn begin_effects(&mut self, process: usize, effects: VecDeque<Effect>) {
        self.processes[process].stage = Stage::Starting(effects);
        self.start_some(process);
    }

    /// Starts the effects of a batch a moment later.
    pub(super) fn defer_effects(&mut self, process: usize, effects: VecDeque<Effect>) {
        let it = &mut self.processes[process];
        it.stage = Stage::Starting(effects);
        self.agenda.push(self.now, Happening::Start(process, it.life));
    }

    /// A process goes on starting effects.
    pub(super) fn start(&mut self, process: usize, life: u32) {
        let it = &self.processes[process];
        if it.life == life && matches!(it.stage, Stage::Starting(_)) {
            self.start_some(process);
        }
    }

    fn start_some(&mut self, process: usize) {
        loop {
            let split = self.options.split;
            let it = &mut self.processes[process];
            let Stage::Starting(effects) = &mut it.stage else { return };
            let Some(effect) = effects.pop_front() else { break };
            let pauses = !effects.is_empty() && split > 0 && it.roll.chance(split);
            self.start_one(process, effect);
            if pauses {
                let (at, life) = (self.now, self.processes[process].life);
                return self.agenda.push(at, Happening::Start(process, life));
            }
        }
        self.processes[process].stage = Stage::Idle;
        self.rouse(process);
    }

    fn start_one(&mut self, process: usize, effect: Effect) {
        self.see(&Seen::Start { process, effect: &effect });
        self.tell(|| What::Starts { process, effect: Box::new(effect.clone()) });
        match effect {
            Effect::OpenSession { session } => self.open(process, session),
            Effect::CancelOpen { session } => drop(self.processes[process].opening.remove(&session)),
            Effect::CloseSession { session } => {
                if self.processes[process].locks.remove(&session) {
                    self.unlock(&session);
                }
            }
            Effect::Session(Owned { session, effect }) => self.start_for(process, session, effect),
            Effect::Reply { to, reply } => {
                if let Some(ask) = self.processes[process].askers.remove(&to) {
                    self.answered(ask, &reply);
                }
            }
            Effect::DeleteSession { session } => self.delete(process, session),
            Effect::Notify(notice) => self.notify(process, &notice),
        }
    }

    fn start_for(&mut self, process: usize, session: SessionId, effect: Ask) {
        match effect {
            Ask::Prepare { prompt, .. } => self.start_preparing(process, session, prompt),
            Ask::CancelPrepare { prompt } => self.stop_job(process, &EffectId::Prepare(session, prompt)),
            Ask::CallModel { attempt, .. } => self.call_model(process, session, attempt),
            Ask::CancelCall { attempt } => self.stop_job(process, &EffectId::Attempt(session, attempt)),
            Ask::InspectCall { call, input } => {
                self.look_at_call(process, session, call, &input);
            }
            Ask::RunTool { call, input } => self.run_tool(process, session, call, &input),
            Ask::CancelTool { call } => self.cancel_tool(process, session, call),
            Ask::CheckAnswer { step } => self.check_answer(process, session, step),
            Ask::CancelCheck { step } => self.stop_job(process, &EffectId::Check(session, step)),
            Ask::MakeTitle { .. } => self.make_title(process, session),
            Ask::CancelTitle => {
                sometimes!("title waited for too long");
                self.stop_job(process, &EffectId::Title(session));
            }
            Ask::KeepRules { rules } => self.staged.kept += rules.len(),
            Ask::Reply { .. } => {}
        }
    }

    /// A look at a call may take its time, or longer than it is waited for. Where every order is tried it takes none.
    fn look_at_call(&mut self, process: usize, session: SessionId, call: CallId, input: &ToolInput) {
        let mut roll = self.luck_of_call(&session, call, 1);
        let staged = self.options.staged > 0;
        let intent =
            if staged { tools::plain_intent(input) } else { tools::intent(input, &mut roll, &self.options) };
        let input = SessionInput::Inspected { call, intent };
        if let Some(takes) = self.staged.looks.pop_front() {
            let script = takes.map(|after| (after, input)).into_iter().collect();
            return self.start_look(process, session, call, script);
        }
        if self.options.short > 0 {
            return self.processes[process].pending.push_back(Input::Session { session, input });
        }
        let (slow, hangs) = (roll.chance(self.options.prepare_slow), roll.chance(self.options.prepare_hang));
        let late = self.options.prepare.saturating_sub(1) + roll.pick(&[0, 1, 2, 100, 1_000, 10_000]);
        let soon = self.options.delay(&mut roll, 5);
        let at = if slow { late } else { soon };
        let script = if hangs { VecDeque::new() } else { VecDeque::from([(at, input)]) };
        self.start_look(process, session, call, script);
    }

    fn start_look(
        &mut self,
        process: usize,
        session: SessionId,
        call: CallId,
        script: VecDeque<(u64, SessionInput)>,
    ) {
        let owner = self.processes[process].id();
        let job =
            Job { owner, session: session.clone(), script, endless: None, manner: Manner::Deaf, course: 0 };
        self.start_job(process, EffectId::Call(session, call), job);
    }

    /// An answer is held against its schema: about half of them will do, and now and then it cannot be told. That takes its
    /// time, or longer than it is waited for, and may be heard of when nobody waits any more.
    fn check_answer(&mut self, process: usize, session: SessionId, step: StepId) {
        let Some((schema, answer)) = self.processes[process].machine.answer_to_check(&session) else {
            let what = format!("{session}: the answer of {step} is to be looked at, and there is none");
            return self.fail(Class::Safety, "effects", what);
        };
        self.see(&Seen::Checks { session: &session, schema: &schema, answer: &answer });
        let place = u64::from(step.step) << 8;
        let mut roll = Roll::new(self.seed, Stream::Provider, self.entity(process, &session) ^ mix(place));
        let verdict = match roll.below(20) {
            0 => Verdict::Undecided("It cannot be told.".to_owned()),
            1..=9 => Verdict::Violated("It is something else.".to_owned()),
            _ => Verdict::Satisfied,
        };
        let input = SessionInput::Checked { step, verdict };
        // Often enough for other things to happen meanwhile, and to hear of it when it is called off and all has changed.
        let slow = roll.chance(self.options.prepare_slow.max(SLOW_CHECK));
        let hangs = roll.chance(self.options.prepare_hang);
        let late = self.options.prepare.saturating_sub(1) + roll.pick(&[0, 1, 2, 100, 1_000, 10_000]);
        let some = roll.pick(&[20, 300, 4_000, 15_000, 40_000]);
        let late = if roll.chance(700) { some } else { late };
        let soon = self.options.delay(&mut roll, 20);
        let manner = if roll.chance(600) { Manner::Deaf } else { Manner::Silent(0) };
        let script =
            if hangs { VecDeque::new() } else { VecDeque::from([(if slow { late } else { soon }, input)]) };
        let owner = self.processes[process].id();
        let job = Job { owner, session: session.clone(), script, endless: None, manner, course: 0 };
        self.start_job(process, EffectId::Check(session, step), job);
    }

    fn open(&mut self, process: usize, session: SessionId) {
        let now = self.now;
        let life = self.processes[process].id();
        match self.disk.try_lock(&session, life, now) {
            Ok(()) => {
                self.see(&Seen::Lock { process, session: &session });
                let input = self.load(process, session);
                self.processes[process].pending.push_back(input);
            }
            Err(((holder, _), since)) => {
                sometimes!("session held by another process", if holder != process);
                self.disk.waiting.entry(session.clone()).or_default().push_back(life);
                let it = &mut self.processes[process];
                it.opening.insert(session.clone());
                let holder = Holder { pid: holder as u32 + 1, since: Timestamp::from_millis(since) };
                it.pending.push_back(Input::SessionHeld { session, holder });
            }
        }
    }

    /// Gives a lock back; whoever waits for it is told.
    pub(super) fn unlock(&mut self, session: &SessionId) {
        self.see(&Seen::Unlock { session });
        if let Some((process, life)) = self.disk.unlock(session, self.now) {
            self.see(&Seen::Lock { process, session });
            let at = self.now + self.options.delay(&mut self.processes[process].roll, 3);
            self.agenda.push(at, Happening::Locked(process, life, session.clone()));
        }
    }

    /// A lock that was waited for has come.
    pub(super) fn lock_comes(&mut self, process: usize, life: u32, session: SessionId) {
        if self.processes[process].id() == (process, life) {
            self.deliver(process, Message::Locked(session));
        }
    }

    fn start_preparing(&mut self, process: usize, session: SessionId, prompt: PromptId) {
        sometimes!("prompt begun again by a server", if !self.jobs.prepared.insert(prompt.clone()));
        let entity = mix(name(prompt.as_str())) ^ u64::from(self.processes[process].life);
        let mut roll = Roll::new(self.seed, Stream::Prepare, entity);
        let id = EffectId::Prepare(session.clone(), prompt.clone());
        let staged = self.staged.preparations.pop_front();
        self.staged.prepared += 1;
        let script = match staged {
            Some(staged) => tools::staged_preparation(prompt, staged, &self.options),
            None => tools::preparation(prompt, &mut roll, &self.options),
        };
        let owner = self.processes[process].id();
        let job = Job { owner, session, script, endless: None, manner: Manner::Silent(0), course: 0 };
        self.start_job(process, id, job);
    }

    fn call_model(&mut self, process: usize, session: SessionId, attempt: AttemptId) {
        let machine = &self.processes[process].machine;
        let (Some(request), Some(durable)) = (machine.model_request(&session), machine.durable(&session))
        else {
            let what = format!("{session}: attempt {attempt} is started, and there is nothing to ask");
            return self.fail(Class::Safety, "effects", what);
        };
        let seen = Seen::Asks { session: &session, attempt, request: &request, durable };
        if let Err((oracle, what)) = self.oracles.see(&seen) {
            self.fail(Class::Safety, oracle, what);
        }
        let place = u64::from(attempt.step.step) << 8 | u64::from(attempt.attempt);
        let mut roll = Roll::new(self.seed, Stream::Provider, self.entity(process, &session) ^ mix(place));
        let asked =
            provider::Asked { attempt, sub_agent: session.is_child(), sealed: provider::has_seals(&request) };
        let answer = match self.staged.answers.pop_front() {
            Some(staged) => provider::staged(attempt, staged),
            None => provider::answer(asked, &mut roll, &self.options),
        };
        if self.options.staged > 0 {
            self.staged.requests.push(request);
        }
        let owner = self.processes[process].id();
        let (script, endless) = (answer.script, answer.endless);
        let job = Job { owner, session: session.clone(), script, endless, manner: answer.manner, course: 0 };
        self.start_job(process, EffectId::Attempt(session, attempt), job);
    }

    /// A title may be cut out of an answer of any kind, or never come.
    fn make_title(&mut self, process: usize, session: SessionId) {
        if self.processes[process].machine.title_request(&session).is_none() {
            let what = format!("{session}: a title is asked for, and there is nothing to ask");
            return self.fail(Class::Safety, "effects", what);
        }
        let mut roll = Roll::new(self.seed, Stream::Provider, mix(name(session.as_str())));
        let answer = provider::title(&mut roll, &self.options);
        let owner = self.processes[process].id();
        let (script, endless) = (answer.script, answer.endless);
        let job = Job { owner, session: session.clone(), script, endless, manner: answer.manner, course: 0 };
        self.start_job(process, EffectId::Title(session), job);
    }

    /// The disk forgets a session or does not; a process that is killed before it hears of that does not know.
    fn delete(&mut self, process: usize, session: SessionId) {
        let error = match self.disk.probe(&self.options) {
            true => {
                self.forget(&session);
                None
            }
            false => Some("The log cannot be written.".to_owned()),
        };
        self.processes[process].pending.push_back(Input::SessionDeleted { session, error });
    }

    /// Nobody remembers anything of a session and its sub-agents.
    fn forget(&mut self, session: &SessionId) {
        self.disk.forget_session(session);
        self.oracles.forget(session);
        self.reference.forget(session);
        self.people.accepted.retain(|_, other| other != session);
        self.disturb_runs(session);
    }

    /// A number for the turn that a session is in: that of the prompt that began it, so that it stays the same when
    /// other actions are taken out of the plan.
    fn entity(&self, process: usize, session: &SessionId) -> u64 {
        let durable = self.processes[process].machine.durable(session);
        let first = durable.and_then(|durable| durable.open.get(durable.turn.as_ref()?.prompts.first()?));
        first.map_or(0, |open| mix(name(open.prompt.id.as_str())))
    }

    fn luck_of_call(&self, session: &SessionId, call: CallId, what: u64) -> Roll {
        let holder = self.disk.locks.get(&session.root()).map_or(0, |((process, _), _)| *process);
        let place = u64::from(call.step.step) << 16 | u64::from(call.call) << 4 | what;
        Roll::new(self.seed, Stream::Tool, self.entity(holder, session) ^ mix(place))
    }

    fn run_tool(&mut self, process: usize, session: SessionId, call: CallId, _input: &ToolInput) {
        let mut roll = self.luck_of_call(&session, call, 2);
        self.staged.ran += 1;
        let (script, manner) = match self.staged.tools.pop_front() {
            Some(staged) => tools::staged_tool(call, staged),
            None => tools::tool(call, &mut roll, &self.options),
        };
        let owner = self.processes[process].id();
        sometimes!("tools overlapped", if self.tool_runs(process, &session));
        let job = Job { owner, session: session.clone(), script, endless: None, manner, course: 0 };
        self.start_job(process, EffectId::Call(session, call), job);
    }

    fn tool_runs(&self, process: usize, session: &SessionId) -> bool {
        let runs = |id: &EffectId| matches!(id, EffectId::Call(other, _) if other == session);
        self.processes[process].running.keys().any(runs)
    }
}
