//! A file from which a failure can be run again: seed, options and plan in words, and what went wrong.

use std::fmt::Write;

use crate::campaign::{Outcome, run_plan, run_world};
use crate::failure::Failure;
use crate::options::Options;
use crate::plan::{Plan, generate, read_action, write_action};
use crate::profile::Profile;
use crate::world::{Swap, Watch, World};

/// The first line of such a file.
const HEAD: &str = "hostler-sim repro 1";

/// All that a run follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repro {
    /// The seed.
    pub seed: u64,
    /// The options.
    pub options: Options,
    /// The plan.
    pub plan: Plan,
}

impl Repro {
    /// What a seed expands into.
    pub fn of_seed(seed: u64, events: u64, profile: Profile) -> Self {
        let options = profile.apply(Options::of_seed(seed, events));
        let plan = generate(seed, &options);
        Self { seed, options, plan }
    }

    /// Runs it.
    pub fn run(&self, watch: Watch) -> Outcome {
        run_plan(self.seed, self.options.clone(), self.plan.clone(), watch)
    }

    /// Runs so many events of it at the most.
    pub fn run_within(&self, watch: Watch, events: u64) -> Outcome {
        let mut world = self.world(watch);
        world.limit = events;
        run_world(world)
    }

    /// Its world, in which nothing has happened yet.
    pub fn world(&self, watch: Watch) -> World {
        World::new(self.seed, self.options.clone(), self.plan.clone(), watch)
    }

    /// Runs it with one event postponed.
    pub fn run_swapped(&self, watch: Watch, swap: Swap) -> Outcome {
        let mut world = self.world(watch);
        world.swap(swap);
        run_world(world)
    }

    /// The file. What went wrong stands in comments.
    pub fn write(&self, failure: Option<&Failure>, hash: u64) -> String {
        let mut text = format!("{HEAD}\n");
        if let Some(failure) = failure {
            let message: String =
                failure.message.chars().take(600).map(|char| if char == '\n' { ' ' } else { char }).collect();
            text.push_str(&format!(
                "# {} ({}) at event {}: {message}\n",
                failure.class, failure.oracle, failure.event
            ));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# trace hash {hash:016x}\nseed {}", self.seed);
        for (name, value) in self.options.list() {
            let _ = writeln!(text, "option {name} {value}");
        }
        for action in &self.plan.actions {
            let _ = writeln!(text, "action {}", write_action(action));
        }
        text
    }

    /// Reads such a file; says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("it does not begin with {HEAD:?}"));
        }
        let mut repro = Self { seed: 0, options: Options::default(), plan: Plan::default() };
        for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            repro.line(line)?;
        }
        Ok(repro)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let bad = || format!("this line makes no sense: {line}");
        match line.split_once(' ') {
            Some(("seed", seed)) => self.seed = seed.parse().map_err(|_| bad())?,
            Some(("option", option)) => {
                let (name, value) = option.split_once(' ').ok_or_else(bad)?;
                let known = value.parse().is_ok_and(|value| self.options.set(name, value));
                known.then_some(()).ok_or_else(bad)?;
            }
            Some(("action", action)) => self.plan.actions.push(read_action(action)?),
            _ => return Err(bad()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::MANY;
    use crate::failure::Class;

    #[test]
    fn a_file_reads_back_and_runs_the_same_way() {
        let repro = Repro::of_seed(3, 300, Profile::Swarm);
        let text = repro.write(None, 1);
        let read = Repro::read(&text);
        assert_eq!(read.as_ref(), Ok(&repro));
        let again = read.map(|read| read.run(MANY).trace.hash);
        assert_eq!(again, Ok(repro.run(MANY).trace.hash));
    }

    #[test]
    fn what_went_wrong_is_one_line_whatever_it_says() {
        let message = "it says:\n\nmore\nthan one line".to_owned();
        let failure = Failure { message, class: Class::Safety, oracle: "titles".to_owned(), event: 7 };
        let repro = Repro::of_seed(3, 300, Profile::Swarm);
        assert_eq!(Repro::read(&repro.write(Some(&failure), 1)).as_ref(), Ok(&repro));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "hostler-sim repro 1\nseed x", "hostler-sim repro 1\noption nonsense 1"] {
            assert!(Repro::read(text).is_err(), "{text:?}");
        }
    }
}
