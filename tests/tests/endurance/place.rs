//! A home for many runs of the program, each of which has one command run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The variable that all processes of the test inherit.
const MARK: &str = "HOSTLER_ENDURANCE_TEST";

/// Directories of the test, and nothing else that the program may write to.
pub(crate) struct Place {
    directory: TempDir,
}

/// A run that was started.
pub(crate) struct Run(Child);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        for name in ["home", "state", "work", "tmp"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        let call = json!({"tool": "bash", "input": {"command": "echo \"$PWD\"; exit 0"}});
        let steps =
            json!({"steps": [{"say": [{"text": "I look."}, {"call": call}]}, {"say": [{"text": "Done."}]}]});
        fs::write(place.path("scenario.json"), steps.to_string()).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The directory that the workspace's state is in.
    pub(crate) fn workspace(&self) -> PathBuf {
        let all: Vec<_> = fs::read_dir(self.path("state/hostler/workspaces")).unwrap().flatten().collect();
        assert_eq!(all.len(), 1);
        all[0].path()
    }

    fn hostler(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hostler-under-test"));
        command.args(words).current_dir(self.path("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env(MARK, self.mark());
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("TMPDIR", self.path("tmp")).stdin(Stdio::null());
        command
    }

    /// Starts a run.
    pub(crate) fn run(&self, words: &[&str]) -> Run {
        let model = format!("rehearsal:{}", self.path("scenario.json").display());
        let mut command = self.hostler(&["run", "--yolo", "--quiet", "--model", &model]);
        command.args(words).arg("Go").stdout(Stdio::piped()).stderr(Stdio::piped());
        Run(command.spawn().unwrap())
    }

    /// What a command prints that must go well.
    fn prints(&self, words: &[&str]) -> String {
        let output = self.hostler(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The reasons with which runs ended, a run each.
    pub(crate) fn ended(&self) -> Vec<String> {
        let listed = self.prints(&["runs", "list", "--json", "--limit", "100000"]);
        let reason = |line: &str| {
            let run: Value = serde_json::from_str(line).unwrap();
            run["finished"]["reason"].as_str().unwrap_or("none").to_owned()
        };
        listed.lines().map(reason).collect()
    }

    /// The doctor finds nothing wrong with the log.
    pub(crate) fn is_sound(&self) {
        // It minds that there is no provider.
        let output = self.hostler(&["doctor", "--json"]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        for check in ["data", "log", "configuration"] {
            let findings: Vec<_> = found["checks"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|finding| finding["check"] == check)
                .collect();
            assert!(!findings.is_empty(), "{found}");
            assert!(findings.iter().all(|finding| finding["verdict"] == "ok"), "{findings:?}");
        }
    }

    fn mark(&self) -> String {
        self.directory.path().display().to_string()
    }

    /// The processes that live, by their ids.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let wanted = format!("{MARK}={}", self.mark());
        let has_mark = |id: &u32| {
            let variables =
                fs::read(Path::new("/proc").join(id.to_string()).join("environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        };
        let ids = fs::read_dir("/proc").unwrap().flatten();
        ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_mark).collect()
    }
}

impl Run {
    /// Waits for its end, which must be a good one.
    pub(crate) fn end(self) {
        let output = self.0.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), &*out, &*err), (Some(0), "Done.\n", ""));
    }
}
