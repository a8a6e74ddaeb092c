//! What whoever watches a running command gets to see: the first output at once, then the latest of it, now and then.
//!
//! All that is shown passes through the driver and its flight record, so a command that floods its output must not flood
//! those too.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::tools::control::Progress;

/// How long after one piece the next may be shown.
const PAUSE: Duration = Duration::from_millis(100);
/// How many bytes a piece has at most.
const LONGEST: usize = 4096;

/// Output that is waiting to be shown.
pub(super) struct Shown {
    waiting: String,
    due: Instant,
}

impl Shown {
    /// Nothing has been shown yet.
    pub(super) fn new() -> Self {
        Self { waiting: String::new(), due: Instant::now() }
    }

    /// Takes in what was printed, and shows it if it is time to.
    pub(super) fn add(&mut self, text: &str, now: Instant, progress: &Progress) {
        self.waiting.push_str(last(text));
        let surplus = self.waiting.len() - last(&self.waiting).len();
        self.waiting.drain(..surplus);
        if self.due <= now {
            self.show(now, progress);
        }
    }

    /// Waits until it is time to show something, if there is something.
    pub(super) async fn due(&self) {
        if self.waiting.is_empty() {
            return std::future::pending().await;
        }
        sleep_until(self.due).await;
    }

    /// Shows what is waiting.
    pub(super) fn show(&mut self, now: Instant, progress: &Progress) {
        progress.piece(&self.waiting);
        self.waiting.clear();
        self.due = now + PAUSE;
    }
}

/// The end of a text that is not too long.
fn last(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST);
    &text[text.ceil_char_boundary(start)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[test]
    fn the_first_is_shown_at_once_and_then_the_latest() {
        let (sender, mut pieces) = mpsc::channel(8);
        let (mut shown, progress) = (Shown::new(), Progress::to(sender));
        let now = shown.due;
        shown.add("one", now, &progress);
        assert_eq!(pieces.try_recv().as_deref(), Ok("one"));
        for text in ["two", &"\u{e9}".repeat(LONGEST), "x"] {
            shown.add(text, now, &progress);
        }
        assert!(pieces.try_recv().is_err());
        shown.add("y", now + PAUSE, &progress);
        assert_eq!(pieces.try_recv().unwrap(), format!("{}xy", "\u{e9}".repeat(LONGEST / 2 - 1)));
    }
}
