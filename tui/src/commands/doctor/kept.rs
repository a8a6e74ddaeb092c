//! What is kept: the log, what lies beside it, and the log files.

use std::path::Path;

use hostler_shell::config::trust::Trusted;
use hostler_shell::{driver, logging, rules, store};

use super::{Finding, Verdict};
use crate::place::Place;

/// Whether what processes do is written down. Nothing depends on it.
pub(super) fn logs(place: &Place) -> Finding {
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
pub(super) fn log(place: &Place) -> Finding {
    match store::check(&place.dir) {
        Ok(None) => Finding::new("log", Verdict::Good, "there are no sessions in this directory yet"),
        Ok(Some(records)) => Finding::new("log", Verdict::Good, format!("{records} records, sound")),
        Err(error) => Finding::new("log", Verdict::Bad, error.to_string()),
    }
}

/// What is wrong with what lies beside the log and what every run uses.
pub(super) fn beside(place: &Place) -> Vec<Finding> {
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
