//! Runs seeds: one, or many on several threads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::coverage::Coverage;
use crate::failure::{Class, Failure};
use crate::marks::{self, Marks};
use crate::options::Options;
use crate::plan::{Plan, generate};
use crate::profile::Profile;
use crate::world::trace::{Level, Trace};
use crate::world::{START, Watch, World};

/// How many events a seed has, about, unless told otherwise.
pub const EVENTS: u64 = 2_000;

/// Every how-manieth record the costly oracles look closely, unless told otherwise.
pub const CLOSELY: u64 = 16;

/// What is kept and looked at while many seeds are run.
pub const MANY: Watch = Watch { level: Level::Hash, closely: CLOSELY };

/// What came of a seed.
#[derive(Debug)]
pub struct Outcome {
    /// What went wrong.
    pub failure: Option<Failure>,
    /// What was reached.
    pub marks: Marks,
    /// What met what.
    pub coverage: Coverage,
    /// How much happened.
    pub events: u64,
    /// How much of that happened after the storm.
    pub calm: u64,
    /// The actions that were done.
    pub acted: Vec<u64>,
    /// How long it took in simulated milliseconds.
    pub time: u64,
    /// What happened.
    pub trace: Trace,
}

/// Runs a seed.
pub fn run_seed(seed: u64, events: u64, profile: Profile, watch: Watch) -> Outcome {
    let options = profile.apply(Options::of_seed(seed, events));
    let plan = generate(seed, &options);
    run_plan(seed, options, plan, watch)
}

/// Runs a plan.
pub fn run_plan(seed: u64, options: Options, plan: Plan, watch: Watch) -> Outcome {
    run_world(World::new(seed, options, plan, watch))
}

/// Runs a world to its end.
pub fn run_world(mut world: World) -> Outcome {
    listen_to_panics();
    marks::take();
    let panicked = catch_unwind(AssertUnwindSafe(|| world.run())).is_err();
    let failure = if panicked { Some(panic(world.events)) } else { world.failure.take() };
    Outcome {
        failure,
        marks: marks::take(),
        events: world.events,
        calm: world.events - world.calm_from,
        time: world.now - START,
        acted: std::mem::take(&mut world.acted),
        coverage: std::mem::take(&mut world.coverage),
        trace: world.trace,
    }
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A panic inside a simulation is a finding and not a message on the terminal.
fn listen_to_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|place| place.to_string()).unwrap_or_default();
            if place.starts_with("core/")
                || place.contains("sim/src/world")
                || place.contains("sim/src/oracles")
            {
                PANIC.set(info.to_string());
            } else {
                before(info);
            }
        }));
    });
}

fn panic(event: u64) -> Failure {
    let message = PANIC.with_borrow(|message| message.clone());
    Failure { class: Class::Safety, oracle: "panic".to_owned(), message, event }
}

/// What a campaign is to do.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The first seed.
    pub from: u64,
    /// How many seeds.
    pub seeds: u64,
    /// On how many threads.
    pub jobs: u64,
    /// How many events a seed has, about.
    pub events: u64,
    /// What it looks for.
    pub profile: Profile,
    /// How long it may take in all.
    pub time: Option<Duration>,
    /// Whether it goes on after a failure.
    pub all: bool,
    /// Every how-manieth record the costly oracles look closely; never if 0.
    pub closely: u64,
}

/// What a campaign has found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many seeds were run.
    pub seeds: u64,
    /// How much happened in all.
    pub events: u64,
    /// How much of that happened after the storms.
    pub calm: u64,
    /// How much happened in the seed in which the least did.
    pub least: u64,
    /// How many seeds had at least nine tenths of the events that they may have.
    pub full: u64,
    /// What was reached.
    pub marks: Marks,
    /// What met what.
    pub coverage: Coverage,
    /// The first seed that failed, and how.
    pub failure: Option<(u64, Failure)>,
    /// How many seeds failed in each way, and the first of them.
    pub failures: BTreeMap<String, (u64, u64, Failure)>,
}

impl Report {
    fn add(&mut self, seed: u64, outcome: Outcome, budget: u64) {
        self.least = if self.seeds == 0 { outcome.events } else { self.least.min(outcome.events) };
        self.seeds += 1;
        self.events += outcome.events;
        self.calm += outcome.calm;
        self.full += u64::from(outcome.events * 10 >= budget * 9);
        self.marks.add(outcome.marks);
        self.coverage.add(&outcome.coverage);
        let Some(failure) = outcome.failure else { return };
        let kind = format!("{} ({})", failure.class, failure.oracle);
        let (count, first, known) = self.failures.entry(kind).or_insert((0, seed, failure.clone()));
        *count += 1;
        if seed < *first {
            (*first, *known) = (seed, failure.clone());
        }
        if self.failure.as_ref().is_none_or(|(first, _)| seed < *first) {
            self.failure = Some((seed, failure));
        }
    }
}

impl Report {
    /// How many seeds, and how long they were, in a line for people.
    pub fn size(&self) -> String {
        let seeds = self.seeds.max(1);
        format!(
            "{} seeds of {} events on average ({} at the end of it), {} at least; {} % of them full",
            self.seeds,
            self.events / seeds,
            self.calm / seeds,
            self.least,
            self.full * 100 / seeds
        )
    }
}

/// Runs many seeds. It stops at the first failure, unless it is to find all.
pub fn run(order: Order) -> Report {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let report = Mutex::new(Report::default());
    let began = Instant::now();
    let late = || order.time.is_some_and(|time| began.elapsed() >= time);
    std::thread::scope(|scope| {
        for _ in 0..order.jobs.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) && !late() {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= order.seeds {
                        return;
                    }
                    let watch = Watch { closely: order.closely, ..MANY };
                    let outcome = run_seed(order.from + nth, order.events, order.profile, watch);
                    if outcome.failure.is_some() && !order.all {
                        stop.store(true, Ordering::Relaxed);
                    }
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.add(order.from + nth, outcome, order.events);
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}
