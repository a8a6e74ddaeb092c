//! The step loop: what follows a model's answer, and how turns end.

use crate::content::{Block, Finish, ToolStatus, Usage};
use crate::model::{FinishReason, Item, ModelEvent, Preparation, Prices};
use crate::prompt::{Prompt, Terms};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{call_id, called, headless, preparation, prompt, session, stop, text, used};
use crate::session;

fn end(rig: &Rig) -> (RunStatus, Reason) {
    let end = rig.end("p");
    (end.status, end.reason)
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Hello."));
    let batch = rig.answer("Good day.");
    assert_eq!(
        batch.kinds(),
        ["TextAppended", "MessageFinished", "StepFinished", "TurnFinished", "RunFinished"]
    );
    assert_eq!(batch.asks(), ["close s"]);
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed));
    assert!(rig.end("p").message.is_empty());
}

#[test]
fn an_answer_with_calls_leads_to_another_step_whatever_the_provider_calls_it() {
    for finish in [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Unknown] {
        let mut rig = Rig::new();
        rig.begin(prompt("p", "Look."));
        rig.call_and_finish(&[("ls", "{}")], finish);
        let batch = rig.run_tool(1, "a.rs");
        assert_eq!(batch.kinds(), ["ToolCallFinished", "StepFinished", "StepStarted", "AttemptStarted"]);
        let Some(Item::Results(results)) = rig.asked[1].1.items.last() else { panic!("{:?}", rig.asked[1]) };
        assert_eq!(results[0].outcome.text, "a.rs");
        rig.answer("There is one.");
        assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed), "{finish:?}");
    }
}

#[test]
fn the_answer_of_a_run_is_its_last_message_with_text() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look."));
    rig.stream(vec![text(0, "I shall look.")]);
    let [call, input] = called(1, "ls", "{}");
    rig.stream(vec![call, input, stop()]);
    rig.run_tool(1, "a.rs");
    rig.stream(vec![text(0, " \n"), stop()]);
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text"));
    assert_eq!(answer.map(|answer| answer.text()), Some("I shall look.".into()));
}

#[test]
fn a_cut_answer_runs_its_complete_calls_and_then_ends_the_turn() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look."));
    let half = r#"{"file_path":"a.r"#;
    let batch = rig.call_and_finish(&[("ls", "{}"), ("view", half)], FinishReason::Length);
    assert_eq!(batch.asks(), ["inspect t1.s1.c1"], "what is half written is not run");
    let batch = rig.run_tool(1, "a.rs");
    assert_eq!(batch.kinds(), ["ToolCallFinished", "StepFinished", "TurnFinished", "RunFinished"]);
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Error);
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::OutputLimit));
}

#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run_as_if_it_had_none() {
    let cut = |calls: &[(&str, &str)], finish| {
        let mut rig = Rig::new();
        rig.begin(prompt("p", "Look."));
        let asks = rig.call_and_finish(calls, finish).asks();
        (rig, asks)
    };
    for input in ["", "  "] {
        let (rig, asks) = cut(&[("ls", input)], FinishReason::Length);
        assert_eq!(asks, ["close s"]);
        let (status, text) = rig.outcome(call_id(1, 1, 1));
        assert_eq!(status, ToolStatus::Error);
        assert!(text.contains("Nothing was run") && text.contains("output limit"), "{text}");
        assert_eq!(end(&rig), (RunStatus::Limit, Reason::OutputLimit));
    }
    let inspects = ["inspect t1.s1.c1"];
    assert_eq!(cut(&[("ls", "{}")], FinishReason::Length).1, inspects, "what is whole is run");
    assert_eq!(cut(&[("ls", "")], FinishReason::ToolCalls).1, inspects, "a model that is done meant none");
    let (rig, asks) = cut(&[("ls", ""), ("view", "{")], FinishReason::Length);
    assert_eq!(asks, inspects, "what is not the last thing is whole");
    assert_eq!(rig.outcome(call_id(1, 1, 2)).0, ToolStatus::Error);
}

#[test]
fn a_withheld_answer_runs_nothing() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.stream(vec![text(0, "I")]);
    let [call, input] = called(1, "bash", r#"{"command":"ls"}"#);
    let batch = rig.stream(vec![call, input, ModelEvent::Finished(FinishReason::ContentFilter)]);
    assert_eq!(batch.asks(), ["close s"]);
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Refusal));
}

#[test]
fn a_turn_has_as_many_steps_as_its_prompt_allows() {
    let mut rig = Rig::new();
    let terms = Terms { max_steps: 2, ..prompt("p", "").terms };
    rig.begin(Prompt { terms, ..prompt("p", "Look.") });
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.call(&[("ls", "{}")]);
    let batch = rig.run_tool(1, "b");
    assert_eq!(batch.kinds(), ["ToolCallFinished", "StepFinished", "TurnFinished", "RunFinished"]);
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::MaxSteps));
    assert_eq!(rig.end("p").totals.steps, 2);
}

#[test]
fn three_steps_of_nothing_but_denials_end_the_turn() {
    let mut rig = Rig::new();
    rig.begin(headless("p", "Do it."));
    for _ in 0..3 {
        assert!(rig.ended("p").is_none());
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    }
    assert_eq!(end(&rig), (RunStatus::Denied, Reason::Denied));
    assert_eq!(rig.end("p").totals.tools.denied, 3);
}

#[test]
fn a_step_in_which_something_was_allowed_begins_the_count_of_denials_anew() {
    let mut rig = Rig::new();
    rig.begin(headless("p", "Do it."));
    for _ in 0..2 {
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    }
    rig.call(&[("bash", r#"{"command":"ls"}"#), ("ls", "{}")]);
    rig.inspected(1);
    rig.run_tool(2, "a");
    for _ in 0..2 {
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    }
    assert!(rig.ended("p").is_none());
    rig.answer("I may not.");
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed));
}

#[test]
fn what_steps_used_and_cost_adds_up() {
    let prices = Prices { input: 2_000_000, output: 10_000_000, ..Prices::default() };
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Look."));
    let result = Box::new(Ok(Preparation { prices: Some(Box::new(prices)), ..preparation() }));
    rig.happens(session::Input::Prepared { prompt: crate::ids::PromptId::new("p"), result });
    rig.stream(vec![used(10, 0), used(100, 5)]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.stream(vec![text(0, "Done."), used(120, 7), stop()]);
    let totals = rig.end("p").totals;
    assert_eq!(totals.usage, Usage { input: 220, output: 12, ..Usage::default() });
    assert_eq!((totals.cost, totals.context, totals.steps, totals.attempts), (Some(560), 127, 2, 2));
}

#[test]
fn after_a_step_of_which_nothing_is_known_the_size_of_the_conversation_is_estimated() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look."));
    rig.stream(vec![used(100, 5)]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.cancel();
    // The tool's result has come to it since it was counted.
    let totals = rig.end("p").totals;
    assert_eq!((totals.context, totals.estimated), (106, true));
    let steps = rig.log.iter().filter_map(|entry| match entry.record {
        Record::StepFinished { context, estimated, .. } => Some((context, estimated)),
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>(), [(105, false), (106, true)]);
}

#[test]
fn what_a_model_thought_goes_back_to_it_word_for_word() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look."));
    rig.stream(vec![
        ModelEvent::Reasoning { block: 0, text: "hm".into() },
        ModelEvent::Opaque { block: 0, data: "\"seal\"".into() },
    ]);
    let [call, input] = called(1, "ls", "{}");
    rig.stream(vec![call, input, stop()]);
    rig.run_tool(1, "a");
    let Item::Assistant { blocks, .. } = &rig.asked[1].1.items[1] else { panic!("{:?}", rig.asked[1]) };
    let Block::Reasoning(reasoning) = &blocks[0] else { panic!("{blocks:?}") };
    assert_eq!((reasoning.text.as_str(), reasoning.opaque.as_deref()), ("hm", Some("\"seal\"")));
}

#[test]
fn a_provider_that_gives_no_reason_to_stop_has_answered() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Hello."));
    rig.stream(vec![text(0, "Hi."), ModelEvent::Finished(FinishReason::Unknown)]);
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed));
    let durable = rig.durable(&session());
    let answer = durable.answer(rig.end("p").answer.expect("there is text")).expect("it is kept");
    assert_eq!(answer.finish, Some(Finish::Unknown));
}

#[test]
fn a_provider_that_counts_nothing_leaves_an_estimate_that_says_so() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look."));
    rig.answer(&"word ".repeat(80));
    let totals = rig.end("p").totals;
    // The system prompt, the tools, the prompt and the answer, at four bytes a token.
    assert_eq!((totals.context, totals.estimated, totals.cost), (123, true, None));
    assert_eq!(totals.usage, Usage::default(), "nothing is billed that nobody has counted");
}

#[test]
fn arguments_that_the_output_limit_has_cut_are_not_run_and_the_model_is_told_why() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Write."));
    rig.call_and_finish(&[("write", r#"{"file_path":"a","content":"b"#)], FinishReason::Length);
    let (status, text) = rig.outcome(call_id(1, 1, 1));
    assert_eq!(status, ToolStatus::Error);
    assert!(text.contains("Nothing was run") && text.contains("output limit"), "{text}");
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::OutputLimit));
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Write."));
    rig.call(&[("write", "{")]);
    assert!(!rig.outcome(call_id(1, 1, 1)).1.contains("output limit"));
}
