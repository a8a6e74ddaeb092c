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
use tokio::sync::oneshot;

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

/// Does what may block on a thread of its own: a file may be a pipe or lie far away, and whoever drops the future does not
/// wait for it any more.
async fn apart(
    work: impl FnOnce() -> Result<Preparation, PrepareError> + Send + 'static,
) -> Result<Preparation, PrepareError> {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        // Nobody receives it when it was called off.
        let _ = sender.send(work());
    };
    let failed = |text: String| Err(ErrorInfo::new(ErrorClass::Internal, text));
    match std::thread::Builder::new().name("prepare".to_owned()).spawn(body) {
        Ok(_) => {
            receiver.await.unwrap_or_else(|_| failed("preparing the run failed inside hostler".to_owned()))
        }
        Err(error) => failed(format!("preparing the run could not be started ({error}); try again later")),
    }
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
        apart(move || prepare::prepare(&models, &terms, &root))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_blocks_while_a_run_is_prepared_holds_nothing_up() {
        let temp = tempfile::tempdir().unwrap();
        let pipe = temp.path().join("scenario");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let models = Models::new(Endpoints::from_variables(|_| None), 1_000);
        let prepare = |model: String| {
            let terms = Terms { model: Some(model), ..Terms::headless() };
            models.prepare(terms, temp.path().to_owned())
        };
        let blocked = prepare(format!("rehearsal:{}", pipe.display()));
        tokio::select! {
            biased;
            _ = blocked => unreachable!("nobody has written to the pipe"),
            other = prepare("rehearsal".to_owned()) => assert!(other.is_ok()),
        }
        // Lets the thread go on that still reads.
        std::fs::write(&pipe, "{}").unwrap();
    }
}
