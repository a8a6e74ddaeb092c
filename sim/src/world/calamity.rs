//! Misfortune: processes that are killed or suspended, power that goes, a disk that goes bad.

use hostler_core::session::Settings;
use hostler_core::workspace::Workspace;

use super::World;
use super::agenda::Happening;
use super::process::{Batch, NEVER, Stage};
use crate::oracles::{Oracles, Seen};
use crate::plan::What;
use crate::sometimes;
use crate::world::people::submission;

impl World {
    /// Does what an action says, unless the storm is over.
    pub(super) fn act(&mut self, action: usize) {
        if !self.is_storm() {
            return;
        }
        let what = self.plan.actions[action].what;
        if matches!(what, What::Submit(submit) if self.is_crowded(submit.session)) {
            return;
        }
        self.acted.push(self.plan.actions[action].id);
        self.trace.say(self.now, || format!("action {}: {what:?}", self.plan.actions[action].id));
        self.tell(|| super::told::What::Acts(what));
        match what {
            What::Submit(submit) if submit.headless => self.begin_run(&submit),
            What::Submit(submit) => self.ask(submit.process, submission(&submit)),
            What::Signal { prompt, how } => self.signal(prompt, how),
            What::Cancel { process, session, prompt } => self.ask_cancel(process, session, prompt),
            What::Stop { process, session } => self.stop_agent(process, session),
            What::Clear { process, session } => {
                let session = super::people::session_id(session);
                self.ask(process, hostler_core::protocol::Command::ClearQueue { session });
            }
            What::Rename { process, session, name } => {
                let (session, title) = (super::people::session_id(session), super::people::title(name));
                self.ask(process, hostler_core::protocol::Command::Rename { session, title });
            }
            What::Fork { process, from, session } => {
                let [from, session] = [from, session].map(super::people::session_id);
                self.ask(process, hostler_core::protocol::Command::Fork { from, session });
            }
            What::Delete { process, session } => {
                let session = super::people::session_id(session);
                self.ask(process, hostler_core::protocol::Command::Delete { session });
            }
            What::Kill { process, down } => self.kill(process as usize % self.processes.len(), down),
            What::Suspend { process, time } => {
                let process = process as usize % self.processes.len();
                self.processes[process].suspended = self.now + time;
            }
            What::Power { down, lost } => self.lose_power(down, lost),
            What::Outage { how, time } => self.begin_outage(how, time),
        }
    }

    fn begin_outage(&mut self, how: u64, time: u64) {
        self.disk.outages += 1;
        self.disk.outage = Some(how);
        self.agenda.push(self.now + time, Happening::Heal(self.disk.outages));
    }

    /// The disk is well again, if this was its last trouble.
    pub(super) fn heal(&mut self, outage: u64) {
        if self.disk.outages == outage {
            self.disk.outage = None;
        }
    }

    /// A process ends without warning.
    fn kill(&mut self, process: usize, down: u64) {
        if !self.processes[process].alive {
            return;
        }
        note_kill(&self.processes[process].stage);
        self.finish_commit(process);
        self.bury(process);
        self.agenda.push(self.now + down, Happening::Boot(process));
    }

    /// The commit that a kill interrupts is done or not.
    fn finish_commit(&mut self, process: usize) {
        let stage = std::mem::replace(&mut self.processes[process].stage, Stage::Idle);
        if let Stage::Committing(batch) = stage {
            let Batch { entries, verdict, .. } = batch.into_inner();
            if verdict.is_written() && self.disk.survives() {
                sometimes!("killed during the commit");
                self.write(process, entries, false);
            }
        }
    }

    fn bury(&mut self, process: usize) {
        self.tell(|| super::told::What::Dies { process });
        self.stop_jobs(process);
        let asks: Vec<_> = self.processes[process].askers.values().copied().collect();
        let waiting = self.processes[process].inbox.iter().filter_map(|message| match message {
            super::process::Message::Command(ask, _) => Some(*ask),
            _ => None,
        });
        let asks: Vec<_> = asks.into_iter().chain(waiting).collect();
        self.processes[process].die();
        for session in self.disk.forget(process) {
            if self.options.planted != 2 {
                self.unlock(&session);
            }
        }
        self.see(&Seen::Gone { process });
        self.reference.gone(process);
        asks.into_iter().for_each(|ask| self.unheard(ask));
    }

    /// A process starts.
    pub(super) fn boot(&mut self, process: usize) {
        self.tell(|| super::told::What::Boots { process });
        let it = &mut self.processes[process];
        it.alive = true;
        it.look.0 = NEVER;
        // Within a life its clock never goes back; what was written before may seem to lie in the future.
        let wrong = it.roll.chance(self.options.clock_back);
        let behind = it.roll.pick(&[1_000, 60_000, 3_600_000]);
        it.behind = if wrong { behind } else { 0 };
        sometimes!("clock went back", if wrong);
        it.machine = Workspace::new(Settings::clone(&self.settings)).into();
    }

    fn lose_power(&mut self, down: u64, lost: u64) {
        for process in 0..self.processes.len() {
            if self.processes[process].alive {
                self.finish_commit(process);
                self.bury(process);
                self.agenda.push(self.now + down, Happening::Boot(process));
            }
        }
        if self.disk.lose(lost) > 0 {
            sometimes!("power lost records");
            self.forget_what_was_lost();
        }
    }

    /// What was lost has never happened: whoever watches begins anew from the log that is left.
    fn forget_what_was_lost(&mut self) {
        self.oracles = Oracles::new(&self.settings, self.closely).into();
        let serving = self.settings.serving;
        if !serving {
            let folds = &self.disk.folds;
            let people = &mut *self.people;
            people.accepted.retain(|prompt, session| {
                folds.get(session).is_some_and(|durable| {
                    durable.find_open(prompt).is_some() || durable.closed.contains_key(prompt)
                })
            });
        }
        for (seq, entry) in &*self.disk.log {
            if let Err((oracle, what)) = self.oracles.see(&Seen::Log { seq: *seq, entry }) {
                return self.fail(crate::failure::Class::Safety, oracle, what);
            }
        }
        self.reference.rewind(&self.disk.log);
    }
}

fn note_kill(stage: &Stage) {
    match stage {
        Stage::Committing(_) => sometimes!("killed before the commit"),
        Stage::Starting(_) => sometimes!("killed between two effects"),
        Stage::Stopping => sometimes!("killed while it was stopping"),
        Stage::Idle => {}
    }
}
