//! Commands that are really run.

use std::fs;
use std::time::Duration;

use hostler_core::content::ToolStatus;
use rustix::process::{Pid, test_kill_process};
use tokio::sync::mpsc;

use super::*;
use crate::tools::control::Progress;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(directory.path()).unwrap();
    (directory, workspace)
}

fn input(command: &str) -> BashInput {
    BashInput { command: command.into(), description: None, working_dir: None, timeout: None }
}

async fn check(command: &str, status: ToolStatus, text: &str) {
    let (_directory, workspace) = workspace();
    let outcome = bash(&workspace, &input(command), Control::alone()).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (status, text), "{command}");
}

#[tokio::test]
async fn what_is_printed_and_how_it_ended_is_told() {
    use ToolStatus::{Error, Ok};
    check("echo one; echo two >&2; echo three", Ok, "one\ntwo\nthree").await;
    check("true", Ok, "[no output]").await;
    check("exit 3", Error, "[no output]\n[exit code 3]").await;
    check("echo a; false", Error, "a\n[exit code 1]").await;
    check("kill -9 $$", Error, "[no output]\n[killed by signal 9]").await;
    check("cat; echo end", Ok, "end").await;
    check("-no-such-command-", Error, "bash: line 1: -no-such-command-: command not found\n[exit code 127]")
        .await;
    check("printf 'a\\377b'", Ok, "a\u{fffd}b").await;
    check("echo $TERM $PAGER $GIT_EDITOR $HOSTLER $AGENT", Ok, "dumb cat false 1 hostler").await;
    check("printf '%040000d' 0 | tail -c 30001", Ok, &{
        let half = "0".repeat(15_000);
        format!("{half}\n[... 1 characters left out here ...]\n{half}")
    })
    .await;
}

#[tokio::test]
async fn it_runs_where_it_is_told_to() {
    let (_directory, workspace) = workspace();
    fs::create_dir(workspace.root().join("sub")).unwrap();
    for (working_dir, expected) in [
        (None, workspace.root().display().to_string()),
        (Some("sub"), workspace.root().join("sub").display().to_string()),
        (Some("none"), "There is no none; use glob or ls to find it.".to_owned()),
    ] {
        let input = BashInput { working_dir: working_dir.map(str::to_owned), ..input("pwd -P") };
        assert_eq!(bash(&workspace, &input, Control::alone()).await.text, expected);
    }
}

#[tokio::test]
async fn a_background_child_neither_holds_the_call_nor_outlives_it() {
    let (_directory, workspace) = workspace();
    let outcome = bash(&workspace, &input("sleep 1000 & echo $!"), Control::alone()).await;
    gone(outcome.text.trim()).await;
}

#[tokio::test]
async fn time_runs_out() {
    let (_directory, workspace) = workspace();
    let input = BashInput { timeout: Some(1), ..input("echo begun; sleep 1000") };
    let outcome = bash(&workspace, &input, Control::alone()).await;
    assert_eq!(outcome.status, ToolStatus::Error);
    assert!(outcome.text.ends_with("\n[timed out after 1 s]"), "{}", outcome.text);
    assert!(outcome.metadata.unwrap_or_default().contains("\"timed_out\":true"));
}

/// Runs a command until it has printed its first line, cancels it, and returns that line and the outcome.
async fn cancel(command: &str) -> (String, ToolOutcome) {
    let (_directory, workspace) = workspace();
    let (sender, mut pieces) = mpsc::channel(64);
    let (canceller, control) = Control::new(Progress::to(sender));
    let when_begun = async {
        let first = pieces.recv().await.unwrap_or_default();
        canceller.cancel();
        first
    };
    let input = input(command);
    tokio::join!(when_begun, bash(&workspace, &input, control))
}

#[tokio::test]
async fn a_cancelled_command_ends_with_what_it_has_printed() {
    let (_, outcome) = cancel("trap 'echo cleaned; exit 1' TERM; echo begun; while :; do :; done").await;
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    assert_eq!(outcome.text, "begun\ncleaned\n[cancelled]");
}

#[tokio::test]
async fn a_command_that_does_not_listen_is_killed() {
    let (first, outcome) = cancel("trap '' TERM; echo $$; sleep 1000").await;
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    gone(first.trim()).await;
}

#[tokio::test]
async fn a_dropped_call_kills_its_command() {
    let (_directory, workspace) = workspace();
    let (sender, mut pieces) = mpsc::channel(64);
    let (_canceller, control) = Control::new(Progress::to(sender));
    let input = input("echo $$; sleep 1000");
    let id = tokio::select! {
        _ = bash(&workspace, &input, control) => String::new(),
        piece = pieces.recv() => piece.unwrap_or_default(),
    };
    gone(id.trim()).await;
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_does_nothing() {
    let (_directory, workspace) = workspace();
    let (canceller, control) = Control::new(Progress::nowhere());
    canceller.cancel();
    let outcome = bash(&workspace, &input("touch made"), control).await;
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    assert!(!workspace.root().join("made").exists());
}

/// Waits until a process is gone or a zombie that its parent has yet to see.
async fn gone(id: &str) {
    let id: i32 = id.parse().unwrap_or_else(|_| panic!("{id:?} is no process id"));
    let pid = Pid::from_raw(id).unwrap();
    let dead = || test_kill_process(pid).is_err() || is_zombie(id);
    let poll = async {
        while !dead() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), poll).await.expect("the process lives on");
}

fn is_zombie(id: i32) -> bool {
    let ps = std::process::Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output();
    ps.is_ok_and(|ps| ps.stdout.first() == Some(&b'Z'))
}
