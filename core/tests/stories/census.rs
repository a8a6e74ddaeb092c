//! What stories consist of, counted: laws that hold where nothing happens say nothing.

use std::collections::BTreeMap;

use hostler_core::machine::Entry;
use hostler_core::session::{Durable, Phase, Purpose};

use super::Act;
use super::stage::session;
use crate::rig::Rig;

/// How often what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    records: BTreeMap<&'static str, usize>,
    /// What was done in which situation of its session.
    acts: BTreeMap<(&'static str, &'static str), usize>,
    /// The lengths of the logs.
    logs: Vec<usize>,
}

/// The situations of a session in which something can be done to it.
const SITUATIONS: [&str; 10] = [
    "closed",
    "undecided",
    "asking",
    "waiting to ask again",
    "at its tools",
    "cancelling",
    "asking, prompts waiting",
    "at its tools, prompts waiting",
    "summing up",
    "summing up for no run",
];

/// What can be done to a session.
const ACTS: [&str; 5] = ["submit", "cancel", "cancel a run", "clear the queue", "crash"];

fn situation(rig: &Rig, number: u8) -> &'static str {
    let session = session(number);
    if !rig.is_open(&session) {
        return "closed";
    }
    let durable = rig.durable(&session);
    let Some(turn) = &durable.turn else { return "undecided" };
    let asking = rig.flights.calls.iter().any(|(id, _)| *id == session);
    let answered = durable.current().is_some_and(|(_, answer)| answer.finish.is_some());
    match turn.purpose {
        _ if turn.cancelling.is_some() => "cancelling",
        Purpose::Summary { .. } if turn.prompts.is_empty() => "summing up for no run",
        Purpose::Summary { .. } => "summing up",
        Purpose::Work => work(answered, asking, waits(durable)),
    }
}

fn work(answered: bool, asking: bool, waits: bool) -> &'static str {
    match (answered, asking, waits) {
        (true, _, false) => "at its tools",
        (true, _, true) => "at its tools, prompts waiting",
        (false, true, false) => "asking",
        (false, true, true) => "asking, prompts waiting",
        (false, false, _) => "waiting to ask again",
    }
}

fn waits(durable: &Durable) -> bool {
    durable.open.values().any(|open| open.phase == Phase::Queued)
}

impl Census {
    /// Something is about to be done.
    pub(super) fn act(&mut self, rig: &Rig, act: &Act) {
        let (name, number) = match act {
            Act::Submit { session, .. } => ("submit", *session),
            Act::Cancel { session } => ("cancel", *session),
            Act::CancelRun { session, .. } => ("cancel a run", *session),
            Act::ClearQueue { session } => ("clear the queue", *session),
            _ => return,
        };
        self.count(name, situation(rig, number));
    }

    /// The process is about to end.
    pub(super) fn crash(&mut self, rig: &Rig) {
        for number in 0..2 {
            self.count("crash", situation(rig, number));
        }
    }

    fn count(&mut self, act: &'static str, situation: &'static str) {
        *self.acts.entry((act, situation)).or_default() += 1;
    }

    /// A story was told.
    pub(super) fn records(&mut self, log: &[Entry]) {
        self.logs.push(log.len());
        for entry in log {
            *self.records.entry(entry.record.kind()).or_default() += 1;
        }
    }

    /// Adds what happened in another story.
    pub(crate) fn add(&mut self, other: &Census) {
        other.records.iter().for_each(|(kind, times)| *self.records.entry(kind).or_default() += times);
        other.acts.iter().for_each(|(act, times)| *self.acts.entry(*act).or_default() += times);
        self.logs.extend(&other.logs);
    }

    /// Whether everything has happened that can, and not only once.
    pub(crate) fn is_worth_its_while(&mut self) {
        self.logs.sort_unstable();
        let median = self.logs[self.logs.len() / 2];
        assert!(median >= 200, "half of the logs have no more than {median} records");
        let kinds = hostler_core::record::Record::kinds();
        let rare: Vec<_> = kinds.filter(|kind| self.records.get(kind).is_none_or(|n| *n < 20)).collect();
        assert!(rare.is_empty(), "hardly ever recorded: {rare:?} {:?}", self.records);
        for situation in SITUATIONS {
            let times = |act| self.acts.get(&(act, situation)).copied().unwrap_or(0);
            let rare: Vec<_> = ACTS.into_iter().filter(|act| times(*act) < 3).collect();
            // Those do not last: it is enough if much happens in them.
            let short = ["cancelling", "summing up for no run"].contains(&situation);
            let often = short && ACTS.into_iter().map(times).sum::<usize>() >= 10;
            assert!(rare.is_empty() || often, "hardly ever {situation}: {rare:?} {:?}", self.acts);
        }
    }
}
