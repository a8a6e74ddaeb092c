//! Every order of a few things: all that may happen next in a small world, in every order, and never twice from the same
//! state.
//!
//! What two states have to have in common to count as one is said in [`World::digest`]: the machines, what is on its way to
//! them, the log, what is under way outside, what is going to happen, and also all that the oracles and the reference
//! remember, so that no judgement is lost with the way on which it would have been reached. Times and counts are relative, so
//! that it does not matter when a state was reached.
//!
//! Two things are *not* done to have fewer states. No pair of happenings is taken for independent: nearly all of them
//! meet in one inbox, and what waits there together is one batch, so that both orders lead elsewhere. And no digest is
//! kept in place of a set of states: with 64 bits, a million states have one chance in thirty million that two are taken
//! for one.
//!
//! Depth first, since then only the states of one way are in memory; of all others there is a number. Once something is
//! wrong, the shortest way to that is looked for breadth first.

mod ways;

pub mod scopes;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::failure::{Class, Failure};
use crate::world::World;
use crate::world::exploring::Choice;
use crate::world::trace::Level;

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
    /// How many happenings the longest of them has.
    pub depth: usize,
    /// What goes wrong, and the shortest way to it in words.
    pub failure: Option<(Failure, Vec<String>)>,
}

/// What is known of a state behind which everything was tried.
#[derive(Clone, Copy)]
struct Known {
    orders: f64,
    height: u32,
}

/// A state on the way that is being tried.
struct Frame {
    digest: u64,
    world: World,
    choices: Vec<Choice>,
    /// How many of the choices were tried.
    tried: usize,
    known: Known,
}

struct Search<'a> {
    scope: &'a Scope,
    known: HashMap<u64, Option<Known>>,
    stack: Vec<Frame>,
    ends: usize,
}

/// Explores a scope: once with batches as large as they can be, once with one input a batch.
pub fn explore(scope: &Scope) -> Found {
    let mut all = Found::default();
    for batch in [0, 1] {
        let mut search = Search { scope, known: HashMap::new(), stack: Vec::new(), ends: 0 };
        let failure = search.run(scope.world(batch, Level::Hash));
        let first = search.known.values().flatten().max_by_key(|known| known.height);
        all.states += search.known.len();
        all.ends += search.ends;
        all.orders += first.map_or(0.0, |known| known.orders);
        all.depth = all.depth.max(first.map_or(0, |known| known.height as usize));
        if let Some(failure) = failure {
            let way: Vec<_> = search.stack.iter().map(|frame| frame.tried - 1).collect();
            all.failure = Some(ways::shortest(scope, batch, &way).unwrap_or_else(|| (failure, Vec::new())));
            break;
        }
    }
    all
}

impl Search<'_> {
    /// Tries everything behind a state. Returns what goes wrong; the states on the stack are the way there.
    fn run(&mut self, world: World) -> Option<Failure> {
        let mut wrong = self.enter(world).err();
        while wrong.is_none()
            && let Some(frame) = self.stack.last_mut()
        {
            let Some(choice) = frame.choices.get(frame.tried).cloned() else {
                self.leave();
                continue;
            };
            frame.tried += 1;
            let mut next = frame.world.clone();
            next.choose(choice);
            wrong = self.enter(next).err();
        }
        wrong
    }

    /// Comes to a state. What follows from it is tried next, unless that has been done.
    fn enter(&mut self, mut world: World) -> Result<(), Failure> {
        if let Some(failure) = world.failure.take() {
            return Err(failure);
        }
        let choices = world.choices();
        let digest = world.digest();
        if let Some(known) = self.known.get(&digest) {
            // A state that is on the way leads back to itself: that is no further order of things.
            if let Some(known) = *known {
                self.add(known);
            }
            return Ok(());
        }
        if self.stack.len() > self.scope.depth {
            let message = format!("{} happenings are not enough for everything to happen", self.scope.depth);
            return Err(Failure {
                class: Class::Liveness,
                oracle: "depth".to_owned(),
                message,
                event: world.events,
            });
        }
        if choices.is_empty() {
            return self.end(digest, world);
        }
        self.known.insert(digest, None);
        self.stack.push(Frame { digest, world, choices, tried: 0, known: Known { orders: 0.0, height: 0 } });
        Ok(())
    }

    /// Nothing is left to choose.
    fn end(&mut self, digest: u64, mut world: World) -> Result<(), Failure> {
        self.ends += 1;
        world.conclude();
        let known = Known { orders: 1.0, height: 0 };
        self.known.insert(digest, Some(known));
        self.add(known);
        world.failure.map_or(Ok(()), Err)
    }

    /// Everything behind the last state of the way was tried.
    fn leave(&mut self) {
        if let Some(frame) = self.stack.pop() {
            self.known.insert(frame.digest, Some(frame.known));
            self.add(frame.known);
        }
    }

    /// A state with that behind it follows from the last one of the way.
    fn add(&mut self, known: Known) {
        if let Some(frame) = self.stack.last_mut() {
            frame.known.orders += known.orders;
            frame.known.height = frame.known.height.max(known.height + 1);
        }
    }
}

/// Explores the scopes of that name, or all, on so many threads, and says what there is to say. Returns a failure if there
/// is one.
pub fn command(name: Option<&str>, jobs: u64) -> Result<Option<Failure>, String> {
    let chosen: Vec<_> =
        scopes().into_iter().filter(|scope| name.is_none_or(|name| name == scope.name)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = scopes().iter().map(|scope| scope.name).collect();
        return Err(format!("there is no scope {name:?}; there are: {}", names.join(", ")));
    }
    let began = Instant::now();
    let (mut states, mut orders) = (0, 0.0);
    for found in all(&chosen, jobs) {
        states += found.states;
        orders += found.orders;
        if let Some((failure, way)) = found.failure {
            way.iter().for_each(|line| println!("{line}"));
            println!("{failure}");
            return Ok(Some(failure));
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} scopes, {states} states, {orders:.2e} orders, {seconds:.1} s: all is as it must be",
        chosen.len()
    );
    Ok(None)
}

/// Explores these scopes, until one of them fails.
fn all(scopes: &[Scope], jobs: u64) -> Vec<Found> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..jobs.max(1) {
            threads.spawn(|| {
                while let Some(scope) = scopes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = tell(scope);
                    if one.failure.is_some() {
                        next.store(scopes.len(), Ordering::Relaxed);
                    }
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(one);
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn tell(scope: &Scope) -> Found {
    let began = Instant::now();
    let found = explore(scope);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{:<14} {:>8} states, {:>5} ends, {:.2e} orders of up to {} happenings, {seconds:.1} s: {}",
        scope.name, found.states, found.ends, found.orders, found.depth, scope.about
    );
    found
}
