//! Whose order decides: of a failure that is small, the two events that need only change places for it not to happen.
//!
//! One event is postponed behind the next one, the next two and so on, until the run is clean. As it was not one place
//! earlier, the last event that was let pass is the other one of the pair.

use std::time::Instant;

use crate::campaign::MANY;
use crate::failure::Failure;
use crate::repro::Repro;
use crate::world::trace::Level;
use crate::world::{Swap, Watch};

/// Behind how many others an event is postponed at the most.
const BEHIND: u64 = 12;

/// How many events before the failure are looked at, the last ones first.
const EVENTS: u64 = 150;

/// Two events whose order decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What happens first, in a few words.
    pub first: String,
    /// What happens second.
    pub second: String,
    /// Their places in the run; 0 for the second if it does not happen there in the same way.
    pub events: (u64, u64),
}

/// The pair that is nearest to the failure. One with an action of the plan in it says more than one without.
pub fn decisive(repro: &Repro, failure: &Failure, until: Instant) -> Option<Pair> {
    let names = repro.run(WORDS).trace.names;
    let mut plain = None;
    for event in (1..=failure.event).rev().take(EVENTS as usize) {
        let Some(behind) = postponed(repro, event, failure.event, until) else { continue };
        let pair = pair(repro, &names, event, behind)?;
        if [&pair.first, &pair.second].iter().any(|name| name.starts_with("action")) {
            return Some(pair);
        }
        plain = plain.or(Some(pair));
    }
    plain
}

const WORDS: Watch = Watch { level: Level::Words(0), ..MANY };

/// The event and the one that it was let behind of, as that went.
fn pair(repro: &Repro, names: &[String], event: u64, behind: u64) -> Option<Pair> {
    let swapped = repro.run_swapped(WORDS, Swap::new(event, behind)).trace.names;
    let first = names.get(event as usize - 1)?.clone();
    let second = swapped.get((event + behind) as usize - 2)?.clone();
    let later = names.iter().skip(event as usize).position(|name| *name == second);
    let place = later.map_or(0, |later| event + later as u64 + 1);
    Some(Pair { first, second, events: (event, place) })
}

/// Behind how many others the event must happen for the run to be clean.
fn postponed(repro: &Repro, event: u64, end: u64, until: Instant) -> Option<u64> {
    let clean = |behind: &u64| repro.run_swapped(MANY, Swap::new(event, *behind)).failure.is_none();
    (1..=BEHIND.min(end.saturating_sub(event))).take_while(|_| Instant::now() < until).find(clean)
}
