//! The world as something to explore: what may happen next, one choice at a time, and what tells two states apart.

use hostler_core::protocol::Command;

use super::World;
use super::agenda::Happening;
use super::process::{Message, Process, Stage};
use super::trace::hash_of;
use crate::canon::{Canon, Frame};
use crate::dice::mix;
use crate::plan::What;

/// Something that may happen next.
#[derive(Clone, Debug)]
pub struct Choice {
    /// When it is due.
    pub at: u64,
    /// Its place among what is going to happen.
    pub order: u64,
    /// What.
    pub what: Happening,
    /// What becomes of a commit that it interrupts, if it is something that can interrupt one.
    pub survives: Option<bool>,
}

impl World {
    /// What may happen next if anything may overtake anything else. What means nothing any more is forgotten.
    pub fn choices(&mut self) -> Vec<Choice> {
        let mut agenda = std::mem::take(&mut self.agenda);
        agenda.retain(|what| self.matters(what));
        self.agenda = agenda;
        let mut done: Vec<What> = Vec::new();
        let mut choices = Vec::new();
        for (at, order, what) in self.agenda.choices() {
            if let Happening::Act(nth) = what {
                let act = self.plan.actions[nth].what;
                // Of actions that are the same one is as good as the other.
                if done.contains(&act) {
                    continue;
                }
                done.push(act);
            }
            for survives in self.survivals(&what) {
                choices.push(Choice { at, order, what: what.clone(), survives });
            }
        }
        choices
    }

    /// What may become of a commit that this interrupts.
    fn survivals(&self, what: &Happening) -> Vec<Option<bool>> {
        let writes =
            |it: &Process| matches!(&it.stage, Stage::Committing(batch) if batch.verdict.is_written());
        let interrupts = match what {
            Happening::Act(nth) => match self.plan.actions[*nth].what {
                What::Kill { process, .. } => {
                    writes(&self.processes[process as usize % self.processes.len()])
                }
                What::Power { .. } => self.processes.iter().any(writes),
                _ => false,
            },
            _ => false,
        };
        if interrupts { vec![Some(true), Some(false)] } else { vec![None] }
    }

    /// Lets one of them happen.
    pub fn choose(&mut self, choice: Choice) {
        self.agenda.take(choice.order);
        self.disk.survival = choice.survives;
        self.happen(choice.at, choice.what);
    }

    /// Nothing is left to choose: the rest takes its usual course to the end.
    pub fn conclude(&mut self) {
        self.disk.survival = None;
        self.begin_calm();
        self.run();
    }

    /// Whether something that is going to happen still means anything.
    fn matters(&self, what: &Happening) -> bool {
        match what {
            Happening::Wake(process, look) => {
                let it = &self.processes[*process];
                it.alive && it.look.1 == *look && it.stage == Stage::Idle
            }
            Happening::Commit(process, life) => {
                let it = &self.processes[*process];
                it.life == *life && matches!(it.stage, Stage::Committing(_))
            }
            Happening::Start(process, life) => {
                let it = &self.processes[*process];
                it.life == *life && matches!(it.stage, Stage::Starting(_))
            }
            Happening::Stopped(process, life) | Happening::Locked(process, life, _) => {
                self.processes[*process].life == *life
            }
            Happening::Job(job, course) => {
                let job = self.jobs.jobs.get(job).filter(|job| job.course == *course);
                job.is_some_and(|job| self.processes[job.owner.0].life == job.owner.1)
            }
            Happening::Heal(outage) => self.disk.outages == *outage,
            Happening::Hear(run) => !self.runs[*run].is_deaf(),
            Happening::Alarm(run, look) => self.runs[*run].awaits(*look),
            Happening::Act(_) | Happening::Unaimed(_) | Happening::Boot(_) | Happening::Again(_) => true,
        }
    }

    /// What a state is known by: two with the same digest have the same future, and everything that judges them
    /// remembers the same. Times count from now, requests and lives from the last one, and what is numbered in the
    /// order in which it came about goes by what it is.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest(0);
        for it in &self.processes {
            digest.add(self.process(it));
        }
        let first = self.frame(self.processes[0].requests);
        self.processes.iter().for_each(|it| digest.add(it.requests.wrapping_sub(first.requests)));
        digest.add(self.oracles.canon().seen(&first));
        digest.add(self.reference.canon().seen(&first));
        digest.add(self.stored(&first));
        digest.set(self.jobs.jobs.values().map(|job| {
            let lives = self.processes[job.owner.0].life == job.owner.1;
            mix(job.canon().seen(&first) ^ u64::from(lives))
        }));
        digest.set(self.agenda.all().map(|(at, _, what)| self.expected(&first, at, what)));
        digest.set((0..self.people.asks.len()).map(|ask| self.asking(ask)));
        digest.set(self.runs.iter().map(|run| Canon::of(&run.outlook()).seen(&first)));
        digest.add(hash_of(&(&self.people.accepted, &self.people.last, self.disk_was_down)));
        digest.0
    }

    fn frame(&self, requests: u64) -> Frame {
        // Decisions ask only of text how long ago it was recorded, and servers of a prompt how old it is.
        let memory =
            self.settings.gather.max(if self.settings.serving { self.settings.restart_age } else { 0 });
        Frame { now: self.now, memory: memory + 1, requests }
    }

    fn process(&self, it: &Process) -> u64 {
        let frame = self.frame(it.requests);
        let mut digest = Digest(u64::from(it.alive));
        digest.add(it.machine.canon().seen(&frame));
        it.inbox.iter().for_each(|message| digest.add(self.message(&frame, message)));
        digest.add(Canon::of(&it.pending).seen(&frame));
        digest.add(match &it.stage {
            Stage::Idle => 1,
            Stage::Stopping => 2,
            Stage::Committing(batch) => batch.canon().seen(&frame),
            Stage::Starting(effects) => Canon::of(effects).seen(&frame),
        });
        let askers =
            it.askers.iter().map(|(id, ask)| mix(self.asking(*ask) ^ frame.requests.wrapping_sub(id.0)));
        askers.for_each(|asker| digest.add(asker));
        let jobs: Vec<_> = it.running.keys().collect();
        digest.add(hash_of(&(&it.locks, &it.opening, jobs)));
        digest.add(it.outage.map_or(0, |outage| mix(outage.wait) ^ frame.time(outage.retry)));
        digest.add(frame.time(it.suspended) ^ mix(it.behind));
        digest.0
    }

    fn stored(&self, frame: &Frame) -> u64 {
        let mut digest = Digest(self.disk.folds.canon().seen(frame));
        let place = |(process, life): &(usize, u32)| (*process, self.processes[*process].life == *life);
        let locks: Vec<_> =
            self.disk.locks.iter().map(|(session, (life, _))| (session, place(life))).collect();
        let waiting = self.disk.waiting.iter().filter(|(_, waiting)| !waiting.is_empty());
        let waiting: Vec<_> = waiting
            .map(|(session, waiting)| (session, waiting.iter().map(place).collect::<Vec<_>>()))
            .collect();
        digest.add(hash_of(&(locks, waiting, self.disk.outage)));
        // What the power could still take.
        if self.plan.actions.iter().any(|action| matches!(action.what, What::Power { .. })) {
            for commit in self.disk.unsafe_commits() {
                commit.iter().for_each(|(_, entry)| digest.add(entry.canon().seen(frame)));
                digest.add(1);
            }
        }
        digest.0
    }

    /// A message without the number of its asking, which depends on who asked first.
    fn message(&self, frame: &Frame, message: &Message) -> u64 {
        match message {
            Message::Command(ask, _) => self.asking(*ask),
            Message::Input(_) | Message::Locked(_) => Canon::of(message).seen(frame),
        }
    }

    fn asking(&self, number: usize) -> u64 {
        let ask = &self.people.asks[number];
        let kind = match &ask.command {
            Command::Submit { prompt, .. } => hash_of(&(&prompt.id, &prompt.text)),
            other => hash_of(other),
        };
        mix(kind ^ mix(ask.process as u64) ^ mix(ask.tries << 1 | u64::from(ask.answered)))
    }

    /// What is going to happen, without numbers that depend on what came first.
    fn expected(&self, frame: &Frame, at: u64, what: &Happening) -> u64 {
        let due = at.saturating_sub(self.now);
        let what = match what {
            Happening::Act(nth) | Happening::Unaimed(nth) => hash_of(&self.plan.actions[*nth].what),
            Happening::Wake(process, _) => hash_of(&("wake", process)),
            Happening::Commit(process, _) => hash_of(&("commit", process)),
            Happening::Start(process, _) => hash_of(&("start", process)),
            Happening::Stopped(process, _) => hash_of(&("stopped", process)),
            Happening::Boot(process) => hash_of(&("boot", process)),
            Happening::Locked(process, _, session) => hash_of(&("locked", process, session)),
            Happening::Job(job, _) => self.jobs.jobs.get(job).map_or(0, |job| job.canon().seen(frame)),
            Happening::Heal(_) => hash_of(&"heal"),
            Happening::Again(ask) => self.asking(*ask),
            Happening::Hear(run) => hash_of(&("hear", self.runs[*run].prompt())),
            Happening::Alarm(run, _) => hash_of(&("alarm", self.runs[*run].prompt())),
        };
        mix(what ^ mix(due))
    }
}

struct Digest(u64);

impl Digest {
    fn add(&mut self, part: u64) {
        self.0 = mix(self.0.rotate_left(7) ^ part);
    }

    /// Adds parts whose order means nothing.
    fn set(&mut self, parts: impl Iterator<Item = u64>) {
        let mut parts: Vec<_> = parts.collect();
        parts.sort_unstable();
        self.add(parts.len() as u64);
        parts.into_iter().for_each(|part| self.add(part));
    }
}
