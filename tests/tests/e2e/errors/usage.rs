//! What is wrong with a command line.

use std::fs;
use std::os::unix::fs::symlink;

use hostler_tests::harness::Home;

use super::Page;
use crate::home;

#[test]
fn a_command_line_that_makes_no_sense_is_said_so() {
    let (mut page, home) = (Page::new(), home());
    for (what, words) in [
        ("An option that there is not.", &["run", "--modle", "x", "Hi"][..]),
        ("One that is like none.", &["run", "--zzz", "Hi"]),
        ("A command that there is not.", &["rnu", "Hi"]),
        ("A prompt without its command.", &["fix the bug"]),
        ("A word of another program.", &["version"]),
        ("An option of another program.", &["run", "-p", "Hi"]),
        ("Another one.", &["run", "--output-format", "json", "Hi"]),
        ("A list of nothing.", &["runs", "list", "--limit", "0"]),
        ("A choice that is missing.", &["schema"]),
        ("A command below another that there is not.", &["sessions", "lits"]),
        ("A value that is missing.", &["run", "Hi", "--model"]),
        ("An argument that is missing.", &["sessions", "show"]),
        ("One too many.", &["sessions", "show", "a", "b"]),
        ("Options that exclude each other.", &["run", "--session", "a", "--continue", "Hi"]),
        ("A kind that there is not.", &["run", "--format", "xml", "Hi"]),
        ("A number that is none.", &["run", "--max-steps", "many", "Hi"]),
        ("A number that is too small.", &["run", "--max-steps", "0", "Hi"]),
        ("A duration that is none.", &["run", "--timeout", "soon", "Hi"]),
        ("A duration of nothing.", &["run", "--max-wait", "0", "Hi"]),
        ("An amount that is none.", &["run", "--max-cost", "$1", "Hi"]),
        (
            "Options and values that a terminal would obey.",
            &["run", "--a\u{1b}[2J\nhostler: all is well", "Hi"],
        ),
        ("The same in a value.", &["run", "--format", "a\u{1b}]0;owned\u{7}\u{202e}\r\nb", "Hi"]),
        ("The same in a command.", &["a\u{1b}[2J\nb"]),
    ] {
        page.meet(what, &home, home.hostler(words.to_vec()));
    }
    page.is("usage");
}

/// What is read before a run begins.
fn lay(home: &Home) {
    home.write("binary", "a\0b");
    home.write("schema.json", r#"{"type": "sentence"}"#);
    home.write("half.json", r#"{"const": "\ud800"}"#);
    fs::write(home.work().join("latin"), b"caf\xe9").unwrap();
    fs::create_dir(home.work().join("directory")).unwrap();
    symlink("loop", home.work().join("loop")).unwrap();
}

#[test]
fn what_a_command_needs_and_does_not_find_is_said_so() {
    let (mut page, home) = (Page::new(), home());
    lay(&home);
    let run = ["run", "--model", "rehearsal"];
    for (what, words) in [
        ("A prompt of nothing.", &[""][..]),
        ("A prompt of nothing but space.", &[" \n"]),
        ("A file that is not there.", &["--file", "missing", "Hi"]),
        ("A file that is a directory.", &["--file", "directory", "Hi"]),
        ("A file that leads to itself.", &["--file", "loop", "Hi"]),
        ("A file that is neither text nor picture.", &["--file", "binary", "Hi"]),
        ("A file in another encoding.", &["--file", "latin", "Hi"]),
        ("A system prompt that is not there.", &["--system", "missing", "Hi"]),
        ("A system prompt in another encoding.", &["--system", "latin", "Hi"]),
        ("A schema that is not there.", &["--schema", "missing", "Hi"]),
        ("A schema that is no JSON.", &["--schema", "latin", "Hi"]),
        ("A schema that is none.", &["--schema", "schema.json", "Hi"]),
        ("A schema with half a character.", &["--schema", "half.json", "Hi"]),
        ("An answer's file in a directory that is not there.", &["--output", "missing/out", "Hi"]),
        ("An answer's file that is a directory.", &["--output", "directory", "Hi"]),
        ("An answer's file that would be a directory.", &["--output", "new/", "Hi"]),
        ("An answer's file that leads to itself.", &["--output", "loop", "Hi"]),
        ("A rule about a tool that there is not.", &["--allow", "shell(ls)", "Hi"]),
        ("A rule that is none.", &["--deny", "bash(", "Hi"]),
        ("A rule as others write it.", &["--allow", "Bash(git log:*)", "Hi"]),
        ("An empty rule.", &["--allow", "", "Hi"]),
        ("A rule that would never apply.", &["--allow", "host(a b)", "Hi"]),
        ("A copy of nothing.", &["--fork", "Hi"]),
        ("A copy of the last session where there is none.", &["--fork", "--continue", "Hi"]),
    ] {
        page.meet(what, &home, home.hostler(run).words(words.to_vec()));
    }
    for (what, words) in [
        ("A directory to work in that is not there.", &["--cwd", "missing", "dirs"][..]),
        ("A directory for state that is a file.", &["--data-dir", "binary", "dirs"]),
        ("A manual of nothing.", &["man", "everything"]),
        ("A schema of nothing.", &["schema", "everything"]),
        ("A shell that is not known.", &["completions", "cmd"]),
        ("A flight record that is not there.", &["replay", "missing"]),
        ("A flight record that is none.", &["replay", "binary"]),
        ("A directory to trust that is not there.", &["trust", "missing"]),
        ("A directory to trust that is a file.", &["trust", "binary"]),
    ] {
        page.meet(what, &home, home.hostler(words.to_vec()));
    }
    let wrong = home.hostler(["run", "Hi"]).variable("HOSTLER_LOG", "loud");
    page.meet("A level of logging that there is not (HOSTLER_LOG=loud).", &home, wrong);
    let gone = home.hostler(["dirs"]).directory(home.work().join("directory")).without("PWD");
    page.meet(
        "A directory that was deleted, and no PWD.",
        &home,
        gone.through_shell(r#"rmdir ../directory; unset PWD; exec "$0" "$@""#),
    );
    page.is("needs");
}
