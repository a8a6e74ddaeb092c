//! Servers that people run on their own machines: whether one is there, and which models it has.

use std::time::Duration;

use hostler_core::catalogue::{self, Builtin};
use hostler_core::model::ModelRef;

use super::Models;

/// How long a server on this machine may take to list its models.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many tokens a request to a model of a server on this machine may have, if the server says so.
pub(super) async fn window(models: &Models, model: &ModelRef) -> Option<u64> {
    let carrier = models.shared.carriers.get(model.provider.as_str())?;
    let nearby = carrier.provider().builtin.is_some_and(Builtin::is_local);
    if nearby { carrier.window(&model.model, PATIENCE).await } else { None }
}

/// The models of all servers that answer and that are looked for, each with how many tokens a request to it may have, if its
/// server says so. All are asked at the same time.
pub(super) async fn all(models: &Models) -> Vec<(ModelRef, Option<u64>)> {
    if !models.config().local_servers {
        return Vec::new();
    }
    let known = catalogue::local();
    let carriers =
        known.filter_map(|known| Some((known.name, models.shared.carriers.get(known.name)?.clone())));
    let asked: Vec<_> = carriers
        .map(|(name, carrier)| (name, tokio::spawn(async move { carrier.served(PATIENCE).await })))
        .collect();
    let mut all = Vec::new();
    for (name, served) in asked {
        let served = served.await.ok().and_then(Result::ok).unwrap_or_default();
        all.extend(
            served.into_iter().map(|(model, window)| (ModelRef { provider: name.to_owned(), model }, window)),
        );
    }
    all
}

/// A model of a server that answers, of the first server that has one, and where that is. All are asked at the same time;
/// those behind one that has a model are not waited for.
pub(super) async fn find(models: &Models) -> Option<(ModelRef, String)> {
    let carriers = &models.shared.carriers;
    let known = catalogue::local().filter_map(|known| Some((known.name, carriers.get(known.name)?.clone())));
    let asked: Vec<_> = known
        .map(|(name, carrier)| {
            let base_url = carrier.provider().base_url.clone();
            (name, base_url, tokio::spawn(async move { carrier.list(PATIENCE).await }))
        })
        .collect();
    for (name, base_url, listed) in asked {
        let listed = listed.await.ok().and_then(Result::ok).and_then(|(_, models)| models.into_iter().next());
        if let Some(model) = listed {
            return Some((ModelRef { provider: name.to_owned(), model }, base_url));
        }
    }
    None
}
