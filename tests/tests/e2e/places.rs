//! Where a run works: anywhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hostler_tests::harness::{Finished, Hostler};
use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

use crate::home;

fn looking() -> StrictProvider {
    StrictProvider::start([Answer::calling("c1", "ls", json!({})), Answer::say("I have looked.")])
}

#[track_caller]
fn looked(run: Hostler<'_>) -> Finished {
    let run = run.finish().expect_code(0);
    assert_eq!(run.lines().tools(), [("ls".to_owned(), "ok".to_owned())]);
    run
}

#[test]
fn in_a_directory_that_is_empty_and_no_repository() {
    let (home, provider) = (home(), looking());
    looked(home.run(&provider, ["Hi"]));
    assert_eq!(fs::read_dir(home.work()).unwrap().count(), 0, "it leaves nothing there");
}

#[test]
fn in_a_repository_and_below_its_root() {
    let (home, provider) = (home(), looking());
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    home.write("sub/a.txt", "one\n");
    looked(home.run(&provider, ["Hi"]).directory(home.work().join("sub")));
}

#[test]
fn in_a_directory_that_cannot_be_written() {
    let (home, provider) = (home(), looking());
    home.write("a.txt", "one\n");
    let mode = |mode| fs::set_permissions(home.work(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    let run = home.run(&provider, ["Hi"]).finish();
    mode(0o755);
    assert_eq!(run.expect_code(0).last()["answer"], "I have looked.");
}

#[test]
fn in_a_directory_with_a_name_that_is_hard_to_write() {
    let (home, provider) = (home(), looking());
    let odd = home.work().join("a 'b' \"c\"\n$HOME ü 🐌");
    fs::create_dir(&odd).unwrap();
    looked(home.run(&provider, ["Hi"]).directory(odd));
}

/// State goes to a private directory among the temporary files, and that is said once.
#[track_caller]
fn falls_back(with: fn(Hostler<'_>) -> Hostler<'_>) {
    let (home, provider) = (home(), looking());
    let run = with(home.run(&provider, ["Hi"]).without("XDG_STATE_HOME")).finish().expect_code(0);
    let lines = run.lines();
    let warnings = lines.of("warning");
    let told =
        |text: &str| warnings.iter().filter(|line| line["message"].as_str().unwrap().contains(text)).count();
    // Without a home there is no configuration either, and so nothing is known of the model.
    assert_eq!((told("may not last"), told("are not known"), warnings.len()), (1, 1, 2), "{warnings:?}");
    assert_eq!(lines.kinds()[..2], ["run.started", "warning"]);
    let made: Vec<_> = fs::read_dir(home.root().join("tmp")).unwrap().flatten().collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let elsewhere = home.root().join("work/elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let first =
        with(home.run(&provider, ["--continue", "Hi"]).without("XDG_STATE_HOME")).directory(elsewhere);
    let first = first.finish().expect_code(2);
    assert!(
        first.last()["message"].as_str().unwrap().contains("no session to go on with"),
        "{}",
        first.last()
    );
    let provider = StrictProvider::start(Answer::say("Again."));
    let run = with(home.run_text(&provider, ["--continue", "Hi"]).without("XDG_STATE_HOME"))
        .finish()
        .expect_code(0);
    assert_eq!((run.out.as_str(), run.err.matches("may not last").count()), ("Again.\n", 1), "{}", run.err);
}

#[test]
fn without_a_home() {
    falls_back(|run| run.without("HOME"));
    falls_back(|run| run.variable("HOME", ""));
    falls_back(|run| run.variable("HOME", "/dev/null"));
}

#[test]
fn state_goes_below_the_home_unless_told_otherwise() {
    let (home, provider) = (home(), looking());
    looked(home.run(&provider, ["Hi"]).without("XDG_STATE_HOME"));
    assert!(home.root().join("home/.local/state/hostler/workspaces").is_dir());
    assert_eq!(fs::read_dir(home.state()).unwrap().count(), 0);
}

#[test]
fn in_a_directory_that_was_deleted() {
    let answers = [Answer::calling("c1", "ls", json!({})), Answer::say("It is gone.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    home.write("gone/a.txt", "");
    let gone = home.work().join("gone");
    let start = "rm -r ../gone; exec \"$0\" \"$@\"";
    let run = home.run(&provider, ["Hi"]).directory(&gone).variable("PWD", gone.to_str().unwrap());
    let run = run.through_shell(start).finish().expect_code(0);
    assert_eq!(run.lines().first("run.started").unwrap()["cwd"], gone.to_str().unwrap());
    assert_eq!(run.lines().tools(), [("ls".to_owned(), "error".to_owned())]);
    assert_eq!(run.last()["answer"], "It is gone.");
    assert!(!gone.exists());
}

/// Starts as somebody who may write nothing that is not theirs: whoever runs the tests, or nobody if that is root.
const HUMBLE: &str = r#"[ "$(id -u)" != 0 ] || exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@"
exec "$0" "$@""#;

/// Lets everybody read all below a directory, and its owner write there or not.
fn open_to_all(directory: &std::path::Path, writable: bool) {
    let mode = |path: &std::path::Path, mode: u32| {
        let mode = if writable { mode | 0o200 } else { mode };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    if writable {
        mode(directory, 0o555);
    }
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            open_to_all(&entry.path(), writable);
        } else {
            mode(&entry.path(), 0o444);
        }
    }
    mode(directory, 0o555);
}

#[test]
fn state_that_can_only_be_read_is_read_and_a_run_says_once_where_it_writes() {
    let (home, provider) = (home(), StrictProvider::start([Answer::say("Hello."), Answer::say("Again.")]));
    let session = home.run(&provider, ["Hi"]).finish().expect_code(0).lines().session();
    open_to_all(&home.root(), true);
    fs::set_permissions(home.root().join("tmp"), fs::Permissions::from_mode(0o777)).unwrap();
    open_to_all(&home.state(), false);
    let humble = |words: &[&str]| home.hostler(words.iter().copied()).through_shell(HUMBLE).finish();
    for words in
        [&["sessions", "list"][..], &["sessions", "show", &session], &["sessions", "export", &session]]
    {
        let shown = humble(words).expect_code(0);
        assert!(shown.out.contains("Hi") && shown.err.is_empty(), "{words:?}: {} {}", shown.out, shown.err);
    }
    assert!(humble(&["runs", "list"]).expect_code(0).out.contains("Hi"));
    let renamed = humble(&["sessions", "rename", &session, "Other"]).expect_code(1);
    assert!(renamed.err.contains("cannot be written to, so nothing in it can be changed"), "{}", renamed.err);
    let checked = humble(&["doctor"]);
    assert!(checked.out.contains("records, sound"), "{}", checked.out);
    let run = home.run_text(&provider, ["Hi"]).through_shell(HUMBLE).finish().expect_code(0);
    assert_eq!(
        (run.out.as_str(), run.err.matches("sessions are kept in").count()),
        ("Again.\n", 1),
        "{}",
        run.err
    );
    assert!(run.err.contains("those that are there can be listed and shown"), "{}", run.err);
    for words in [
        &["--continue"][..],
        &["--session", &session],
        &["--continue", "--fork"],
        &["--session", "zz", "--fork"],
    ] {
        let run =
            home.run(&provider, ["Hi"]).words(words.to_vec()).through_shell(HUMBLE).finish().expect_code(1);
        assert_eq!(run.last()["reason"], "storage", "{words:?}");
        let message = run.last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("cannot be written to, so none of them can be gone on with"), "{message}");
    }
    assert_eq!(provider.completions().len(), 2, "nothing is asked for what is out of reach");
    assert_eq!(humble(&["sessions", "list", "--json"]).expect_code(0).out.lines().count(), 1);
    open_to_all(&home.state(), true);
}

/// The log of the one workspace that there is, all of it in one file.
fn log_of(home: &hostler_tests::harness::Home) -> std::path::PathBuf {
    let workspaces = home.state().join("hostler/workspaces");
    let workspace = fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let log = workspace.join("hostler.db");
    for beside in ["-wal", "-shm"] {
        // They need not be there, and what they hold beside the first commit does not matter here.
        let _ = fs::remove_file(format!("{}{beside}", log.display()));
    }
    log
}

#[test]
fn a_log_of_a_newer_version_or_a_part_of_one_is_left_alone_and_named() {
    for (said, spoil) in [
        (
            "use a newer hostler",
            (|bytes: &mut Vec<u8>| bytes[60..64].copy_from_slice(&99_u32.to_be_bytes())) as fn(&mut Vec<u8>),
        ),
        ("is damaged", |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2)),
        ("is damaged", |bytes: &mut Vec<u8>| bytes[4_096..].fill(0xa5)),
    ] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
        home.run(&provider, ["Hi"]).finish().expect_code(0);
        let log = log_of(&home);
        let mut bytes = fs::read(&log).unwrap();
        spoil(&mut bytes);
        fs::write(&log, &bytes).unwrap();
        let run = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(1);
        assert_eq!((&run.last()["reason"], provider.completions().len()), (&json!("storage"), 1), "{said}");
        let listed = home.hostler(["sessions", "list"]).finish().expect_code(1);
        let checked = home.hostler(["doctor"]).finish().expect_code(1);
        for told in [run.last()["message"].as_str().unwrap(), &listed.err, &checked.out] {
            assert!(told.contains(said) && told.contains(log.to_str().unwrap()), "{said}: {told}");
        }
        assert_eq!(fs::read(&log).unwrap(), bytes, "{said}");
    }
}

#[test]
fn where_the_log_is_broken_it_says_so_and_changes_nothing() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    home.run(&provider, ["Hi"]).finish().expect_code(0);
    let workspace =
        fs::read_dir(home.state().join("hostler/workspaces")).unwrap().next().unwrap().unwrap().path();
    let is_log = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "db");
    let log = fs::read_dir(workspace).unwrap().map(|entry| entry.unwrap().path()).find(is_log).unwrap();
    for beside in ["-wal", "-shm"] {
        // They need not be there.
        let _ = fs::remove_file(format!("{}{beside}", log.display()));
    }
    let noise = "this is no log ".repeat(1_000);
    fs::write(&log, &noise).unwrap();
    let run = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(1);
    assert_eq!(run.last()["reason"], "storage");
    assert!(run.last()["message"].as_str().unwrap().contains(log.to_str().unwrap()), "{}", run.last());
    home.hostler(["sessions", "list"]).finish().expect_code(1);
    assert_eq!(fs::read_to_string(&log).unwrap(), noise);
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nobody_up() {
    for name in ["hostler.db", "hostler.db-wal", "hostler.db-journal", "rules.json"] {
        let (home, provider) = (home(), StrictProvider::start(Script::always(Answer::say("Hello."))));
        home.run(&provider, ["Hi"]).finish().expect_code(0);
        let odd = log_of(&home).with_file_name(name);
        let _ = fs::remove_file(&odd);
        assert!(std::process::Command::new("mkfifo").arg(&odd).status().unwrap().success());
        let run = home.run(&provider, ["--continue", "Hi"]).finish();
        let message = run.last()["message"].as_str().unwrap().to_owned();
        assert!(run.code != Some(0) && message.contains("not a regular file"), "{name}: {message}");
        assert!(message.contains(odd.to_str().unwrap()), "{name}: {message}");
        if name.starts_with("hostler") {
            let listed = home.hostler(["sessions", "list"]).finish().expect_code(1);
            let checked = home.hostler(["doctor"]).finish().expect_code(1);
            for told in [&listed.err, &checked.out] {
                assert!(told.contains(&format!("{} is not a regular file", odd.display())), "{name}: {told}");
            }
        }
    }
}
