//! Signals that come again or are ignored, and readers that go away or read nothing.

use std::time::{Duration, Instant};

use hostler_tests::harness::{Finished, Home, Signal, wait_until};
use hostler_tests::strict::{Answer, Gate, StrictProvider};
use serde_json::json;

use crate::{PATIENCE, home};

/// How the log says that the run of that output ended.
fn recorded(home: &Home, run: &Finished) -> String {
    home.hostler(["runs", "show", &run.lines().run()]).finish().expect_code(0).out
}

fn goes_on(home: &Home) {
    let provider = StrictProvider::start(Answer::say("Still here."));
    home.run(&provider, ["--continue", "Are you there?"]).finish().expect_code(0);
}

#[test]
fn the_second_interrupt_waits_for_nothing() {
    let stubborn = "trap '' TERM INT HUP; echo x > begun; while :; do sleep 0.05; done";
    for first in [Signal::Interrupt, Signal::Terminate] {
        let home = home();
        let calls = Answer::calling("c1", "bash", json!({"command": stubborn}));
        let provider = StrictProvider::start(calls.call("c2", "bash", json!({"command": "true"})));
        let run = home.run(&provider, ["--yolo", "Hi"]).abandoned().start();
        home.wait_for_file("begun");
        run.signal(first);
        // The call that has not begun ends at once; the other one is given time.
        run.wait_for_line("tool.finished");
        run.signal(Signal::Interrupt);
        let run = run.finish().expect_code(first.code());
        assert_eq!(run.last()["status"], "cancelled");
        assert_eq!(run.lines().of("tool.finished").len(), 1, "the command was not waited for");
        assert!(recorded(&home, &run).contains("interrupted"), "it could not settle");
        goes_on(&home);
        assert!(recorded(&home, &run).contains("error (interrupted, exit code 1)"));
    }
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    for signal in [Signal::Interrupt, Signal::Terminate, Signal::Hangup] {
        let gate = Gate::new();
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hel").gate(&gate).text("lo.")));
        let run = home.run(&provider, ["Hi"]).ignoring(signal).start();
        run.wait_for_line("text.delta");
        run.signal(signal);
        gate.open();
        assert_eq!(run.finish().expect_code(0).last()["answer"], "Hello.");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let endless = Answer::new().repeat(60_000, "x").gap(Duration::from_millis(1));
    let (home, provider) = (home(), StrictProvider::start(endless));
    // So much is printed only once the answer has begun.
    let run = home.run(&provider, ["Hi"]).reader_leaves_after(1_500).finish();
    assert_eq!(run.code, Some(141), "{}", run.err);
    assert!(provider.wait_for_hang_ups(1, PATIENCE), "the answer is given up");
    assert!(
        recorded(&home, &run).contains("cancelled (output_closed, exit code 141)"),
        "{}",
        recorded(&home, &run)
    );
    goes_on(&home);
}

#[test]
fn a_reader_that_is_gone_when_the_answer_comes_is_noticed() {
    for format in ["text", "json", "jsonl"] {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
        let run = home.run_text(&provider, ["--format", format, "Hi"]).reader_leaves_after(0).finish();
        assert_eq!(run.code, Some(141), "{format}: {}", run.err);
        goes_on(&home);
    }
}

/// What a run has to say to a reader that reads nothing, more than any pipe takes; the lines are short or long.
fn talks(lines: &str, gate: &Gate) -> StrictProvider {
    let look = |answer: Answer, n: usize| match lines {
        "short" => answer.call(&format!("c{n}"), "ls", json!({})),
        _ => answer.call(&format!("c{n}"), "view", json!({"file_path": "long", "offset": n + 1})),
    };
    StrictProvider::start([(0..400).fold(Answer::new(), look), Answer::say("Done.").gate(gate)])
}

#[test]
fn a_reader_that_reads_nothing_does_not_outlast_a_signal_and_gets_whole_lines() {
    for lines in ["short", "long"] {
        let (home, gate) = (home(), Gate::new());
        home.write("long", &"A line of a text that is long.\n".repeat(1_000));
        let provider = talks(lines, &gate);
        let run = home.run(&provider, ["Hi"]).reader_sleeps().start();
        assert!(gate.wait_reached(PATIENCE), "the run goes on for as long as what it says can be kept");
        run.signal(Signal::Terminate);
        let run = run.finish_unread();
        assert_eq!(run.code, Some(143), "{}", run.err);
        goes_on(&home);
    }
}

#[test]
fn a_reader_that_reads_nothing_does_not_hold_up_a_second_interrupt() {
    let (home, gate) = (home(), Gate::new());
    let provider = talks("short", &gate);
    let run = home.run(&provider, ["Hi"]).reader_sleeps().start();
    assert!(gate.wait_reached(PATIENCE));
    let sent = Instant::now();
    run.signal(Signal::Interrupt);
    // Once the first one is settled, only the reader is waited for.
    wait_until("the run is recorded", || {
        home.hostler(["runs", "list", "--json"]).finish().out.contains("\"sigint\"")
    });
    run.signal(Signal::Interrupt);
    let run = run.finish_unread();
    assert_eq!(run.code, Some(130), "{}", run.err);
    assert!(sent.elapsed() < Duration::from_secs(4), "it took {:?}", sent.elapsed());
    goes_on(&home);
}

#[test]
fn a_reader_that_is_slow_gets_everything() {
    let line = "0123456789abcde\n".repeat(1024);
    for format in ["text", "json", "jsonl"] {
        let (home, provider) = (home(), StrictProvider::start(Answer::new().repeat(100, &line)));
        let mut run = home.run_text(&provider, ["--format", format, "Hi"]).reader_sleeps().start();
        // The run is over long before anything of that size is read.
        wait_until("the run is recorded", || {
            home.hostler(["runs", "list", "--json"]).finish().out.contains("\"completed\"")
        });
        run.reader_wakes();
        let run = run.finish().expect_code(0);
        match format {
            "text" => assert_eq!(run.out, line.repeat(100)),
            _ => assert_eq!(run.last()["answer"], line.repeat(100)),
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_noticed_while_nothing_is_said() {
    for words in [&[][..], &["--live"], &["--format", "json"], &["--format", "jsonl"]] {
        let (home, provider) = (home(), StrictProvider::start(Answer::new().stall_headers()));
        let mut run = home.run_text(&provider, ["Hi"]).words(words.iter().copied()).start();
        assert!(provider.wait_for_requests(1, PATIENCE));
        run.reader_leaves();
        assert!(provider.wait_for_hang_ups(1, PATIENCE), "{words:?}: nobody waits for the answer");
        run.finish().expect_code(141);
        goes_on(&home);
    }
}
