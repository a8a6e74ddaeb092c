//! The surroundings of one test: a home, a place for state, a working directory and one for temporary files.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::command::Hostler;
use super::wait_until;
use crate::strict::{Protocol, StrictProvider};

/// What is configured unless a test says otherwise: the limits of the strict provider's model, which no table knows, and
/// that nobody looks for servers that the machine may have.
const USUAL: &str = r#"{"local_servers": false, "models": {
    "openai/strict-1": {"context_window": 1000000000},
    "anthropic/strict-1": {"context_window": 1000000000},
    "openai-responses/strict-1": {"context_window": 1000000000},
    "gemini/strict-1": {"context_window": 1000000000}}}"#;

/// The name by which the strict provider's model is asked for by that protocol.
pub const fn model(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "openai/strict-1",
        Protocol::Messages => "anthropic/strict-1",
        Protocol::Responses => "openai-responses/strict-1",
        Protocol::Gemini => "gemini/strict-1",
    }
}

/// Directories that belong to one test and go with it.
#[derive(Debug)]
pub struct Home {
    temp: TempDir,
    program: PathBuf,
}

impl Home {
    /// A home for the program that lies at `program`.
    ///
    /// # Panics
    ///
    /// When the system does not give a temporary directory.
    pub fn new(program: &str) -> Self {
        let temp = TempDir::with_prefix("hostler-e2e-").unwrap();
        let home = Self { temp, program: PathBuf::from(program) };
        for name in ["home", "state", "work", "tmp"] {
            fs::create_dir(home.root().join(name)).unwrap();
        }
        home.configure(USUAL);
        home
    }

    /// The directory that everything of this test lies in, links resolved.
    pub fn root(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    /// The directory that the program works in.
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Where state goes.
    pub fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command line of the program.
    pub fn hostler<S: Into<String>>(&self, words: impl IntoIterator<Item = S>) -> Hostler<'_> {
        Hostler::new(self, words)
    }

    /// A `run` that reports in lines and asks the given provider by chat completions.
    pub fn run<'a, S: Into<String>>(
        &'a self,
        provider: &'a StrictProvider,
        words: impl IntoIterator<Item = S>,
    ) -> Hostler<'a> {
        self.run_as(Protocol::Chat, provider, words)
    }

    /// A `run` that reports in lines and asks the given provider by that protocol.
    pub fn run_as<'a, S: Into<String>>(
        &'a self,
        protocol: Protocol,
        provider: &'a StrictProvider,
        words: impl IntoIterator<Item = S>,
    ) -> Hostler<'a> {
        self.hostler(["run", "--model", model(protocol), "--format", "jsonl"])
            .words(words)
            .provider_as(protocol, provider)
    }

    /// A `run` that prints its answer and asks the given provider by chat completions.
    pub fn run_text<'a, S: Into<String>>(
        &'a self,
        provider: &'a StrictProvider,
        words: impl IntoIterator<Item = S>,
    ) -> Hostler<'a> {
        self.hostler(["run", "--model", model(Protocol::Chat)]).words(words).provider(provider)
    }

    /// Writes the user's configuration.
    pub fn configure(&self, text: &str) {
        let path = self.configuration();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The user's configuration file.
    pub fn configuration(&self) -> PathBuf {
        self.root().join("home/.config/hostler/config.json")
    }

    /// Writes a file of the working directory, with the directories that it needs.
    pub fn write(&self, name: &str, content: &str) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A file of the working directory.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether there is such a file in the working directory.
    pub fn has(&self, name: &str) -> bool {
        self.work().join(name).exists()
    }

    /// Waits until a file of the working directory is there and says something.
    pub fn wait_for_file(&self, name: &str) {
        let path = self.work().join(name);
        wait_until(&format!("{name} is there"), || fs::metadata(&path).is_ok_and(|found| found.len() > 0));
    }
}
