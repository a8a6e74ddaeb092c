//! What is going to happen, and in which order: by time, and among what is due together by a policy.

use std::collections::{BTreeMap, BinaryHeap};

use hostler_core::ids::SessionId;

use crate::dice::mix;

/// Something that is going to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An action of the plan is due.
    Act(usize),
    /// An action has waited long enough for its moment.
    Unaimed(usize),
    /// A process looks whether there is something to do. Only the newest look of a process counts.
    Wake(usize, u64),
    /// The commit of a process's batch returns. The second number says which life of the process it belongs to.
    Commit(usize, u32),
    /// A process goes on starting effects.
    Start(usize, u32),
    /// A process whose commit failed has stopped everything.
    Stopped(usize, u32),
    /// A process starts.
    Boot(usize),
    /// A job says the next thing. The second number says for which course of the job that was foreseen.
    Job(u32, u32),
    /// A lock that was waited for comes to a process.
    Locked(usize, u32, SessionId),
    /// The disk is well again, if nothing has happened to it since.
    Heal(u64),
    /// Something that has reached a run is taken in.
    Hear(usize),
    /// A deadline of a run passes, if it is still its last one.
    Alarm(usize, u64),
    /// A person submits a prompt again.
    Again(usize),
}

impl Happening {
    /// What keeps its own order among itself.
    fn channel(&self) -> u64 {
        match self {
            Happening::Act(action) | Happening::Unaimed(action) => 1 << 32 | *action as u64,
            Happening::Wake(process, _)
            | Happening::Commit(process, _)
            | Happening::Start(process, _)
            | Happening::Stopped(process, _)
            | Happening::Boot(process) => *process as u64,
            Happening::Job(job, _) => 2 << 32 | u64::from(*job),
            Happening::Locked(process, _, _) => 3 << 32 | *process as u64,
            Happening::Heal(_) => 4 << 32,
            Happening::Again(submission) => 5 << 32 | *submission as u64,
            Happening::Hear(run) => 6 << 32 | *run as u64,
            Happening::Alarm(run, _) => 7 << 32 | *run as u64,
        }
    }

    /// Whether it comes through the same channel.
    pub(super) fn shares_channel(&self, other: &Self) -> bool {
        self.channel() == other.channel()
    }

    /// The process that it happens in; none if it happens outside.
    pub(super) fn process(&self) -> Option<usize> {
        match self {
            Happening::Wake(process, _)
            | Happening::Commit(process, _)
            | Happening::Start(process, _)
            | Happening::Stopped(process, _)
            | Happening::Locked(process, _, _) => Some(*process),
            Happening::Act(_)
            | Happening::Unaimed(_)
            | Happening::Boot(_)
            | Happening::Job(_, _)
            | Happening::Hear(_)
            | Happening::Alarm(_, _)
            | Happening::Heal(_)
            | Happening::Again(_) => None,
        }
    }
}

/// The order among what is due together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// First in, first out.
    #[default]
    FirstIn,
    /// Any.
    Random,
    /// Each channel has a priority, and a few times one of them loses it: this finds a race of d parts with a
    /// likelihood that is known.
    Priorities,
}

/// What is going to happen.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Item>,
    seed: u64,
    policy: Policy,
    count: u64,
    demoted: BTreeMap<u64, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    at: u64,
    rank: u64,
    order: u64,
    what: Happening,
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.at, other.rank, other.order).cmp(&(self.at, self.rank, self.order))
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What is put in is counted from here on: no action has so high an id.
const BEHIND_ACTIONS: u64 = 1 << 32;

/// About every how-manieth entry a channel loses its priority.
const DEMOTIONS: u64 = 200;

impl Agenda {
    /// Nothing is going to happen.
    pub fn new(seed: u64, policy: Policy) -> Self {
        Self { heap: BinaryHeap::new(), seed, policy, count: BEHIND_ACTIONS, demoted: BTreeMap::new() }
    }

    /// An action of the plan is going to be due then. Its place depends on its id alone, so that it stays where it is when
    /// others are taken out of the plan.
    pub fn push_action(&mut self, at: u64, nth: usize, id: u64) {
        let own = mix(self.seed ^ mix(1 << 32 | id)) >> 1;
        let rank = if self.policy == Policy::FirstIn { 0 } else { own };
        self.heap.push(Item { at, rank, order: id, what: Happening::Act(nth) });
    }

    /// Something is going to happen then.
    pub fn push(&mut self, at: u64, what: Happening) {
        self.count += 1;
        let rank = self.rank(what.channel());
        self.heap.push(Item { at, rank, order: self.count, what });
    }

    fn rank(&mut self, channel: u64) -> u64 {
        match self.policy {
            Policy::FirstIn => 0,
            Policy::Random => mix(self.seed ^ mix(channel) ^ self.count) >> 1,
            Policy::Priorities => {
                if mix(self.seed ^ self.count).is_multiple_of(DEMOTIONS) {
                    self.demoted.insert(channel, u64::MAX / 2 + self.count);
                }
                let own = mix(self.seed ^ mix(channel)) >> 1;
                self.demoted.get(&channel).copied().unwrap_or(own)
            }
        }
    }

    /// What happens next, and when.
    pub fn pop(&mut self) -> Option<(u64, Happening)> {
        self.heap.pop().map(|item| (item.at, item.what))
    }

    /// What would happen next.
    pub fn peek(&self) -> Option<&Happening> {
        self.heap.peek().map(|item| &item.what)
    }

    /// Whether nothing is going to happen.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// How much is going to happen.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// All that is going to happen.
    pub fn iter(&self) -> impl Iterator<Item = &Happening> {
        self.heap.iter().map(|item| &item.what)
    }

    /// What may happen next if any channel may overtake any other: of each channel the first, in a fixed order.
    pub fn choices(&self) -> Vec<(u64, u64, Happening)> {
        let mut first: BTreeMap<u64, &Item> = BTreeMap::new();
        for item in &self.heap {
            let best = first.entry(item.what.channel()).or_insert(item);
            if (item.at, item.order) < (best.at, best.order) {
                *best = item;
            }
        }
        first.into_values().map(|item| (item.at, item.order, item.what.clone())).collect()
    }

    /// All that is going to happen, when, and in which order it was put in.
    pub fn all(&self) -> impl Iterator<Item = (u64, u64, &Happening)> {
        self.heap.iter().map(|item| (item.at, item.order, &item.what))
    }

    /// Takes out what does not matter.
    pub fn retain(&mut self, matters: impl Fn(&Happening) -> bool) {
        self.heap.retain(|item| matters(&item.what));
    }

    /// Takes out what was put in at that place.
    pub fn take(&mut self, order: u64) {
        self.heap.retain(|item| item.order != order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(policy: Policy, seed: u64) -> Vec<Happening> {
        let mut agenda = Agenda::new(seed, policy);
        (0..6).for_each(|n| agenda.push(5, Happening::Act(n)));
        agenda.push(1, Happening::Boot(0));
        std::iter::from_fn(|| agenda.pop()).map(|(_, what)| what).collect()
    }

    #[test]
    fn time_comes_first_and_then_the_policy() {
        let first_in = drained(Policy::FirstIn, 1);
        assert_eq!(first_in[0], Happening::Boot(0));
        assert!((0..6).all(|n| first_in[n + 1] == Happening::Act(n)));
        for policy in [Policy::Random, Policy::Priorities] {
            assert_eq!(drained(policy, 1)[0], Happening::Boot(0));
            assert!((0..5).any(|seed| drained(policy, seed) != first_in));
            assert_eq!(drained(policy, 3), drained(policy, 3));
        }
    }

    #[test]
    fn only_the_first_of_a_channel_can_be_chosen() {
        let mut agenda = Agenda::new(1, Policy::FirstIn);
        agenda.push(9, Happening::Start(0, 1));
        agenda.push(3, Happening::Commit(0, 1));
        agenda.push(5, Happening::Boot(1));
        let choices = agenda.choices();
        let what: Vec<_> = choices.iter().map(|(_, _, what)| what.clone()).collect();
        assert_eq!(what, [Happening::Commit(0, 1), Happening::Boot(1)]);
        agenda.take(choices[0].1);
        assert_eq!(agenda.len(), 2);
    }
}
