//! What was measured, and how it is told.

use std::fmt::Write;
use std::time::Duration;

/// Repeated measurements of one thing, in microseconds or bytes.
#[derive(Default)]
pub(crate) struct Sample {
    values: Vec<u64>,
    bytes: bool,
}

impl Sample {
    pub(crate) fn add(&mut self, took: Duration) {
        self.values.push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add_bytes(&mut self, bytes: u64) {
        self.bytes = true;
        self.values.push(bytes);
    }

    /// The value that so many percent of all do not exceed.
    fn percentile(&self, percent: usize) -> u64 {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }

    fn median(&self) -> u64 {
        self.percentile(50)
    }

    fn show(&self) -> String {
        let unit = if self.bytes { "MB" } else { "ms" };
        let value = |value: u64| match self.bytes {
            true => format!("{}.{}", value / 1_000_000, value / 100_000 % 10),
            false => format!("{}.{}", value / 1_000, value / 100 % 10),
        };
        match self.values.len() {
            1 => format!("{} {unit}", value(self.median())),
            _ => format!("{} {unit} ({})", value(self.median()), value(self.percentile(90))),
        }
    }
}

/// One line of the table.
pub(crate) struct Row {
    what: String,
    ours: Sample,
    beside: Option<(&'static str, Sample)>,
    aim: &'static str,
}

impl Row {
    pub(crate) fn alone(what: impl Into<String>, ours: Sample, aim: &'static str) -> Self {
        Self { what: what.into(), ours, beside: None, aim }
    }

    pub(crate) fn beside(
        what: impl Into<String>,
        ours: Sample,
        name: &'static str,
        theirs: Sample,
        aim: &'static str,
    ) -> Self {
        Self { what: what.into(), ours, beside: Some((name, theirs)), aim }
    }

    /// Our median as a multiple of theirs.
    fn ratio(&self) -> String {
        match &self.beside {
            Some((_, theirs)) if theirs.median() > 0 => {
                let hundredths = self.ours.median() * 100 / theirs.median();
                format!("{}.{:02}", hundredths / 100, hundredths % 100)
            }
            Some(_) | None => String::new(),
        }
    }
}

/// The rows as a Markdown table.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        "| measured | hostler | beside it | ratio | aim |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for row in rows {
        let beside = row.beside.as_ref().map(|(name, theirs)| format!("{name}: {}", theirs.show()));
        let beside = beside.unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {beside} | {} | {} |",
            row.what,
            row.ours.show(),
            row.ratio(),
            row.aim
        );
    }
    text
}

/// The machine, in a sentence.
pub(crate) fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("an unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Machine: {cores} cores of {model}, Linux {}.", system.trim())
}
