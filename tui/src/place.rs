//! Where this process works and where its state lies.

use std::path::PathBuf;

use hostler_core::session::Settings;
use hostler_shell::clock::Clock;
use hostler_shell::door::InProcess;
use hostler_shell::driver::{self, Setup};
use hostler_shell::models::{Endpoints, Models};
use hostler_shell::store::Store;
use hostler_shell::store::place::{Env, state_root, workspace_dir};
use hostler_shell::tools;

/// A workspace that can be opened.
#[derive(Debug)]
pub(crate) struct Place {
    /// The directory that it is, links resolved.
    pub(crate) root: PathBuf,
    /// The directory of its state.
    pub(crate) dir: PathBuf,
    /// Why the state is not where it usually is.
    pub(crate) warning: Option<String>,
}

impl Place {
    /// The workspace of the current directory.
    pub(crate) fn here() -> Result<Self, String> {
        let root = current_dir()?;
        let state = state_root(&Env::of_process()).map_err(|error| error.to_string())?;
        Ok(Self { dir: workspace_dir(&state.path, &root), root, warning: state.fallback })
    }

    /// Opens it; what happens is kept in its state or not at all. Must be called inside a tokio runtime.
    pub(crate) fn open(&self, clock: Clock, keeps: bool) -> Result<InProcess, String> {
        let dir = keeps.then(|| self.dir.clone());
        let store = dir.as_deref().map_or_else(Store::in_memory, Store::open);
        let store = store.map_err(|error| error.to_string())?;
        // In a directory that was deleted every tool fails by itself, and the model can still answer.
        let tools = tools::Workspace::open(&self.root).unwrap_or_else(|_| tools::Workspace::gone(&self.root));
        let tools = tools.with_outputs(&self.dir);
        let settings = Settings::default();
        let models = Models::new(Endpoints::from_env(), settings.connect);
        driver::open(Setup { dir, store, tools, models, settings, clock })
            .map_err(|error| format!("The program cannot start ({error})."))
    }
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
