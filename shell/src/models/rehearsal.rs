//! The rehearsal model: plays what the core has scripted, in its time.

use std::pin::Pin;
use std::time::Duration;

use hostler_core::model::ModelRequest;
use hostler_core::rehearsal::{Cue, Scenario, play, tour};

use super::{Model, Sink};

/// What is rehearsed.
#[derive(Debug)]
pub(super) enum Rehearsal {
    /// The tour of the repository.
    Tour,
    /// A scenario.
    Scenario(Box<Scenario>),
}

impl Model for Rehearsal {
    fn call(
        &self,
        request: ModelRequest,
        attempt: u32,
        sink: Sink,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let cues = match self {
            Rehearsal::Tour => tour(&request),
            Rehearsal::Scenario(scenario) => play(scenario, &request, attempt),
        };
        Box::pin(async move {
            for cue in cues {
                match cue {
                    Cue::Wait(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                    Cue::Say(event) => sink.say(event).await,
                    Cue::Hang => std::future::pending().await,
                }
            }
        })
    }
}
