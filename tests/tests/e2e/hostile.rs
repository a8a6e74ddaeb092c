//! A repository that wants to do harm: what is in it changes nothing outside and shows nothing of it, and nothing that a
//! terminal obeys is printed.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::{home, terminal};

/// What must be seen nowhere.
const SECRET: &str = "the-secret-of-somebody-else";

/// Lays out the repository, and a directory beside it.
fn lay(home: &Home) {
    let (work, outside) = (home.work(), home.root().join("outside"));
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("secret.txt"), format!("{SECRET}\n")).unwrap();
    fs::write(outside.join("deep/.gitignore"), "*\n").unwrap();
    for name in [
        &b"red\x1b[31m.txt"[..],
        b"title\x1b]0;owned\x07.txt",
        b"two\nlines.txt",
        b"back\rspace\x08.txt",
        b"c1\xc2\x9b2J.txt",
        b"not utf8 \xff\xfe.txt",
        "turned \u{202e}txt.exe".as_bytes(),
        &[b'x'; 255],
    ] {
        fs::write(work.join(OsStr::from_bytes(name)), "needle \x1b[2J \x1b]52;c;b3duZWQ=\x07\n").unwrap();
    }
    for (link, to) in [
        ("root", "/"),
        ("up", ".."),
        ("out", "../outside"),
        ("file", "../outside/secret.txt"),
        ("loop", "loop"),
        ("etc", "/etc"),
    ] {
        symlink(to, work.join(link)).unwrap();
    }
    for (name, text) in [
        (".gitignore", "!/../outside/*\n../outside\n/**/**/**/**\n[\n\\\n!*\n"),
        (".ignore", "!../outside/secret.txt\n"),
        (
            ".git/config",
            "[core]\n\tfsmonitor = touch owned\n\thooksPath = .\n\texcludesFile = ../outside/secret.txt\n",
        ),
        (".git/HEAD", "ref: ../../outside/secret.txt\n"),
        (".git/info/exclude", "!../outside\n"),
        ("sub/.git", "gitdir: ../../outside\n"),
        ("sub/a.txt", "needle\n"),
    ] {
        home.write(name, text);
    }
    let mut deep = work.join("d");
    (0..60).for_each(|_| deep.push("d"));
    fs::create_dir_all(deep).unwrap();
}

/// All that looks, and all that tries to change something through what is there.
fn calls() -> Vec<(&'static str, Value)> {
    let path = |name: &str| json!({"file_path": name});
    vec![
        ("ls", json!({})),
        ("ls", json!({"path": "root"})),
        ("ls", json!({"path": "sub"})),
        ("glob", json!({"pattern": "**/*"})),
        ("glob", json!({"pattern": "out/*"})),
        ("glob", json!({"pattern": "*", "path": "out"})),
        ("grep", json!({"pattern": "needle|secret"})),
        ("grep", json!({"pattern": "secret", "path": "out"})),
        ("grep", json!({"pattern": "secret", "path": "file"})),
        ("view", path("red\u{1b}[31m.txt")),
        ("view", path("title\u{1b}]0;owned\u{7}.txt")),
        ("view", path("no such \u{1b}[31m.txt")),
        ("view", path("file")),
        ("view", path("out/secret.txt")),
        ("view", path("loop")),
        ("view", path("etc/passwd")),
        ("view", path(&"x".repeat(255))),
        ("write", json!({"file_path": "out/new.txt", "content": "owned"})),
        ("edit", json!({"file_path": "file", "old_string": "somebody", "new_string": "owned"})),
        (
            "multiedit",
            json!({"file_path": "up/outside/new", "edits": [{"old_string": "", "new_string": "owned"}]}),
        ),
        ("bash", json!({"command": "printf '\\033[2J\\033]0;owned\\007'"})),
        ("\u{1b}[2Jtool", json!({"\u{1b}[31m": "\u{1b}[2J"})),
    ]
}

/// All that there is in a directory, without following links.
fn snapshot(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        }
        let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.push((format!("{path:?}"), content));
    }
    found.sort();
    found
}

/// Nothing that a terminal would obey: no control characters but line ends and tabs.
#[track_caller]
fn check_harmless(what: &str, printed: &str) {
    let obeyed = printed.chars().find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
    assert_eq!(obeyed, None, "{what}: {printed:?}");
}

/// The model makes all calls in one step, since steps of nothing but denials end a run.
fn script() -> Vec<Answer> {
    let call = |answer: Answer, (at, (name, input)): (usize, (&str, Value))| {
        answer.call(&format!("c{at}"), name, input)
    };
    let asks = calls().into_iter().enumerate().fold(Answer::new(), call);
    vec![asks, Answer::say("All \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}2J\r done.")]
}

#[track_caller]
fn check_results(provider: &StrictProvider) {
    let results = provider.completions()[1].tool_results();
    assert_eq!(results.len(), calls().len());
    for (call, text) in results {
        assert!(!text.contains(SECRET), "{call} shows what is outside: {text}");
    }
}

#[test]
fn nothing_gets_out_and_nothing_outside_is_changed() {
    for format in ["json", "jsonl"] {
        let (home, provider) = (home(), StrictProvider::start(script()));
        lay(&home);
        let (inside, outside) = (snapshot(&home.work()), snapshot(&home.root().join("outside")));
        let run =
            home.run_text(&provider, ["--format", format, "Look \u{1b}[31maround."]).finish().expect_code(0);
        assert_eq!(snapshot(&home.root().join("outside")), outside);
        assert_eq!(snapshot(&home.work()), inside);
        check_harmless("standard output", &run.out);
        check_harmless("standard error", &run.err);
        assert!(!run.out.contains(SECRET));
        check_results(&provider);
    }
}

#[test]
fn a_terminal_gets_to_see_nothing_that_it_would_obey() {
    let (home, provider) = (home(), StrictProvider::start(script()));
    lay(&home);
    let (mut person, terminal) = terminal::named();
    // Held open, so that what was written is not lost when the program ends.
    let held = fs::File::options().write(true).open(&terminal).unwrap();
    let run = home.run_text(&provider, ["Look around."]).output_to(&terminal).finish().expect_code(0);
    check_harmless("standard error", &run.err);
    assert!(run.err.contains("\\u{1b}"), "the names are told, made harmless: {}", run.err);
    check_results(&provider);
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains("done.") {
        let length = person.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..length]);
    }
    drop(held);
    // The terminal itself puts a carriage return before each line feed.
    check_harmless("the terminal", &String::from_utf8(seen).unwrap().replace("\r\n", "\n"));
}

#[test]
fn with_all_allowed_it_tells_of_escapes_and_prints_none() {
    let (home, provider) = (home(), StrictProvider::start(script()));
    lay(&home);
    let run =
        home.run_text(&provider, ["--yolo", "--format", "jsonl", "Look around."]).finish().expect_code(0);
    check_harmless("standard output", &run.out);
    check_harmless("standard error", &run.err);
    let sessions = home.hostler(["sessions", "list"]).finish();
    let session =
        sessions.out.lines().find_map(|line| line.split_whitespace().next()).unwrap_or_default().to_owned();
    let shown = home.hostler(["sessions".to_owned(), "show".to_owned(), session]).finish().expect_code(0);
    check_harmless("the list of sessions", &(sessions.out + &sessions.err));
    check_harmless("a session that is shown", &(shown.out + &shown.err));
}
