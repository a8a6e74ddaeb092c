//! What this process did, for whoever looks for a fault: lines in files of bounded size, and on standard error if asked for.
//!
//! Events are made with `tracing` wherever something happens. They say ids, names, sizes and times, and never what people,
//! models or tools wrote, nor what anyone authenticates with. Those of other crates are dropped, whatever level is set,
//! since they may show headers.
//!
//! Logging is never in the way: whoever logs only puts a line into a queue ([`queue`]), of which a thread of its own writes
//! ([`files`], [`errors`]). What does not fit is dropped and counted, and what cannot be written is given up.

mod errors;
mod files;
mod layer;
mod levels;
mod line;
mod queue;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tracing::subscriber::set_global_default;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry;

use files::Files;
use layer::Lines;
pub use levels::{BadLevels, Levels};
use line::Style;
use queue::Queue;

/// How long a line for a file waits for others, so that a start is not disturbed by looking for the file.
const LINGER: Duration = Duration::from_millis(50);

/// How long the end of a process waits for what is not yet written: less than what a run's end leaves of the time that is
/// promised for it.
const ENDING: Duration = Duration::from_millis(200);

/// What is logged where.
#[derive(Debug, Default)]
pub struct Options {
    /// What goes to files; none if nothing is to.
    pub files: Option<Levels>,
    /// What goes to standard error; none if nothing is to.
    pub errors: Option<Levels>,
}

/// The logging of this process.
#[derive(Debug)]
pub struct Logging {
    files: Option<Queue>,
    errors: Option<Queue>,
}

impl Logging {
    /// Takes in events from here on. Those for files wait until [`Logging::keep_in`] says where they go. Only the first
    /// call in a process has an effect.
    pub fn start(options: Options) -> Self {
        let wanted = |levels: Option<Levels>| levels.filter(|levels| !levels.are_off());
        let (mut layers, mut files, mut errors) = (Vec::new(), None, None);
        if let Some(levels) = wanted(options.files) {
            let queue = files.insert(Queue::new());
            layers.push(Lines::new(queue.clone(), Style::File).with_filter(levels.into_filter()));
        }
        if let Some(levels) = wanted(options.errors) {
            let queue = errors.insert(Queue::new());
            queue.write_with("log-errors", Duration::ZERO, errors::write);
            let style = Style::Errors(Instant::now());
            layers.push(Lines::new(queue.clone(), style).with_filter(levels.into_filter()));
        }
        if !layers.is_empty() {
            // Only the first one counts, which is what is wanted.
            let _ = set_global_default(registry().with(layers));
        }
        Self { files, errors }
    }

    /// Has what is for files written to the directory, which is made if need be. If it cannot be used that is said once,
    /// and nothing is written.
    pub fn keep_in(&self, dir: &Path) {
        let Some(queue) = &self.files else { return };
        if let Some(why) = hindrance(dir) {
            queue.write_with("log-files", LINGER, |_| false);
            tracing::warn!(dir = %dir.display(), why, "no log files are written, because their directory cannot be used");
            return;
        }
        let mut files = Files::new(dir);
        queue.write_with("log-files", LINGER, move |lines| files.write(lines));
    }

    /// Waits until all is written, for a fifth of a second at the most.
    pub fn end(&self) {
        let until = Instant::now() + ENDING;
        [&self.files, &self.errors].into_iter().flatten().for_each(|queue| queue.end(until));
    }
}

/// Why no log files can be written to that directory, as the end of a sentence; none if they can, as far as that can be seen.
pub fn hindrance(dir: &Path) -> Option<String> {
    files::hindrance(dir, rustix::process::geteuid().as_raw())
}

/// The directory of log files in a directory for state.
pub fn directory(state: &Path) -> PathBuf {
    state.join("logs")
}
