//! Makes a failure small: fewer actions, fewer faults, rounder times, the same failure. Only the plan and the options
//! change, never the way in which they are run.

use std::time::{Duration, Instant};

use crate::campaign::MANY;
use crate::failure::Failure;
use crate::plan::{Action, Aim};
use crate::repro::Repro;
use crate::world::Watch;

/// What was tried and what is left.
pub struct Shrunk {
    /// What is left.
    pub repro: Repro,
    /// How it fails.
    pub failure: Failure,
    /// How many runs that took.
    pub runs: u64,
}

struct Search {
    best: Repro,
    failure: Failure,
    runs: u64,
    until: Instant,
}

/// Every record is looked at, so that a failure shows as soon as it can.
const CLOSE: Watch = Watch { closely: 1, ..MANY };

/// Makes it small, in about that time. None if it does not fail.
pub fn shrink(repro: &Repro, time: Duration) -> Option<Shrunk> {
    let outcome = repro.run(CLOSE);
    let failure = outcome.failure?;
    let mut search = Search { best: repro.clone(), failure, runs: 1, until: Instant::now() + time };
    search.cut(outcome.time);
    loop {
        let size = search.size();
        search.drop_actions();
        search.simplify_options();
        search.simplify_actions();
        if search.size() == size || search.is_late() {
            break;
        }
    }
    Some(Shrunk { repro: search.best, failure: search.failure, runs: search.runs })
}

impl Search {
    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    fn size(&self) -> (usize, u64, u64) {
        let options = self.best.options.list().iter().filter(|(_, value)| *value > 0).count();
        let aims = self.best.plan.actions.iter().filter(|action| action.aim != Aim::None).count();
        let times = self.best.plan.actions.iter().map(|action| action.at).sum();
        (self.best.plan.actions.len(), options as u64 + aims as u64, times)
    }

    /// Keeps it if it fails in the same way.
    fn keep(&mut self, candidate: Repro) -> bool {
        if self.is_late() || candidate == self.best {
            return false;
        }
        self.runs += 1;
        match candidate.run(CLOSE).failure {
            Some(failure) if failure.is_like(&self.failure) => {
                self.best = candidate;
                self.failure = failure;
                true
            }
            _ => false,
        }
    }

    fn with_actions(&self, actions: Vec<Action>) -> Repro {
        let mut candidate = self.best.clone();
        candidate.plan.actions = actions;
        candidate
    }

    /// Whatever comes after the failure goes.
    fn cut(&mut self, end: u64) {
        let before = self.best.plan.actions.iter().filter(|action| action.at <= end).cloned().collect();
        self.keep(self.with_actions(before));
    }

    /// Takes out halves, quarters and so on, down to single actions.
    fn drop_actions(&mut self) {
        let mut size = self.best.plan.actions.len().div_ceil(2);
        while size > 0 && !self.is_late() {
            let mut at = 0;
            while at < self.best.plan.actions.len() {
                let actions = &self.best.plan.actions;
                let end = (at + size).min(actions.len());
                let rest = [&actions[..at], &actions[end..]].concat();
                if !self.keep(self.with_actions(rest)) {
                    at += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    fn simplify_options(&mut self) {
        for (name, value) in self.best.options.list() {
            let simple: u64 = match name {
                "grain" | "processes" | "sessions" | "steps" | "attempts" | "parallel" | "denied_steps" => 1,
                "batch" => 256,
                "events" | "actions" | "span" | "planted" => continue,
                "answer_bytes" | "prepare" | "connect" | "first_event" | "idle" | "settle" | "backoff"
                | "restart_age" | "gather" => continue,
                _ => 0,
            };
            if value != simple {
                let mut candidate = self.best.clone();
                candidate.options.set(name, simple);
                self.keep(candidate);
            }
        }
    }

    fn simplify_actions(&mut self) {
        for at in 0..self.best.plan.actions.len() {
            self.change(at, |action| action.aim = Aim::None);
            for round in [1_000_000, 100_000, 10_000, 1_000, 100, 10] {
                self.change(at, |action| action.at = action.at / round * round);
            }
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Action)) {
        let mut candidate = self.best.clone();
        change(&mut candidate.plan.actions[at]);
        self.keep(candidate);
    }
}
