//! Reads the words behind a command.

use std::time::Duration;

use crate::campaign::{CLOSELY, EVENTS};
use crate::profile::Profile;

/// What stands behind a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Args {
    files: Vec<String>,
    named: Vec<(String, String)>,
    all: bool,
    step: bool,
}

const NAMES: [&str; 10] =
    ["--seed", "--seeds", "--jobs", "--for", "--events", "--last", "--closely", "--profile", "--at", "-o"];

impl Args {
    pub(super) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self::default();
        while let Some(word) = words.next() {
            if word == "--all" {
                args.all = true;
            } else if word == "--step" {
                args.step = true;
            } else if NAMES.contains(&word.as_str()) {
                let value = words.next().ok_or(format!("{word} needs a value"))?;
                args.named.push((word, value));
            } else if word.starts_with('-') {
                return Err(format!("{word:?} is not known here"));
            } else {
                args.files.push(word);
            }
        }
        args.check()?;
        Ok(args)
    }

    fn check(&self) -> Result<(), String> {
        for (name, value) in &self.named {
            let fine = match name.as_str() {
                "--for" => seconds(value).is_some(),
                "-o" => true,
                "--profile" => Profile::of_name(value).is_some(),
                _ => value.parse::<u64>().is_ok(),
            };
            if !fine {
                return Err(format!("{name} cannot be {value:?}"));
            }
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.named.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The file or scope, the first one if there are several.
    pub(super) fn file(&self) -> Option<&str> {
        self.files.first().map(String::as_str)
    }

    /// All files.
    pub(super) fn files(&self) -> &[String] {
        &self.files
    }

    /// Which kind of campaign.
    pub(super) fn profile(&self) -> Profile {
        self.text("--profile").and_then(Profile::of_name).unwrap_or_default()
    }

    /// Which event is looked at.
    pub(super) fn at(&self) -> Option<u64> {
        self.number("--at")
    }

    /// Whether the next one is waited for.
    pub(super) fn step(&self) -> bool {
        self.step
    }

    /// The file to write.
    pub(super) fn out(&self) -> Option<&str> {
        self.text("-o")
    }

    /// Whether to go on after a failure.
    pub(super) fn all(&self) -> bool {
        self.all
    }

    /// The first seed.
    pub(super) fn seed(&self) -> u64 {
        self.number("--seed").unwrap_or(1)
    }

    /// How many seeds: one if one is named, else so many; without end if only a time is given.
    pub(super) fn seeds(&self, usual: u64) -> u64 {
        let usual = match (self.text("--seed"), self.time()) {
            (_, Some(_)) => u64::MAX / 2,
            (Some(_), None) => 1,
            (None, None) => usual,
        };
        self.number("--seeds").unwrap_or(usual)
    }

    pub(super) fn jobs(&self) -> u64 {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        self.number("--jobs").unwrap_or(cores)
    }

    pub(super) fn events(&self) -> u64 {
        self.number("--events").unwrap_or(EVENTS)
    }

    pub(super) fn closely(&self) -> u64 {
        self.number("--closely").unwrap_or(CLOSELY)
    }

    /// Whether the number of events was given.
    pub(super) fn has_events(&self) -> bool {
        self.number("--events").is_some()
    }

    pub(super) fn last(&self, usual: u64) -> usize {
        self.number("--last").unwrap_or(usual) as usize
    }

    pub(super) fn time(&self) -> Option<Duration> {
        seconds(self.text("--for")?)
    }
}

/// A time such as `60s` or `5m`.
fn seconds(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let number: u64 = number.parse().ok()?;
    match unit {
        "" | "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number * 60)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Args, String> {
        Args::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_named_seed_is_run_alone_unless_more_are_asked_for() {
        let args = read("--seed 7");
        assert_eq!(args.map(|args| (args.seed(), args.seeds(100))), Ok((7, 1)));
        let args = read("--seed 7 --seeds 3 file");
        assert_eq!(
            args.map(|args| (args.seeds(100), args.file().map(str::to_owned))),
            Ok((3, Some("file".to_owned())))
        );
        assert_eq!(read("").map(|args| args.seeds(100)), Ok(100));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for line in ["--nonsense", "--seeds", "--seeds x", "--for 3h", "--profile storm", "--at x"] {
            assert!(read(line).is_err(), "{line}");
        }
        assert_eq!(read("--for 5m").map(|args| args.time()), Ok(Some(Duration::from_secs(300))));
    }
}
