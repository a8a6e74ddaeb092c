//! The models that can be asked, and what a run needs to know before it asks one.
//!
//! What is said to a model and what it says back is decided and taken apart in the core; here it is only carried.

mod carrier;
mod credentials;
mod heard;
mod local;
mod mask;
mod names;
mod nobody;
mod notes;
mod prepare;
mod rehearsal;
mod sink;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_core::config::Config;
use hostler_core::model::{ModelRef, ModelRequest, Preparation, PrepareError};
use hostler_core::prompt::Terms;
use hostler_core::provider::listing::Listed;

pub use prepare::{check_name, is_inside};
pub use sink::Sink;

use crate::clock::Clock;

/// Something that answers model requests.
pub trait Model: Send + Sync {
    /// Makes one attempt, from 1, and says through the sink what comes of it. Dropping the future stops it.
    fn call(
        &self,
        request: ModelRequest,
        attempt: u32,
        sink: Sink,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Has credentials that were refused found out anew for the next attempt, where there are any.
    fn renew(&self) {}
}

/// The models of this process.
#[derive(Clone, Debug)]
pub struct Models {
    shared: Arc<Shared>,
}

struct Shared {
    config: Arc<Config>,
    /// The user's directory for configuration.
    user: Option<PathBuf>,
    /// Who carries to each provider, by its name.
    carriers: BTreeMap<String, Arc<carrier::Carrier>>,
    /// Scenarios by the name under which they were asked for, as they were when their run was prepared.
    rehearsals: Mutex<BTreeMap<String, Arc<rehearsal::Rehearsal>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Models {
    /// The models that can be asked as it is configured, and the rehearsal model. `user` is the user's directory for
    /// configuration, `connect` is how long connecting to a provider may take, in milliseconds, and `clock` tells how far
    /// off a moment is that a provider names.
    pub fn new(config: Arc<Config>, user: Option<PathBuf>, connect: u64, clock: Clock) -> Self {
        let connect = std::time::Duration::from_millis(connect);
        let carriers = config.providers.iter().map(|(name, provider)| {
            (name.clone(), Arc::new(carrier::Carrier::new(provider.clone(), connect, clock)))
        });
        let carriers = carriers.collect();
        Self { shared: Arc::new(Shared { config, user, carriers, rehearsals: Mutex::default() }) }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Asks a provider for the list of its models; gives what it answers, or why it could not be asked. Takes at most
    /// `patience` milliseconds.
    pub async fn look(&self, provider: &str, patience: u64) -> Result<Listed, String> {
        match self.shared.carriers.get(provider) {
            Some(carrier) => Ok(carrier.listed(std::time::Duration::from_millis(patience)).await?.1),
            None => Err(format!("there is no provider {provider}")),
        }
    }

    /// Whether a run that names no model looks for a server on this machine.
    pub fn looks_nearby(&self) -> bool {
        prepare::looks_nearby(self.config())
    }

    /// The model of a server on this machine that a run works with that names none, and where that is; none if there is no
    /// such server or it is not looked for.
    pub async fn nearby(&self) -> Option<(ModelRef, String)> {
        if self.looks_nearby() { local::find(self).await } else { None }
    }

    /// The models of servers on this machine that answer, where they are looked for; each with how many tokens a request to it
    /// may have, if its server says so.
    pub async fn all_nearby(&self) -> Vec<(ModelRef, Option<u64>)> {
        local::all(self).await
    }

    /// Finds out what a run on those terms needs. `root` is where its tools work.
    pub fn prepare(
        &self,
        terms: Terms,
        root: PathBuf,
    ) -> impl Future<Output = Result<Preparation, PrepareError>> + Send + use<> {
        let models = self.clone();
        async move { prepare::prepare(&models, &terms, &root).await }
    }

    /// Who answers for that model.
    pub fn get(&self, model: &ModelRef) -> Arc<dyn Model> {
        let rehearsals = self.shared.rehearsals.lock().unwrap_or_else(PoisonError::into_inner);
        if model.provider == prepare::REHEARSAL
            && let Some(rehearsal) = rehearsals.get(&model.model)
        {
            return rehearsal.clone();
        }
        match self.shared.carriers.get(model.provider.as_str()) {
            Some(carrier) => carrier.clone(),
            None => Arc::new(nobody::Nobody(model.clone())),
        }
    }

    fn rehearse(&self, name: &str, rehearsal: rehearsal::Rehearsal) {
        let mut rehearsals = self.shared.rehearsals.lock().unwrap_or_else(PoisonError::into_inner);
        rehearsals.insert(name.to_owned(), Arc::new(rehearsal));
    }
}
