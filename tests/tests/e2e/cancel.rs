//! A signal ends a run, whatever it is doing: it settles, says so, and leaves a session that can be gone on with.

use std::process::Command;
use std::time::{Duration, Instant};

use hostler_tests::harness::{Finished, Home, Running, Signal, wait_until};
use hostler_tests::strict::{Answer, Gate, Script, StrictProvider};
use serde_json::{Value, json};

use crate::{PATIENCE, home};

pub(crate) const SIGNALS: [(Signal, &str); 3] =
    [(Signal::Interrupt, "sigint"), (Signal::Terminate, "sigterm"), (Signal::Hangup, "sighup")];

/// The contract promises an end within 5 s; a busy machine is given three times that.
const BOUND: Duration = Duration::from_secs(15);

/// Sends a signal and expects the end that it asks for.
#[track_caller]
pub(crate) fn ends(run: Running<'_>, (signal, reason): (Signal, &str)) -> Finished {
    let sent = Instant::now();
    run.signal(signal);
    let run = run.finish().expect_code(signal.code());
    assert!(sent.elapsed() < BOUND, "it took {:?}", sent.elapsed());
    assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("cancelled"), &json!(reason)));
    run
}

/// The next run of the session is accepted; returns what the provider was sent.
pub(crate) fn goes_on(home: &Home) -> Vec<Value> {
    let provider = StrictProvider::start(Answer::say("Still here."));
    home.run(&provider, ["--continue", "Are you there?"]).finish().expect_code(0);
    provider.completions()[0].messages().to_vec()
}

pub(crate) fn contents(messages: &[Value]) -> String {
    messages
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn while_it_waits_for_the_provider() {
    for signal in SIGNALS {
        let (home, provider) = (home(), StrictProvider::start(Answer::new().stall_headers()));
        let run = home.run(&provider, ["Hi"]).start();
        assert!(provider.wait_for_requests(1, PATIENCE));
        let run = ends(run, signal);
        assert!(provider.wait_for_hang_ups(1, PATIENCE), "the request is given up");
        assert_eq!(run.last()["answer"], Value::Null);
        assert!(contents(&goes_on(&home)).contains("The user cancelled this turn"));
    }
}

#[test]
fn while_its_run_is_prepared() {
    for signal in SIGNALS {
        let home = home();
        let pipe = home.work().join("scenario");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let model = format!("rehearsal:{}", pipe.display());
        let run = home.hostler(["run", "--format", "jsonl", "--model", &model, "Hi"]).start();
        // The run exists once its prompt is accepted, and its scenario is waited for as long as nobody writes it.
        wait_until("the prompt is accepted", || {
            home.hostler(["sessions", "list", "--json"]).finish().out.lines().count() == 1
        });
        let run = ends(run, signal);
        assert_eq!((&run.last()["steps"], &run.last()["attempts"]), (&json!(0), &json!(0)));
        assert!(run.lines().first("prompt.started").is_some(), "what was accepted is in the session");
        assert!(contents(&goes_on(&home)).contains("Hi"));
    }
}

#[test]
fn while_the_conversation_is_summed_up() {
    for signal in SIGNALS {
        let answers = [
            Answer::say("I look.").call("c1", "ls", json!({})),
            Answer::context_exceeded(),
            Answer::say("So far").stall(),
            Answer::say("never"),
        ];
        let (home, provider) = (home(), StrictProvider::start(answers));
        let run = home.run(&provider, ["Hi"]).start();
        run.wait_for_line("summary.started");
        assert!(provider.wait_for_requests(3, PATIENCE));
        let run = ends(run, signal);
        assert!(provider.wait_for_hang_ups(1, PATIENCE), "the request is given up");
        assert_eq!((&run.last()["answer"], provider.remaining()), (&json!("I look."), 1));
        assert!(run.lines().first("summary.finished").is_none());
        let sent = contents(&goes_on(&home));
        assert!(
            sent.contains("I look.") && !sent.contains("So far"),
            "half a summary stands for nothing: {sent}"
        );
    }
}

#[test]
fn in_the_middle_of_an_answer() {
    for signal in SIGNALS {
        let (home, provider) = (home(), StrictProvider::start(Answer::say("Once upon").stall()));
        let run = home.run(&provider, ["Hi"]).start();
        run.wait_for_line("text.delta");
        let run = ends(run, signal);
        assert!(provider.wait_for_hang_ups(1, PATIENCE), "the answer is given up");
        assert_eq!(run.last()["answer"], "Once upon", "what was said is kept");
        assert!(contents(&goes_on(&home)).contains("Once upon"));
    }
}

/// Begins a run whose model runs that command, and waits until the command has made a file.
fn in_a_command<'a>(home: &'a Home, provider: &'a StrictProvider) -> Running<'a> {
    let run = home.run(provider, ["--yolo", "Hi"]).start();
    home.wait_for_file("begun");
    run
}

fn commands(command: &str) -> StrictProvider {
    let answer = Answer::new().call("c1", "bash", json!({"command": command})).call(
        "c2",
        "bash",
        json!({"command": "touch never"}),
    );
    StrictProvider::start([answer, Answer::say("never")])
}

#[test]
fn while_a_command_runs() {
    for signal in SIGNALS {
        let provider = commands("sleep 1000 & (sleep 1000; :) & echo x > begun; sleep 1000");
        let home = home();
        let run = ends(in_a_command(&home, &provider), signal);
        // That none of its processes is left is checked of every run.
        assert_eq!((&run.last()["tools"]["cancelled"], provider.remaining()), (&json!(2), 1));
        assert!(!home.has("never"));
        let sent = goes_on(&home);
        let results: Vec<_> = sent.iter().filter(|message| message["role"] == "tool").collect();
        assert_eq!(results.len(), 2);
        assert!(
            contents(&sent).contains("[cancelled]") && contents(&sent).contains("nothing was done"),
            "{sent:#?}"
        );
    }
}

#[test]
fn while_a_command_runs_that_does_not_want_to_end() {
    let provider = commands("trap '' TERM INT HUP; echo x > begun; while :; do sleep 0.05; done");
    let home = home();
    let run = ends(in_a_command(&home, &provider), SIGNALS[0]);
    assert_eq!(run.last()["tools"]["cancelled"], 2);
    goes_on(&home);
}

#[test]
fn while_it_waits_to_try_again() {
    for signal in SIGNALS {
        let answer = Answer::rate_limited("50").header("retry-after-ms", "50000");
        let (home, provider) = (home(), StrictProvider::start([answer, Answer::say("never")]));
        let run = home.run(&provider, ["Hi"]).start();
        run.wait_for_line("retry");
        let run = ends(run, signal);
        assert_eq!((&run.last()["attempts"], provider.remaining()), (&json!(1), 1));
        goes_on(&home);
    }
}

#[test]
fn while_it_waits_for_its_session() {
    for signal in SIGNALS {
        let (home, gate) = (home(), Gate::new());
        let provider = StrictProvider::start(Answer::say("Mine.").gate(&gate));
        let holder = home.run(&provider, ["Hi"]).start();
        assert!(gate.wait_reached(PATIENCE));
        let waiter = home.run(&provider, ["--continue", "Me too."]).start();
        waiter.wait_for_line("prompt.queued");
        let waiter = ends(waiter, signal);
        assert_eq!(waiter.last()["steps"], 0);
        gate.open();
        assert_eq!(holder.finish().expect_code(0).last()["answer"], "Mine.");
        let sent = goes_on(&home);
        assert!(!contents(&sent).contains("Me too."), "what was never accepted is not in the session");
    }
}

#[test]
fn time_that_is_over_ends_it_as_a_signal_does() {
    let provider = commands("echo x > begun; sleep 1000");
    let home = home();
    let run = home.run(&provider, ["--yolo", "--timeout", "500ms", "Hi"]).finish().expect_code(4);
    assert_eq!((&run.last()["status"], &run.last()["reason"]), (&json!("limit"), &json!("timeout")));
    assert!(run.last()["message"].as_str().unwrap().contains("--timeout"));
    goes_on(&home);
}

#[test]
fn at_any_moment_of_a_run_that_works() {
    let mut answered = 0;
    let script = Script::each(move |_| {
        answered += 1;
        Answer::say("Again.").call(&format!("c{answered}"), "bash", json!({"command": "true"}))
    });
    let (home, provider) = (home(), StrictProvider::start(script));
    for requests in 1..=8 {
        let before = provider.requests().len();
        let run = home.run(&provider, ["--yolo", "--continue", "Hi"]).start();
        assert!(provider.wait_for_requests(before + requests, PATIENCE));
        ends(run, SIGNALS[requests % 3]);
    }
    goes_on(&home);
}
