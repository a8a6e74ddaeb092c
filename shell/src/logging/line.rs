//! One event as one line: what happened and, after it, `name=value` for what it says besides. Nothing in it would be obeyed by
//! a terminal.

use std::fmt::{self, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hostler_core::client::{one_line, printable, rfc3339};
use hostler_core::time::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// How many bytes a value may have; more is cut off.
const VALUE_BYTES: usize = 1024;

/// Whom a line is for.
#[derive(Debug)]
pub(super) enum Style {
    /// A file that many processes write to.
    File,
    /// Somebody who watches this process, which began then.
    Errors(Instant),
}

/// The event as a line, with its end.
pub(super) fn line(event: &Event<'_>, style: &Style) -> String {
    let mut text = Text::default();
    event.record(&mut text);
    let Text { message, fields } = text;
    let (level, target) = (level(*event.metadata().level()), event.metadata().target());
    match style {
        Style::File => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = Timestamp::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
            let pid = std::process::id();
            format!("{} {pid} {level:<5} {target}: {message}{fields}\n", rfc3339(now))
        }
        Style::Errors(began) => {
            format!("hostler: {:>6} ms {level:<5} {message}{fields}\n", began.elapsed().as_millis())
        }
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// What an event says.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn add(&mut self, field: &Field, value: &str) {
        let value = short(value);
        if field.name() == "message" {
            self.message.push_str(&one_line(value));
        } else if value.is_empty() || value.contains(is_odd) {
            // Writing to a string does not fail.
            let _ = write!(self.fields, " {}={}", field.name(), printable(&format!("{value:?}")));
        } else {
            let _ = write!(self.fields, " {}={value}", field.name());
        }
    }
}

/// Whether a value with that character needs quotes.
fn is_odd(char: char) -> bool {
    !char.is_ascii_graphic() || matches!(char, '"' | '\\' | '=')
}

fn short(value: &str) -> &str {
    &value[..value.floor_char_boundary(VALUE_BYTES.min(value.len()))]
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::layer::Lines;
    use super::super::queue::Queue;
    use super::*;

    fn lines(style: Style, log: impl FnOnce()) -> String {
        let (queue, (written, lines)) = (Queue::new(), std::sync::mpsc::channel());
        let subscriber = tracing_subscriber::registry().with(Lines::new(queue.clone(), style));
        tracing::subscriber::with_default(subscriber, log);
        queue.write_with("test", std::time::Duration::ZERO, move |lines| {
            written.send(lines.to_owned()).is_ok()
        });
        queue.end(Instant::now() + std::time::Duration::from_secs(60));
        lines.into_iter().collect()
    }

    #[test]
    fn an_event_is_one_line_that_no_terminal_obeys() {
        let log = || {
            let odd = "a\u{1b}[31m\nb\u{202e} \"c\"";
            tracing::info!(number = 7, name = %"plain", odd, empty = "", "something\nhappened\u{7}");
        };
        let text = lines(Style::Errors(Instant::now()), log);
        let expected = r#"info  something happened\u{7} number=7 name=plain odd="a\u{1b}[31m\nb\u{202e} \"c\"" empty="""#;
        let (before, after) = text.split_once(" ms ").unwrap();
        assert_eq!(after, format!("{expected}\n"));
        assert!(before.strip_prefix("hostler:").unwrap().trim().parse::<u64>().is_ok());
    }

    #[test]
    fn in_a_file_a_line_says_when_and_which_process() {
        let text = lines(Style::File, || tracing::debug!(size = 3, "done"));
        let (time, rest) = text.split_once(' ').unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{text}");
        let expected = format!("{} debug {}: done size=3\n", std::process::id(), module_path!());
        assert_eq!(rest, expected);
    }

    #[test]
    fn long_values_are_cut_off() {
        let text = lines(Style::File, || tracing::info!(long = "é".repeat(10_000), "done"));
        assert!(text.len() < 6 * VALUE_BYTES && text.ends_with("é\"\n"), "{text}");
    }
}
