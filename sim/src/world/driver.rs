//! What a process does by itself: look, decide a batch, commit it, and go down if that fails.

use std::collections::VecDeque;

use hostler_core::ids::{RequestId, RunId, SessionId};
use hostler_core::machine::{Effects, Entry, Machine};
use hostler_core::protocol::{Command, Notice, Refusal, RefusalKind, Reply};
use hostler_core::record::{Record, Strength};
use hostler_core::session::Settings;
use hostler_core::workspace::{Effect, Input, Opened, RunOwner, TakenRun, Workspace};

use super::agenda::Happening;
use super::disk::Verdict;
use super::process::{Batch, Message, NEVER, Outage, Stage};
use super::told::What;
use super::trace::short;
use super::{World, double, sightings};
use crate::coverage::Phase;
use crate::failure::Class;
use crate::oracles::Seen;
use crate::sometimes;

/// How many inputs a batch has at the most.
const MOST: usize = 256;

impl World {
    /// Has a process look soon if something waits, else at its next deadline.
    pub(super) fn rouse(&mut self, process: usize) {
        let (now, grain) = (self.now, self.options.grain);
        let it = &mut self.processes[process];
        if !it.alive || it.stage != Stage::Idle {
            return;
        }
        let at = if !it.inbox.is_empty() || !it.pending.is_empty() {
            if it.look.0 <= now {
                return;
            }
            if it.roll.chance(700) { now } else { now + grain * it.roll.below(3) }
        } else {
            let Some(deadline) = it.deadline() else { return };
            let late = if it.roll.chance(800) { 0 } else { self.options.delay(&mut it.roll, 3) };
            deadline.max(now) + late
        };
        if at < it.look.0 {
            it.look = (at, it.look.1 + 1);
            self.agenda.push(at, Happening::Wake(process, it.look.1));
        }
    }

    /// A process looks whether there is something to do, and decides about all of it.
    pub(super) fn wake(&mut self, process: usize, look: u64) {
        let it = &mut self.processes[process];
        if it.look.1 != look || !it.alive {
            return;
        }
        it.look.0 = NEVER;
        if it.stage != Stage::Idle {
            return;
        }
        let inputs = self.gather(process);
        if inputs.is_empty() {
            return self.rouse(process);
        }
        self.decide(process, inputs);
    }

    fn gather(&mut self, process: usize) -> Vec<Input> {
        let now = self.time(process);
        let most = self.options.batch;
        let it = &mut self.processes[process];
        let room = if most == 0 { MOST } else { it.roll.between(1, most) as usize };
        let mut inputs = Vec::new();
        if it.is_due(now) {
            inputs.push(Input::Tick);
        }
        inputs.extend(it.pending.drain(..));
        while inputs.len() < room
            && let Some(message) = self.processes[process].inbox.pop_front()
        {
            self.take(process, message, &mut inputs);
        }
        inputs
    }

    fn take(&mut self, process: usize, message: Message, inputs: &mut Vec<Input>) {
        match message {
            Message::Input(input) => {
                self.processes[process].ended(&input);
                inputs.push(input);
            }
            Message::Locked(session) => {
                if self.processes[process].opening.remove(&session) {
                    sometimes!("lock taken over after waiting");
                    inputs.push(self.load(process, session));
                } else {
                    sometimes!("lock came too late to be wanted");
                    self.unlock(&session);
                }
            }
            Message::Command(ask, command) => self.request(process, ask, command, inputs),
        }
    }

    fn request(&mut self, process: usize, ask: usize, command: Command, inputs: &mut Vec<Input>) {
        if self.refuses(process) {
            sometimes!("refused while the disk was bad");
            let refusal = Refusal::new(RefusalKind::Storage, "The log cannot be written.");
            return self.answered(ask, &Reply::Refused(refusal));
        }
        let it = &mut self.processes[process];
        it.requests += 1;
        let id = RequestId(it.requests);
        it.askers.insert(id, ask);
        let taken = self.taken(&command).map(Box::new);
        // What another session has come to is read here, as the log has it.
        let source = match &command {
            Command::Fork { from, .. } => self.disk.folds.get(from).cloned().map(Box::new),
            _ => None,
        };
        self.see(&Seen::Request { process, id, command: &command });
        inputs.push(Input::Request { id, command, taken, source });
    }

    /// Whose the run id is that a command asks for, as far as the log knows.
    fn taken(&self, command: &Command) -> Option<RunOwner> {
        let Command::Submit { prompt, .. } = command else { return None };
        self.owner(prompt.run.as_ref()?)
    }

    /// Whose a run is, as far as the log knows.
    fn owner(&self, run: &RunId) -> Option<RunOwner> {
        self.disk.folds.values().find_map(|durable| {
            let open =
                durable.open.values().find(|open| open.prompt.run_id() == *run).map(|open| &open.prompt.id);
            let closed =
                || durable.closed.iter().find(|(_, closed)| closed.run == *run).map(|(prompt, _)| prompt);
            let prompt = open.or_else(closed)?.clone();
            Some(RunOwner { session: durable.id.clone(), prompt })
        })
    }

    /// Whether a process refuses everything because it cannot write.
    fn refuses(&mut self, process: usize) -> bool {
        let now = self.now;
        let Some(outage) = self.processes[process].outage else { return false };
        if now >= outage.retry {
            if self.disk.probe(&self.options) {
                self.processes[process].outage = None;
                return false;
            }
            self.processes[process].outage = Some(Outage::after(Some(outage), now));
        }
        true
    }

    /// Reads a session whose lock the process has.
    pub(super) fn load(&mut self, process: usize, session: SessionId) -> Input {
        if !self.disk.readable(&self.options) {
            sometimes!("log could not be read");
            self.unlock(&session);
            let opened = Opened::Failed("The log cannot be read.".to_owned());
            return Input::SessionOpened { session, opened, children: Vec::new(), taken: Vec::new() };
        }
        self.processes[process].locks.insert(session.clone());
        let opened = Opened::Ready(self.disk.folds.get(&session).cloned().map(Box::new));
        let folds = self.disk.folds.iter();
        let own = folds.filter(|(id, durable)| id.is_child() && id.root() == session && !durable.is_idle());
        let children = own.map(|(_, durable)| durable.clone()).collect();
        let waiting = self.processes[process].machine.waiting_runs(&session);
        let taken = waiting.into_iter().filter_map(|run| {
            let RunOwner { session, prompt } = self.owner(&run)?;
            Some(TakenRun { run, session, prompt })
        });
        let taken = taken.collect();
        Input::SessionOpened { session, opened, children, taken }
    }

    fn decide(&mut self, process: usize, inputs: Vec<Input>) {
        let now = self.time(process);
        let mut out = Effects::new();
        sightings::batch(&inputs);
        let alone = inputs.len() == 1;
        for input in inputs {
            self.handle(process, input, alone, &mut out);
        }
        self.check_deadline(process);
        self.trace.note(&[out.records().len() as u64, out.effects().len() as u64]);
        let (entries, effects) = out.into_parts();
        let machine = &self.processes[process].machine;
        let seen = Seen::Decided { process, at: now, entries: &entries, machine };
        if let Err((oracle, what)) = self.oracles.see(&seen) {
            self.fail(Class::Safety, oracle, what);
        }
        self.note_decisions(process, &entries, &effects);
        if entries.is_empty() {
            self.begin_effects(process, effects.into());
        } else {
            self.begin_commit(process, entries, effects);
        }
    }

    /// A machine that waits longer than the reference does would be late, and nobody else would know.
    fn check_deadline(&mut self, process: usize) {
        let due = self.reference.deadline(process);
        let waits = self.processes[process].machine.deadline().map(|(at, _)| at);
        if due.is_some_and(|due| waits.is_none_or(|waits| waits > due)) {
            let what = format!("something is due at {due:?}, and process {process} waits until {waits:?}");
            self.fail(Class::Model, "reference", what);
        }
    }

    fn handle(&mut self, process: usize, input: Input, alone: bool, out: &mut Effects<Effect>) {
        self.trace.say(self.now, || format!("process {process} <- {}", short(&input)));
        self.tell(|| What::Hears { process, input: Box::new(input.clone()) });
        self.trace.deep(&input);
        let now = self.time(process);
        let it = &mut self.processes[process];
        self.coverage.input(now, &input, &it.machine, &it.locks);
        let (cancel, outcome) = (sightings::is_cancel(&input), sightings::is_outcome(&input));
        let phase = match &input {
            Input::Request { command: Command::Cancel { session, .. }, .. } => {
                self.coverage.phase(&it.machine, session)
            }
            _ => Phase::Away,
        };
        let before = (out.records().len(), out.effects().len());
        if let Some(input) = double::twist(self.options.planted, input.clone(), alone, &it.machine) {
            it.machine.handle(now, input, out);
        }
        sightings::handled(cancel, outcome, phase, before == (out.records().len(), out.effects().len()));
        let entries = &out.records()[before.0..];
        if let Err(what) = self.reference.input(process, now, &input, entries) {
            self.fail(Class::Model, "reference", what);
        }
        let machine = &self.processes[process].machine;
        let seen = Seen::Handled { process, at: now, input: &input, entries, machine };
        if let Err((oracle, what)) = self.oracles.see(&seen) {
            self.fail(Class::Safety, oracle, what);
        }
    }

    fn begin_commit(&mut self, process: usize, entries: Vec<Entry>, effects: Vec<Effect>) {
        let (time, verdict) = self.disk.judge(&self.options);
        self.aims.decided(&entries);
        let batch = Batch { entries, effects, verdict };
        let it = &mut self.processes[process];
        it.stage = Stage::Committing(batch.into());
        self.agenda.push(self.now + time, Happening::Commit(process, it.life));
    }

    fn note_decisions(&mut self, process: usize, entries: &[Entry], effects: &[Effect]) {
        self.coverage.entries(entries);
        self.sightings.entries(entries);
        self.trace.deep(&(entries, effects));
        if self.trace.speaks() {
            for entry in entries {
                self.tell(|| What::Decides { process, entry: Box::new(entry.clone()) });
                let (session, record) = (&entry.session, &entry.record);
                self.trace.say(self.now, || format!("process {process}    {session} {}", short(record)));
            }
            for effect in effects {
                self.trace.say(self.now, || format!("process {process} -> {}", short(effect)));
            }
        }
    }

    /// The commit of a batch returns.
    pub(super) fn commit(&mut self, process: usize, life: u32) {
        let it = &mut self.processes[process];
        if it.life != life || !matches!(it.stage, Stage::Committing(_)) {
            return;
        }
        let Stage::Committing(batch) = std::mem::replace(&mut it.stage, Stage::Idle) else { return };
        let Batch { entries, effects, verdict } = batch.into_inner();
        self.trace.say(self.now, || format!("process {process} commit: {verdict:?}"));
        let records = entries.len();
        self.tell(|| What::Commits { process, records, verdict });
        self.trace.note(&[verdict as u64]);
        let wait = self.aims.committed(&entries) | self.is_watched(&entries);
        if verdict.is_written() {
            self.write(process, entries, verdict == Verdict::Done);
        }
        match verdict {
            Verdict::Done if wait => self.defer_effects(process, effects.into()),
            Verdict::Done => self.begin_effects(process, effects.into()),
            Verdict::Busy | Verdict::Failed | Verdict::Unsure => self.go_down(process, verdict),
        }
    }

    /// Appends records to the log. `known` says whether the process learns of it.
    pub(super) fn write(&mut self, process: usize, mut entries: Vec<Entry>, known: bool) {
        if self.options.planted == 1 {
            entries.retain(|entry| !matches!(entry.record, Record::CancelAccepted { .. }));
        }
        self.see(&Seen::Writes { process, entries: &entries });
        let strengths = entries.iter().map(|entry| entry.record.strength(self.settings.serving));
        let strength = strengths.max().unwrap_or(Strength::Normal);
        let first = self.disk.append(entries, strength);
        for at in first..self.disk.log.len() {
            let (seq, entry) = &self.disk.log[at];
            if let Err((oracle, what)) = self.oracles.see(&Seen::Log { seq: *seq, entry }) {
                return self.fail(Class::Safety, oracle, what);
            }
            self.reference.log(entry);
        }
        if known {
            self.publish(process, first);
            self.hear_asks(process, first);
            let entries: Vec<_> =
                self.disk.log[first..].iter().map(|(_, entry)| Entry::clone(entry)).collect();
            let (machine, folds) = (&self.processes[process].machine, &self.disk.folds);
            let seen = Seen::Committed { process, entries: &entries, machine, folds };
            if let Err((oracle, what)) = self.oracles.see(&seen) {
                self.fail(Class::Safety, oracle, what);
            }
        }
    }

    /// The commit failed: everything that is under way is stopped.
    fn go_down(&mut self, process: usize, verdict: Verdict) {
        sometimes!("commit failed", if verdict == Verdict::Failed);
        sometimes!("commit failed although it was done", if verdict == Verdict::Unsure);
        sometimes!("commit busy", if verdict == Verdict::Busy);
        let now = self.now;
        let it = &mut self.processes[process];
        it.stage = Stage::Stopping;
        it.outage = Some(Outage::after(it.outage, now));
        self.disk_was_down = true;
        let time = self.options.delay(&mut it.roll, 40);
        self.agenda.push(now + time, Happening::Stopped(process, it.life));
        self.stop_jobs(process);
    }

    /// Everything is stopped: the machine begins anew from the log.
    pub(super) fn stopped(&mut self, process: usize, life: u32) {
        let it = &mut self.processes[process];
        if it.life != life || it.stage != Stage::Stopping {
            return;
        }
        it.stage = Stage::Idle;
        it.pending = VecDeque::new();
        it.opening.clear();
        it.machine = Workspace::new(Settings::clone(&self.settings)).into();
        let locks = std::mem::take(&mut it.locks);
        let askers = std::mem::take(&mut it.askers);
        locks.iter().for_each(|session| self.unlock(session));
        for ask in askers.into_values() {
            let refusal = Refusal::new(RefusalKind::Storage, "The log cannot be written.");
            self.answered(ask, &Reply::Refused(refusal));
        }
        self.notify(process, &Notice::StorageFailed { message: "The log cannot be written.".to_owned() });
        self.see(&Seen::Gone { process });
        self.reference.gone(process);
        self.rouse(process);
    }
}
