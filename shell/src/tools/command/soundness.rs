//! What is found in a command, held against what bash makes of it.
//!
//! The commands are made up. They are executed in a directory of their own where the only programs are three that note what
//! they are called with, and the few that execute others. Each call that was noted must have been found, unless it was said
//! that what was found is not all; and each file that has come to be must be among the paths that are written.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hostler_core::tools::{BashInput, Intent};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

use super::inspect;
use crate::tools::Workspace;

/// Notes its words in one write: words end in 1f, calls in 1e.
const PROGRAM: &str = "#!/bin/sh\nprintf '%s\u{1f}' \"${0##*/}\" \"$@\" '\u{1e}' >> \"${0%/*}/../log\"\n";
const PROGRAMS: &[&str] = &["alpha", "beta", "gamma"];
/// Those that execute others, where the machine has them.
const OTHERS: &[&str] =
    &["bash", "sh", "env", "timeout", "nohup", "nice", "setsid", "stdbuf", "xargs", "find", "cat", "true"];

struct Sandbox {
    directory: tempfile::TempDir,
    workspace: Workspace,
}

impl Sandbox {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let programs = directory.path().join("bin");
        fs::create_dir(&programs).unwrap();
        for name in PROGRAMS {
            let path = programs.join(name);
            fs::write(&path, PROGRAM).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in OTHERS {
            let real = ["/usr/bin", "/bin"]
                .iter()
                .map(|place| Path::new(place).join(name))
                .find(|path| path.exists());
            symlink(real.unwrap(), programs.join(name)).unwrap();
        }
        let work = directory.path().join("work");
        fs::create_dir(&work).unwrap();
        let workspace = Workspace::open(&work).unwrap();
        Self { directory, workspace }
    }

    fn found(&self, command: &str) -> Intent {
        let input =
            BashInput { command: command.to_owned(), description: None, working_dir: None, timeout: None };
        inspect(&self.workspace, &input)
    }

    /// Executes a command, and says what was called and which files have come to be.
    fn execute(&self, command: &str) -> (Vec<Vec<String>>, BTreeSet<PathBuf>) {
        let (log, work) = (self.directory.path().join("log"), self.workspace.root());
        fs::write(&log, "").unwrap();
        // Output is read to its end, so that what was begun in the background is over too.
        Command::new("timeout")
            .args(["-s", "KILL", "10", "bash", "-c", "--", command])
            .current_dir(work)
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("FUNCNEST", "5")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let noted = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
        let words = |call: &str| call.split_terminator('\u{1f}').map(str::to_owned).collect();
        let calls = noted.split("\u{1e}\u{1f}").filter(|call| !call.is_empty()).map(words).collect();
        let files: BTreeSet<_> = fs::read_dir(work).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        (calls, files)
    }

    /// Whether all was found, and how much was executed.
    ///
    /// What a command has begun in the background may outlive it and be noted with the next one; so what seems to be
    /// missing is looked for once more.
    fn check(&self, command: &str) -> Result<(bool, usize), TestCaseError> {
        self.check_once(command).or_else(|_| self.check_once(command))
    }

    fn check_once(&self, command: &str) -> Result<(bool, usize), TestCaseError> {
        let intent = self.found(command);
        let (calls, files) = self.execute(command);
        let bare = |words: &Vec<String>| {
            let mut words = words.clone();
            if let Some(program) = words.first_mut() {
                *program = program.rsplit('/').next().unwrap_or_default().to_owned();
            }
            words
        };
        let found: BTreeSet<_> = intent.commands.iter().map(bare).collect();
        let written: BTreeSet<_> = intent.writes.iter().map(|path| PathBuf::from(&path.path)).collect();
        if intent.complete {
            for call in &calls {
                prop_assert!(found.contains(call), "{call:?} was not found in {command:?}: {found:?}");
            }
            for file in &files {
                prop_assert!(written.contains(file), "{file:?} was not found in {command:?}: {written:?}");
            }
        }
        Ok((intent.complete, calls.len()))
    }
}

/// A word as somebody may write it.
fn quoted(text: String) -> impl Strategy<Value = String> {
    let bit = (0..6_u8, 1..4_usize);
    proptest::collection::vec(bit, 1..4).prop_map(move |bits| {
        let letters: Vec<_> = text.chars().collect();
        let mut written = String::new();
        let mut at = 0;
        for (index, (way, length)) in bits.iter().enumerate() {
            let end = if index + 1 == bits.len() { letters.len() } else { (at + length).min(letters.len()) };
            written += &write(&letters[at..end], *way);
            at = end;
        }
        if written.is_empty() { "''".to_owned() } else { written }
    })
}

fn write(letters: &[char], way: u8) -> String {
    let text: String = letters.iter().collect();
    let is_plain =
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '/' | '.' | '_'));
    match way {
        0 | 1 if is_plain => text,
        2 => text.chars().map(|letter| format!("\\{letter}")).collect(),
        3 => format!(
            "$'{}'",
            text.chars().map(|letter| format!("\\x{:02x}", u32::from(letter))).collect::<String>()
        ),
        4 => format!(
            "$'{}'",
            text.chars().map(|letter| format!("\\{:03o}", u32::from(letter))).collect::<String>()
        ),
        5 => {
            let escaped: String = text
                .chars()
                .map(|letter| {
                    if matches!(letter, '"' | '\\' | '$' | '`') {
                        format!("\\{letter}")
                    } else {
                        letter.to_string()
                    }
                })
                .collect();
            format!("\"{escaped}\"")
        }
        _ => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn word() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        4 => "[a-z]{1,4}",
        2 => "-[a-z]{1,3}",
        1 => "[a-c ;|&<>$`'\"\\\\#(){}*?!~=]{1,5}",
    ];
    text.prop_flat_map(quoted)
}

fn program() -> impl Strategy<Value = String> {
    select(PROGRAMS).prop_flat_map(|name| quoted(name.to_owned()))
}

fn simple() -> impl Strategy<Value = String> {
    let redirect = prop_oneof![
        8 => Just(String::new()),
        1 => "(> f|2> g|>> f|> f 2>&1|&> f|>| f|< /dev/null|2>/dev/null|>f)".prop_map(|text| format!(" {text}")),
    ];
    let before = prop_oneof![
        8 => Just(""),
        1 => Just("x=1 "), 1 => Just("x='a b' RUST_LOG=1 "), 1 => Just("> h "), 1 => Just("2>&1 "), 1 => Just("! "),
    ];
    (
        before,
        program(),
        proptest::collection::vec(word(), 0..3),
        redirect,
        proptest::collection::vec(word(), 0..2),
    )
        .prop_map(|(before, program, words, redirect, more)| {
            let mut text = format!("{before}{program}");
            words.iter().for_each(|word| text += &format!(" {word}"));
            text += &redirect;
            more.iter().for_each(|word| text += &format!(" {word}"));
            text
        })
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Commands in commands, each in a way that bash executes them.
fn command() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 2, |inner| {
        let one = (inner.clone(), 0..34_usize).prop_map(|(a, way)| around(&a, way));
        let two = (inner.clone(), inner, 0..13_usize).prop_map(|(a, b, way)| between(&a, &b, way));
        prop_oneof![one, two]
    })
}

fn around(a: &str, way: usize) -> String {
    let script = single_quoted(a);
    match way {
        0 => format!("( {a} )"),
        1 => format!("{{ {a}; }}"),
        2 => format!("alpha $({a})"),
        3 => format!("alpha \"x $({a}) y\""),
        4 => format!("alpha `{a}`"),
        5 => format!("cat <({a})"),
        6 => format!("env {a}"),
        7 => format!("timeout 5 {a}"),
        8 => format!("nohup {a}"),
        9 => format!("nice -n 1 {a}"),
        10 => format!("command {a}"),
        11 => format!("env x=1 {a}"),
        12 => format!("bash -c {script}"),
        13 => format!("sh -c {script}"),
        14 => format!("eval {script}"),
        15 => format!("bash -ec {script} x y"),
        16 => format!("find . -maxdepth 0 -exec {a} \\;"),
        17 => format!("true | xargs {a}"),
        18 => format!("if {a}; then {a}; fi"),
        19 => format!("for i in 1 2; do {a}; done"),
        20 => format!("case x in x) {a};; esac"),
        21 => format!("f() {{ {a}; }}; f"),
        22 => format!("{a} # alpha"),
        23 => format!("# alpha 'x\n{a}"),
        24 => format!("cat <<END\n$({a})\nEND"),
        25 => format!("cat <<'END'\n{a}\nEND\nbeta"),
        26 => format!("time {a}"),
        27 => format!("timeout -s KILL 5 setsid -w {a}"),
        28 => format!("stdbuf -oL {a}"),
        29 => format!("(exec {a})"),
        30 => format!("x=$({a}) beta"),
        31 => format!("alpha \\\n  x; {a}"),
        32 => format!("[[ -n $({a}) ]]"),
        _ => format!("{a} &"),
    }
}

fn between(a: &str, b: &str, way: usize) -> String {
    match way {
        0 => format!("{a}; {b}"),
        1 => format!("{a} && {b}"),
        2 => format!("{a} || {b}"),
        3 => format!("{a} | {b}"),
        4 => format!("{a} & {b}"),
        5 => format!("{a}\n{b}"),
        6 => format!("{a} |& {b}"),
        7 => format!("{a};{b}"),
        8 => format!("cat <<END && {a}\ntext\nEND\n{b}"),
        9 => format!("cat <<'END' | {a}\n$(gamma)\nEND\n{b}"),
        10 => format!("if {a}; then true; else {b}; fi"),
        11 => format!("{a}\n\n# it's\n  {b}"),
        _ => format!("alpha $({a}) \"$({b})\""),
    }
}

/// Bits of syntax in any order. Nothing among them can run for long or reach out of the directory.
const BITS: &[&str] = &[
    "alpha",
    "beta",
    "gamma",
    "a",
    "b",
    "x",
    "f",
    "1",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    "|",
    "&",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "{",
    "}",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "`",
    "\\",
    "\\\n",
    "$(",
    ")",
    "$",
    "$x",
    "${x}",
    "$'",
    "\\x61",
    "#",
    " #",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "\t",
    "> f ",
    ">f",
    "2>&1 ",
    ">&",
    "< f",
    "<<< ",
    "<(",
    "if ",
    "; then ",
    "; fi",
    "case ",
    " in ",
    ") ",
    ";; ",
    "esac",
    "for x in ",
    "; do ",
    "; done",
    "! ",
    "=",
    "x=",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "((",
    "))",
    "*",
    "?",
    ",",
    "!",
    "-",
    "env ",
    "eval ",
    "bash -c ",
    "time ",
    "f() ",
    "function f ",
    "alpha ",
    " alpha",
    "beta;",
    "\r",
    "\u{a0}",
    "é",
    "%",
    "^",
    "+",
    "@",
    ":",
];

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(BITS), 1..18).prop_map(|bits| bits.concat())
}

/// A command with bits of syntax where they do not belong, and bits of it missing.
fn spoilt() -> impl Strategy<Value = String> {
    let change = (any::<proptest::sample::Index>(), 0..3_usize, select(BITS));
    let short = (simple(), simple(), 0..13_usize).prop_map(|(a, b, way)| between(&a, &b, way));
    let base = prop_oneof![3 => short, 1 => command()];
    (base, proptest::collection::vec(change, 1..3)).prop_map(|(command, changes)| {
        let mut letters: Vec<_> = command.chars().collect();
        for (at, lost, bit) in changes {
            let begin = at.index(letters.len() + 1);
            let end = (begin + lost).min(letters.len());
            letters.splice(begin..end, bit.chars());
        }
        letters.into_iter().collect()
    })
}

/// So many cases, or more if that is asked for.
fn runner(cases: u32) -> TestRunner {
    let cases = Config::default().cases.saturating_mul(cases) / 256;
    TestRunner::new(Config { cases, source_file: Some(file!()), ..Config::default() })
}

#[test]
fn what_bash_executes_has_been_found_or_said_to_be_unknown() {
    let sandbox = Sandbox::new();
    let (all, whole, called) = (std::cell::Cell::new(0), std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = runner(250).run(&command(), |command| {
        let (complete, calls) = sandbox.check(&command)?;
        all.set(all.get() + 1);
        whole.set(whole.get() + usize::from(complete));
        called.set(called.get() + calls);
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
    // It is no use to say always that one does not know.
    assert!(whole.get() * 5 > all.get(), "{} of {}", whole.get(), all.get());
    assert!(called.get() > all.get());
}

#[test]
fn bits_of_syntax_hide_nothing() {
    let sandbox = Sandbox::new();
    let (all, telling) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = runner(300).run(&prop_oneof![1 => soup(), 4 => spoilt()], |command| {
        let (complete, calls) = sandbox.check(&command)?;
        all.set(all.get() + 1);
        telling.set(telling.get() + usize::from(complete && calls > 0));
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
    // Otherwise nothing was put to the test.
    assert!(telling.get() * 100 > all.get(), "{} of {}", telling.get(), all.get());
}

#[test]
fn no_text_is_too_much() {
    let sandbox = Sandbox::new();
    for part in [
        "((((",
        "$(",
        "`",
        "\"$(",
        "{ ",
        "bash -c '",
        "env ",
        "eval ",
        "<<E\n",
        "if ",
        "a;",
        "[[ ",
        "a | ",
        "' \"",
        "f() { ",
    ] {
        let command = part.repeat((1 << 20) / part.len());
        assert!(!sandbox.found(&command).complete, "{part}");
        let shorter = part.repeat(20_000 / part.len());
        let intent = sandbox.found(&shorter);
        assert!(intent.commands.len() <= super::MAX_COMMANDS * super::MAX_NESTING, "{part}");
    }
    let nested = (0..200).fold("alpha".to_owned(), |text, _| format!("env {text}"));
    assert!(!sandbox.found(&nested).complete);
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>(), bits in soup(), letters in "[a-z $`'\"\\\\(){}<>|&;\n#*!=-]{0,80}") {
        let sandbox = Workspace::open(Path::new("/")).unwrap();
        for command in [text, bits, letters] {
            inspect(&sandbox, &BashInput { command, description: None, working_dir: None, timeout: None });
        }
    }
}
