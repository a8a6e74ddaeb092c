//! Scripts: one race each, told step by step, with what must come of it. See `scenarios/README.md` for the words.
//!
//! A script says what happens in which order, down to the moment between two steps of a batch, so it does not depend on
//! luck. All oracles and the reference watch it as they watch a seed, and at its end everything must come to rest.

mod expect;
mod line;
mod words;

use std::path::{Path, PathBuf};

use line::{Step, Until};

use crate::failure::Failure;
use crate::options::Options;
use crate::plan::Plan;
use crate::world::trace::Level;
use crate::world::{Watch, World};

/// How much may happen while something is waited for.
const MOST: usize = 20_000;

/// A script that has been read: its steps and their lines.
#[derive(Clone, Debug)]
pub struct Script {
    options: Options,
    steps: Vec<(usize, String, Step)>,
}

/// What was not as it should be.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// In which line.
    pub line: usize,
    /// What.
    pub what: String,
    /// What happened until then.
    pub story: Vec<String>,
}

impl Script {
    /// Reads a script. Fails with what is wrong with which line.
    pub fn read(text: &str) -> Result<Self, Wrong> {
        let mut script = Self { options: options(), steps: Vec::new() };
        for (nth, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what| Wrong { line: nth + 1, what, story: Vec::new() };
            match words::read(line).map_err(wrong)? {
                Step::Set(name, value) if script.steps.is_empty() && script.options.set(&name, value) => {}
                Step::Set(name, _) => return Err(wrong(format!("{name:?} is no option, or set too late"))),
                step => script.steps.push((nth + 1, line.to_owned(), step)),
            }
        }
        if !script.steps.iter().any(|(_, _, step)| matches!(step, Step::Expect(_))) {
            return Err(Wrong { line: 0, what: "it expects nothing".to_owned(), story: Vec::new() });
        }
        Ok(script)
    }

    /// Runs it to its end and on until everything has come to rest. Returns what happened.
    pub fn run(&self) -> Result<Vec<String>, Wrong> {
        let watch = Watch { level: Level::Words(usize::MAX), closely: 1 };
        let world = World::new(1, self.options.clone(), Plan::default(), watch);
        let mut stage = Stage { world, held: Vec::new(), from: 0 };
        let mut last = 0;
        for (nth, line, step) in &self.steps {
            last = *nth;
            let done = stage.step(step);
            if let Err(what) = stage.judged(done) {
                let story = stage.world.trace.words.into_iter().collect();
                return Err(Wrong { line: last, what: format!("{line}: {what}"), story });
            }
        }
        stage.world.conclude();
        let story = stage.world.trace.words.into_iter().collect();
        match stage.world.failure {
            Some(failure) => Err(Wrong { line: last, what: format!("in the end: {failure}"), story }),
            None => Ok(story),
        }
    }
}

/// Nothing is delayed unless the script says so, and batches are as large as they can be.
fn options() -> Options {
    Options {
        processes: 1,
        sessions: 1,
        gather: 33,
        prepare: 30_000,
        connect: 10_000,
        first_event: 300_000,
        idle: 300_000,
        ending: 5_000,
        settle: 3_000,
        backoff: 5_000,
        attempts: 4,
        restart_age: 600_000,
        parallel: 5,
        denied_steps: 3,
        answer_bytes: 100_000,
        steps: 8,
        short: 1,
        staged: 1,
        events: u64::MAX,
        span: 1_000,
        ..Options::default()
    }
}

struct Stage {
    world: World,
    held: Vec<usize>,
    /// From which record on one is waited for.
    from: usize,
}

impl Stage {
    fn judged(&self, done: Result<(), String>) -> Result<(), String> {
        match &self.world.failure {
            Some(Failure { oracle, message, .. }) => Err(format!("{oracle}: {message}")),
            None => done,
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Set(_, _) => {}
            Step::Answer(answer) => self.world.staged().answers.push_back(answer.clone()),
            Step::Tool(tool) => self.world.staged().tools.push_back(*tool),
            Step::Prepare(preparation) => self.world.staged().preparations.push_back(*preparation),
            Step::Look(takes) => self.world.staged().looks.push_back(*takes),
            Step::Do(what) => self.world.act_now(*what),
            Step::Say(says) => return self.world.person_says(says),
            Step::CancelAgent(number, process) => return self.world.cancel_agent(*number, *process),
            Step::Hold(process) => self.held.push(*process),
            Step::Release(process) => self.held.retain(|held| held != process),
            Step::Until(until) => return self.until(until),
            Step::Wait(time) => self.wait(*time),
            Step::Drain => return self.go_on(|world| world.is_quiet()),
            Step::Expect(expect) => return expect.check(&mut self.world),
        }
        Ok(())
    }

    fn wait(&mut self, time: u64) {
        let until = self.world.now + time;
        while self.world.failure.is_none() && self.world.next(&self.held, until) {}
        self.world.now = until;
    }

    fn go_on(&mut self, so: impl Fn(&World) -> bool) -> Result<(), String> {
        for _ in 0..MOST {
            if so(&self.world) || self.world.failure.is_some() {
                return Ok(());
            }
            if !self.world.next(&self.held, u64::MAX) {
                return Err("nothing happens any more, and it is not so".to_owned());
            }
        }
        Err("much happens, and it does not become so".to_owned())
    }

    fn until(&mut self, until: &Until) -> Result<(), String> {
        match until {
            Until::Decided(about) => self.go_on(|world| world.is_deciding(about)),
            Until::Waiting(kind) => self.go_on(|world| world.is_waiting(kind)),
            Until::Committed(about) => {
                let staged = self.world.staged();
                (staged.watch, staged.met) = (Some(about.clone()), false);
                let met = self.go_on(|world| world.has_met());
                self.world.staged().watch = None;
                met
            }
            Until::Logged(about) => {
                let from = self.from;
                let place = |world: &World| world.place_of(about, from);
                self.go_on(|world| place(world).is_some())?;
                self.from = place(&self.world).map_or(from, |place| place + 1);
                Ok(())
            }
        }
    }
}

/// All scripts of this repository, by name.
pub fn all() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sim"));
    paths.sort();
    paths
}
