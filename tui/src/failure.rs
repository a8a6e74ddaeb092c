//! What a command that is not a run fails with.

use std::process::ExitCode;

use hostler_core::client::one_line;
use hostler_core::protocol::{Refusal, RefusalKind};

/// One sentence for the user, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The exit code of a mistake in what was asked for.
    pub(crate) const USAGE: u8 = 2;

    /// Something failed.
    pub(crate) fn error(message: impl ToString) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// What was asked for makes no sense.
    pub(crate) fn usage(message: impl ToString) -> Self {
        Self { code: Self::USAGE, message: message.to_string() }
    }

    /// The same, with what else there is to say.
    pub(crate) fn besides(self, more: &str) -> Self {
        Self { message: format!("{} {more}", self.message), ..self }
    }

    /// Says it on standard error and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        use std::io::Write;
        tracing::info!(code = self.code, "hostler ends with a failure");
        // With standard error gone there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "hostler: {}", readable(one_line(&self.message)));
        ExitCode::from(self.code)
    }
}

/// How many characters a sentence may have. What is longer quotes something that nobody can read, such as a path that is too
/// long for the system.
const READABLE: usize = 4_000;

/// How many of them are its end, which says what to do.
const END: usize = 1_000;

fn readable(text: String) -> String {
    let Some((end, _)) = text.char_indices().nth(READABLE - END).filter(|_| text.chars().count() > READABLE)
    else {
        return text;
    };
    let rest = text.char_indices().rev().nth(END - 1).map_or(0, |(at, _)| at);
    format!("{}… …{}", &text[..end], &text[rest..])
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal.kind {
            RefusalKind::Storage | RefusalKind::Cancelled | RefusalKind::Closing => {
                Self::error(refusal.message)
            }
            RefusalKind::Invalid | RefusalKind::NotFound | RefusalKind::Ambiguous | RefusalKind::Conflict => {
                Self::usage(refusal.message)
            }
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::error(format!(
            "Standard output cannot be written ({error}); see whether there is room where it leads."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_too_long_the_beginning_and_the_end_are_said() {
        assert_eq!(readable("é".repeat(READABLE)), "é".repeat(READABLE));
        let long = format!("It is {} and that is the end.", "é".repeat(100_000));
        let said = readable(long);
        assert!(said.starts_with("It is é") && said.ends_with("é and that is the end."), "{said}");
        assert_eq!(said.chars().count(), READABLE + 3);
    }
}
