//! Log files and what `--verbose` shows: what they tell, what they never tell, and that they are never in the way.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use hostler_tests::harness::{Home, Hostler, Signal};
use hostler_tests::strict::{Answer, Gate, Recorded, Script, StrictProvider};
use serde_json::{Value, json};

use crate::{PATIENCE, home};

/// What is said and done in these runs and is no business of any log.
const TEXTS: [&str; 5] =
    ["the-prompt-is", "the-answer-is", "the-argument-is", "the-output-is", "the-file-has"];

fn directory(home: &Home) -> PathBuf {
    home.state().join("hostler/logs")
}

/// All log files in their order.
fn files(home: &Home) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(directory(home)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn logged(home: &Home) -> String {
    files(home).iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Answers with a command and a look at a file, and then with words.
fn working() -> Script {
    Script::each(|request: &Recorded| {
        let command = json!({"command": "echo the-argument-is; printf 'the-output%s' -is"});
        match request.tool_results().len() {
            0 => Answer::calling("c1", "bash", command).call("c2", "view", json!({"file_path": "a.txt"})),
            _ => Answer::say("the-answer-is 42"),
        }
    })
}

fn at_work<'a>(home: &'a Home, provider: &'a StrictProvider) -> Hostler<'a> {
    home.write("a.txt", "the-file-has this\n");
    home.run(provider, ["--yolo", "the-prompt-is long"]).variable("HOSTLER_LOG", "trace")
}

#[test]
fn a_run_tells_what_it_did_and_nothing_of_what_was_said() {
    let (home, provider) = (home(), StrictProvider::start(working()));
    let run = at_work(&home, &provider).finish().expect_code(0);
    let text = logged(&home);
    let id = run.lines().run();
    let address = provider.address().to_string();
    for told in [
        "said=\"run prompt model yolo format\"",
        "a configuration file is read",
        "a prompt is accepted",
        &format!("host={address} status=200"),
        "model=openai/strict-1",
        "tool=bash status=Ok bytes=",
        "records are committed records=",
        &format!("run={id} status=Ok"),
        "the run is over for its client code=0",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    for secret in TEXTS {
        assert!(!text.contains(secret) && !run.err.contains(secret), "{secret}");
    }
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory(&home)), mode(&files(&home)[0])), (0o700, 0o600));
}

#[test]
fn what_is_kept_is_its_owners_alone_whatever_the_umask() {
    let (home, provider) = (
        home(),
        StrictProvider::start([
            Answer::calling("c1", "bash", json!({"command": "seq 1 200000"})),
            Answer::say("Done."),
        ]),
    );
    let open = r#"umask 000; exec "$0" "$@""#;
    home.run(&provider, ["--yolo", "Go."]).through_shell(open).finish().expect_code(0);
    fs::create_dir_all(home.work().join(".hostler")).unwrap();
    home.write(".hostler/config.json", "{}");
    home.hostler(["trust", "."]).through_shell(open).finish().expect_code(0);
    fs::remove_dir_all(home.configuration().parent().unwrap()).unwrap();
    home.hostler(["config", "set", "model", "a/b"]).through_shell(open).finish().expect_code(0);
    let mut waiting = vec![home.state().join("hostler"), home.configuration().parent().unwrap().to_owned()];
    let mut seen = Vec::new();
    while let Some(path) = waiting.pop() {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{path:?}: {mode:o}");
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen.push(path.display().to_string());
    }
    for part in ["hostler.db", "/flight/", "/output/", "/logs/", "trusted.json", "config.json"] {
        assert!(seen.iter().any(|path| path.contains(part)), "{part}: {seen:?}");
    }
}

#[test]
fn whoever_wants_to_watch_sees_it_on_standard_error_and_standard_output_stays_as_it_is() {
    for (words, shows, hides) in [
        (&["-q"][..], "", "a model is asked"),
        (&["-q", "-v"], "a model is asked", "records are committed"),
        (&["-q", "-vv"], "records are committed", "a model says something"),
        (&["-q", "-v", "--verbose", "-v"], "a model says something", "the-answer-is"),
    ] {
        let (home, provider) = (home(), StrictProvider::start(working()));
        home.write("a.txt", "the-file-has this\n");
        let run = home.run_text(&provider, ["--yolo", "the-prompt-is long"]).words(words.to_vec()).finish();
        let run = run.expect_code(0);
        assert_eq!(run.out, "the-answer-is 42\n", "{words:?}");
        assert!(run.err.contains(shows) && !run.err.contains(hides), "{words:?}: {}", run.err);
        assert!(run.err.lines().all(|line| line.starts_with("hostler: ")), "{}", run.err);
        assert!(!run.err.contains(|char: char| char.is_control() && char != '\n'), "{:?}", run.err);
        assert!(!logged(&home).contains("records are committed"), "files have their own level");
    }
}

/// The lines of a run without ids and times, adjacent deltas joined.
fn masked(out: &str, home: &Home) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    for line in out.replace(&home.root().display().to_string(), "ROOT").lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for changing in ["ts", "run", "session", "cursor", "last_cursor", "seq", "duration_ms", "cwd"] {
            line.as_object_mut().unwrap().remove(changing);
        }
        match lines.last_mut() {
            Some(last) if last["type"] == "text.delta" && line["type"] == "text.delta" => {
                let joined = format!("{}{}", last["text"].as_str().unwrap(), line["text"].as_str().unwrap());
                last["text"] = joined.into();
            }
            _ => lines.push(line),
        }
    }
    lines
}

#[test]
fn a_run_prints_the_same_however_much_is_logged() {
    let long = "0123456789".repeat(300);
    let script = || {
        let long = long.clone();
        Script::each(move |request: &Recorded| match request.tool_results().len() {
            0 => Answer::calling("c1", "ls", json!({})),
            _ => Answer::new().text_in(&long, 1),
        })
    };
    let print = |levels: &str, words: &[&str]| {
        let (home, provider) = (home(), StrictProvider::start(script()));
        let run = home.run(&provider, ["Go."]).words(words.to_vec()).variable("HOSTLER_LOG", levels).finish();
        masked(&run.expect_code(0).out, &home)
    };
    let plain = print("off", &[]);
    assert_eq!(plain.last().unwrap()["answer"], long);
    assert_eq!(print("trace", &[]), plain);
    assert_eq!(print("trace", &["-vvv"]), plain);
}

/// Who may have a secret: the place that it was put in.
fn secret_is_nowhere_else(home: &Home, secret: &str, place: Option<PathBuf>) {
    let mut waiting = vec![home.root()];
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if Some(&path) == place.as_ref() => {}
            Err(_) => {
                let content = fs::read(&path).unwrap();
                seen += 1;
                assert!(!content.windows(secret.len()).any(|part| part == secret.as_bytes()), "{path:?}");
            }
        }
    }
    assert!(seen > 2, "there is a log, a flight record and a log file");
}

#[test]
fn no_key_is_logged_wherever_it_comes_from_and_whatever_becomes_of_it() {
    const SECRET: &str = "sk-4711-that-nobody-may-see";
    for refused in [false, true] {
        for source in ["variable", "key", "key_file", "key_command", "headers"] {
            let accepted = if refused || source == "headers" { "another" } else { SECRET };
            let provider = StrictProvider::start(Script::always(Answer::say("Hello.")).key(accepted));
            let (home, base) = (home(), provider.base_url());
            fs::write(home.root().join("key"), SECRET).unwrap();
            let file = home.root().join("key").display().to_string();
            let said = match source {
                "key" => format!(r#""key": "{SECRET}""#),
                "key_file" => format!(r#""key_file": "{file}""#),
                "key_command" => format!(r#""key_command": "cat {file}""#),
                "headers" if refused => format!(r#""key": "other", "headers": {{"x-secret": "{SECRET}"}}"#),
                "headers" => format!(r#""key": "another", "headers": {{"x-secret": "{SECRET}"}}"#),
                _ => String::new(),
            };
            let mine = if said.is_empty() {
                String::new()
            } else {
                format!(r#", "mine": {{"base_url": "{base}", {said}}}"#)
            };
            home.configure(&format!(r#"{{"providers": {{"openai": {{"base_url": "{base}"}}{mine}}}}}"#));
            let (model, code) = (
                if mine.is_empty() { "openai/strict-1" } else { "mine/strict-1" },
                if refused { 3 } else { 0 },
            );
            let run = home.hostler(["run", "--model", model, "--format", "jsonl", "-vvv", "Hi"]);
            let run = if mine.is_empty() { run.variable("OPENAI_API_KEY", SECRET) } else { run };
            let run = run.variable("HOSTLER_LOG", "trace").finish().expect_code(code);
            let looked = logged(&home);
            assert!(
                looked.contains("a key was looked for") && looked.contains("a provider answers"),
                "{source}"
            );
            assert!(
                !run.out.contains(SECRET) && !run.err.contains(SECRET),
                "{source}: {}{}",
                run.out,
                run.err
            );
            let place = match source {
                "key" | "headers" => home.configuration(),
                _ => home.root().join("key"),
            };
            fs::remove_file(home.root().join("key")).unwrap();
            secret_is_nowhere_else(&home, SECRET, Some(place));
        }
    }
}

#[test]
fn fifty_at_once_share_the_files_and_tear_no_line() {
    const COUNT: usize = 50;
    let (home, provider) =
        (home(), StrictProvider::start(Script::always(Answer::new().text_in("Hello.", 1))));
    let runs: Vec<_> =
        (0..COUNT).map(|_| home.run(&provider, ["Hi"]).variable("HOSTLER_LOG", "debug").start()).collect();
    let mut ids: Vec<_> = runs.iter().map(|run| run.id().to_string()).collect();
    runs.into_iter().for_each(|run| drop(run.finish().expect_code(0)));
    let text = logged(&home);
    let mut begun = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let whole = words.len() == 5
            && words[0].len() == 24
            && ids.iter().any(|id| id == words[1])
            && ["info", "debug", "warn"].contains(&words[2]);
        assert!(whole, "{line:?}");
        if line.contains("hostler begins") {
            begun.push(words[1].to_owned());
        }
    }
    ids.sort();
    begun.sort();
    assert_eq!(begun, ids);
}

#[test]
fn what_cannot_be_logged_is_not_and_the_run_goes_on() {
    type Block = (&'static str, fn(&Home));
    let blocked: [Block; 4] = [
        ("a file in the directory's place", |home| fs::write(directory(home), "").unwrap()),
        ("a disk that is full", |home| {
            fs::create_dir(directory(home)).unwrap();
            symlink("/dev/full", directory(home).join("hostler-000001.log")).unwrap();
        }),
        ("a link that leads to itself", |home| {
            symlink("logs", directory(home)).unwrap();
        }),
        ("a pipe that nobody reads", |home| {
            fs::create_dir(directory(home)).unwrap();
            let pipe = directory(home).join("hostler-000001.log");
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        }),
    ];
    for (what, block) in blocked {
        let (home, provider) = (home(), StrictProvider::start(working()));
        fs::create_dir_all(home.state().join("hostler")).unwrap();
        block(&home);
        let run = at_work(&home, &provider).words(["-q"]).finish();
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{what}");
        assert_eq!(run.last()["answer"], "the-answer-is 42", "{what}");
    }
}

#[test]
fn where_nothing_is_kept_or_wanted_there_are_no_log_files() {
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")));
    let check = |words: &[&str], levels: &str, code: i32| {
        let home = home();
        let run = home.hostler(words.to_vec()).provider(&provider).variable("HOSTLER_LOG", levels);
        let run = run.finish().expect_code(code);
        assert!(!directory(&home).exists(), "{words:?}");
        run.err
    };
    check(&["--version"], "trace", 0);
    check(&["--help"], "trace", 0);
    check(&["run", "--help"], "trace", 0);
    check(&["dirs"], "trace", 0);
    check(&["completions", "bash"], "trace", 0);
    check(&["schema", "run"], "trace", 0);
    check(&["run", "--model", "openai/strict-1", "--ephemeral", "Hi"], "trace", 0);
    check(&["run", "--model", "openai/strict-1", "Hi"], "off", 0);
    let wrong = check(&["run", "--model", "openai/strict-1", "Hi"], "info,h2=trace", 2);
    assert!(
        wrong.starts_with(
            "hostler: HOSTLER_LOG cannot be used: \"h2=trace\" is not a level of logging; write off,"
        ),
        "{wrong}"
    );
}

#[test]
fn signals_waits_and_recoveries_are_told() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start([Answer::say("Once").gate(&gate), Answer::say("Slow").stall()]);
    let killed = home.run(&provider, ["first"]).start();
    killed.wait_for_line("text.delta");
    let waiting = home.run(&provider, ["--continue", "second"]).start();
    waiting.wait_for_line("prompt.queued");
    let pid = killed.id();
    killed.kill();
    waiting.wait_for_line("text.delta");
    waiting.signal(Signal::Interrupt);
    waiting.finish().expect_code(130);
    assert!(gate.wait_reached(PATIENCE));
    let text = logged(&home);
    for told in [
        "which is waited for session=",
        &format!(" pid={pid}")[..],
        "the wait for a session is over",
        "a turn is recovered whose process has ended",
        "a signal came signal=Interrupt",
        "a cancel is accepted",
        "the run is over for its client code=130",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn a_directory_that_cannot_be_used_is_said_where_somebody_asks() {
    for (what, target) in [("is not a directory", None), ("is a link that leads nowhere", Some("nowhere"))] {
        let (home, provider) = (home(), StrictProvider::start(working()));
        fs::create_dir_all(home.state().join("hostler")).unwrap();
        match target {
            None => fs::write(directory(&home), "").unwrap(),
            Some(target) => symlink(target, directory(&home)).unwrap(),
        }
        let run = at_work(&home, &provider).words(["-v"]).finish().expect_code(0);
        assert_eq!(run.err.matches("no log files are written").count(), 1, "{}", run.err);
        assert!(run.err.contains(what), "{}", run.err);
        let checked = home.hostler(["doctor"]).finish().out;
        let line = checked.lines().find(|line| line.contains("  logging  ")).unwrap_or_default();
        assert!(line.starts_with("note ") && line.contains(what), "{checked}");
    }
}
