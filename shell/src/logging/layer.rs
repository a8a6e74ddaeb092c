//! From events to lines.

use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::line::{Style, line};
use super::queue::Queue;

/// Writes each event as a line into a queue.
pub(super) struct Lines {
    queue: Queue,
    style: Style,
}

impl Lines {
    pub(super) fn new(queue: Queue, style: Style) -> Self {
        Self { queue, style }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.queue.push(&line(event, &self.style));
    }
}
