//! Where the prompt comes from.

use hostler_tests::harness::Hostler;
use hostler_tests::strict::{Answer, StrictProvider};

use crate::home;

/// What the provider is asked, and the warnings, when the program is started with those words.
#[track_caller]
fn asked(words: &[&str], with: fn(Hostler<'_>) -> Hostler<'_>) -> (String, Vec<String>) {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let run = with(home.run(&provider, words.to_vec())).finish().expect_code(0);
    let lines = run.lines();
    let warnings =
        lines.of("warning").iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect();
    (provider.completions()[0].last_user_text(), warnings)
}

#[test]
fn words_are_joined() {
    assert_eq!(asked(&["What", "is", "this?"], |run| run), ("What is this?".into(), vec![]));
    assert_eq!(asked(&["--", "--stdin", "is", "an", "option"], |run| run).0, "--stdin is an option");
}

#[test]
fn what_is_piped_in_comes_before_the_words() {
    assert_eq!(asked(&["Review this."], |run| run.input("diff\n")).0, "diff\n\nReview this.");
    assert_eq!(asked(&["Review this."], |run| run.input("")).0, "Review this.");
}

#[test]
fn standard_input_alone_is_a_prompt() {
    assert_eq!(asked(&["-"], |run| run.input("From a pipe.")).0, "From a pipe.");
    assert_eq!(asked(&["--stdin"], |run| run.input("From a pipe.")).0, "From a pipe.");
    assert_eq!(asked(&[], |run| run.input("From a pipe.")).0, "From a pipe.");
    assert_eq!(asked(&["--stdin", "Review."], |run| run.input("diff")).0, "diff\n\nReview.");
}

#[test]
fn much_of_it_is_read_to_its_end() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let much = "0123456789".repeat(100_000);
    home.run(&provider, ["What is this?"]).input(&much).finish().expect_code(0);
    assert_eq!(provider.completions()[0].last_user_text(), format!("{much}\n\nWhat is this?"));
}

#[test]
fn an_open_silent_pipe_is_left_alone_with_a_warning() {
    let (text, warnings) = asked(&["Hi"], |run| run.silent_input());
    assert_eq!(text, "Hi");
    assert!(warnings.len() == 1 && warnings[0].contains("--stdin"), "{warnings:?}");
}

#[test]
fn an_empty_prompt_is_a_mistake() {
    for words in [&[][..], &[""], &["  ", "\t"], &["-"], &["--stdin", " "]] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
        let run = home.run(&provider, words.to_vec()).finish().expect_code(2);
        assert_eq!((&run.last()["reason"], run.lines().kinds().len()), (&"usage".into(), 2), "{words:?}");
        assert!(provider.requests().is_empty());
        assert!(!home.state().join("hostler/workspaces").exists(), "nothing was opened");
    }
}

#[test]
fn a_command_line_that_makes_no_sense_prints_nothing_and_says_so() {
    let home = home();
    for words in [
        &["run", "--nonsense", "Hi"][..],
        &["nonsense"],
        &["run", "--timeout", "soon", "Hi"],
        &["run", "--max-steps", "0", "Hi"],
        &["run", "--format", "xml", "Hi"],
        &["run", "--continue", "--session", "a", "Hi"],
        &["sessions"],
        &[],
    ] {
        let run = home.hostler(words.to_vec()).finish().expect_code(2);
        assert_eq!(run.out, "", "{words:?}");
        assert!(run.err.contains("Usage:") || run.err.contains("try '--help'"), "{words:?}: {}", run.err);
    }
}

#[test]
fn help_and_version_are_no_mistakes() {
    let home = home();
    let said = |words: &[&str]| home.hostler(words.to_vec()).finish().expect_code(0);
    assert_eq!(said(&["--version"]).out, format!("hostler {}\n", env!("CARGO_PKG_VERSION")));
    for (words, teaches) in [
        (&["--help"][..], "--model rehearsal"),
        (&["run", "--help"], "Exit codes"),
        (&["sessions", "--help"], "list"),
        (&["runs", "show", "--help"], "ID"),
    ] {
        let run = said(words);
        assert!(run.out.contains(teaches) && run.err.is_empty(), "{words:?}: {}{}", run.out, run.err);
    }
}

#[test]
fn whatever_comes_on_standard_input_a_provider_accepts_it() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let odd = "a\u{0}b\u{1b}[2J\u{feff}\r\n\u{1f40c}\u{202e}";
    home.run(&provider, ["What is this?"]).input(odd).finish().expect_code(0);
    assert_eq!(provider.completions()[0].last_user_text(), format!("{odd}\n\nWhat is this?"));
}
