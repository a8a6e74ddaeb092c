//! `hostler runs`: shows how a run ended.

use std::fmt::Write;
use std::process::ExitCode;

use hostler_core::client::{exit_code, printable, rfc3339, run_json, whole_run_json};
use hostler_core::protocol::{Activity, Query, Reply, RunInfo};
use hostler_core::record::RunFinished;
use hostler_shell::driver;

use super::{Asking, cut, minute, one_more, print, say_cut, short, unexpected};
use crate::cli::Runs;
use crate::failure::Failure;
use crate::place::Place;

/// How many characters of a prompt are shown in a list.
const PROMPT_CHARS: usize = 60;

pub(crate) fn runs(command: &Runs) -> Result<ExitCode, Failure> {
    let asking = Asking::to_read()?;
    match command {
        Runs::List { json: as_json, limit } => {
            let Reply::Runs(mut runs) = asking.query(Query::LatestRuns { limit: one_more(*limit) })? else {
                return Err(unexpected());
            };
            let is_cut = cut(&mut runs, *limit);
            if *as_json {
                let lines: Vec<_> = runs.iter().map(json_line).collect();
                print(&lines.concat())?;
            } else {
                print(&list(&runs))?;
                if is_cut {
                    say_cut(*limit, "run");
                }
            }
        }
        Runs::Show { id, json: as_json } => {
            let Reply::Runs(runs) = asking.query(Query::FindRun { prefix: id.clone() })? else {
                return Err(unexpected());
            };
            for run in &runs {
                let flights = flights(run)?;
                let text =
                    if *as_json { whole_run_json(run, Some(&flights)) + "\n" } else { show(run, &flights) };
                print(&text)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The flight records in which the run occurs.
fn flights(run: &RunInfo) -> Result<Vec<String>, Failure> {
    let readable = Place::read_only().map_err(Failure::error)?;
    let place = readable.map_or_else(Place::here, Ok).map_err(Failure::error)?;
    let files = driver::flights_of(&place.dir, &run.run);
    Ok(files.into_iter().map(|file| file.display().to_string()).collect())
}

fn json_line(run: &RunInfo) -> String {
    run_json(run) + "\n"
}

fn list(runs: &[RunInfo]) -> String {
    if runs.is_empty() {
        return "There are no runs in this directory yet; `hostler run` begins one.\n".to_owned();
    }
    let mut text = String::new();
    let words: Vec<_> = runs.iter().map(in_a_word).collect();
    let width = words.iter().map(String::len).max().unwrap_or_default();
    for (run, word) in runs.iter().zip(words) {
        let (id, accepted) = (short(run.run.as_str()), minute(run.accepted));
        let prompt = printable(&run.text);
        let prompt = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let prompt: String = prompt.chars().take(PROMPT_CHARS).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{id}  {accepted}  {word:<width$}  {}", prompt.trim());
    }
    text
}

fn in_a_word(run: &RunInfo) -> String {
    match (&run.finished, &run.activity) {
        (Some(finished), _) => {
            let code = exit_code(finished.status, finished.reason);
            let [_, reason] = status_and_reason(finished);
            if code == 0 { "ok".to_owned() } else { format!("exit code {code}, {reason}") }
        }
        (None, Activity::Running(_)) => "running".to_owned(),
        (None, Activity::Idle | Activity::Interrupted) => "interrupted".to_owned(),
    }
}

/// How a run ended and why, in the words of `run.finished`.
fn status_and_reason(finished: &RunFinished) -> [String; 2] {
    let words = serde_json::to_value((finished.status, finished.reason)).unwrap_or_default();
    [0, 1].map(|at| words[at].as_str().unwrap_or_default().to_owned())
}

fn show(run: &RunInfo, flights: &[String]) -> String {
    let mut text = format!(
        "run {}\nsession {}\naccepted {}\n{}\n",
        run.run,
        run.session,
        rfc3339(run.accepted),
        how_it_ended(run)
    );
    for file in flights {
        text += &format!("flight record {}\n", printable(file));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{}", printable(&run.text));
    text
}

fn how_it_ended(run: &RunInfo) -> String {
    match (&run.finished, &run.activity) {
        (Some(finished), _) => {
            let [status, reason] = status_and_reason(finished);
            let code = exit_code(finished.status, finished.reason);
            let message = printable(&finished.message);
            let said = if message.is_empty() { message } else { format!(": {message}") };
            format!("{status} ({reason}, exit code {code}) after {} ms{said}", finished.duration)
        }
        (None, Activity::Running(holder)) => format!("running in process {}", holder.pid),
        (None, Activity::Idle | Activity::Interrupted) => {
            "interrupted: the program stopped during the run; the next run in its session records that"
                .to_owned()
        }
    }
}
