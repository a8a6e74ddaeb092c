//! `hostler runs`: shows how a run ended.

use std::fmt::Write;
use std::process::ExitCode;

use hostler_core::client::{exit_code, printable, rfc3339, run_json};
use hostler_core::protocol::{Activity, Query, Reply, RunInfo};

use super::{Asking, minute, print, short, unexpected};
use crate::cli::Runs;
use crate::failure::Failure;

/// How many characters of a prompt are shown in a list.
const PROMPT_CHARS: usize = 60;

pub(crate) fn runs(command: &Runs) -> Result<ExitCode, Failure> {
    let asking = Asking::to_read()?;
    match command {
        Runs::List { json: as_json, limit } => {
            let Reply::Runs(runs) = asking.query(Query::LatestRuns { limit: *limit })? else {
                return Err(unexpected());
            };
            if *as_json {
                let lines: Vec<_> = runs.iter().map(json_line).collect();
                print(&lines.concat())?;
            } else {
                print(&list(&runs))?;
            }
        }
        Runs::Show { id, json: as_json } => {
            let Reply::Runs(runs) = asking.query(Query::FindRun { prefix: id.clone() })? else {
                return Err(unexpected());
            };
            for run in &runs {
                if *as_json { print(&json_line(run))? } else { print(&show(run))? }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn json_line(run: &RunInfo) -> String {
    run_json(run) + "\n"
}

fn list(runs: &[RunInfo]) -> String {
    if runs.is_empty() {
        return "There are no runs in this directory yet; `hostler run` begins one.\n".to_owned();
    }
    let mut text = String::new();
    for run in runs {
        let (id, accepted) = (short(run.run.as_str()), minute(run.accepted));
        let prompt = printable(&run.text);
        let prompt = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let prompt: String = prompt.chars().take(PROMPT_CHARS).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{id}  {accepted}  {:<12}  {}", in_a_word(run), prompt.trim());
    }
    text
}

fn in_a_word(run: &RunInfo) -> String {
    match (&run.finished, &run.activity) {
        (Some(finished), _) => {
            let code = exit_code(finished.status, finished.reason);
            if code == 0 { "ok".to_owned() } else { format!("exit code {code}") }
        }
        (None, Activity::Running(_)) => "running".to_owned(),
        (None, Activity::Idle | Activity::Interrupted) => "interrupted".to_owned(),
    }
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
            let said = if message.is_empty() { message } else { format!(": {message}") };
            format!("{} ({}, exit code {code}) after {} ms{said}", word(0), word(1), finished.duration)
        }
        (None, Activity::Running(holder)) => format!("running in process {}", holder.pid),
        (None, Activity::Idle | Activity::Interrupted) => {
            "interrupted: the program stopped during the run; the next run in its session records that"
                .to_owned()
        }
    }
}
