//! A log that cannot be written or read.

use std::fs;

use hostler_tests::harness::{Home, PATIENCE};
use hostler_tests::strict::{Answer, Gate, Script, StrictProvider};

use super::Page;
use crate::home;

fn database(home: &Home) -> std::path::PathBuf {
    let mut workspaces = fs::read_dir(home.state().join("hostler/workspaces")).unwrap();
    workspaces.next().unwrap().unwrap().path().join("hostler.db")
}

#[test]
fn a_log_that_cannot_be_used_is_said_so() {
    let (mut page, home) = (Page::new(), home());
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")));
    home.run(&provider, ["Hi"]).finish().expect_code(0);
    let log = database(&home);
    let whole = fs::read(&log).unwrap();
    for beside in ["-wal", "-shm"] {
        // They need not be there.
        let _ = fs::remove_file(format!("{}{beside}", log.display()));
    }
    fs::write(&log, "this is no log ".repeat(1_000)).unwrap();
    page.meet("It is damaged.", &home, home.run_text(&provider, ["-q", "--continue", "Hi"]));
    page.meet("It is damaged, and to be listed.", &home, home.hostler(["sessions", "list"]));
    // The version of the layout is at that place of a database.
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&1_000_u32.to_be_bytes());
    fs::write(&log, newer).unwrap();
    page.meet("It is from a newer program.", &home, home.run_text(&provider, ["-q", "--continue", "Hi"]));
    fs::write(&log, whole).unwrap();
    home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
    let rules = log.with_file_name("rules.json");
    fs::write(&rules, "[").unwrap();
    page.meet("Rules that are kept beside it are damaged.", &home, home.run_text(&provider, ["-q", "Hi"]));
    page.is("log");
}

#[test]
fn a_log_that_takes_nothing_more_is_said_so() {
    let mut page = Page::new();
    let (full, provider) = (home(), StrictProvider::start(Answer::say("Hello.").repeat(2_000, "0123456789")));
    let limited = full.run_text(&provider, ["-q", "Hi"]).through_shell(r#"ulimit -f 100; exec "$0" "$@""#);
    page.meet("Files may not grow any more.", &full, limited);
    let (gone, gate) = (home(), Gate::new());
    let provider = StrictProvider::start(Answer::say("Hello.").gate(&gate));
    let run = gone.run_text(&provider, ["-q", "Hi"]);
    let (line, run) = (run.line(), run.start());
    assert!(gate.wait_reached(PATIENCE));
    fs::remove_dir_all(gone.state().join("hostler/workspaces")).unwrap();
    gate.open();
    page.met("It was deleted.", &gone, &line, &run.finish());
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let full = home.run_text(&provider, ["-q", "Hi"]).output_to("/dev/full".as_ref());
    page.meet("Standard output goes to a full disk.", &home, full);
    page.is("full");
}
