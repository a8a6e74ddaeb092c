//! The shortest way to a failure, in words.

use std::collections::HashSet;

use super::Scope;
use crate::failure::Failure;
use crate::world::World;
use crate::world::trace::Level;

/// How many states of the same depth are kept while a way is looked for.
const WIDEST: usize = 20_000;

/// A state, the one that it was reached from, and which choice led to it.
type Step = (usize, usize);

struct Breadth<'a> {
    scope: &'a Scope,
    batch: u64,
    steps: Vec<Step>,
    known: HashSet<u64>,
}

/// Looks for the shortest way to something that is wrong and says what happens on it. If there are too many states on
/// the way there, the known way has to do.
pub(super) fn shortest(scope: &Scope, batch: u64, known: &[usize]) -> Option<(Failure, Vec<String>)> {
    let mut breadth = Breadth { scope, batch, steps: Vec::new(), known: HashSet::new() };
    let way = breadth.look(known.len()).unwrap_or_else(|| known.to_vec());
    tell(scope, batch, &way)
}

impl Breadth<'_> {
    fn look(&mut self, depth: usize) -> Option<Vec<usize>> {
        let first = self.scope.world(self.batch, Level::Hash);
        let mut level = Vec::from([(self.enter((0, 0)), first)]);
        for _ in 0..=depth {
            let mut next = Vec::new();
            for (state, world) in level {
                if let Some(way) = self.expand(state, world, &mut next) {
                    return Some(way);
                }
            }
            if next.len() > WIDEST {
                return None;
            }
            level = next;
        }
        None
    }

    fn enter(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn expand(
        &mut self,
        state: usize,
        mut world: World,
        next: &mut Vec<(usize, World)>,
    ) -> Option<Vec<usize>> {
        let choices = world.choices();
        if choices.is_empty() {
            world.conclude();
            return world.failure.is_some().then(|| self.way(state));
        }
        for (nth, choice) in choices.into_iter().enumerate() {
            let mut after = world.clone();
            after.choose(choice);
            if after.failure.is_some() {
                let last = self.enter((state, nth));
                return Some(self.way(last));
            }
            after.choices();
            if self.known.insert(after.digest()) {
                let entered = self.enter((state, nth));
                next.push((entered, after));
            }
        }
        None
    }

    /// The choices that lead to a state.
    fn way(&self, mut state: usize) -> Vec<usize> {
        let mut way = Vec::new();
        while state > 0 {
            let (from, choice) = self.steps[state];
            way.push(choice);
            state = from;
        }
        way.reverse();
        way
    }
}

/// Goes a way once more and says what happens.
fn tell(scope: &Scope, batch: u64, way: &[usize]) -> Option<(Failure, Vec<String>)> {
    let mut world = scope.world(batch, Level::Words(usize::MAX));
    for choice in way {
        let choices = world.choices();
        world.choose(choices.get(*choice)?.clone());
    }
    if world.failure.is_none() {
        world.choices();
        world.conclude();
    }
    let failure = world.failure.take()?;
    Some((failure, world.trace.words.into()))
}
