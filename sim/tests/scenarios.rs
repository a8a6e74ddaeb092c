//! Every script of `scenarios/` goes as it says, and a script that is wrong is noticed.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use hostler_sim::script::{Script, all};

fn run(text: &str) -> Result<(), String> {
    let ran = Script::read(text).and_then(|script| script.run());
    ran.map(|_| ()).map_err(|wrong| format!("line {}: {}", wrong.line, wrong.what))
}

#[test]
fn every_script_goes_as_it_says() {
    let paths = all();
    assert!(paths.len() > 120, "there are {} scripts", paths.len());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a script can be read");
        assert_eq!(run(&text), Ok(()), "{}", path.display());
        assert!(text.starts_with("# "), "{} does not say what goes wrong", path.display());
    }
}

#[test]
fn what_is_not_so_is_noticed() {
    for wrong in [
        "expect p0 cancelled",
        "expect p0 because user",
        "expect p0 told conflict",
        "expect p0 says \"nothing\"",
        "expect p0 exits 0",
        "expect asked 2",
        "expect ran 1",
        "expect prepared 0",
        "expect covers r0",
        "expect busy",
        "expect request-has \"Do p1.\"",
        "expect request-lacks \"Do p0.\"",
        "expect p0 used 7",
        "expect a1 ok",
        "expect person anna heeded",
        "expect questions 1",
        "expect kept 1",
        "person anna says no to 1",
        "cancel a1",
        "expect record RunFinished a1 once",
        "expect record RunFinished p0 never",
        "expect record RunFinished p0 before TurnStarted p0",
        "until PromptQueued",
        "until waiting content",
    ] {
        assert!(run(&format!("submit p0\ndrain\n{wrong}\nexpect p0 ok")).is_err(), "{wrong}");
    }
    assert_eq!(run("submit p0\ndrain\nexpect p0 ok"), Ok(()));
}

#[test]
fn a_script_that_expects_nothing_or_sets_what_there_is_not_is_refused() {
    for text in ["submit p0\ndrain", "set nonsense 1\nexpect quiet", "submit p0\nset window 1\nexpect quiet"]
    {
        assert!(Script::read(text).is_err(), "{text}");
    }
}
