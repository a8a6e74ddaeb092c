//! `hostler runs`: shows how a run ended.

use std::fmt::Write;
use std::process::ExitCode;

use hostler_core::client::{exit_code, printable, rfc3339};
use hostler_core::protocol::{Activity, Query, Reply, RunInfo};

use super::{ask, json, print, unexpected};
use crate::cli::Runs;
use crate::failure::Failure;

pub(crate) fn runs(command: &Runs) -> Result<ExitCode, Failure> {
    let Runs::Show { id, json: as_json } = command;
    ask(|ask| {
        let Reply::Runs(runs) = ask(Query::FindRun { prefix: id.clone() })? else { return Err(unexpected()) };
        for run in &runs {
            if *as_json { print(&json(run)?)? } else { print(&show(run))? }
        }
        Ok(())
    })
}

fn show(run: &RunInfo) -> String {
    let mut text = format!(
        "run {}\nsession {}\naccepted {}\n{}\n",
        run.run,
        run.session,
        rfc3339(run.accepted),
        how_it_ended(run)
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{}", printable(&run.text));
    text
}

fn how_it_ended(run: &RunInfo) -> String {
    match (&run.finished, &run.activity) {
        (Some(finished), _) => {
            let words = serde_json::to_value((finished.status, finished.reason)).unwrap_or_default();
            let word = |at: usize| words[at].as_str().unwrap_or_default().to_owned();
            let code = exit_code(finished.status, finished.reason);
            let message = printable(&finished.message);
            format!("{} ({}, exit code {code}) after {} ms {message}", word(0), word(1), finished.duration)
        }
        (None, Activity::Running(holder)) => format!("running in process {}", holder.pid),
        (None, Activity::Idle | Activity::Interrupted) => {
            "interrupted: the program stopped during the run; the next run in its session records that"
                .to_owned()
        }
    }
}
