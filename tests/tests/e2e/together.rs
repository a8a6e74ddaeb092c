//! Many runs at once, in one directory and in one session.

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, Gate, Recorded, Script, StrictProvider};
use serde_json::{Value, json};

use crate::{PATIENCE, home};

fn sessions(home: &Home) -> Vec<Value> {
    let listed = home.hostler(["sessions", "list", "--json"]).finish().expect_code(0).out;
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The prompts and answers of a session, in order.
fn said(home: &Home, session: &str) -> Vec<String> {
    let shown = home.hostler(["sessions", "show", session, "--json"]).finish().expect_code(0).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let text = |message: &Value| {
        let body = &message["message"]["body"];
        let said = body["User"]["text"].as_str().or_else(|| body["Assistant"]["blocks"][0]["Text"].as_str());
        said.unwrap_or_else(|| panic!("nothing is said in {message}")).to_owned()
    };
    shown["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn fifty_in_one_directory_work_at_the_same_time() {
    const COUNT: usize = 50;
    let gate = Gate::new();
    let held = gate.clone();
    let script = Script::each(move |request: &Recorded| {
        let prompt = request.last_user_text();
        match request.tool_results().len() {
            0 => Answer::calling("c1", "bash", json!({"command": format!("echo {prompt} >> told")})),
            _ => Answer::new().gate(&held).text(&format!("Answer to {prompt}.")),
        }
    });
    let (home, provider) = (home(), StrictProvider::start(script));
    let runs: Vec<_> =
        (0..COUNT).map(|n| home.run(&provider, ["--yolo", &format!("prompt{n}")]).start()).collect();
    assert!(gate.wait_reached_by(COUNT, PATIENCE), "all of them are answered at the same time");
    gate.open();
    let mut found: Vec<String> = Vec::new();
    for (n, run) in runs.into_iter().enumerate() {
        let run = run.finish().expect_code(0);
        assert_eq!(run.last()["answer"], format!("Answer to prompt{n}."));
        found.push(run.lines().session());
    }
    let mut listed: Vec<_> =
        sessions(&home).iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect();
    listed.sort();
    found.sort();
    assert_eq!(listed, found);
    found.dedup();
    assert_eq!((found.len(), home.read("told").lines().count()), (COUNT, COUNT));
}

#[test]
fn two_in_one_session_take_turns() {
    let gate = Gate::new();
    let provider = StrictProvider::start([Answer::say("one").gate(&gate), Answer::say("two")]);
    let home = home();
    let first = home.run(&provider, ["first"]).start();
    let session = first.wait_for_line("prompt.started")["session"].as_str().unwrap().to_owned();
    assert!(gate.wait_reached(PATIENCE));
    let second = home.run(&provider, ["--session", &session, "second"]).start();
    let queued = second.wait_for_line("prompt.queued");
    assert_eq!(queued["holder"]["pid"], first.id());
    assert_eq!(provider.completions().len(), 1, "the second has not asked");
    gate.open();
    assert_eq!(first.finish().expect_code(0).last()["answer"], "one");
    assert_eq!(second.finish().expect_code(0).last()["answer"], "two");
    assert_eq!(said(&home, &session), ["first", "one", "second", "two"]);
}

#[test]
fn many_in_one_session_take_turns() {
    let home = home();
    let provider = StrictProvider::start(Script::each(|request| {
        Answer::say(&format!("to {}", request.last_user_text()))
    }));
    let session = home.run(&provider, ["begin"]).finish().expect_code(0).lines().session();
    let go_on = |n: usize| home.run(&provider, ["--session", &session, &format!("prompt{n}")]).start();
    let runs: Vec<_> = (0..8).map(go_on).collect();
    for run in runs {
        run.finish().expect_code(0);
    }
    let said = said(&home, &session);
    assert_eq!(said.len(), 18);
    for pair in said.chunks(2) {
        assert_eq!(pair[1], format!("to {}", pair[0]), "each prompt is followed by its answer");
    }
    let last = provider.completions().pop().unwrap();
    assert_eq!(last.messages().len(), 18, "the last has heard all the others");
}

#[test]
fn a_run_can_be_watched_from_outside() {
    let gate = Gate::new();
    let (home, provider) = (home(), StrictProvider::start(Answer::say("one").gate(&gate)));
    let run = home.run(&provider, ["first"]).start();
    let started = run.wait_for_line("text.delta");
    let running = format!("running in process {}", run.id());
    for words in [&["sessions", "list"][..], &["runs", "show", started["run"].as_str().unwrap()]] {
        let shown = home.hostler(words.to_vec()).finish().expect_code(0).out;
        assert!(shown.contains(&running), "{shown}");
    }
    let shown =
        home.hostler(["sessions", "show", started["session"].as_str().unwrap()]).finish().expect_code(0).out;
    assert!(shown.contains("first"), "{shown}");
    gate.open();
    run.finish().expect_code(0);
    assert!(!home.hostler(["sessions", "list"]).finish().expect_code(0).out.contains("running"));
}

#[test]
fn whoever_waits_for_a_session_gets_it_when_its_holder_is_killed() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start([Answer::say("Once").gate(&gate), Answer::say("Mine now.")]);
    let holder = home.run(&provider, ["first"]).start();
    holder.wait_for_line("text.delta");
    let waiter = home.run(&provider, ["--continue", "second"]).start();
    waiter.wait_for_line("prompt.queued");
    let killed = holder.kill();
    assert_eq!(killed.signal, Some(9));
    assert_eq!(waiter.finish().expect_code(0).last()["answer"], "Mine now.");
    let shown = home.hostler(["runs", "show", &killed.lines().run()]).finish().expect_code(0).out;
    assert!(shown.contains("error (interrupted, exit code 1)"), "{shown}");
}
