//! A command line of the program, built fluently.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::home::Home;
use super::processes;
use super::running::{Finished, Running};
use super::signals::{self, Signal};
use crate::strict::{Protocol, StrictProvider};

/// Held while a program is started.
static STARTING: Mutex<()> = Mutex::new(());

/// A command line that is not yet started. Of the environment it gets what a test says, and no more.
#[derive(Debug)]
pub struct Hostler<'a> {
    pub(super) home: &'a Home,
    pub(super) provider: Option<Provider<'a>>,
    pub(super) words: Vec<String>,
    pub(super) input: Input,
    pub(super) most: Option<usize>,
    pub(super) output: Option<File>,
    pub(super) sleeps: bool,
    pub(super) left: bool,
    pub(super) abandoned: bool,
    /// What marks the processes that come of it.
    pub(super) mark: String,
    directory: PathBuf,
    shell: Option<String>,
    environment: Vec<(String, OsString)>,
    ignored: Vec<Signal>,
}

/// The environment variables that say where the provider of a protocol is, and the key for it.
pub const fn variables(protocol: Protocol) -> (&'static str, &'static str) {
    match protocol {
        Protocol::Chat | Protocol::Responses => ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
        Protocol::Messages => ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        Protocol::Gemini => ("GEMINI_BASE_URL", "GEMINI_API_KEY"),
    }
}

/// The provider that a command line asks.
#[derive(Clone, Copy)]
pub(super) struct Provider<'a>(pub(super) &'a StrictProvider);

impl std::fmt::Debug for Provider<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Provider").field(&self.0.address()).finish()
    }
}

/// What the program finds on standard input.
#[derive(Debug)]
pub(super) enum Input {
    /// Nothing.
    Empty,
    /// These bytes, and then the end.
    Bytes(Vec<u8>),
    /// An open pipe that says nothing unless the test writes to it.
    Silent,
    /// This file, whatever it is.
    From(File),
}

impl<'a> Hostler<'a> {
    pub(super) fn new<S: Into<String>>(home: &'a Home, words: impl IntoIterator<Item = S>) -> Self {
        let (root, path) = (home.root(), std::env::var_os("PATH").unwrap_or_default());
        let variable = |name: &str, value: OsString| (name.to_owned(), value);
        let mark = processes::mark();
        Self {
            home,
            provider: None,
            words: words.into_iter().map(Into::into).collect(),
            input: Input::Empty,
            most: None,
            output: None,
            sleeps: false,
            left: false,
            abandoned: false,
            directory: home.work(),
            shell: None,
            environment: vec![
                variable("PATH", path),
                variable("HOME", root.join("home").into()),
                variable("XDG_STATE_HOME", root.join("state").into()),
                variable("TMPDIR", root.join("tmp").into()),
                variable(processes::VARIABLE, mark.clone().into()),
            ],
            mark,
            ignored: Vec::new(),
        }
    }

    /// The command line as a person would type it.
    pub fn line(&self) -> String {
        let quoted = |word: &String| {
            let plain = |char: char| char.is_ascii_alphanumeric() || "/._-:=,$".contains(char);
            let escaped = || format!("'{}'", word.escape_debug());
            if !word.is_empty() && word.chars().all(plain) { word.clone() } else { escaped() }
        };
        std::iter::once("hostler".to_owned())
            .chain(self.words.iter().map(quoted))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Adds words.
    pub fn words<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// Asks that provider by chat completions. It must refuse nothing.
    pub fn provider(self, provider: &'a StrictProvider) -> Self {
        self.provider_as(Protocol::Chat, provider)
    }

    /// Asks that provider by that protocol. It must refuse nothing.
    pub fn provider_as(self, protocol: Protocol, provider: &'a StrictProvider) -> Self {
        let (url, key) = variables(protocol);
        let asks = self.variable(url, &provider.base_url_of(protocol)).variable(key, "sk-test");
        Self { provider: Some(Provider(provider)), ..asks }
    }

    /// Sets an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Leaves an environment variable out.
    pub fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(given, _)| given != name);
        self
    }

    /// Works in another directory.
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), ..self }
    }

    /// Is started by a shell that runs this script, with the program as `$0` and the words as `$@`.
    pub fn through_shell(self, script: &str) -> Self {
        Self { shell: Some(script.to_owned()), ..self }
    }

    /// Finds this on standard input.
    pub fn input(self, text: &str) -> Self {
        Self { input: Input::Bytes(text.as_bytes().to_vec()), ..self }
    }

    /// Finds standard input open and silent.
    pub fn silent_input(self) -> Self {
        Self { input: Input::Silent, ..self }
    }

    /// Finds this file on standard input.
    pub fn input_from(self, file: File) -> Self {
        Self { input: Input::From(file), ..self }
    }

    /// Begins with that signal ignored.
    pub fn ignoring(mut self, signal: Signal) -> Self {
        self.ignored.push(signal);
        self
    }

    /// The reader of standard output goes away once it has read so many bytes.
    pub fn reader_leaves_after(self, bytes: usize) -> Self {
        Self { most: Some(bytes), ..self }
    }

    /// The reader of standard output stays there and reads nothing before the program has ended.
    pub fn reader_sleeps(self) -> Self {
        Self { sleeps: true, ..self }
    }

    /// Prints into a file, which the test reads itself.
    ///
    /// # Panics
    ///
    /// When it cannot be opened.
    pub fn output_to(self, file: &Path) -> Self {
        let opened =
            OpenOptions::new().write(true).open(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        Self { output: Some(opened), ..self }
    }

    /// The run is ended before it can settle, so its last line cannot count what it did.
    pub fn abandoned(self) -> Self {
        Self { abandoned: true, ..self }
    }

    /// Starts it, as the leader of a process group of its own.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start(mut self) -> Running<'a> {
        let mut command = self.program();
        command.args(&self.words).current_dir(&self.directory).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let input = match std::mem::replace(&mut self.input, Input::Empty) {
            Input::Empty => Stdio::null(),
            Input::From(file) => file.into(),
            piped @ (Input::Bytes(_) | Input::Silent) => {
                self.input = piped;
                Stdio::piped()
            }
        };
        let output = self.output.take().map_or_else(Stdio::piped, Stdio::from);
        command.stdin(input).stdout(output).stderr(Stdio::piped()).process_group(0);
        signals::set(&mut command, std::mem::take(&mut self.ignored));
        // A process that was just forked off has all our pipes open until it runs its program. While only one is
        // started at a time, a reader that goes away is gone.
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.home.program()));
        Running::new(self, child)
    }

    fn program(&self) -> Command {
        let Some(script) = &self.shell else { return Command::new(self.home.program()) };
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(self.home.program());
        command
    }

    /// Starts it and waits for its end.
    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}
