//! Where this process works and where its state lies.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hostler_core::client::Earlier;
use hostler_core::config::Config;
use hostler_core::session::Settings;
use hostler_shell::clock::Clock;
use hostler_shell::config::{self, Loaded, Places};
use hostler_shell::door::InProcess;
use hostler_shell::driver::{self, Setup};
use hostler_shell::models::Models;
use hostler_shell::store::Store;
use hostler_shell::store::place::{Env, read_only_root, state_root, workspace_dir};
use hostler_shell::tools;

use crate::room::no_room;

/// The directory for state that the command line names. It is said once, before anything looks, like the environment.
static DATA_DIR: OnceLock<PathBuf> = OnceLock::new();

/// Goes where the command line says: to another working directory, and to another one for state. All other paths on the
/// command line are seen from there, as if the program had been started in that directory.
pub(crate) fn go(cwd: Option<&Path>, data_dir: Option<&Path>) -> Result<(), String> {
    if let Some(cwd) = cwd {
        std::env::set_current_dir(cwd).map_err(|error| {
            format!("{} cannot be worked in ({error}); name a directory that exists.", cwd.display())
        })?;
    }
    if let Some(dir) = data_dir {
        let dir = std::path::absolute(dir).map_err(|error| {
            format!("The data directory cannot be used ({error}); give --data-dir another.")
        })?;
        // Nobody has said another one before.
        let _ = DATA_DIR.set(dir);
    }
    Ok(())
}

/// A workspace that can be opened.
#[derive(Debug)]
pub(crate) struct Place {
    /// The directory that it is, links resolved.
    pub(crate) root: PathBuf,
    /// The directory that all state of the user is in.
    pub(crate) state: PathBuf,
    /// The directory of its state.
    pub(crate) dir: PathBuf,
    /// Why the state is not where it usually is.
    pub(crate) warning: Option<String>,
    /// Where sessions are that were kept before.
    pub(crate) earlier: Earlier,
}

impl Place {
    /// The workspace of the current directory.
    pub(crate) fn here() -> Result<Self, String> {
        let root = current_dir()?;
        let state = state_root(&env()).map_err(|error| error.to_string())?;
        crate::logs::keep_in(&state.path);
        tracing::info!(
            workspace = %root.display(), state = %state.path.display(), usual = state.fallback.is_none(), "the place is known"
        );
        let earlier = match (&state.fallback, read_only_root(&env())) {
            (None, _) => Earlier::Reachable,
            (Some(_), None) => Earlier::Unknown,
            (Some(_), Some(dir)) => Earlier::ReadOnly(dir.display().to_string()),
        };
        let dir = workspace_dir(&state.path, &root);
        Ok(Self { dir, root, state: state.path, warning: state.fallback, earlier })
    }

    /// The same for what only reads, if state can be read and not written to.
    pub(crate) fn read_only() -> Result<Option<Self>, String> {
        let Some(state) = read_only_root(&env()) else { return Ok(None) };
        let root = current_dir()?;
        let earlier = Earlier::ReadOnly(state.display().to_string());
        Ok(Some(Self { dir: workspace_dir(&state, &root), root, state, warning: None, earlier }))
    }

    /// Where its configuration is looked for.
    pub(crate) fn places(&self) -> Places {
        Places::of_process(&self.root, &self.state)
    }

    /// What is configured for it; else the mistakes, a line each.
    pub(crate) fn configuration(&self) -> Result<Loaded, String> {
        config::load(&self.places(), |name| std::env::var(name).ok()).map_err(|error| error.to_string())
    }

    /// Opens what can only be read, for questions. Must be called inside a tokio runtime.
    pub(crate) fn open_to_read(&self, clock: Clock) -> Result<InProcess, String> {
        let store = Store::open_copy(&self.dir).map_err(|error| error.to_string())?;
        self.open_store(None, store, clock, Arc::new(Config::bare()))
    }

    /// Opens it, to be worked in as it is configured; what happens is kept in its state or not at all. Must be called inside
    /// a tokio runtime.
    pub(crate) fn open(&self, clock: Clock, config: Arc<Config>, keeps: bool) -> Result<InProcess, String> {
        let dir = keeps.then(|| self.dir.clone());
        let store = dir.as_deref().map_or_else(Store::in_memory, Store::open);
        let store = store.map_err(|error| error.to_string())?;
        self.open_store(dir, store, clock, config)
    }

    fn open_store(
        &self,
        dir: Option<PathBuf>,
        store: Store,
        clock: Clock,
        config: Arc<Config>,
    ) -> Result<InProcess, String> {
        // In a directory that was deleted every tool fails by itself, and the model can still answer.
        let tools = tools::Workspace::open(&self.root).unwrap_or_else(|_| tools::Workspace::gone(&self.root));
        let tools = if dir.is_some() { tools.with_outputs(&self.dir) } else { tools };
        let settings = Settings::default();
        let models = Models::new(config, self.places().user, settings.connect, clock);
        driver::open(Setup { dir, store, tools, models, settings, clock })
            .map_err(|error| no_room("The program cannot start", error))
    }
}

fn env() -> Env {
    Env { data_dir: DATA_DIR.get().cloned(), ..Env::of_process() }
}

/// The current directory, links resolved. One that was deleted is known by the name under which it was entered.
fn current_dir() -> Result<PathBuf, String> {
    match std::env::current_dir().and_then(|dir| dir.canonicalize()) {
        Ok(dir) => Ok(dir),
        Err(error) => match std::env::var_os("PWD").map(PathBuf::from).filter(|dir| dir.is_absolute()) {
            Some(dir) => Ok(dir),
            None => {
                Err(format!("The current directory cannot be used ({error}); change to one that exists."))
            }
        },
    }
}
