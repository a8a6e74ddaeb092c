//! A provider that says nothing at all: whoever waits in front of it is told so, once for each attempt, and goes on waiting.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Effect, Format, Headless};
use crate::machine::Effects;
use crate::record::Record;
use crate::time::{Deadline, Timestamp};

/// How long an attempt may be silent before that is said, in milliseconds.
const PATIENCE: u64 = 10_000;

/// Whom an answer is awaited from, and when it is said that there is none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Silence {
    /// The model that the current step asks.
    model: String,
    /// When to say it; none while something else is waited for, or once it was said.
    until: Option<Timestamp>,
}

impl Silence {
    /// When there is something to say, as what it is: no first event has come.
    pub(super) fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        self.until.map(|until| (until, Deadline::FirstEvent))
    }
}

impl Headless {
    /// Takes note of whether anybody is waited for. Whatever follows the beginning of an attempt ends its silence.
    pub(super) fn listen(&mut self, now: Timestamp, record: &Record) {
        if let Record::StepStarted { model, .. } = record {
            self.silence.model = model.shown();
        }
        let begins = matches!(record, Record::AttemptStarted { .. });
        let told = self.options.format == Format::Text && !self.options.quiet;
        self.silence.until = (begins && told).then(|| now.plus(PATIENCE));
    }

    /// Says that nothing is said, if it is time.
    pub(super) fn say_silence(&mut self, now: Timestamp, out: &mut Effects<Effect>) {
        if self.silence.until.is_none_or(|until| now < until) {
            return;
        }
        self.silence.until = None;
        let line = format!(
            "waiting for {}; for {} s there has been nothing to show (Ctrl-C cancels)",
            self.silence.model,
            PATIENCE / 1000
        );
        self.break_live(out);
        self.tell(line, out);
    }
}
