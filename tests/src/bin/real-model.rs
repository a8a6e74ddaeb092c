//! Uses the built program with a real, very small language model, and checks the shape of what happens.
//!
//! Usage: `real-model SERVER`, with `hostler-under-test` built beside it; `.ci/real-model` does all of it. The server is
//! spoken to in each protocol that it knows, and each has to lead to the same: a call, its result, an answer, and a
//! session that goes on.
//!
//! So small a model makes no sense and does not always do what it is told. Nothing is demanded of what it says, and it
//! is given several prompts to call a tool at all; but what the program makes of it must be right in every run, and the
//! harness sees to that.

#![allow(clippy::expect_used, clippy::panic, reason = "like a test, it fails by panicking")]

use std::fs;
use std::os::unix::fs::symlink;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostler_tests::harness::{Home, Lines};
use serde_json::Value;

/// Asked pair by pair, each in a session of its own, until the model calls `bash` and answers the first, and answers
/// the second at all. Not one prompt after the other in one session: a model that has begun to babble goes on so.
const PAIRS: [(&str, &str); 8] = [
    ("Print the file notes.txt", "Print the file todo.txt"),
    ("Show the files in this directory", "Where am I?"),
    ("Print the file todo.txt", "Print the file notes.txt"),
    ("Where am I?", "Show the files in this directory"),
    ("Show the files in /tmp", "Print the file notes.txt"),
    ("Print the file a.txt", "Show the files in /etc"),
    ("Print the file notes.txt", "Where am I?"),
    ("Show the files in /etc", "Print the file todo.txt"),
];

/// A protocol that the server speaks.
struct Way {
    /// What it is called.
    protocol: &'static str,
    /// The model, by the name that has the program speak the protocol.
    model: &'static str,
    /// The environment variable that says where the server is.
    variable: &'static str,
    /// What stands behind the server's address in it.
    path: &'static str,
}

const WAYS: [Way; 3] = [
    Way { protocol: "chat completions", model: "openai/tiny", variable: "OPENAI_BASE_URL", path: "/v1" },
    Way { protocol: "Responses", model: "openai-responses/tiny", variable: "OPENAI_BASE_URL", path: "/v1" },
    Way { protocol: "Messages", model: "anthropic/tiny", variable: "ANTHROPIC_BASE_URL", path: "" },
];

/// The programs that the model's commands can find: it writes whatever comes to its mind, and is allowed everything.
const PROGRAMS: [&str; 8] = ["bash", "cat", "file", "head", "ls", "sh", "tail", "wc"];

fn main() -> ExitCode {
    let Some(server) = std::env::args().nth(1) else {
        eprintln!("usage: real-model SERVER, such as http://127.0.0.1:18080");
        return ExitCode::from(2);
    };
    // The panic has said what went wrong.
    catch_unwind(|| WAYS.iter().for_each(|way| check(&server, way)))
        .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn check(server: &str, way: &Way) {
    let home = Home::new(&program().display().to_string());
    link_programs(&home);
    home.write("notes.txt", "The key is under the mat.\n");
    home.write("todo.txt", "Feed the horses.\n");
    let held = PAIRS.iter().position(|pair| converse(&home, server, way, *pair));
    let Some(before) = held else {
        panic!("{}: none of {} pairs of prompts led to what was wanted", way.protocol, PAIRS.len())
    };
    println!(
        "{}: bash was called and answered from, and the session went on ({} of {} pairs)",
        way.protocol,
        before + 1,
        PAIRS.len()
    );
}

/// Whether both prompts led to what is wanted.
fn converse(home: &Home, server: &str, way: &Way, (first, second): (&str, &str)) -> bool {
    let begun = run(home, server, way, &[first]);
    println!("{first:?}: {}", summary(&begun));
    if !used_bash(&begun) {
        return false;
    }
    let gone_on = run(home, server, way, &["--continue", second]);
    println!("then {second:?}: {}", summary(&gone_on));
    assert_eq!(begun.session(), gone_on.session(), "--continue went on in another session");
    answered(&gone_on)
}

/// The program under test, which lies beside this one.
fn program() -> PathBuf {
    let me = std::env::current_exe().expect("the system says where this program lies");
    let program = me.with_file_name("hostler-under-test");
    assert!(program.exists(), "{} is not built", program.display());
    program
}

fn programs(home: &Home) -> PathBuf {
    home.root().join("bin")
}

fn link_programs(home: &Home) {
    fs::create_dir(programs(home)).expect("a directory can be made in a home of our own");
    for name in PROGRAMS {
        let places = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(name));
        if let Some(found) = places.iter().find(|path| path.exists()) {
            symlink(found, programs(home).join(name)).expect("a link can be made in a directory of our own");
        }
    }
}

fn run(home: &Home, server: &str, way: &Way, words: &[&str]) -> Lines {
    let limits = ["--max-steps", "8", "--timeout", "30s"];
    home.hostler(["run", "--format", "jsonl", "--yolo", "--model", way.model])
        .words(limits)
        .words(words.iter().copied())
        .variable(way.variable, &format!("{server}{}", way.path))
        .variable("PATH", &programs(home).display().to_string())
        .finish()
        .lines()
}

/// Whether it ended with an answer, as far as the program can tell.
fn answered(lines: &Lines) -> bool {
    lines.finished()["status"] == "ok" && lines.finished()["answer"].is_string()
}

/// Whether `bash` was really run, what came of it was given to the model, and that answered.
fn used_bash(lines: &Lines) -> bool {
    let started = lines.of("tool.started");
    let ran = |line: &Value| {
        line["type"] == "tool.finished"
            && line["name"] == "bash"
            && (line["status"] == "ok" || line["status"] == "error")
            && started.iter().any(|started| started["call"] == line["call"])
    };
    let mut after = lines.all().iter().skip_while(|line| !ran(line));
    answered(lines) && after.any(|line| line["type"] == "step.started")
}

fn summary(lines: &Lines) -> String {
    let call =
        |line: &&Value| format!("{} {} ({})", text(line, "name"), text(line, "input"), text(line, "status"));
    let calls: Vec<_> = lines.of("tool.finished").iter().map(call).collect();
    let calls = if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") };
    let last = lines.finished();
    let answer: String = text(last, "answer").chars().take(60).collect();
    format!("{calls}; {} after {} steps: {answer:?}", text(last, "status"), last["steps"])
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}
