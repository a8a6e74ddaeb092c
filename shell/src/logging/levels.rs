//! Which events are logged.

use std::fmt;

use hostler_core::quote::quoted;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// What the targets of all crates of this program begin with.
const OURS: &str = "hostler";

/// Which events are logged: a level for all of the program, and others for parts of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    all: LevelFilter,
    parts: Vec<(String, LevelFilter)>,
}

/// A text that does not say which events are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLevels {
    /// The part of it that cannot be understood.
    part: String,
}

impl fmt::Display for BadLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not a level of logging; write off, error, warn, info, debug or trace, and others for parts as in \
             info,hostler_shell::driver=trace",
            quoted(&self.part)
        )
    }
}

impl std::error::Error for BadLevels {}

impl Levels {
    /// One level for all.
    pub fn all(all: LevelFilter) -> Self {
        Self { all, parts: Vec::new() }
    }

    /// Reads levels that are separated by commas: one for all, which is `info` unless it is said, and `PART=LEVEL` for parts, which are
    /// modules of this program.
    pub fn parse(text: &str) -> Result<Self, BadLevels> {
        let mut levels = Self::all(LevelFilter::INFO);
        for word in text.split(',').map(str::trim) {
            let bad = || BadLevels { part: word.to_owned() };
            match word.split_once('=') {
                None => levels.all = level(word).ok_or_else(bad)?,
                Some((part, name)) => {
                    let part = Some(part.trim()).filter(|part| is_ours(part)).ok_or_else(bad)?;
                    levels.parts.push((part.to_owned(), level(name.trim()).ok_or_else(bad)?));
                }
            }
        }
        Ok(levels)
    }

    /// Whether nothing is logged.
    pub(super) fn are_off(&self) -> bool {
        self.all == LevelFilter::OFF && self.parts.iter().all(|(_, level)| *level == LevelFilter::OFF)
    }

    /// The filter that lets them through, and nothing of other crates.
    pub(super) fn into_filter(self) -> Targets {
        let none = Targets::new().with_default(LevelFilter::OFF);
        // A target stands for all that begins so.
        none.with_target(OURS, self.all).with_targets(self.parts)
    }
}

fn level(name: &str) -> Option<LevelFilter> {
    // Numbers would be levels, too, which nobody could guess.
    let is_word = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphabetic());
    is_word.then(|| name.parse().ok()).flatten()
}

fn is_ours(target: &str) -> bool {
    target.starts_with(OURS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn levels_are_for_all_and_for_parts_and_never_for_other_crates() {
        let check = |text: &str, target: &str, level: Level, expected: bool| {
            let filter = Levels::parse(text).unwrap().into_filter();
            assert_eq!(filter.would_enable(target, &level), expected, "{text:?} {target} {level}");
        };
        for (text, ours, driver) in [
            ("debug", true, true),
            ("warn", false, false),
            ("hostler_shell::driver=trace", false, true),
            (" warn , hostler_shell::driver = debug", false, true),
            ("Debug,hostler_shell::driver=off", true, false),
        ] {
            check(text, "hostler_shell::models", Level::DEBUG, ours);
            check(text, "hostler::run", Level::DEBUG, ours);
            check(text, "hostler_shell::driver::jobs", Level::DEBUG, driver);
        }
        check("trace", "h2::codec", Level::ERROR, false);
        check("trace", "hyper_util::client", Level::ERROR, false);
        assert!(Levels::parse("off").unwrap().are_off());
        assert!(!Levels::parse("off,hostler=error").unwrap().are_off());
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_named() {
        for (text, part) in [
            ("", ""),
            ("loud", "loud"),
            ("info,", ""),
            ("info,h2=trace", "h2=trace"),
            ("hostler_shell=", "hostler_shell="),
            ("3", "3"),
            ("hostler_shell", "hostler_shell"),
        ] {
            let error = Levels::parse(text).unwrap_err();
            assert_eq!(error, BadLevels { part: part.to_owned() });
            assert!(error.to_string().contains("is not a level of logging; write"), "{error}");
        }
        assert!(Levels::parse(&"x".repeat(100_000)).unwrap_err().to_string().len() < 300);
    }
}
