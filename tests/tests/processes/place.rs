//! A directory of its own for a test, the program that runs in it, and all processes that come of that.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(100);

/// The variable that all processes of a test inherit.
const MARK: &str = "HOSTLER_PROCESSES_TEST";

/// Where a test works. Dropping it kills what is left of its processes.
pub(crate) struct Place {
    directory: TempDir,
}

/// The program while it is running.
pub(crate) struct Run<'a> {
    place: &'a Place,
    child: Child,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A command line that has the model run commands, one after the other, and then think for ever. `program` runs
    /// before the usual program, if it is not that itself.
    pub(crate) fn command(&self, program: &[&str], commands: &[&str]) -> Command {
        let call = |command: &&str| ("bash", json!({"command": command}));
        self.calling(program, &commands.iter().map(call).collect::<Vec<_>>())
    }

    /// The same with calls of any tools.
    pub(crate) fn calling(&self, program: &[&str], calls: &[(&str, Value)]) -> Command {
        let call = |(tool, input): &(&str, Value)| json!({"say": [{"call": {"tool": tool, "input": input}}]});
        let mut steps: Vec<_> = calls.iter().map(call).collect();
        steps.push(json!({"say": [{"stall": true}]}));
        let scenario = self.path("scenario.json");
        fs::write(&scenario, json!({ "steps": steps }).to_string()).unwrap();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(["run", "--yolo", "--format", "jsonl", "--model"]);
        command.arg(format!("rehearsal:{}", scenario.display())).arg("Go");
        command.current_dir(self.directory.path()).env_clear().env(MARK, self.mark());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("XDG_STATE_HOME", self.path("state"));
        command.env("HOME", self.directory.path()).env("OPENAI_API_KEY", "sk-secret");
        let out = File::create(self.path("out")).unwrap();
        command.stdin(Stdio::null()).stdout(out).stderr(File::create(self.path("err")).unwrap());
        command
    }

    pub(crate) fn start(&self, commands: &[&str]) -> Run<'_> {
        self.spawn(self.command(&program(), commands))
    }

    pub(crate) fn spawn(&self, mut command: Command) -> Run<'_> {
        Run { place: self, child: command.spawn().unwrap() }
    }

    /// All processes that live, as their ids and names.
    pub(crate) fn left(&self) -> Vec<(i32, String)> {
        let wanted = format!("{MARK}={}", self.mark());
        let ids = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| variables(*id).split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
            .map(|id| (id, fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default()))
            .collect()
    }

    /// Waits until no process lives, but not longer than that; returns how long it took.
    #[track_caller]
    pub(crate) fn empty_within(&self, bound: Duration, what: &str) -> Duration {
        let start = Instant::now();
        loop {
            let left = self.left();
            let took = start.elapsed();
            if left.is_empty() {
                return took;
            }
            assert!(took < bound, "{what}: after {took:?} there are still {left:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn mark(&self) -> String {
        self.directory.path().display().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for (id, _) in self.left() {
            // It may have ended meanwhile.
            let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
        }
    }
}

/// The built program, with signals as they are by default, whatever they are for this test.
pub(crate) fn program() -> [&'static str; 3] {
    ["env", "--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_hostler-under-test")]
}

fn variables(process: i32) -> Vec<u8> {
    fs::read(Path::new("/proc").join(process.to_string()).join("environ")).unwrap_or_default()
}

impl Run<'_> {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Waits until something is so.
    #[track_caller]
    pub(crate) fn until<T>(&mut self, what: &str, mut so: impl FnMut(&Place) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = so(self.place) {
                return found;
            }
            let over = start.elapsed() > PATIENCE || self.child.try_wait().unwrap().is_some();
            assert!(!over, "waited in vain for {what}; printed was:\n{}", self.printed());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until a command has made a file of that name.
    #[track_caller]
    pub(crate) fn until_file(&mut self, name: &str) {
        self.until(name, |place| place.path(name).exists().then_some(()));
    }

    /// Waits for the results of so many calls and returns the last of them.
    #[track_caller]
    pub(crate) fn result(&mut self, number: usize) -> Value {
        self.until("a result", |place| results(place).into_iter().nth(number - 1))
    }

    /// The results so far, also of a run that is over.
    pub(crate) fn results(&self) -> Vec<Value> {
        results(self.place)
    }

    /// The most memory that the program has had so far, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    fn printed(&self) -> String {
        let read = |name| fs::read_to_string(self.place.path(name)).unwrap_or_default();
        read("out") + &read("err")
    }
}

fn results(place: &Place) -> Vec<Value> {
    let out = fs::read_to_string(place.path("out")).unwrap_or_default();
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["type"] == "tool.finished").collect()
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
