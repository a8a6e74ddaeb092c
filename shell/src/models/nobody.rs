//! Who answers for a model that nobody serves: no run is prepared for one, but a program must not fall silent either.

use std::pin::Pin;

use hostler_core::model::{CallError, CallErrorKind, ModelEvent, ModelRef, ModelRequest};

use super::{Model, Sink};

/// Says that nobody serves that model.
pub(super) struct Nobody(pub(super) ModelRef);

impl Model for Nobody {
    fn call(&self, _: ModelRequest, _: u32, sink: Sink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let message = format!("Nobody serves the model {}.", self.0);
        let kind = CallErrorKind::Credentials;
        let error = CallError { kind, message, retry_after: None, should_retry: None };
        Box::pin(async move { sink.say(ModelEvent::Failed(error)).await })
    }
}
