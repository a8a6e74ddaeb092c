//! What a run makes of a terminal: text as it comes, and nothing that a terminal obeys, with colours or without.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use hostler_tests::strict::{Answer, Gate, StrictProvider};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::home;

/// A new terminal: the end of whoever sits there, and where it is for the program.
pub(crate) fn named() -> (File, PathBuf) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).and_then(|()| unlockpt(&person)).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    (File::from(person), PathBuf::from(name.to_str().unwrap()))
}

/// A new terminal: the end of whoever sits there, and the program's.
pub(crate) fn open() -> (File, File) {
    let (person, name) = named();
    let program = File::options().read(true).write(true).open(name).unwrap();
    (person, program)
}

/// What is seen there until that is.
fn seen(person: &mut File, until: &str) -> String {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(until) {
        let length = person.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(seen).unwrap()
}

const COLOURS: [&str; 2] = ["", "1"];

#[test]
fn text_comes_there_as_it_is_said() {
    for no_colour in COLOURS {
        let gate = Gate::new();
        let answer = Answer::new().text("I'll ").gate(&gate).text("look.");
        let (home, provider) = (home(), StrictProvider::start(answer));
        let (mut person, name) = named();
        // Held open, so that what was written is not lost when the program ends.
        let held = File::options().write(true).open(&name).unwrap();
        let run = home.run_text(&provider, ["Hi"]).output_to(&name).variable("TERM", "xterm-256color");
        let run = run.variable("NO_COLOR", no_colour).start();
        assert_eq!(seen(&mut person, "I'll "), "I'll ", "the rest is not yet said");
        gate.open();
        let run = run.finish().expect_code(0);
        // The terminal itself puts a carriage return before each line feed.
        assert_eq!(seen(&mut person, "\n"), "look.\r\n");
        assert!(!run.err.contains('\u{1b}'), "{}", run.err);
        drop(held);
    }
}

#[test]
fn lines_and_help_are_plain_there_as_everywhere() {
    for no_colour in COLOURS {
        for (words, until) in [
            (&["run", "--model", "rehearsal", "--format", "jsonl", "Hi"][..], "run.finished"),
            (&["--help"], "Options:"),
            (&["run", "--help"], "Exit codes"),
        ] {
            let home = home();
            let (mut person, name) = named();
            let held = File::options().write(true).open(&name).unwrap();
            let run = home.hostler(words.to_vec()).output_to(&name).variable("TERM", "xterm-256color");
            let run = run.variable("NO_COLOR", no_colour).start();
            let seen = seen(&mut person, until);
            assert!(!seen.contains('\u{1b}'), "{words:?}: {seen:?}");
            drop((held, person));
            // Whoever sat there is gone, which may have been noticed.
            drop(run);
        }
    }
}

/// Standard error goes to the same terminal.
const BOTH: &str = "exec \"$0\" \"$@\" 2>&1";

#[test]
fn what_tools_do_stands_on_lines_of_its_own_there() {
    let ls = Answer::new().text("I'll look.").call("c1", "ls", serde_json::json!({}));
    let (home, provider) = (home(), StrictProvider::start([ls, Answer::say("It is empty.")]));
    let (mut person, name) = named();
    let held = File::options().write(true).open(&name).unwrap();
    let run = home.run_text(&provider, ["Hi"]).output_to(&name).through_shell(BOTH).start();
    let seen = seen(&mut person, "empty.\r\n");
    run.finish().expect_code(0);
    let lines: Vec<_> = seen.split("\r\n").collect();
    assert_eq!(lines[..2], ["I'll look.", "> ls"], "{seen:?}");
    assert!(lines[2].starts_with("  ls: "), "{seen:?}");
    assert_eq!(lines[3..], ["", "It is empty.", ""], "{seen:?}");
    drop(held);
}
