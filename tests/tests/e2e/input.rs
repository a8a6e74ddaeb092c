//! Where the prompt comes from.

use std::fs::File;
use std::io::Write;
use std::process::Command;

use hostler_tests::harness::{Hostler, Signal, wait_until};
use hostler_tests::strict::{Answer, StrictProvider};
use rustix::io::ioctl_fionread;

use crate::{PATIENCE, home, terminal};

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
fn once_a_byte_has_come_the_rest_is_waited_for() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    // Half of what is piped in is there from the beginning; the rest comes when the run has long begun.
    let half = home.root().join("half");
    assert!(Command::new("mkfifo").arg(&half).status().unwrap().success());
    let mut both = File::options().read(true).write(true).open(&half).unwrap();
    both.write_all(b"one ").unwrap();
    let reads = File::open(&half).unwrap();
    let run = home.run(&provider, ["Hi"]).input_from(reads).start();
    run.wait_for_line("run.started");
    wait_until("the first half is read", || ioctl_fionread(&both).unwrap() == 0);
    assert!(provider.requests().is_empty(), "a prompt that is not complete is not asked about");
    both.write_all(b"two").unwrap();
    drop(both);
    let run = run.finish().expect_code(0);
    assert_eq!(provider.completions()[0].last_user_text(), "one two\n\nHi");
    assert!(run.lines().of("warning").is_empty(), "{}", run.out);
}

#[test]
fn a_pipe_that_stays_silent_is_given_a_moment_and_not_read_afterwards() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let mut run = home.run(&provider, ["Hi"]).silent_input().start();
    let millis = |line: &serde_json::Value| {
        let text = line["ts"].as_str().unwrap().to_owned();
        let number = |at: std::ops::Range<usize>| text[at].parse::<u64>().unwrap();
        ((number(11..13) * 60 + number(14..16)) * 60 + number(17..19)) * 1000 + number(20..23)
    };
    let (started, warned) = (run.wait_for_line("run.started"), run.wait_for_line("warning"));
    let waited = (millis(&warned) + 86_400_000 - millis(&started)) % 86_400_000;
    assert!(waited >= 190, "{waited} ms");
    // Nobody reads this any more.
    run.write("late");
    assert!(provider.wait_for_requests(1, PATIENCE), "with the pipe still open");
    run.finish().expect_code(0);
    assert_eq!(provider.completions()[0].last_user_text(), "Hi");
}

#[test]
fn a_terminal_is_read_only_if_that_is_asked_for() {
    for (words, prompt) in [(&["Hi"][..], "Hi"), (&["--stdin", "Hi"], "typed\n\nHi"), (&["-"], "typed")] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
        let (mut person, program) = terminal::open();
        person.write_all(b"typed\n\x04").unwrap();
        let run = home.run(&provider, words.to_vec()).input_from(program).finish().expect_code(0);
        assert_eq!(provider.completions()[0].last_user_text(), prompt, "{words:?}");
        assert!(run.lines().of("warning").is_empty(), "{}", run.out);
    }
}

#[test]
fn without_a_prompt_a_terminal_is_not_waited_for() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    let (_person, program) = terminal::open();
    let run = home.run(&provider, [] as [&str; 0]).input_from(program).finish().expect_code(2);
    assert!(run.last()["message"].as_str().unwrap().contains("prompt is empty"), "{}", run.last());
}

#[test]
fn standard_input_that_is_closed_is_empty() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    let closed = r#"exec "$0" "$@" <&- 2>&-"#;
    let run = home.run(&provider, ["Hi"]).through_shell(closed).finish().expect_code(0);
    assert_eq!(provider.completions()[0].last_user_text(), "Hi");
    assert!(run.lines().of("warning").is_empty(), "{}", run.out);
}

/// A file that is a pipe without a writer may never end: that is a matter of the run, which has begun.
#[test]
fn files_that_do_not_come_hold_up_neither_the_first_line_nor_a_signal() {
    for option in ["--file", "--system"] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
        assert!(Command::new("mkfifo").arg(home.work().join("pipe")).status().unwrap().success());
        let run = home.run(&provider, [option, "pipe", "Hi"]).start();
        run.wait_for_line("run.started");
        run.signal(Signal::Interrupt);
        let run = run.finish().expect_code(130);
        assert_eq!(run.lines().kinds(), ["run.started", "run.finished"], "{option}");
    }
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
