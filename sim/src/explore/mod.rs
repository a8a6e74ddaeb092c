//! Every order of a few things: breadth first over all that may happen next in a small world, and states that were seen
//! before are not entered again. The first failure is the shortest there is.

mod scopes;

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use crate::failure::Failure;
use crate::world::trace::Level;
use crate::world::{Watch, World};

pub use scopes::{Scope, scopes};

/// What an exploration has found.
#[derive(Debug, Default)]
pub struct Found {
    /// How many states there are.
    pub states: usize,
    /// In how many of them nothing is left to happen.
    pub ends: usize,
    /// In how many orders everything can happen.
    pub orders: f64,
    /// The shortest way to a failure.
    pub failure: Option<(Failure, Vec<String>)>,
}

/// A state, how it was first reached, and where it leads.
struct State {
    from: Option<(usize, usize)>,
    next: Vec<usize>,
}

struct Search<'a> {
    scope: &'a Scope,
    batch: u64,
    states: Vec<State>,
    known: HashMap<u64, usize>,
    queue: VecDeque<(usize, World)>,
    ends: usize,
}

const WATCH: Watch = Watch { level: Level::Hash, closely: 1 };

/// Explores a scope: once with batches as large as they can be, once with one input a batch.
pub fn explore(scope: &Scope) -> Found {
    let mut all = Found::default();
    for batch in [0, 1] {
        let found = Search::new(scope, batch).run();
        all.states += found.states;
        all.ends += found.ends;
        all.orders += found.orders;
        if found.failure.is_some() {
            all.failure = found.failure;
            break;
        }
    }
    all
}

impl<'a> Search<'a> {
    fn new(scope: &'a Scope, batch: u64) -> Self {
        let (states, known, queue) = (Vec::new(), HashMap::new(), VecDeque::new());
        Self { scope, batch, states, known, queue, ends: 0 }
    }

    fn world(&self, level: Level) -> World {
        let mut options = self.scope.options.clone();
        options.batch = self.batch;
        World::new(1, options, self.scope.plan.clone(), Watch { level, ..WATCH })
    }

    fn run(mut self) -> Found {
        let world = self.world(Level::Hash);
        self.enter(None, world);
        while let Some((state, mut world)) = self.queue.pop_front() {
            if let Some(failure) = self.expand(state, &mut world) {
                let way = self.way(state, &failure);
                return self.found(Some((failure, way)));
            }
        }
        self.found(None)
    }

    fn found(&self, failure: Option<(Failure, Vec<String>)>) -> Found {
        Found { states: self.states.len(), ends: self.ends, orders: self.orders(), failure }
    }

    /// Goes on from a state in every way. Returns what goes wrong there.
    fn expand(&mut self, state: usize, world: &mut World) -> Option<Failure> {
        if world.failure.is_some() {
            return world.failure.take();
        }
        let choices = world.choices();
        if choices.is_empty() {
            self.ends += 1;
            world.conclude();
            return world.failure.take();
        }
        for (nth, choice) in choices.into_iter().enumerate() {
            let mut next = world.clone();
            next.choose(choice);
            next.choices();
            let target = self.enter(Some((state, nth)), next);
            self.states[state].next.push(target);
        }
        None
    }

    fn enter(&mut self, from: Option<(usize, usize)>, world: World) -> usize {
        let failed = u64::from(world.failure.is_some());
        let digest = world.digest() ^ failed;
        if let Some(known) = self.known.get(&digest) {
            return *known;
        }
        let state = self.states.len();
        self.states.push(State { from, next: Vec::new() });
        self.known.insert(digest, state);
        self.queue.push_back((state, world));
        state
    }

    /// In how many orders the beginning leads to an end.
    fn orders(&self) -> f64 {
        let mut orders: Vec<Option<f64>> = vec![None; self.states.len()];
        let mut stack = vec![(0, false)];
        while let Some((state, done)) = stack.pop() {
            let next = &self.states[state].next;
            if done {
                let sum: f64 = next.iter().filter_map(|target| orders[*target]).sum();
                orders[state] = Some(if next.is_empty() { 1.0 } else { sum });
            } else if orders[state].is_none() {
                stack.push((state, true));
                stack.extend(
                    next.iter().filter(|target| orders[**target].is_none()).map(|target| (*target, false)),
                );
            }
        }
        orders.first().copied().flatten().unwrap_or_default()
    }

    /// How a state is reached, in words, and how it fails.
    fn way(&self, state: usize, failure: &Failure) -> Vec<String> {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some((from, choice)) = self.states[at].from {
            steps.push(choice);
            at = from;
        }
        let mut world = self.world(Level::Words(usize::MAX));
        for choice in steps.into_iter().rev() {
            let mut choices = world.choices();
            world.choose(choices.swap_remove(choice));
        }
        if world.failure.as_ref() != Some(failure) {
            world.choices();
            world.conclude();
        }
        world.trace.words.into()
    }
}

/// Explores the scopes of that name, or all, and says what there is to say. Returns the first failure.
pub fn command(name: Option<&str>) -> Result<Option<Failure>, String> {
    let chosen: Vec<_> =
        scopes().into_iter().filter(|scope| name.is_none_or(|name| name == scope.name)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = scopes().iter().map(|scope| scope.name).collect();
        return Err(format!("there is no scope {name:?}; there are: {}", names.join(", ")));
    }
    for scope in chosen {
        let began = Instant::now();
        let found = explore(&scope);
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{:<14} {:>8} states, {:>6} ends, {:.2e} orders, {seconds:.1} s: {}",
            scope.name, found.states, found.ends, found.orders, scope.about
        );
        if let Some((failure, way)) = found.failure {
            way.iter().for_each(|line| println!("{line}"));
            println!("{failure}");
            return Ok(Some(failure));
        }
    }
    Ok(None)
}
