//! Actions that wait for a moment: a deadline, or a record of some kind on its way to the log.

use hostler_core::machine::Entry;

use super::agenda::Happening;
use super::{START, World};
use crate::plan::Aim;

/// How long an action waits for its moment, in milliseconds.
const PATIENCE: u64 = 60_000;

/// The actions that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Aims {
    waiting: Vec<(Aim, usize)>,
    hit: Vec<usize>,
}

impl Aims {
    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.hit.is_empty()
    }

    /// No action waits any more.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.hit.clear();
    }

    /// These records are decided and not committed.
    pub(super) fn decided(&mut self, entries: &[Entry]) {
        self.meet(entries, |aim| if let Aim::Decided(kind) = aim { Some(kind) } else { None });
    }

    /// These records are committed, and nothing is started. Returns whether an action comes in between.
    pub(super) fn committed(&mut self, entries: &[Entry]) -> bool {
        self.meet(entries, |aim| if let Aim::Committed(kind) = aim { Some(kind) } else { None })
    }

    fn meet(&mut self, entries: &[Entry], wanted: impl Fn(Aim) -> Option<&'static str>) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let before = self.hit.len();
        let met =
            |aim| wanted(aim).is_some_and(|kind| entries.iter().any(|entry| entry.record.kind() == kind));
        let hit = &mut self.hit;
        self.waiting.retain(|(aim, action)| {
            let is_met = met(*aim);
            if is_met {
                hit.push(*action);
            }
            !is_met
        });
        self.hit.len() > before
    }
}

impl World {
    /// An action is due: it is done, or waits for its moment.
    pub(super) fn due(&mut self, nth: usize) {
        let action = &self.plan.actions[nth];
        match action.aim {
            Aim::None => self.act(nth),
            Aim::Deadline(delta) => self.aim_at_deadline(nth, delta),
            aim @ (Aim::Decided(_) | Aim::Committed(_)) => {
                self.aims.waiting.push((aim, nth));
                self.agenda.push(self.now + PATIENCE, Happening::Unaimed(nth));
            }
        }
    }

    fn aim_at_deadline(&mut self, nth: usize, delta: i64) {
        let processes = &self.processes;
        let own = self.plan.actions[nth].what.process().unwrap_or(0) as usize % processes.len();
        let deadline = processes[own].deadline().or_else(|| processes.iter().find_map(|it| it.deadline()));
        match deadline.map(|at| at.saturating_add_signed(delta)) {
            Some(at) if at > self.now => self.agenda.push(at, Happening::Unaimed(nth)),
            _ => self.act(nth),
        }
    }

    /// An action has waited long enough.
    pub(super) fn unaimed(&mut self, nth: usize) {
        let aim = self.plan.actions[nth].aim;
        if matches!(aim, Aim::Deadline(_)) {
            return self.act(nth);
        }
        let before = self.aims.waiting.len();
        self.aims.waiting.retain(|(_, other)| *other != nth);
        if self.aims.waiting.len() < before {
            self.act(nth);
        }
    }

    /// Does what has met its moment.
    pub(super) fn act_on_aims(&mut self) {
        while !self.aims.hit.is_empty() {
            let action = self.aims.hit.remove(0);
            self.act(action);
        }
    }

    /// Whether every action has been done.
    pub(super) fn all_done(&self) -> bool {
        self.now > START + self.planned && self.aims.is_empty()
    }
}
