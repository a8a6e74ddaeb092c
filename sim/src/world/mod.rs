//! The world: machines of the core under a simulated clock, disk, provider, tools and people.
//!
//! It is one queue of what is going to happen. Time jumps to the next of it. Everything that can be seen is shown to
//! the oracles as it happens.

pub mod agenda;
mod aims;
mod calamity;
pub mod disk;
pub mod double;
mod driver;
mod effects;
mod ending;
pub mod exploring;
mod jobs;
pub mod people;
pub mod process;
mod provider;
mod runs;
pub mod seen;
mod sightings;
pub mod staged;
mod state;
mod swapped;
pub mod told;
mod tools;
pub mod trace;

use hostler_core::session::Settings;
use hostler_core::time::Timestamp;

use crate::coverage::Coverage;
use crate::dice::{Roll, Stream};
use crate::failure::{Class, Failure};
use crate::options::Options;
use crate::oracles::{Oracles, Seen};
use crate::plan::Plan;
use crate::reference::Reference;
use crate::shared::Shared;

use agenda::{Agenda, Happening, Policy};
use aims::Aims;
use disk::Disk;
use ending::Act;
use jobs::Jobs;
use people::People;
pub use people::{submission, title};
use process::{Message, Process};
use runs::Run;
use sightings::Sightings;
use staged::Staged;
pub use swapped::Swap;
use trace::{Level, Trace};

/// When simulated time begins. No clock is ever so far behind.
pub const START: u64 = 100_000_000;

/// The world.
#[derive(Clone, Debug)]
pub struct World {
    /// The time.
    pub now: u64,
    /// How much has happened.
    pub events: u64,
    /// What has gone wrong.
    pub failure: Option<Failure>,
    /// What has happened.
    pub trace: Trace,
    /// What has met what.
    pub coverage: Coverage,
    seed: u64,
    /// Every how-manieth record the costly oracles look closely.
    closely: u64,
    options: Shared<Options>,
    settings: Shared<Settings>,
    plan: Shared<Plan>,
    /// When the last action of the plan is due, from the beginning.
    planned: u64,
    act: Act,
    /// After how many events the storm was over.
    pub calm_from: u64,
    /// After how many events it is left as it is.
    pub limit: u64,
    /// The actions that were done.
    pub acted: Vec<u64>,
    agenda: Agenda,
    aims: Aims,
    disk: Disk,
    processes: Vec<Process>,
    jobs: Jobs,
    people: Shared<People>,
    runs: Shared<Vec<Run>>,
    /// Whether a process has ever gone down because it could not write.
    disk_was_down: bool,
    oracles: Shared<Oracles>,
    reference: Shared<Reference>,
    sightings: Sightings,
    swap: Option<Swap>,
    staged: Shared<Staged>,
}

/// How closely a world is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// What is kept of what happens.
    pub level: Level,
    /// Every how-manieth record the costly oracles look closely.
    pub closely: u64,
}

impl World {
    /// A world in which nothing has happened yet.
    pub fn new(seed: u64, options: Options, plan: Plan, watch: Watch) -> Self {
        let settings = options.settings();
        let policy = match options.order {
            0 => Policy::FirstIn,
            1 => Policy::Random,
            _ => Policy::Priorities,
        };
        let processes = (0..options.processes as usize).map(|n| Process::new(seed, n, settings.clone()));
        let mut world = Self {
            now: START,
            events: 0,
            failure: None,
            trace: Trace::new(watch.level),
            coverage: Coverage::default(),
            seed,
            closely: watch.closely,
            act: Act::Storm { left: None },
            planned: plan.actions.iter().map(|action| action.at).max().unwrap_or(0),
            calm_from: 0,
            limit: u64::MAX,
            acted: Vec::new(),
            agenda: Agenda::new(seed, policy),
            aims: Aims::default(),
            disk: Disk::new(Roll::new(seed, Stream::Disk, 0)),
            processes: processes.collect(),
            jobs: Jobs::default(),
            people: Shared::default(),
            runs: Shared::default(),
            disk_was_down: false,
            oracles: Oracles::new(&settings, watch.closely).into(),
            reference: Reference::new(&settings).into(),
            sightings: Sightings::default(),
            swap: None,
            staged: Shared::default(),
            options: options.into(),
            settings: settings.into(),
            plan: plan.into(),
        };
        for (nth, action) in world.plan.clone().actions.iter().enumerate() {
            world.agenda.push_action(START + action.at, nth, action.id);
        }
        world
    }

    /// Lets everything happen until it is over or something is wrong.
    pub fn run(&mut self) {
        while self.events < self.limit && self.advance() {}
    }

    /// Lets the next thing happen, unless it is over or something is wrong. Returns whether there may be more.
    pub fn advance(&mut self) -> bool {
        self.failure.is_none() && self.step()
    }

    /// Lets the next thing happen. Returns whether there was one.
    fn step(&mut self) -> bool {
        if !self.direct() {
            return false;
        }
        let Some((at, what)) = self.next_happening() else { return true };
        self.happen(at, what);
        true
    }

    /// Lets that happen now.
    pub fn happen(&mut self, at: u64, what: Happening) {
        self.now = self.now.max(at);
        if let Some(until) = self.suspended(&what) {
            return self.agenda.push(until, what);
        }
        self.events += 1;
        self.trace.note(&[self.now, self.events]);
        self.name(&what);
        self.trace.deep(&what);
        match what {
            Happening::Act(action) => self.due(action),
            Happening::Unaimed(action) => self.unaimed(action),
            Happening::Wake(process, look) => self.wake(process, look),
            Happening::Commit(process, life) => self.commit(process, life),
            Happening::Start(process, life) => self.start(process, life),
            Happening::Stopped(process, life) => self.stopped(process, life),
            Happening::Boot(process) => self.boot(process),
            Happening::Job(job, course) => self.job(job, course),
            Happening::Locked(process, life, session) => self.lock_comes(process, life, session),
            Happening::Heal(outage) => self.heal(outage),
            Happening::Again(ask) => self.again(ask),
            Happening::Hear(run) => self.hear(run),
            Happening::Alarm(run, look) => self.alarm(run, look),
        }
        self.act_on_aims();
        self.trace.close();
    }

    /// The process in which something happens; none if it happens outside.
    fn place(&self, what: &Happening) -> Option<usize> {
        match what {
            Happening::Hear(run) | Happening::Alarm(run, _) => Some(self.runs[*run].process),
            other => other.process(),
        }
    }

    /// Until when what was to happen cannot, because its process is suspended.
    fn suspended(&self, what: &Happening) -> Option<u64> {
        let until = self.processes.get(self.place(what)?)?.suspended;
        (until > self.now).then_some(until)
    }

    /// Something reaches a process that is alive.
    fn deliver(&mut self, process: usize, message: Message) {
        if self.processes[process].alive {
            self.processes[process].inbox.push_back(message);
            self.rouse(process);
        }
    }

    /// What time it is by the clock of a process.
    fn time(&self, process: usize) -> Timestamp {
        Timestamp::from_millis(self.now - self.processes[process].behind)
    }

    /// Shows something to the oracles.
    fn see(&mut self, seen: &Seen<'_>) {
        if let Err((oracle, what)) = self.oracles.see(seen) {
            self.fail(Class::Safety, oracle, what);
        }
    }

    /// Something is wrong; only the first counts.
    fn fail(&mut self, class: Class, oracle: &str, message: String) {
        if self.failure.is_none() {
            let oracle = oracle.to_owned();
            self.failure = Some(Failure { class, oracle, message, event: self.events });
        }
    }
}
