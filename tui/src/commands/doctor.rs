//! `hostler doctor`: checks that the program can do its work here.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use hostler_core::catalogue::Builtin;
use hostler_core::client::printable;
use hostler_core::config::{Config, Provider};
use hostler_core::provider::listing::Listed;
use hostler_shell::clock::Clock;
use hostler_shell::config::trust::Trusted;
use hostler_shell::models::{Models, is_inside};
use hostler_shell::{driver, logging, rules, store};
use serde_json::json;

use super::{json as line, print};
use crate::failure::Failure;
use crate::place::Place;

/// How long a provider may take to answer, in milliseconds.
const PATIENCE: u64 = 10_000;

/// How long a server on this machine may take.
const NEARBY: u64 = 1_000;

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

/// Whether what processes do is written down. Nothing depends on it.
fn logs(place: &Place) -> Finding {
    let logs = logging::directory(&place.state);
    let (verdict, text) = match logging::hindrance(&logs) {
        None => (
            Verdict::Good,
            format!("what processes did is in {}; HOSTLER_LOG=debug has them say more", logs.display()),
        ),
        Some(why) => (
            Verdict::Odd,
            format!(
                "no log files are written to {}, because {why}; move it away or set HOSTLER_LOG=off",
                logs.display()
            ),
        ),
    };
    Finding::new("logging", verdict, text)
}

/// Whether what is kept of this directory is sound.
fn log(place: &Place) -> Finding {
    match store::check(&place.dir) {
        Ok(None) => Finding::new("log", Verdict::Good, "there are no sessions in this directory yet"),
        Ok(Some(records)) => Finding::new("log", Verdict::Good, format!("{records} records, sound")),
        Err(error) => Finding::new("log", Verdict::Bad, error.to_string()),
    }
}

/// What is wrong with what lies beside the log and what every run uses.
fn beside(place: &Place) -> Vec<Finding> {
    let unreadable = |what: &str, file: &Path, error: std::io::Error| {
        let text = format!(
            "{what}, in {}, cannot be read ({error}); mend that file or move it away",
            file.display()
        );
        Finding::new("data", Verdict::Bad, text)
    };
    let of_rules = rules::kept(&place.dir).err().map(|error| {
        unreadable("what is permitted for always in this directory", &rules::file(&place.dir), error)
    });
    let trusted = Trusted::in_state(&place.state);
    let of_trust = trusted
        .list()
        .err()
        .map(|error| unreadable("the list of trusted directories", &trusted.file(), error));
    let no_directory = |dir: &Path| dir.metadata().is_ok_and(|found| !found.is_dir());
    let locks = store::lock::directory(&place.dir);
    let of_locks = no_directory(&locks).then(|| {
        let text = format!("{} is no directory, so no session can be opened; move it away", locks.display());
        Finding::new("data", Verdict::Bad, text)
    });
    let flight = driver::flight_directory(&place.dir);
    let of_flight = no_directory(&flight).then(|| {
        let text =
            format!("{} is no directory, so no flight record is written; move it away", flight.display());
        Finding::new("data", Verdict::Odd, text)
    });
    [of_rules, of_trust, of_locks, of_flight].into_iter().flatten().collect()
}

/// Asks each configured provider for its list of models.
fn providers(config: Config) -> Result<Vec<Finding>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Failure::error(format!(
            "The program cannot start ({error}); see whether there is room for another process."
        ))
    })?;
    let models = Models::new(Arc::new(config), None, PATIENCE, Clock::start());
    let mut findings = Vec::new();
    let mut served = models.config().model.as_deref().is_some_and(is_inside);
    for (name, provider) in models.config().providers.iter().filter(|(_, provider)| provider.configured) {
        let nearby = provider.builtin.is_some_and(Builtin::is_local);
        if nearby && !is_looked_for(models.config(), provider) {
            continue;
        }
        let answer = runtime.block_on(models.look(name, if nearby { NEARBY } else { PATIENCE }));
        served |= !nearby || matches!(answer, Ok(Listed::Models(_)));
        findings.extend(judged(name, provider, nearby, answer));
    }
    if !served {
        let text = "no key is set and no server was found on this machine; set a key such as OPENAI_API_KEY, or try --model rehearsal";
        findings.push(Finding::new("provider", Verdict::Bad, text));
    }
    findings.push(match runtime.block_on(models.nearby()) {
        Some((model, url)) => {
            let text = format!("none is configured, so a run uses {model}, which was found at {url}");
            Finding::new("model", Verdict::Good, text)
        }
        None => model(models.config()),
    });
    Ok(findings)
}

/// Whether a server that may be on this machine is asked: not where nobody wants it to be looked for, unless it was said where
/// it is.
fn is_looked_for(config: &Config, provider: &Provider) -> bool {
    config.local_servers || has_own_place(provider)
}

/// Whether somebody said where it is.
fn has_own_place(provider: &Provider) -> bool {
    provider.builtin.is_none_or(|builtin| builtin.base_url != provider.base_url)
}

/// What an answer means. A server that may be on this machine need not be, and one of which somebody said where it is may not
/// run just now.
fn judged(name: &str, provider: &Provider, nearby: bool, answer: Result<Listed, String>) -> Option<Finding> {
    let url = &provider.base_url;
    let (verdict, text) = match answer {
        Ok(Listed::Models(_)) => (Verdict::Good, format!("{name} answers at {url}")),
        Ok(_) | Err(_) if nearby && !has_own_place(provider) => return None,
        Err(why) if nearby => (
            Verdict::Odd,
            format!(
                "{name} cannot be asked at {url} ({}), so it does not seem to run now",
                why.trim_end_matches('.')
            ),
        ),
        Ok(Listed::KeyRefused) => (
            Verdict::Bad,
            format!(
                "{name} at {url} refuses the key; see where it comes from with hostler config show --origin"
            ),
        ),
        Ok(Listed::NoList | Listed::Refused(404 | 405)) => (
            Verdict::Odd,
            format!("{name} answers at {url} and has no list of models, so the key was not tried"),
        ),
        Ok(Listed::Stranger) => (
            Verdict::Bad,
            format!(
                "what answers at {url} is not a server of models; see whether the address of {name} is right and whole"
            ),
        ),
        Ok(Listed::Refused(status)) => {
            (Verdict::Bad, format!("{name} at {url} answers with status {status}"))
        }
        Err(why) => (Verdict::Bad, format!("{name} cannot be asked at {url}: {}", why.trim_end_matches('.'))),
    };
    Some(Finding::new("provider", verdict, text))
}

fn model(config: &Config) -> Finding {
    let Some(name) = &config.model else {
        let text = "none is configured; name one with --model, in HOSTLER_MODEL or with hostler config set model PROVIDER/NAME";
        return Finding::new("model", Verdict::Odd, text);
    };
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    match (config.providers.get(provider), config.model_info(provider, model)) {
        _ if is_inside(name) => Finding::new("model", Verdict::Good, name.clone()),
        (None, _) => Finding::new("model", Verdict::Bad, format!("{name} is of no provider that is known")),
        (Some(known), _) if !known.configured => {
            Finding::new("model", Verdict::Bad, format!("there is no key for {name}"))
        }
        (Some(_), None) => {
            Finding::new("model", Verdict::Odd, format!("{name}; its limits and prices are not known"))
        }
        (Some(_), Some(_)) => Finding::new("model", Verdict::Good, name.clone()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;

    use hostler_core::client::Earlier;

    use super::*;

    #[test]
    fn what_keeps_a_run_from_starting_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().to_owned();
        let dir = state.join("workspace");
        fs::create_dir(&dir).unwrap();
        let place = Place {
            root: state.clone(),
            state: state.clone(),
            dir: dir.clone(),
            warning: None,
            earlier: Earlier::Reachable,
        };
        assert!(beside(&place).is_empty());
        let pipe = |file: &Path| {
            rustix::fs::mkfifoat(rustix::fs::CWD, file, rustix::fs::Mode::RWXU).unwrap();
        };
        pipe(&dir.join("rules.json"));
        pipe(&dir.join("flight"));
        fs::create_dir(state.join("trusted.json")).unwrap();
        fs::write(dir.join("locks"), "").unwrap();
        let found = beside(&place);
        let bad = found.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
        assert_eq!((found.len(), bad), (4, 3));
        for (finding, said) in
            found.iter().zip(["rules.json, cannot be read", "trusted.json", "locks is no", "flight is no"])
        {
            assert!(finding.text.contains(said), "{}", finding.text);
        }
        fs::remove_file(dir.join("rules.json")).unwrap();
        fs::write(dir.join("rules.json"), "{").unwrap();
        assert!(beside(&place)[0].text.contains("rules.json, cannot be read"));
    }
}
