//! Commands that print what nobody can want to keep, or start what nobody waits for.

use serde_json::Value;

use crate::place::Place;

/// What is promised: whatever a command does, hostler itself never has more memory than this.
const MOST: u64 = 60_000_000;

/// Runs a command to its end and returns its result.
#[track_caller]
fn run(command: &str) -> Value {
    let place = Place::new();
    let mut run = place.start(&[command]);
    let result = run.result(1);
    let peak = run.peak();
    println!("{} MB at most, {} ms: {command}", peak / 1_000_000, result["duration_ms"]);
    assert!(peak < MOST, "{peak} bytes for {command}");
    result
}

#[track_caller]
fn check(command: &str, status: &str, output: &str) {
    let result = run(command);
    assert_eq!(
        (result["status"].as_str(), result["output"].as_str()),
        (Some(status), Some(output)),
        "{command}"
    );
}

/// The beginning, the end and the size of the gap are there.
#[track_caller]
fn cut(command: &str, begins: &str, gap: &str, ends: &str) {
    let result = run(command);
    let output = result["output"].as_str().unwrap();
    assert_eq!(result["status"], "ok");
    assert!(output.starts_with(begins) && output.ends_with(ends), "{command}");
    assert!(output.contains(&format!("[... {gap} characters left out here; ")), "{command}");
    assert!(
        output.contains(" of the output are in /") || output.contains(" of the output is in /"),
        "{command}"
    );
    assert!(output.len() < 130_000, "{} bytes", output.len());
}

#[test]
fn two_gigabytes() {
    cut("yes | head -c 2000000000; echo end", "y\ny\n", "1999970004", "y\nend");
}

#[test]
fn no_end_of_line() {
    cut("head -c 300000000 /dev/zero | tr '\\0' x; printf end", "xxx", "299970003", "xxend");
}

#[test]
fn no_utf8() {
    check("printf 'a\\377\\376b\\303'", "ok", "a\u{fffd}\u{fffd}b\u{fffd}");
    cut("head -c 100000000 /dev/zero | tr '\\0' '\\377'; echo end", "\u{fffd}", "99970004", "\u{fffd}end");
}

#[test]
fn standard_input_is_empty() {
    check("cat; read -r line; echo \"$? [$line]\"", "ok", "1 []");
}

#[test]
fn two_hundred_children_that_are_left_behind() {
    let place = Place::new();
    let command =
        "for i in $(seq 100); do sleep 1000 & (setsid sleep 1000 > /dev/null 2>&1 &); done; echo started";
    let mut run = place.start(&[command]);
    let result = run.result(1);
    assert_eq!((result["status"].as_str(), result["output"].as_str()), (Some("ok"), Some("started")));
    assert!(run.peak() < MOST);
    let left = place.left();
    assert_eq!(left.len(), 1, "the call has ended, so only hostler lives: {left:?}");
}
