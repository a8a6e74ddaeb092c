//! Tool calls: which start when, which never, and what the model is told.

use crate::content::ToolStatus;
use crate::model::Item;
use crate::prompt::{PermissionMode, Prompt, Terms};
use crate::record::Record;
use crate::rig::words::{call_id, headless, outcome, prompt, reading, session};
use crate::rig::{Batch, Rig};
use crate::session::Input;
use crate::tools::{Action, Intent, Rule};

const BASH: (&str, &str) = ("bash", r#"{"command":"make"}"#);
const VIEW: (&str, &str) = ("view", r#"{"file_path":"a"}"#);
const LS: (&str, &str) = ("ls", "{}");

fn calling(calls: &[(&str, &str)]) -> (Rig, Batch) {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    let batch = rig.call(calls);
    (rig, batch)
}

fn nothing(batch: &Batch) {
    assert!(batch.entries.is_empty() && batch.effects.is_empty(), "{batch:?}");
}

#[test]
fn a_call_is_looked_at_then_recorded_then_run() {
    let (mut rig, batch) = calling(&[BASH]);
    assert_eq!(batch.asks(), ["inspect t1.s1.c1"]);
    let batch = rig.inspected(1);
    assert_eq!(batch.kinds(), ["ToolCallStarted"]);
    assert_eq!(batch.asks(), ["run t1.s1.c1"]);
    rig.wait(1_234);
    let batch = rig.done(1, "built");
    assert!(matches!(batch.entries[0].record, Record::ToolCallFinished { duration: 1_234, .. }));
}

#[test]
fn calls_that_only_read_overlap_up_to_five() {
    let (mut rig, batch) = calling(&[VIEW; 7]);
    assert_eq!(batch.asks().len(), 5);
    rig.inspected(3);
    assert_eq!(rig.done(3, "c").asks(), ["inspect t1.s1.c6"], "each end makes room for one");
    rig.inspected(1);
    assert_eq!(rig.done(1, "a").asks(), ["inspect t1.s1.c7"]);
}

#[test]
fn any_other_call_overlaps_nothing_and_keeps_its_place() {
    let (mut rig, batch) = calling(&[VIEW, BASH, BASH, LS]);
    assert_eq!(batch.asks(), ["inspect t1.s1.c1"]);
    assert_eq!(rig.inspected(1).asks(), ["run t1.s1.c1"]);
    assert_eq!(rig.done(1, "a").asks(), ["inspect t1.s1.c2"]);
    assert_eq!(rig.inspected(2).asks(), ["run t1.s1.c2"]);
    assert_eq!(rig.done(2, "b").asks(), ["inspect t1.s1.c3"]);
    assert_eq!(rig.inspected(3).asks(), ["run t1.s1.c3"]);
    assert_eq!(rig.done(3, "c").asks(), ["inspect t1.s1.c4"]);
}

#[test]
fn results_stand_in_the_order_of_the_calls_whichever_ends_first() {
    let (mut rig, _) = calling(&[VIEW, LS]);
    rig.run_tool(2, "second");
    rig.run_tool(1, "first");
    let Some(Item::Results(results)) = rig.asked[1].1.items.last() else { panic!("{:?}", rig.asked[1]) };
    let texts: Vec<_> = results.iter().map(|result| result.outcome.text.as_str()).collect();
    assert_eq!(texts, ["first", "second"]);
}

#[test]
fn what_makes_no_sense_is_never_executed_and_the_model_is_told() {
    let bad = [("bash", "{"), ("bash", "{}"), ("rm", "{}"), ("view", r#"{"file_path":3}"#)];
    let (rig, batch) = calling(&bad);
    assert_eq!(batch.asks(), ["call t1.s2.a1"], "the model is asked again at once");
    for call in 1..=4 {
        let (status, told) = rig.outcome(call_id(1, 1, call));
        assert_eq!(status, ToolStatus::Error);
        assert!(told.contains("do not fit") || told.contains("no tool named"), "{told}");
    }
}

#[test]
fn what_makes_sense_runs_beside_what_does_not() {
    let (mut rig, batch) = calling(&[("rm", "{}"), LS]);
    assert_eq!(batch.asks(), ["inspect t1.s1.c2"]);
    assert_eq!(rig.run_tool(2, "a").asks(), ["call t1.s2.a1"]);
}

#[test]
fn an_outcome_that_says_nothing_says_so() {
    let (mut rig, _) = calling(&[BASH]);
    rig.run_tool(1, " \n");
    assert_eq!(rig.outcome(call_id(1, 1, 1)), (ToolStatus::Ok, "[no output]".into()));
}

#[test]
fn a_denied_call_does_not_run_and_the_next_one_has_its_turn() {
    let mut rig = Rig::new();
    rig.begin(headless("p", "Do it."));
    rig.call(&[BASH, LS]);
    let batch = rig.inspected(1);
    assert_eq!(batch.kinds(), ["PermissionDecided", "ToolCallFinished"]);
    assert_eq!(batch.asks(), ["inspect t1.s1.c2"]);
    let (status, told) = rig.outcome(call_id(1, 1, 1));
    assert_eq!(status, ToolStatus::Denied);
    assert!(told.contains("Permission denied"), "{told}");
    assert_eq!(rig.inspected_as(2, reading(true)).asks(), ["run t1.s1.c2"]);
}

/// What programs are told about the first call that this prompt's turn makes.
fn told(prompt: Prompt, call: (&str, &str), intent: Intent) -> Option<String> {
    let mut rig = Rig::new();
    rig.begin(prompt);
    rig.call(&[call]);
    rig.inspected_as(1, intent);
    let finished = rig.log.iter().find_map(|entry| match &entry.record {
        Record::ToolCallFinished { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    let outcome = finished.expect("it has ended");
    assert_eq!(outcome.status, ToolStatus::Denied);
    outcome.metadata
}

#[test]
fn of_a_call_that_nobody_could_be_asked_about_programs_are_told_what_would_have_let_it_pass() {
    let commands = vec![vec!["cargo".to_string(), "test".into(), "-q".into()]];
    let builds = || Intent { commands: commands.clone(), ..reading(true) };
    let allow = |rules: &str| Some(format!(r#"{{"allow":[{rules}]}}"#));
    assert_eq!(told(headless("p", "Do it."), BASH, builds()), allow(r#""bash(cargo test *)""#));
    let unknown = Intent { complete: false, ..builds() };
    let all = Some(r#"{"allow":["bash"],"unknown":true}"#.to_string());
    assert_eq!(told(headless("p", "Do it."), BASH, unknown), all, "no rule about less says it");
    let rules = vec![Rule::parse(Action::Deny, "bash(cargo *)", None).expect("a rule")];
    let forbidden = Prompt { terms: Terms { rules, ..Terms::headless() }, ..headless("p", "Do it.") };
    assert_eq!(told(forbidden, BASH, builds()), None, "what a rule forbids no option allows");
    let terms = Terms { permission: PermissionMode::Plan, ..Terms::headless() };
    let planning = Prompt { terms, ..headless("p", "Do it.") };
    assert_eq!(told(planning, VIEW, reading(false)), told(headless("p", "Do it."), VIEW, reading(false)));
}

#[test]
fn reading_that_cannot_be_seen_to_stay_inside_is_denied() {
    for intent in [reading(false), Intent::default()] {
        let mut rig = Rig::new();
        rig.begin(headless("p", "Do it."));
        rig.call(&[VIEW]);
        rig.inspected_as(1, intent);
        assert_eq!(rig.outcome(call_id(1, 1, 1)).0, ToolStatus::Denied);
    }
}

#[test]
fn a_failed_tool_does_not_fail_the_turn() {
    let (mut rig, _) = calling(&[BASH]);
    rig.inspected(1);
    rig.done_with(call_id(1, 1, 1), ToolStatus::Error, "no such target");
    rig.answer("It cannot be built.");
    let end = rig.end("p");
    assert_eq!((end.status, end.totals.tools.failed), (crate::record::RunStatus::Ok, 1));
}

#[test]
fn what_nobody_awaits_changes_nothing() {
    let (mut rig, _) = calling(&[BASH]);
    let call = call_id(1, 1, 1);
    let finished = || Input::ToolFinished { call, outcome: outcome(ToolStatus::Ok, "again") };
    rig.inspected(1);
    nothing(&rig.happens(Input::Inspected { call, intent: reading(true) }));
    rig.done(1, "built");
    nothing(&rig.happens(finished()));
    nothing(&rig.happens(Input::ToolOutput { call, text: "late".into() }));
    nothing(&rig.happens(Input::Inspected { call, intent: reading(true) }));
    let unknown = call_id(1, 2, 9);
    nothing(&rig.happens(Input::ToolFinished { call: unknown, outcome: outcome(ToolStatus::Ok, "who?") }));
    rig.answer("Done.");
    nothing(&rig.happens(finished()));
}

#[test]
fn output_is_recorded_as_it_comes_and_only_its_beginning() {
    let (mut rig, _) = calling(&[BASH]);
    let call = rig.nth(1);
    let output = |text: String| Input::ToolOutput { call, text };
    nothing(&rig.happens(output("before it runs".into())));
    rig.inspected(1);
    assert_eq!(rig.happens(output("line\n".into())).kinds(), ["ToolOutputAppended"]);
    nothing(&rig.happens(output(String::new())));
    rig.happens(output("x".repeat(64 << 10)));
    nothing(&rig.happens(output("too much".into())));
}

#[test]
fn a_name_that_a_provider_uses_twice_is_told_apart() {
    let (mut rig, _) = calling(&[LS]);
    rig.run_tool(1, "a");
    rig.call(&[LS]);
    rig.run_tool(1, "b");
    let results = rig.asked[2].1.items.iter().filter_map(|item| match item {
        Item::Results(results) => Some(results[0].wire_id.as_str()),
        _ => None,
    });
    assert_eq!(results.collect::<Vec<_>>(), ["provider-0", "call_t1_s2_c1"]);
    assert_eq!(rig.durable(&session()).messages.len(), 4);
}

#[test]
fn the_list_of_what_is_to_be_done_is_kept_here_and_asks_nothing_of_the_shell() {
    let todos = |status: &str| format!(r#"{{"todos":[{{"content":"Build","status":"{status}"}}]}}"#);
    let (first, second) = (todos("in_progress"), todos("completed"));
    let (mut rig, batch) = calling(&[("todos", &first), VIEW, ("todos", &second)]);
    assert_eq!(batch.asks(), ["inspect t1.s1.c2"]);
    assert_eq!(batch.kinds()[1..], ["ToolCallStarted", "TodosChanged", "ToolCallFinished"]);
    let kept = |rig: &Rig| crate::todos::listed(&rig.durable(&session()).todos);
    assert_eq!(kept(&rig), "- [in_progress] Build\n");
    let batch = rig.run_tool(2, "seen");
    assert_eq!(batch.asks(), ["call t1.s2.a1"], "the step goes on by itself");
    assert_eq!(kept(&rig), "- [completed] Build\n");
    assert_eq!(rig.outcome(call_id(1, 1, 3)).0, ToolStatus::Ok);
}

#[test]
fn a_tool_that_is_not_on_offer_is_never_run() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let mut preparation = crate::rig::words::preparation();
    preparation.tools.retain(|tool| tool.name == "view");
    rig.prepared_with("p", Ok(preparation));
    let batch = rig.call(&[BASH]);
    assert_eq!(batch.asks(), ["call t1.s2.a1"]);
    let (status, said) = rig.outcome(call_id(1, 1, 1));
    assert_eq!(
        (status, said.as_str()),
        (ToolStatus::Error, r#"There is no tool named "bash". The tools are: view."#)
    );
}
