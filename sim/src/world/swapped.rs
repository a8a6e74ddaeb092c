//! The same run with one event postponed, to find out whose order decides.

use super::World;
use super::agenda::Happening;

/// An event that is to happen later than it would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// Which event, from 1.
    pub event: u64,
    /// Behind how many others.
    pub behind: u64,
    held: Option<(u64, Happening)>,
}

impl Swap {
    /// Postpones that event behind so many others.
    pub fn new(event: u64, behind: u64) -> Self {
        Self { event, behind, held: None }
    }
}

impl World {
    /// Has an event postponed when the world is run.
    pub fn swap(&mut self, swap: Swap) {
        self.swap = Some(swap);
    }

    /// What happens next, and when.
    pub(super) fn next_happening(&mut self) -> Option<(u64, Happening)> {
        let Some(mut swap) = self.swap.take() else { return self.agenda.pop() };
        if swap.held.is_none() && self.events + 1 == swap.event {
            swap.held = self.agenda.pop();
        }
        let Some((_, held)) = &swap.held else {
            self.swap = Some(swap);
            return self.agenda.pop();
        };
        // What comes through one channel keeps its order.
        let waits = self.agenda.peek().is_some_and(|next| !next.shares_channel(held));
        if swap.behind == 0 || !waits {
            return swap.held;
        }
        swap.behind -= 1;
        self.swap = Some(swap);
        self.agenda.pop()
    }
}
