//! Notes for agents become part of the system prompt, the same in every request as long as they are.

use std::fs;
use std::os::unix::fs::symlink;

use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use crate::home;

#[test]
fn notes_are_told_the_general_ones_first_and_stay_the_same() {
    let home = home();
    let looks = Answer::calling("c", "ls", json!({}));
    let provider =
        StrictProvider::start([looks, Answer::say("One."), Answer::say("Two."), Answer::say("Three.")]);
    home.write(".git/HEAD", "");
    home.write("AGENTS.md", "Use tabs here.\n");
    home.write("sub/CLAUDE.md", "Use spaces here.\n");
    fs::write(home.configuration().with_file_name("AGENTS.md"), "Be brief with me.\n").unwrap();
    let ask = |words: &[&str]| {
        let run = home.run(&provider, words.to_vec()).directory(home.work().join("sub"));
        run.finish().expect_code(0);
    };
    ask(&["Hi"]);
    ask(&["--continue", "Again"]);
    let system = |at: usize| provider.completions()[at].messages()[0]["content"].as_str().unwrap().to_owned();
    let first = system(0);
    let at = |text: &str| first.find(text).unwrap_or_else(|| panic!("{text} in {first}"));
    assert!(first.starts_with("You are Hostler"));
    assert!(at("Be brief with me.") < at("Use tabs here.") && at("Use tabs here.") < at("Use spaces here."));
    assert!((1..3).all(|at| system(at) == first));
    home.write("AGENTS.md", "Use nothing.\n");
    ask(&["--continue", "And now?"]);
    assert!(system(3).contains("Use nothing.") && !system(3).contains("Use tabs"));
}

#[test]
fn notes_that_lead_out_of_the_repository_are_not_read() {
    let (home, provider) = (home(), StrictProvider::start(Script::always(Answer::say("Hello."))));
    fs::write(home.root().join("secret"), "the secret of somebody").unwrap();
    home.write(".git/HEAD", "");
    symlink(home.root().join("secret"), home.work().join("AGENTS.md")).unwrap();
    symlink("../secret", home.work().join("CLAUDE.md")).unwrap();
    home.run(&provider, ["Hi"]).finish().expect_code(0);
    assert!(!provider.completions()[0].text.contains("the secret"));
}

#[test]
fn notes_have_a_limit_and_what_is_left_out_is_said() {
    let (home, provider) = (home(), StrictProvider::start(Script::always(Answer::say("Hello."))));
    home.write("AGENTS.md", &"A rule of many. ".repeat(10_000));
    let run = home.run(&provider, ["Hi"]).finish().expect_code(0);
    let lines = run.lines();
    let warnings = lines.of("warning");
    assert!(
        warnings.len() == 1 && warnings[0]["message"].as_str().unwrap().contains("AGENTS.md"),
        "{warnings:?}"
    );
    let system = provider.completions()[0].messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(
        (65_536..70_000).contains(&system.len()) && system.contains("[The rest of this file is left out.]")
    );
}
