//! The world as something to explore: what may happen next, one choice at a time, and what tells two states apart.

use hostler_core::protocol::Command;

use super::World;
use super::agenda::Happening;
use super::process::{Message, Stage};
use super::trace::hash_of;

impl World {
    /// What may happen next if anything may overtake anything else.
    pub fn choices(&mut self) -> Vec<(u64, u64, Happening)> {
        let mut agenda = self.agenda.clone();
        agenda.retain(|what| self.matters(what));
        self.agenda = agenda;
        self.agenda.choices()
    }

    /// Lets one of them happen.
    pub fn choose(&mut self, (at, order, what): (u64, u64, Happening)) {
        self.agenda.take(order);
        self.happen(at, what);
    }

    /// Nothing is left to choose: the rest takes its usual course to the end.
    pub fn conclude(&mut self) {
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
            Happening::Act(_)
            | Happening::Unaimed(_)
            | Happening::Boot(_)
            | Happening::Again(_)
            | Happening::Hear(_)
            | Happening::Alarm(_, _) => true,
        }
    }

    /// What a state is known by. Two states with the same one have the same future.
    pub fn digest(&self) -> u64 {
        let processes: Vec<_> = self
            .processes
            .iter()
            .map(|it| {
                let inbox: Vec<_> = it.inbox.iter().map(|message| self.message(message)).collect();
                let askers: Vec<_> = it.askers.iter().map(|(id, ask)| (*id, self.asking(*ask))).collect();
                let jobs: Vec<_> = it.running.keys().collect();
                let own = hash_of(&(&it.machine, inbox, &it.pending, &it.stage, askers));
                (own, it.alive, it.life, hash_of(&(&it.locks, &it.opening, jobs, it.outage, it.suspended)))
            })
            .collect();
        let disk = (&self.disk.folds, &self.disk.locks, &self.disk.waiting, self.disk.outage);
        let mut jobs: Vec<_> = self.jobs.jobs.values().map(hash_of).collect();
        jobs.sort_unstable();
        let mut agenda: Vec<_> = self.agenda.all().map(|(at, what)| self.expected(at, what)).collect();
        agenda.sort_unstable();
        let mut asks: Vec<_> = (0..self.people.asks.len()).map(|ask| self.asking(ask)).collect();
        asks.sort_unstable();
        hash_of(&(self.now, processes, hash_of(&disk), jobs, agenda, asks))
    }

    /// A message without the number of its asking, which depends on who asked first.
    fn message(&self, message: &Message) -> u64 {
        match message {
            Message::Command(ask, _) => self.asking(*ask),
            Message::Input(_) | Message::Locked(_) => hash_of(message),
        }
    }

    fn asking(&self, number: usize) -> u64 {
        let ask = &self.people.asks[number];
        let kind = match &ask.command {
            Command::Submit { prompt, .. } => hash_of(&(&prompt.id, &prompt.text)),
            other => hash_of(other),
        };
        hash_of(&(kind, ask.process, ask.tries, ask.answered))
    }

    /// What is going to happen, without numbers that depend on what came first.
    fn expected(&self, at: u64, what: &Happening) -> u64 {
        let at = at.max(self.now);
        match what {
            Happening::Wake(process, _) => hash_of(&("wake", at, process)),
            Happening::Job(job, _) => hash_of(&("job", at, self.jobs.jobs.get(job))),
            Happening::Again(ask) => hash_of(&("again", at, self.asking(*ask))),
            other => hash_of(&(at, other)),
        }
    }
}
