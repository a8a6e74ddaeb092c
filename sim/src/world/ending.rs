//! The course of a simulation: a storm of actions and faults, then calm, then one more prompt in each session, then the
//! question whether everything is as it should be.
//!
//! In the calm the faults stop. In half of the seeds what is broken stays broken, because trouble that always passes
//! hides what goes round in circles for ever.

use hostler_core::prompt::Prompt;
use hostler_core::protocol::{Command, RefusalKind};
use hostler_core::record::RunStatus;

use super::agenda::Happening;
use super::disk::refold;
use super::people::{AFTER, session_id, submission};
use super::tools::TOOL_TIME;
use super::{START, World};
use crate::dice::{Roll, Stream};
use crate::failure::Class;
use crate::oracles::Seen;
use crate::plan::{Submit, What};
use crate::sometimes;

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Actions and faults; once all actions are done, for so many events more.
    Storm {
        /// How many.
        left: Option<u64>,
    },
    /// No more faults, until nothing is under way.
    Calm {
        /// By when that must be.
        until: u64,
        /// After how many events it must be.
        events: u64,
    },
    /// One more prompt in each session.
    Last {
        /// By when it must be over.
        until: u64,
        /// After how many events.
        events: u64,
    },
    /// It is over.
    Over,
}

/// Every how-manieth event it is found out whether it is time for the end.
const ESTIMATE: u64 = 32;

impl World {
    /// Brings the simulation on if it is time for that. Returns whether there is more to come.
    pub(super) fn direct(&mut self) -> bool {
        match self.act {
            Act::Storm { left } => self.direct_storm(left),
            Act::Calm { until, events } => {
                if self.is_quiet() {
                    self.ask_once_more();
                } else {
                    self.check_bound(until, events);
                }
            }
            Act::Last { until, events } => {
                if self.is_quiet() {
                    self.scan();
                    self.act = Act::Over;
                } else {
                    self.check_bound(until, events);
                }
            }
            Act::Over => return false,
        }
        self.failure.is_none()
    }

    fn direct_storm(&mut self, left: Option<u64>) {
        let left = match left {
            Some(left) => Some(left),
            None if self.all_done() => Some(self.events + Roll::new(self.seed, Stream::Order, 1).below(200)),
            None => None,
        };
        self.act = Act::Storm { left };
        let over = left.is_some_and(|left| self.events >= left) || self.is_time_for_the_end();
        if over || self.agenda.is_empty() {
            self.begin_calm();
        }
    }

    /// Whether about as many events are left as the end needs: for each prompt that is open, and for the last one of each
    /// session, as many as prompts have needed so far.
    fn is_time_for_the_end(&self) -> bool {
        if !self.events.is_multiple_of(ESTIMATE) {
            return self.events >= self.options.events;
        }
        let roots = self.disk.folds.values().filter(|durable| durable.parent.is_none());
        let (to_come, done) = roots.fold((0, 1), |(to_come, done), durable| {
            (to_come + durable.open.len() as u64 + 1, done + durable.closed.len() as u64)
        });
        self.events + to_come * self.events / (done + to_come / 2) >= self.options.events
    }

    /// Whether actions are done and faults happen.
    pub(super) fn is_storm(&self) -> bool {
        matches!(self.act, Act::Storm { .. })
    }

    pub(super) fn begin_calm(&mut self) {
        self.trace.say(self.now, || format!("calm, but for {}", self.options.broken));
        self.tell(|| super::told::What::Calms);
        self.options = self.options.healed().into();
        self.disk.outage = None;
        self.aims.clear();
        // Nobody does anything of the plan any more.
        self.agenda.retain(|what| !matches!(what, Happening::Act(_) | Happening::Unaimed(_)));
        self.calm_from = self.events;
        for process in 0..self.processes.len() {
            self.processes[process].suspended = 0;
            self.rouse(process);
        }
        let (until, events) = (self.now + self.bound(), self.events + self.most());
        self.act = Act::Calm { until, events };
    }

    /// How long everything that was asked for may take at the most, in milliseconds.
    fn bound(&self) -> u64 {
        let options = &self.options;
        let wait = 60_000_u64.max(options.backoff << options.attempts);
        let attempt =
            options.connect + options.first_event + (options.answer_bytes + 60) * options.idle + wait;
        let step = options.attempts * attempt + 5 * TOOL_TIME + options.settle;
        let prompt = options.prepare + options.steps * step + 120_000;
        prompt * (self.people.asks.len() as u64 + 10)
    }

    /// How many events the end may take: more than any end needs. A circle needs no time, only events.
    fn most(&self) -> u64 {
        60_000 + 1_000 * self.people.asks.len() as u64
    }

    fn check_bound(&mut self, until: u64, events: u64) {
        let why = if self.now > until {
            "it is not quiet within the bound"
        } else if self.events > events {
            "it goes round in circles"
        } else if self.agenda.is_empty() {
            "nothing is going to happen any more, and it is not quiet"
        } else {
            return;
        };
        let states: Vec<_> = self.processes.iter().map(|it| it.describe()).collect();
        self.fail(Class::Liveness, "quiet", format!("{why}: {}", states.join("; ")));
    }

    /// Whether nothing is under way and nobody is about to do anything.
    pub fn is_quiet(&self) -> bool {
        self.processes.iter().all(|it| it.is_quiet())
            && !self.agenda.iter().any(|what| {
                matches!(what, Happening::Again(_) | Happening::Hear(_) | Happening::Locked(_, _, _))
            })
    }

    /// Whether a prompt is one of those after the storm.
    pub(super) fn is_last(&self, prompt: &Prompt) -> bool {
        prompt
            .id
            .as_str()
            .strip_prefix('p')
            .and_then(|number| number.parse().ok())
            .is_some_and(|n: u64| n >= AFTER)
    }

    fn used_sessions(&self) -> Vec<u64> {
        let done = self.plan.actions.iter().filter(|action| START + action.at <= self.now);
        let used = done.filter_map(|action| match action.what {
            What::Submit(submit) if self.disk.folds.contains_key(&session_id(submit.session)) => {
                Some(submit.session)
            }
            _ => None,
        });
        let mut used: Vec<_> = used.collect();
        used.sort_unstable();
        used.dedup();
        // Where nothing has come into being, something must.
        if used.is_empty() { vec![0] } else { used }
    }

    fn ask_once_more(&mut self) {
        sometimes!("quiet with something broken", if self.options.broken > 0);
        self.see_quiet(false);
        let (until, events) = (self.now + self.bound(), self.events + self.most());
        self.act = Act::Last { until, events };
        for session in self.used_sessions() {
            let process = (self.seed ^ session) % self.options.processes;
            let prompt = AFTER + session;
            let submit = Submit {
                process,
                session,
                new: true,
                prompt,
                run: false,
                // A turn of its own: what it joined would end it.
                delivery: 2,
                permission: 1,
                steps: 12,
                wait: 60_000,
                flaw: 0,
                schema: false,
                headless: false,
            };
            self.ask(process, submission(&submit));
        }
    }

    /// What is in the log now is compared with what it should be.
    fn scan(&mut self) {
        if refold(&self.disk.log) != *self.disk.folds {
            self.fail(Class::Safety, "scan", "the log does not amount to what it did".to_owned());
        }
        self.check_told();
        self.check_last();
        self.see_quiet(self.options.broken != 3);
    }

    fn see_quiet(&mut self, tidy: bool) {
        self.check_locks();
        self.check_runs();
        let seen = Seen::Quiet { folds: &self.disk.folds, tidy };
        if let Err((oracle, what)) = self.oracles.see(&seen) {
            self.fail(Class::Safety, oracle, what);
        }
    }

    fn check_locks(&mut self) {
        let held =
            self.disk.locks.iter().next().map(|(session, ((process, _), _))| (session.clone(), *process));
        if let Some((session, process)) = held {
            let what =
                format!("process {process} keeps the lock of {session}, and nothing is under way there");
            self.fail(Class::Safety, "locks", what);
        }
    }

    /// Everything that somebody was told is accepted is in the log.
    fn check_told(&mut self) {
        let folds = &self.disk.folds;
        let known = |prompt: &hostler_core::ids::PromptId, session: &hostler_core::ids::SessionId| {
            folds.get(session).is_some_and(|durable| {
                durable.closed.contains_key(prompt) || durable.find_open(prompt).is_some()
            })
        };
        let lost = self.people.accepted.iter().find(|(prompt, session)| !known(prompt, session));
        if let Some((prompt, session)) = lost {
            let what = format!("{prompt} was said to be accepted in {session}, and the log does not know it");
            self.fail(Class::Safety, "told", what);
        }
        let open = self.people.asks.iter().position(|ask| !ask.answered && self.must_answer(ask));
        if let Some(ask) = open {
            let what = format!("asking {ask} was never answered");
            self.fail(Class::Liveness, "told", what);
        }
    }

    fn must_answer(&self, ask: &super::people::Ask) -> bool {
        matches!(&ask.command, Command::Submit { prompt, .. } if self.is_last(prompt))
    }

    /// The prompts after the storm were answered, or refused where nothing can be written.
    fn check_last(&mut self) {
        let asked = self.people.asks.iter().filter_map(|ask| match &ask.command {
            Command::Submit { prompt, .. } if self.is_last(prompt) => Some(prompt.id.clone()),
            _ => None,
        });
        for id in asked.collect::<Vec<_>>() {
            let told = self.people.last.get(&id).copied();
            let status = self.status(&id);
            let healthy = matches!(self.options.broken, 0 | 2);
            let fine = match (self.options.broken, told, status) {
                (3, Some(Some(RefusalKind::Storage)), _) => true,
                (_, Some(None), Some(RunStatus::Ok)) => true,
                // A tool that hangs can make nothing worse; everything else that is broken makes the run fail.
                (_, Some(None), Some(_)) => !healthy || self.limited(&id),
                _ => false,
            };
            sometimes!("prompt after the storm answered", if status == Some(RunStatus::Ok));
            sometimes!("prompt after the storm refused", if matches!(told, Some(Some(_))));
            if !fine {
                let what = format!("{id}, submitted after the storm, was told {told:?} and ended {status:?}");
                self.fail(Class::Liveness, "after the storm", what);
            }
        }
    }

    fn status(&self, prompt: &hostler_core::ids::PromptId) -> Option<RunStatus> {
        self.finished(prompt).map(|finished| finished.status)
    }

    /// Whether an answer was too long for a seed with very short ones, which is no fault.
    fn limited(&self, prompt: &hostler_core::ids::PromptId) -> bool {
        let small = self.options.answer_bytes < 1_000;
        small && self.finished(prompt).is_some_and(|finished| finished.status == RunStatus::Error)
    }
}
