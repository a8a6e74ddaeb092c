//! The models that can be asked, and what a run needs to know before it asks one.
//!
//! What is said to a model and what it says back is decided and taken apart in the core; here it is only carried.

mod carrier;
mod nobody;
mod prepare;
mod providers;
mod rehearsal;
mod sink;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_core::content::{ErrorClass, ErrorInfo};
use hostler_core::model::{ModelRef, ModelRequest, Preparation, PrepareError};
use hostler_core::prompt::Terms;

use crate::aside::aside;

pub use providers::Endpoints;
pub use sink::Sink;

/// Something that answers model requests.
pub trait Model: Send + Sync {
    /// Makes one attempt, from 1, and says through the sink what comes of it. Dropping the future stops it.
    fn call(
        &self,
        request: ModelRequest,
        attempt: u32,
        sink: Sink,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The models of this process.
#[derive(Clone, Debug)]
pub struct Models {
    shared: Arc<Shared>,
}

struct Shared {
    endpoints: Endpoints,
    /// Who carries to each provider, by its name.
    carriers: BTreeMap<&'static str, Arc<carrier::Carrier>>,
    /// Scenarios by the name under which they were asked for, as they were when their run was prepared.
    rehearsals: Mutex<BTreeMap<String, Arc<rehearsal::Rehearsal>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Models {
    /// The models that can be asked at those endpoints, and the rehearsal model. `connect` is how long connecting to an
    /// endpoint may take, in milliseconds.
    pub fn new(endpoints: Endpoints, connect: u64) -> Self {
        let connect = std::time::Duration::from_millis(connect);
        let carriers = endpoints.iter().map(|endpoint| {
            (endpoint.provider.name, Arc::new(carrier::Carrier::new(endpoint.clone(), connect)))
        });
        let carriers = carriers.collect();
        Self { shared: Arc::new(Shared { endpoints, carriers, rehearsals: Mutex::default() }) }
    }

    /// Finds out what a run on those terms needs. `root` is where its tools work.
    pub fn prepare(
        &self,
        terms: Terms,
        root: PathBuf,
    ) -> impl Future<Output = Result<Preparation, PrepareError>> + Send + use<> {
        let models = self.clone();
        async move {
            let found = aside(move || prepare::prepare(&models, &terms, &root)).await;
            found.unwrap_or_else(|error| {
                let text = format!("The run could not be prepared ({error}); try again.");
                Err(ErrorInfo::new(ErrorClass::Internal, text))
            })
        }
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
