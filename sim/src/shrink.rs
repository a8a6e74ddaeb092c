//! Makes a failure small: fewer actions, fewer faults, rounder times, the same failure. Only the plan and the options
//! change, never the way in which they are run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::campaign::MANY;
use crate::failure::Failure;
use crate::order::{self, Pair};
use crate::plan::{Action, Aim, Submit, What};
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
    /// The two events whose order decides, if there are such.
    pub pair: Option<Pair>,
}

/// The process, the session and the prompt that an action is about.
fn entities(what: &What) -> [Option<u64>; 3] {
    match *what {
        What::Submit(submit) => [Some(submit.process), Some(submit.session), Some(submit.prompt)],
        What::Cancel { process, session, prompt } => [Some(process), Some(session), prompt],
        What::Stop { process, session }
        | What::Clear { process, session }
        | What::Rename { process, session, .. }
        | What::Fork { process, session, .. }
        | What::Delete { process, session } => [Some(process), Some(session), None],
        What::Signal { prompt, .. } => [None, None, Some(prompt)],
        What::Kill { process, .. } | What::Suspend { process, .. } => [Some(process), None, None],
        What::Power { .. } | What::Outage { .. } => [None, None, None],
    }
}

/// How many seeds are tried for each action that is taken out.
const LUCK: u64 = 12;

struct Search {
    best: Repro,
    failure: Failure,
    runs: u64,
    until: Instant,
}

/// How many actions are taken out at once at first: there may be hundreds, and few of them matter.
const COARSE: usize = 8;

/// Every record is looked at, so that a failure shows as soon as it can.
const CLOSE: Watch = Watch { closely: 1, ..MANY };

/// The same without what takes most of the time.
const FAR: Watch = Watch { closely: 0, ..MANY };

/// Who notices nothing without looking closely.
const CLOSE_LOOKERS: [&str; 2] = ["state is the log", "legal conversation"];

/// How much later than before a failure may come and still be the same.
const LATER: u64 = 200;

/// Makes it small, in about that time. None if it does not fail.
pub fn shrink(repro: &Repro, time: Duration) -> Option<Shrunk> {
    let outcome = repro.run(CLOSE);
    let failure = outcome.failure?;
    // A fifth of the time is left for the question whose order decides.
    let (until, end) = (Instant::now() + time / 5 * 4, Instant::now() + time);
    let mut search = Search { best: repro.clone(), failure, runs: 1, until };
    search.only(&outcome.acted);
    search.cut(outcome.time);
    loop {
        let size = search.size();
        search.drop_actions(COARSE);
        search.drop_entities();
        search.drop_actions(1);
        search.make_certain();
        search.drop_with_other_luck();
        search.drop_pairs();
        search.simplify_options();
        search.simplify_actions();
        search.simplify_submissions();
        if search.size() == size || search.is_late() {
            break;
        }
    }
    let pair = order::decisive(&search.best, &search.failure, end);
    Some(Shrunk { repro: search.best, failure: search.failure, runs: search.runs, pair })
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
        let close = CLOSE_LOOKERS.contains(&self.failure.oracle.as_str());
        let watch = if close { CLOSE } else { FAR };
        match candidate.run_within(watch, self.failure.event + LATER).failure {
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

    /// Whatever was not done goes: what was left out because too much waited, and what came too late.
    fn only(&mut self, acted: &[u64]) {
        let done = self.best.plan.actions.iter().filter(|action| acted.contains(&action.id)).cloned();
        let mut candidate = self.with_actions(done.collect());
        candidate.options.crowd = 0;
        self.keep(candidate);
    }

    /// Whatever comes after the failure goes.
    fn cut(&mut self, end: u64) {
        let before = self.best.plan.actions.iter().filter(|action| action.at <= end).cloned().collect();
        self.keep(self.with_actions(before));
    }

    /// Takes out all that concerns one process, one session or one prompt.
    fn drop_entities(&mut self) {
        for entity in 0..=2 {
            let of = |action: &Action| entities(&action.what)[entity];
            let all: BTreeSet<_> = self.best.plan.actions.iter().filter_map(of).collect();
            for one in all {
                let others = self.best.plan.actions.iter().filter(|action| of(action) != Some(one));
                self.keep(self.with_actions(others.cloned().collect()));
            }
        }
    }

    /// Takes out halves, quarters and so on, down to so many actions at once.
    fn drop_actions(&mut self, least: usize) {
        let mut size = self.best.plan.actions.len().div_ceil(2);
        while size >= least && !self.is_late() {
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

    /// What happens at times happens always: then it does not take many tries.
    fn make_certain(&mut self) {
        for (name, value) in self.best.options.list() {
            let faults = ["provider_", "tool_", "prepare_", "disk_", "call_", "usage_"];
            if faults.iter().any(|fault| name.starts_with(fault)) && value > 0 && value < 1_000 {
                let mut candidate = self.best.clone();
                candidate.options.set(name, 1_000);
                self.keep(candidate);
            }
        }
    }

    /// Takes out single actions, each with some other seeds too: what is left may only need another draw.
    fn drop_with_other_luck(&mut self) {
        let mut at = 0;
        while at < self.best.plan.actions.len() && !self.is_late() {
            let mut candidate = self.best.clone();
            candidate.plan.actions.remove(at);
            let dropped = (0..LUCK).any(|luck| {
                candidate.seed = self.best.seed.wrapping_add(luck);
                self.keep(candidate.clone())
            });
            at += usize::from(!dropped);
        }
    }

    /// Takes out two actions at once: neither can go if one undoes the other.
    fn drop_pairs(&mut self) {
        let mut pair = (0, 1);
        while pair.0 + 1 < self.best.plan.actions.len() && !self.is_late() {
            let mut actions = self.best.plan.actions.clone();
            if pair.1 >= actions.len() {
                pair = (pair.0 + 1, pair.0 + 2);
                continue;
            }
            actions.remove(pair.1);
            actions.remove(pair.0);
            if !self.keep(self.with_actions(actions)) {
                pair.1 += 1;
            }
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
        let mut candidate = self.best.clone();
        candidate.plan.actions.iter_mut().for_each(|action| action.aim = Aim::None);
        self.keep(candidate);
        // Nothing is waited for in the beginning.
        let first = self.best.plan.actions.iter().map(|action| action.at).min().unwrap_or(0);
        let mut candidate = self.best.clone();
        candidate.plan.actions.iter_mut().for_each(|action| action.at -= first);
        self.keep(candidate);
        for at in 0..self.best.plan.actions.len() {
            self.change(at, |action| action.aim = Aim::None);
            for round in [1_000_000, 100_000, 10_000, 1_000, 100, 10] {
                self.change(at, |action| action.at = action.at / round * round);
            }
        }
    }

    /// Prompts are submitted in the plainest way that still fails.
    fn simplify_submissions(&mut self) {
        for at in 0..self.best.plan.actions.len() {
            self.change_submission(at, |submit| submit.headless = false);
            self.change_submission(at, |submit| submit.run = false);
            self.change_submission(at, |submit| submit.permission = 1);
            self.change_submission(at, |submit| (submit.delivery, submit.flaw) = (0, 0));
            self.change_submission(at, |submit| submit.schema = false);
            self.change_submission(at, |submit| submit.wait = 60_000);
            self.change_submission(at, |submit| submit.steps = 1);
        }
    }

    fn change_submission(&mut self, at: usize, change: impl FnOnce(&mut Submit)) {
        self.change(at, |action| {
            if let What::Submit(submit) = &mut action.what {
                change(submit);
            }
        });
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Action)) {
        let mut candidate = self.best.clone();
        change(&mut candidate.plan.actions[at]);
        self.keep(candidate);
    }
}
