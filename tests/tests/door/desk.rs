//! A workspace that is open: its directories, its driver and the provider that it asks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_core::session::Settings;
use hostler_shell::clock::Clock;
use hostler_shell::config::{self, Places};
use hostler_shell::door::InProcess;
use hostler_shell::driver::{self, Setup};
use hostler_shell::models::Models;
use hostler_shell::store::Store;
use hostler_shell::tools;
use hostler_tests::harness::replay_flights;
use hostler_tests::strict::StrictProvider;
use tempfile::TempDir;

use crate::client::Client;

/// An open workspace.
pub(crate) struct Desk<'a> {
    provider: &'a StrictProvider,
    temp: Arc<TempDir>,
    state: PathBuf,
    settings: Settings,
    door: InProcess,
}

impl<'a> Desk<'a> {
    pub(crate) fn open(provider: &'a StrictProvider) -> Self {
        Self::open_with(provider, Settings::default())
    }

    pub(crate) fn open_with(provider: &'a StrictProvider, settings: Settings) -> Self {
        let temp = TempDir::with_prefix("hostler-door-").unwrap();
        fs::create_dir(temp.path().join("work")).unwrap();
        let state = temp.path().join("state");
        fs::create_dir(&state).unwrap();
        Self::at(provider, Arc::new(temp), state, settings)
    }

    fn at(provider: &'a StrictProvider, temp: Arc<TempDir>, state: PathBuf, settings: Settings) -> Self {
        let (work, url) = (temp.path().join("work"), provider.base_url());
        let variable = |name: &str| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "OPENAI_API_KEY" => Some("sk-test".to_owned()),
            _ => None,
        };
        let places = Places::new(&work.canonicalize().unwrap(), &state, None, None);
        let config = config::load(&places, variable).unwrap().config;
        let setup = Setup {
            dir: Some(state.clone()),
            store: Store::open(&state).unwrap(),
            tools: tools::Workspace::open(&work).unwrap(),
            models: Models::new(Arc::new(config), None, settings.connect, Clock::start()),
            settings: settings.clone(),
            clock: Clock::start(),
        };
        Self { provider, temp, state, settings, door: driver::open(setup).unwrap() }
    }

    /// Another process that has the same workspace open. Locks belong to open files, so that it is as good as one.
    pub(crate) fn another(&self) -> Self {
        let (temp, state) = (Arc::clone(&self.temp), self.state.clone());
        Self::at(self.provider, temp, state, self.settings.clone())
    }

    /// What the next process finds if this one is killed now, while it waits for something: the files as they are, and
    /// every lock free.
    pub(crate) fn killed(&self) -> Self {
        let state =
            self.temp.path().join(format!("state-{}", fs::read_dir(self.temp.path()).unwrap().count()));
        copy(&self.state, &state);
        Self::at(self.provider, Arc::clone(&self.temp), state, self.settings.clone())
    }

    /// The directory that tools work in.
    pub(crate) fn work(&self) -> PathBuf {
        self.temp.path().join("work").canonicalize().unwrap()
    }

    /// Where its state lies.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// Writes a file outside of the working directory and returns its path.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        let path = self.temp.path().canonicalize().unwrap().join(name);
        fs::write(&path, "a secret\n").unwrap();
        path
    }

    /// A client that sees whatever happens from here on.
    pub(crate) async fn client(&self, name: &str) -> Client {
        Client::new(self.door.clone(), name, None).await
    }

    /// A client that sees all that ever happened.
    pub(crate) async fn historian(&self) -> Client {
        let log = Store::open(&self.state).unwrap().log().to_owned();
        Client::new(self.door.clone(), "historian", Some(hostler_core::protocol::EventId { log, seq: 0 }))
            .await
    }

    /// Stops everything, and checks that no request was refused and that everything would be decided so again.
    pub(crate) async fn close(self) {
        self.door.close().await;
        self.provider.assert_clean();
        assert!(replay_flights(&self.state) > 0, "there is no flight record");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
