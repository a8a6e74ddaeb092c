//! Sub-agents: what a run makes of what comes of them, and what it shows while they work.

use std::sync::{Arc, Mutex};

use hostler_tests::harness::{Finished, Home};
use hostler_tests::strict::{Answer, Gate, Recorded, Script, StrictProvider};
use serde_json::{Value, json};

use crate::{PATIENCE, home};

/// Whether it is a sub-agent that asks: only a run can have one of its own.
pub(crate) fn is_sub_agent(request: &Recorded) -> bool {
    !request.tool_names().contains(&"agent".to_owned())
}

/// A provider that gives the run the listed answers, and sub-agents what is decided about each of their requests.
pub(crate) fn family(
    run: impl IntoIterator<Item = Answer>,
    mut sub_agent: impl FnMut(&Recorded) -> Answer + Send + 'static,
) -> StrictProvider {
    let mut run = run.into_iter().collect::<Vec<_>>().into_iter();
    StrictProvider::start(Script::each(move |request| {
        if is_sub_agent(request) { sub_agent(request) } else { run.next().expect("the run asks once more") }
    }))
}

/// The same with the listed answers for the only sub-agent that there is.
pub(crate) fn with_one(
    run: impl IntoIterator<Item = Answer>,
    sub_agent: impl IntoIterator<Item = Answer>,
) -> StrictProvider {
    let mut answers = sub_agent.into_iter().collect::<Vec<_>>().into_iter();
    family(run, move |_| answers.next().expect("the sub-agent asks once more"))
}

/// An answer that gives a sub-agent that task.
pub(crate) fn delegates(task: &str) -> Answer {
    Answer::calling("c1", "agent", json!({"prompt": task}))
}

/// The requests of sub-agents.
fn of_sub_agents(provider: &StrictProvider) -> Vec<Recorded> {
    provider.completions().into_iter().filter(is_sub_agent).collect()
}

/// The session of the sub-agent that the first call of the run's first step opened.
pub(crate) fn child_of(run: &Value) -> String {
    format!("{}.2$${}", run["session"].as_str().unwrap(), run["call"].as_str().unwrap())
}

/// What the sub-agent's run is like, as people are shown it.
pub(crate) fn run_of(home: &Home, id: &str) -> Value {
    serde_json::from_str(&home.hostler(["runs", "show", id, "--json"]).finish().expect_code(0).out).unwrap()
}

/// What the model was told of the run's only call.
fn told(run: &Finished) -> String {
    let lines = run.lines();
    let [finished] = lines.of("tool.finished")[..] else { panic!("{}", run.out) };
    finished["output"].as_str().unwrap().to_owned()
}

#[test]
fn what_it_answers_is_the_result_and_what_it_used_is_counted() {
    let home = home();
    home.write("b.txt", "a needle\n");
    let answers = [
        Answer::say("I'll have it found.").call("c1", "agent", json!({"prompt": "Find the needle."})),
        Answer::say("In b.txt.").usage(200, 10),
    ];
    let finds = [
        Answer::calling("c1", "grep", json!({"pattern": "needle"})).usage(50, 5),
        Answer::say("b.txt:1 has it.").usage(60, 6),
    ];
    let provider = with_one(answers, finds);
    let run = home.hostler(["run", "--model", "openai/gpt-4", "--format", "jsonl", "Where is it?"]);
    let run = run.provider(&provider).finish().expect_code(0);

    let last = run.last();
    assert_eq!(
        (&last["answer"], &last["steps"], &last["attempts"]),
        (&json!("In b.txt."), &json!(2), &json!(2))
    );
    assert_eq!((&last["usage"]["input"], &last["usage"]["output"]), (&json!(410), &json!(41)));
    let micros = last["cost_usd"].as_f64().unwrap() * 1e6;
    assert_eq!(micros.round(), f64::from(410 * 30 + 41 * 60), "30 and 60 dollars a million tokens");
    assert_eq!(last["context_tokens"], 210, "its conversation is not the run's");
    assert_eq!(told(&run), "b.txt:1 has it.");

    let asked = of_sub_agents(&provider);
    assert_eq!(asked[0].messages().len(), 2, "it knows its task alone");
    assert_eq!(asked[0].last_user_text(), "Find the needle.");
    assert!(asked[0].text.contains("You are a sub-agent."));
    assert_eq!(asked[0].tool_names(), ["glob", "grep", "ls", "view"]);
    assert!(asked[1].tool_results()[0].1.contains("b.txt"));
    let parent = provider.completions().pop().unwrap();
    assert_eq!(parent.tool_results(), [("c1".to_owned(), "b.txt:1 has it.".to_owned())]);
}

#[test]
fn while_it_works_the_run_shows_its_call_and_nothing_of_what_it_does() {
    let home = home();
    let again = Answer::error(500, "Oops.").header("retry-after-ms", "1");
    let works = [
        Answer::new().reasoning("Hm.").text("I look.").call("c1", "ls", json!({})),
        again,
        Answer::context_exceeded(),
        Answer::say("Nothing was there."),
        Answer::say("It is empty."),
    ];
    let provider = with_one([delegates("Look around."), Answer::say("Empty.")], works);
    let run = home.run(&provider, ["What is here?"]).finish().expect_code(0);
    assert_eq!(of_sub_agents(&provider).len(), 5, "it tried again, and summed up what it had done");
    let kinds = [
        "run.started",
        "prompt.started",
        "step.started",
        "tool.started",
        "tool.finished",
        "step.finished",
        "step.started",
        "text.delta",
        "step.finished",
        "run.finished",
    ];
    assert_eq!(run.lines().kinds(), kinds);
    assert_eq!(
        (run.lines().tools(), told(&run)),
        (vec![("agent".to_owned(), "ok".to_owned())], "It is empty.".to_owned())
    );

    let listed = home.hostler(["sessions", "list", "--json"]).finish().expect_code(0).out;
    assert_eq!(listed.lines().count(), 1, "its session is not one of the user's: {listed}");
    let child = child_of(run.lines().first("tool.started").unwrap());
    assert_eq!(run_of(&home, &child)["finished"]["status"], "ok");
    let shown = home.hostler(["sessions", "show", &child]).finish().expect_code(0).out;
    assert!(shown.contains("Look around.") && shown.contains("It is empty."), "{shown}");
    let refused = home.run(&provider, ["--session", &child, "You too."]).finish().expect_code(2);
    assert!(refused.last()["message"].as_str().unwrap().contains("sub-agent"), "{}", refused.last());
}

#[test]
fn people_see_its_call_on_standard_error_and_the_answer_alone_on_standard_output() {
    let (home, gate) = (home(), Gate::new());
    let provider = with_one(
        [delegates("Look around."), Answer::say("Empty.")],
        [Answer::say("Nothing here.").gate(&gate)],
    );
    let run = home.run_text(&provider, ["--live", "What is here?"]).start();
    run.wait_for_error("agent");
    assert!(gate.wait_reached(PATIENCE));
    gate.open();
    assert_eq!(run.finish().expect_code(0).out, "Empty.\n");
}

#[test]
fn when_it_fails_the_run_goes_on_and_what_it_used_is_counted() {
    let home = home();
    let fails = [
        Answer::say("Looking.").call("c1", "ls", json!({})).usage(50, 5),
        Answer::error(400, "Unknown parameter."),
    ];
    let provider = with_one([delegates("Look around."), Answer::say("Then I look myself.")], fails);
    let run = home.run(&provider, ["What is here?"]).finish().expect_code(0);
    assert_eq!((&run.last()["tools"]["failed"], &run.last()["usage"]["input"]), (&json!(1), &json!(250)));
    assert_eq!(run.last()["usage"]["output"], 45);
    let told = told(&run);
    for part in ["did not finish", "Unknown parameter;", "Looking."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let child = child_of(run.lines().first("tool.started").unwrap());
    assert_eq!(run_of(&home, &child)["finished"]["reason"], "provider");
}

#[test]
fn several_work_at_the_same_time_and_their_results_keep_the_order_of_the_calls() {
    let (home, gate) = (home(), Gate::new());
    let call = |answer: Answer, at: usize| {
        answer.call(&format!("c{at}"), "agent", json!({"prompt": format!("Task {at}.")}))
    };
    let (held, asked) = (gate.clone(), Arc::new(Mutex::new(Vec::new())));
    let known = Arc::clone(&asked);
    let provider = family([(1..=7).fold(Answer::new(), call), Answer::say("All done.")], move |request| {
        let task = request.last_user_text();
        known.lock().unwrap().push(task.clone());
        Answer::say(&format!("{task} is done.")).gate_headers(&held)
    });
    let run = home.run(&provider, ["Go."]).start();
    assert!(gate.wait_reached_by(5, PATIENCE), "five work at the same time");
    assert_eq!(asked.lock().unwrap().len(), 5, "and no more than that");
    gate.open();
    let run = run.finish().expect_code(0);
    assert_eq!((&run.last()["tools"]["ok"], &run.last()["usage"]["input"]), (&json!(7), &json!(900)));
    let results = provider.completions().pop().unwrap().tool_results();
    let expected = (1..=7).map(|at| (format!("c{at}"), format!("Task {at}. is done.")));
    assert_eq!(results, expected.collect::<Vec<_>>());
}

#[test]
fn what_it_wants_to_read_outside_is_denied_at_once_and_the_run_goes_on() {
    let home = home();
    std::fs::write(home.root().join("outside.txt"), "a secret\n").unwrap();
    let looks = || Answer::calling("c1", "view", json!({"file_path": "../outside.txt"}));
    let provider = with_one(
        [delegates("Read it."), Answer::say("It may not.")],
        [looks(), Answer::say("I may not read it.")],
    );
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    let results = of_sub_agents(&provider)[1].tool_results();
    assert!(results[0].1.contains("Permission denied") && !results[0].1.contains("secret"), "{results:?}");
    assert_eq!((&run.last()["tools"]["ok"], &run.last()["tools"]["denied"]), (&json!(1), &json!(0)));

    // One that asks for nothing else ends by itself, and not the run that it works for.
    let provider = with_one([delegates("Read it."), Answer::say("It may not.")], [looks(), looks(), looks()]);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert_eq!(run.last()["tools"]["failed"], 1);
    assert!(told(&run).contains("did not finish"), "{}", told(&run));
}

#[test]
fn a_tool_that_it_does_not_have_is_not_run_whatever_the_run_is_allowed() {
    let home = home();
    let tries = Answer::new()
        .call("c1", "bash", json!({"command": "touch made"}))
        .call("c2", "write", json!({"file_path": "made", "content": "x"}))
        .call("c3", "agent", json!({"prompt": "Make it."}))
        .call("c4", "todos", json!({"todos": []}));
    let provider = with_one(
        [delegates("Make a file."), Answer::say("It cannot.")],
        [tries, Answer::say("I can only read.")],
    );
    let run = home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert!(!home.has("made"));
    assert_eq!(told(&run), "I can only read.");
    let results = of_sub_agents(&provider)[1].tool_results();
    assert_eq!(results.len(), 4);
    for (call, text) in results {
        assert!(text.contains("no tool named") && text.contains("glob, grep, ls, view"), "{call}: {text}");
    }
}

#[test]
fn a_call_without_a_task_is_not_run() {
    let home = home();
    let bad = Answer::new().call("c1", "agent", json!({})).call("c2", "agent", json!({"prompt": " "}));
    let provider = with_one([bad, Answer::say("Sorry.")], []);
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert_eq!((&run.last()["tools"]["failed"], run.lines().of("tool.started").len()), (&json!(2), 0));
}
