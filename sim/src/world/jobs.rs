//! What is under way outside the machines: preparations, model calls and tools. A job is a script of what it will say
//! and when; a cancel may change the rest of it, and some jobs do not care.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hostler_core::content::{ToolOutcome, ToolStatus};
use hostler_core::ids::{CallId, EffectId, PromptId, SessionId};
use hostler_core::session::Input as SessionInput;
use hostler_core::workspace::Input;

use super::World;
use super::agenda::Happening;
use super::disk::Life;
use super::process::Message;
use crate::shared::Shared;
use crate::sometimes;

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    /// Who awaits it.
    pub(super) owner: Life,
    /// For which session.
    pub(super) session: SessionId,
    /// What it will say, each so long after what came before.
    pub(super) script: VecDeque<(u64, SessionInput)>,
    /// What it goes on saying for ever behind that.
    pub(super) endless: Option<(u64, SessionInput)>,
    /// What it does when it is cancelled.
    pub(super) manner: Manner,
    /// How often its script was changed.
    pub(super) course: u32,
}

/// What a job does when it is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It says so many more things and ends without a word.
    Silent(usize),
    /// It is a tool and says that it was cancelled, so long after.
    Reports(CallId, u64),
    /// It does not listen.
    Deaf,
}

/// All jobs, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs {
    /// Those that have something left to say.
    pub(super) jobs: BTreeMap<u32, Shared<Job>>,
    /// The prompts that have been prepared at least once.
    pub(super) prepared: BTreeSet<PromptId>,
    last: u32,
}

impl World {
    /// Starts a job.
    pub(super) fn start_job(&mut self, process: usize, id: EffectId, job: Job) {
        self.jobs.last += 1;
        let number = self.jobs.last;
        self.processes[process].running.insert(id, number);
        self.jobs.jobs.insert(number, job.into());
        self.foresee(number);
    }

    fn foresee(&mut self, number: u32) {
        let Some(job) = self.jobs.jobs.get_mut(&number) else { return };
        if job.script.is_empty()
            && let Some(more) = job.endless.clone()
        {
            job.script.push_back(more);
        }
        match job.script.front() {
            Some((delay, _)) => {
                let (at, course) = (self.now + delay, job.course);
                self.agenda.push(at, Happening::Job(number, course));
            }
            // A job that says nothing more is kept only if a cancel makes it speak.
            None if matches!(job.manner, Manner::Reports(_, _)) => {}
            None => drop(self.jobs.jobs.remove(&number)),
        }
    }

    /// A job says the next thing.
    pub(super) fn job(&mut self, number: u32, course: u32) {
        let Some(job) = self.jobs.jobs.get_mut(&number).filter(|job| job.course == course) else { return };
        let (session, (process, life)) = (job.session.clone(), job.owner);
        if self.processes[process].life != life {
            self.jobs.jobs.remove(&number);
            return;
        }
        let durable = self.processes[process].machine.durable(&session);
        let turn = durable.and_then(|durable| durable.turn.as_ref()).map(|turn| turn.id);
        let Some((_, input)) = job.script.pop_front() else { return };
        let ends = matches!(input, SessionInput::ToolFinished { .. });
        if let SessionInput::ToolFinished { call, .. } = &input {
            sometimes!("tool outlived its turn", if turn != Some(call.step.turn));
        }
        if let SessionInput::ToolOutput { call, .. } = &input {
            sometimes!("tool outlived its turn and spoke", if turn.is_some_and(|turn| turn != call.step.turn));
        }
        self.deliver(process, Message::Input(Input::Session { session, input }));
        if ends {
            self.jobs.jobs.remove(&number);
        } else {
            self.foresee(number);
        }
    }

    /// Stops a preparation or a model call. Some have a few more words on the way.
    pub(super) fn stop_job(&mut self, process: usize, id: &EffectId) {
        let Some(number) = self.processes[process].running.remove(id) else { return };
        let Some(job) = self.jobs.jobs.get_mut(&number) else { return };
        let Manner::Silent(more) = job.manner else { return };
        job.endless = None;
        job.script.truncate(more);
        if job.script.is_empty() {
            self.jobs.jobs.remove(&number);
        }
    }

    /// Asks a tool to end. One that was never started ends here.
    pub(super) fn cancel_tool(&mut self, process: usize, session: SessionId, call: CallId) {
        let id = EffectId::Call(session.clone(), call);
        let Some(number) = self.processes[process].running.get(&id).copied() else {
            let outcome = ToolOutcome::text(ToolStatus::Cancelled, "It was not started.");
            let input = SessionInput::ToolFinished { call, outcome };
            sometimes!("effect taken back in its own batch");
            return self.processes[process].pending.push_back(Input::Session { session, input });
        };
        let Some(job) = self.jobs.jobs.get_mut(&number) else { return };
        if let Manner::Reports(call, delay) = job.manner {
            let outcome = ToolOutcome::text(ToolStatus::Cancelled, "It was stopped.");
            job.script = VecDeque::from([(delay, SessionInput::ToolFinished { call, outcome })]);
            job.course += 1;
            job.manner = Manner::Deaf;
            self.foresee(number);
        }
    }

    /// Everything that a process has under way is stopped.
    pub(super) fn stop_jobs(&mut self, process: usize) {
        let life = self.processes[process].id();
        self.processes[process].running.clear();
        self.jobs.jobs.retain(|_, job| job.owner != life);
    }
}
