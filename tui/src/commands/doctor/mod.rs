//! `hostler doctor`: checks that the program can do its work here.

mod kept;
mod providers;

use std::process::ExitCode;

use hostler_core::client::printable;
use serde_json::json;

use super::{json as line, print};
use crate::failure::Failure;
use crate::place::Place;
use kept::{beside, log, logs};
use providers::providers;

/// What came of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    /// It may be meant so.
    Odd,
    Bad,
}

/// A check and what it has found.
struct Finding {
    check: &'static str,
    verdict: Verdict,
    text: String,
}

impl Finding {
    fn new(check: &'static str, verdict: Verdict, text: impl Into<String>) -> Self {
        Self { check, verdict, text: text.into() }
    }
}

pub(crate) fn doctor(as_json: bool) -> Result<ExitCode, Failure> {
    let findings = examine()?;
    let bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    let text = if as_json {
        let all: Vec<_> = findings
            .iter()
            .map(|Finding { check, verdict, text }| json!({"check": check, "verdict": word(*verdict), "message": text}))
            .collect();
        line(&json!({"ok": !bad, "checks": all}))?
    } else {
        let line = |finding: &Finding| {
            format!("{:<5}  {:<13}  {}\n", word(finding.verdict), finding.check, finding.text)
        };
        printable(&findings.iter().map(line).collect::<String>())
    };
    print(&text)?;
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "ok",
        Verdict::Odd => "note",
        Verdict::Bad => "wrong",
    }
}

fn examine() -> Result<Vec<Finding>, Failure> {
    let read_only = Place::read_only().map_err(Failure::error)?;
    let place = match Place::here() {
        Ok(place) => place,
        Err(why) => {
            let kept = read_only.map(|place| log(&place));
            return Ok([Finding::new("data", Verdict::Bad, why)].into_iter().chain(kept).collect());
        }
    };
    let gone = (!place.root.is_dir()).then(|| {
        let text = format!(
            "{} was deleted, so no tool can work in it; change to one that exists",
            place.root.display()
        );
        Finding::new("directory", Verdict::Bad, text)
    });
    let mut findings = vec![match &place.warning {
        None => Finding::new("data", Verdict::Good, format!("{} can be written to", place.state.display())),
        Some(warning) => Finding::new("data", Verdict::Odd, warning.clone()),
    }];
    findings.extend(gone);
    let kept = read_only.as_ref().unwrap_or(&place);
    findings.push(log(kept));
    findings.extend(beside(kept));
    findings.push(logs(&place));
    match place.configuration() {
        Ok(loaded) => {
            findings.push(Finding::new("configuration", Verdict::Good, "can be used"));
            let odd = loaded
                .warnings
                .into_iter()
                .map(|warning| Finding::new("configuration", Verdict::Odd, warning));
            findings.extend(odd);
            findings.extend(providers(loaded.config)?);
        }
        Err(mistakes) => {
            findings
                .extend(mistakes.lines().map(|mistake| Finding::new("configuration", Verdict::Bad, mistake)));
        }
    }
    Ok(findings)
}
