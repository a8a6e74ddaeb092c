//! Sessions and runs that are not there, not to be told apart, or at work.

use hostler_tests::harness::{Home, Signal};
use hostler_tests::strict::{Answer, Script, StrictProvider};

use super::Page;
use crate::home;

/// Makes two sessions and gives the id of the last one.
fn begun(home: &Home) -> String {
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")));
    home.run(&provider, ["One"]).finish().expect_code(0);
    home.run(&provider, ["Two"]).finish().expect_code(0).lines().session()
}

/// Of seventeen ids two begin alike, whatever they are.
#[test]
fn a_beginning_that_several_have_is_said_so() {
    let home = home();
    let session = begun(&home);
    let fork = || home.hostler(["sessions", "fork", &session]).finish().expect_code(0).out;
    let mut ids: Vec<String> = (0..16).map(|_| fork()).chain([session.clone()]).collect();
    ids.sort();
    let twice = ids.windows(2).find(|two| two[0][..1] == two[1][..1]).unwrap();
    let prefix = &twice[0][..1];
    for words in
        [&["sessions", "show", prefix][..], &["run", "--model", "rehearsal", "--session", prefix, "Hi"]]
    {
        let said = home.hostler(words.to_vec()).finish().expect_code(2).err;
        assert!(
            said.starts_with(&format!("hostler: more than one session begins with {prefix:?}: {prefix}")),
            "{said}"
        );
        assert!(said.ends_with("; give more of its id\n") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_session_or_run_that_cannot_be_had_is_said_so() {
    let (mut page, home) = (Page::new(), home());
    let session = begun(&home);
    let provider = StrictProvider::start(Answer::say("Slow").stall());
    let run = |words: &[&str]| home.run_text(&provider, ["-q"]).words(words.to_vec());
    page.meet("A session that there is not.", &home, run(&["--session", "zz", "Hi"]));
    page.meet("A beginning that several have.", &home, run(&["--session", "", "Hi"]));
    for (what, words) in [
        ("To be shown.", &["sessions", "show", "zz"][..]),
        ("To be renamed.", &["sessions", "rename", "zz", "x"]),
        ("To be copied.", &["sessions", "fork", "zz"]),
        ("To be deleted.", &["sessions", "delete", "zz"]),
        ("To be exported.", &["sessions", "export", "zz"]),
        ("Several to be deleted.", &["sessions", "delete", ""]),
        ("A title of nothing.", &["sessions", "rename", &session, " "]),
        ("A run that there is not.", &["runs", "show", "zz"]),
        ("A run that cannot be told from others.", &["runs", "show", ""]),
    ] {
        page.meet(what, &home, home.hostler(words.to_vec()));
    }
    let working = run(&["--format", "jsonl", "--session", &session, "Go on."]).start();
    working.wait_for_line("text.delta");
    page.meet("A session at work, to be deleted.", &home, home.hostler(["sessions", "delete", &session]));
    let waiting = run(&["--timeout", "300ms", "--session", &session, "And on."]);
    page.meet("A session at work, waited for until time is over.", &home, waiting);
    working.signal(Signal::Interrupt);
    let interrupted = working.finish();
    assert_eq!(interrupted.last()["message"], "The run was cancelled.");
    page.is("sessions");
}
