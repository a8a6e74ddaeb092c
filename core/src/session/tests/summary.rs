//! A conversation that becomes too long is summed up, and the run goes on: always bounded, with one end.

use crate::content::{Attachment, MessageBody};
use crate::model::{CallError, CallErrorKind, Item, Preparation};
use crate::prompt::Prompt;
use crate::record::{Reason, Record, RunStatus, TurnOutcome};
use crate::rig::Rig;
use crate::rig::words::{broken, preparation, prompt, run, session, stop, text, used};

fn too_long() -> CallError {
    let code = "context_length_exceeded".to_owned();
    broken(CallErrorKind::Status { status: 400, code })
}

/// A run is under way with a model of that window.
fn begin_with(window: Option<u64>) -> Rig {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Tidy the house."));
    let prepared = Preparation { context_window: window, ..preparation() };
    rig.prepared_with("p", Ok(prepared));
    rig
}

/// A step that reads something, after which the conversation has so many tokens.
fn step(rig: &mut Rig, tokens: u64) {
    rig.stream(vec![used(tokens, 0)]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
}

/// The user's words in the request that was made last.
fn asked(rig: &Rig) -> String {
    let items = rig.asked.last().map(|(_, request)| request.items.clone()).unwrap_or_default();
    let said = items.iter().filter_map(|item| match item {
        Item::User { text, .. } => Some(text.clone()),
        Item::Assistant { .. } | Item::Results(_) => None,
    });
    said.collect::<Vec<_>>().join("\n--\n")
}

/// The request that was made last is not made of a summary that was broken off.
#[track_caller]
fn nothing_is_said_of(rig: &Rig, said: &str) {
    let request = rig.asked.last().map(|(_, request)| format!("{:?}", request.items)).unwrap_or_default();
    assert!(request.contains("Again.") && !request.contains(said), "{request}");
}

#[test]
fn the_run_goes_on_from_the_summary_with_its_request_quoted_once() {
    let mut rig = begin_with(Some(1_000));
    step(&mut rig, 850);
    let tools = rig.asked.last().map(|(_, request)| request.tools.len());
    assert_eq!(tools, Some(0), "a summary is asked for without tools");
    assert!(asked(&rig).contains("Tidy the house."), "{}", asked(&rig));
    rig.answer("Half is tidy.");
    let asked = asked(&rig);
    assert!(asked.contains("not an instruction") && asked.contains("Half is tidy."), "{asked}");
    assert_eq!(asked.matches("Tidy the house.").count(), 1, "{asked}");
    rig.answer("All is tidy.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    let outcomes = [&TurnOutcome::Continued, &TurnOutcome::Completed, &TurnOutcome::Completed];
    assert_eq!(rig.turns(), outcomes);
}

#[test]
fn the_list_of_what_is_to_be_done_outlives_the_summary() {
    let mut rig = begin_with(Some(1_000));
    rig.stream(vec![used(850, 0)]);
    rig.call(&[("todos", r#"{"todos":[{"content":"Sweep","status":"pending"}]}"#)]);
    rig.answer("Half is tidy.");
    assert!(asked(&rig).contains("- [pending] Sweep"), "{}", asked(&rig));
}

#[test]
fn a_second_summary_does_not_nest_the_request() {
    let mut rig = begin_with(Some(1_000));
    for _ in 0..3 {
        step(&mut rig, 850);
        rig.answer("Half is tidy.");
    }
    assert_eq!(asked(&rig).matches("Tidy the house.").count(), 1, "{}", asked(&rig));
    assert_eq!(asked(&rig).matches("<request>").count(), 1);
    rig.answer("Done.");
    assert_eq!(rig.end("p").totals.steps, 7);
}

#[test]
fn what_is_left_of_the_window_decides() {
    // The tool's result adds three tokens to what the provider has counted.
    for (window, tokens, sums_up) in [
        (Some(1_000), 796, false),
        (Some(1_000), 797, true),
        (Some(200_000), 159_996, false),
        (Some(200_000), 159_997, true),
        (Some(200_001), 179_997, false),
        (Some(200_001), 179_998, true),
        (Some(0), 1_000_000, false),
        (None, 1_000_000, false),
    ] {
        let mut rig = begin_with(window);
        rig.stream(vec![used(tokens, 0)]);
        rig.call(&[("ls", "{}")]);
        rig.run_tool(1, "[no output]");
        let found = rig.log.iter().any(|entry| matches!(entry.record, Record::SummaryStarted { .. }));
        assert_eq!(found, sums_up, "{window:?} {tokens}");
    }
}

#[test]
fn a_prompt_that_waits_to_join_does_so_after_the_summary() {
    let mut rig = begin_with(Some(1_000));
    rig.enter(prompt("q", "The cellar too."));
    step(&mut rig, 850);
    assert!(!asked(&rig).contains("The cellar too."), "it waits for what comes after the summary");
    rig.answer("Summary.");
    assert_eq!(asked(&rig).matches("The cellar too.").count(), 1, "{}", asked(&rig));
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
    assert_eq!(rig.end("q").answer, rig.end("p").answer);
}

#[test]
fn a_prompt_with_a_run_of_its_own_waits_until_the_run_is_over() {
    let mut rig = begin_with(Some(1_000));
    rig.enter(run("q", "Something else."));
    step(&mut rig, 850);
    rig.answer("Summary.");
    assert!(rig.ended("p").is_none() && rig.begun() == ["p"]);
    rig.answer("Done.");
    assert_eq!(rig.begun(), ["p", "q"]);
}

#[test]
fn a_provider_that_finds_it_too_long_gets_a_summary() {
    let mut rig = begin_with(None);
    step(&mut rig, 0);
    rig.fail(too_long());
    rig.answer("Half is tidy.");
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn the_same_refused_request_is_never_made_again_and_refusals_are_bounded() {
    let mut rig = begin_with(None);
    for word in ["one ", "two ", "three ", "four "] {
        rig.call(&[("ls", "{}")]);
        rig.run_tool(1, &word.repeat(900));
    }
    rig.fail(too_long());
    let mut sizes = Vec::new();
    while rig.ended("p").is_none() {
        sizes.push(asked(&rig).len());
        rig.fail(too_long());
        if rig.ended("p").is_none() {
            rig.tick();
        }
    }
    assert_eq!(sizes.len(), 4, "{sizes:?}");
    assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "{sizes:?}");
    assert_eq!((rig.end("p").status, rig.end("p").reason), (RunStatus::Limit, Reason::Context));
}

#[test]
fn a_request_that_is_too_long_by_itself_ends_the_run() {
    let mut rig = begin_with(None);
    rig.fail(too_long());
    assert_eq!((rig.end("p").status, rig.end("p").reason), (RunStatus::Limit, Reason::Context));
    let mut rig = begin_with(None);
    step(&mut rig, 0);
    rig.fail(too_long());
    rig.answer("Summary.");
    rig.fail(too_long());
    assert_eq!(rig.end("p").reason, Reason::Context, "a summary that did not help is not tried again");
}

#[test]
fn a_session_with_an_oversized_history_stays_usable() {
    let mut rig = begin_with(Some(1_000));
    rig.stream(vec![text(0, &"word ".repeat(80_000)), stop()]);
    assert_eq!(rig.end("p").status, RunStatus::Ok);
    rig.submit(prompt("q", "And now?"));
    rig.prepared_with("q", Ok(Preparation { context_window: Some(1_000), ..preparation() }));
    assert!(asked(&rig).len() < 4_000, "the summary is asked for within the window");
    rig.answer("A hundred windows were said.");
    rig.answer("Now this.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
    assert!(asked(&rig).contains("And now?"));
}

#[test]
fn a_cancel_while_summing_up_ends_the_run_and_keeps_the_conversation() {
    let mut rig = begin_with(Some(1_000));
    step(&mut rig, 850);
    rig.stream(vec![text(0, "Half")]);
    rig.cancel();
    assert_eq!(rig.end("p").status, RunStatus::Cancelled);
    let kept = &rig.durable(&session()).messages;
    assert!(matches!(kept[0].body, MessageBody::User(_)));
    rig.begin(prompt("q", "Again."));
    nothing_is_said_of(&rig, "Half");
    rig.answer("Yes.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_summary_that_fails_or_says_nothing_ends_the_run() {
    for fails in [true, false] {
        let mut rig = begin_with(Some(1_000));
        step(&mut rig, 850);
        if fails {
            rig.fail(broken(CallErrorKind::Protocol));
        } else {
            rig.stream(vec![stop()]);
        }
        assert_eq!(rig.end("p").status, RunStatus::Error);
        assert!(rig.is_idle());
    }
}

#[test]
fn what_a_summary_that_failed_had_said_is_void() {
    let mut rig = begin_with(Some(1_000));
    step(&mut rig, 850);
    rig.stream(vec![text(0, "Half")]);
    rig.fail(broken(CallErrorKind::Protocol));
    rig.begin(prompt("q", "Again."));
    nothing_is_said_of(&rig, "Half");
}

#[test]
fn a_summary_is_retried_and_survives_a_crash_of_the_process() {
    let mut rig = begin_with(Some(1_000));
    step(&mut rig, 850);
    rig.stream(vec![text(0, "Ha")]);
    rig.fail(broken(CallErrorKind::Truncated));
    rig.tick();
    rig.stream(vec![text(0, "Half")]);
    rig.crash();
    rig.begin(prompt("q", "Again."));
    nothing_is_said_of(&rig, "Half");
    assert_eq!((rig.end("p").status, rig.end("p").reason), (RunStatus::Error, Reason::Interrupted));
    rig.answer("Yes.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn a_first_request_that_was_too_long_does_not_spoil_its_session() {
    let mut rig = begin_with(None);
    rig.fail(too_long());
    assert_eq!(rig.end("p").reason, Reason::Context);
    rig.begin(prompt("q", "Something short."));
    rig.fail(too_long());
    rig.answer("Nothing was done yet.");
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}

#[test]
fn what_was_said_for_a_summary_that_is_none_is_no_part_of_the_conversation() {
    let mut rig = begin_with(Some(1_000));
    step(&mut rig, 850);
    rig.stream(vec![text(0, "Half a summary"), used(30, 3)]);
    rig.cancel();
    assert_eq!(rig.durable(&session()).length.measured, 850, "its request has not measured the conversation");
    rig.begin(prompt("q", "Again."));
    assert!(!format!("{:?}", rig.asked.last()).contains("Half a summary"));
}

#[test]
fn what_was_attached_to_the_request_goes_with_it_beyond_the_summary() {
    let mut rig = Rig::new();
    let picture =
        Attachment { name: "a.png".into(), media_type: "image/png".into(), data: "x".repeat(90_000) };
    rig.submit(Prompt { attachments: vec![picture.clone()], ..prompt("p", "What is this?") });
    rig.prepared_with("p", Ok(Preparation { context_window: Some(10_000), ..preparation() }));
    step(&mut rig, 9_000);
    assert!(asked(&rig).contains("a.png"), "the summary knows of it");
    rig.answer("Summary.");
    let media = rig.asked.last().and_then(|(_, request)| match request.items.first() {
        Some(Item::User { media, .. }) => Some(media.clone()),
        _ => None,
    });
    assert_eq!(media, Some(vec![picture]));
    rig.answer("A cat.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn a_picture_is_not_taken_for_as_long_as_its_file() {
    let mut rig = begin_with(Some(10_000));
    rig.answer("It is tidy.");
    let picture =
        Attachment { name: "a.png".into(), media_type: "image/png".into(), data: "x".repeat(90_000) };
    rig.submit(Prompt { attachments: vec![picture], ..prompt("q", "And this?") });
    rig.prepared_with("q", Ok(Preparation { context_window: Some(10_000), ..preparation() }));
    assert_eq!(rig.asked.len(), 2);
    assert_eq!(
        rig.durable(&session()).turn.as_ref().map(|turn| turn.purpose),
        Some(crate::session::Purpose::Work)
    );
}

#[test]
fn what_was_said_while_the_request_was_worked_on_is_quoted_too() {
    let mut rig = begin_with(Some(1_000));
    rig.enter(prompt("q", "The cellar too."));
    step(&mut rig, 100);
    step(&mut rig, 850);
    rig.answer("Half is tidy.");
    assert_eq!(asked(&rig).matches("The cellar too.").count(), 1, "{}", asked(&rig));
    assert_eq!(asked(&rig).matches("Tidy the house.").count(), 1, "{}", asked(&rig));
}

#[test]
fn a_conversation_that_summaries_do_not_shorten_ends_the_run_at_the_second() {
    let mut rig = begin_with(Some(1_000));
    let mut summaries = 0;
    while rig.ended("p").is_none() {
        step(&mut rig, 850);
        rig.answer(&"long ".repeat(800));
        summaries += 1;
        assert!(summaries < 10, "it goes on for ever");
    }
    assert_eq!(summaries, 2);
    let end = rig.end("p");
    assert_eq!((end.status, end.reason), (RunStatus::Limit, Reason::Context));
    assert!(end.message.contains("larger context window"), "{}", end.message);
    assert!(rig.is_idle());
}

#[test]
fn one_summary_that_helped_begins_the_count_anew() {
    let mut rig = begin_with(Some(1_000));
    for _ in 0..3 {
        step(&mut rig, 850);
        rig.answer(&"long ".repeat(800));
        step(&mut rig, 850);
        rig.answer("short");
    }
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

/// How many requests for a summary are made, no two of them alike, if all are refused and the model had reasoned before.
fn refused_summaries(reasoned: &str) -> usize {
    let mut rig = begin_with(None);
    rig.stream(vec![crate::model::ModelEvent::Reasoning { block: 9, text: reasoned.into() }]);
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a");
    rig.fail(too_long());
    let mut made = std::collections::BTreeSet::new();
    while rig.ended("p").is_none() {
        assert!(made.insert(asked(&rig)), "it is asked for the same again");
        rig.fail(too_long());
        if rig.ended("p").is_none() {
            rig.tick();
        }
    }
    assert_eq!(rig.end("p").reason, Reason::Context);
    made.len()
}

#[test]
fn a_request_for_a_summary_that_was_refused_is_never_made_again_however_little_there_is_to_cut() {
    assert!(refused_summaries(&"hm ".repeat(4_000)) > 1);
    refused_summaries("h");
}

#[test]
fn of_what_is_longer_than_the_window_no_more_than_six_tenths_of_it_are_shown() {
    let mut rig = begin_with(Some(1_000));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, &"word ".repeat(3_000));
    let budget = rig.log.iter().find_map(|entry| match entry.record {
        Record::SummaryStarted { budget, .. } => Some(budget),
        _ => None,
    });
    assert_eq!(budget, Some(600));
}

#[test]
fn a_budget_that_would_be_halved_to_nothing_is_not_tried() {
    let mut rig = Rig::new();
    for (id, said) in [("o", "a"), ("p", "c")] {
        rig.submit(prompt(id, said));
        let nothing = Preparation { system: String::new(), tools: Vec::new(), ..preparation() };
        rig.prepared_with(id, Ok(nothing));
        if id == "o" {
            rig.answer("b");
        }
    }
    rig.fail(too_long());
    let budget = rig.log.iter().find_map(|entry| match entry.record {
        Record::SummaryStarted { budget, .. } => Some(budget),
        _ => None,
    });
    let mut budget = budget.expect("it is summed up");
    assert!(budget < 8, "{budget}");
    while rig.ended("p").is_none() {
        assert!(budget > 0, "a request for nothing");
        budget /= 2;
        rig.fail(too_long());
        if rig.ended("p").is_none() {
            rig.tick();
        }
    }
    assert_eq!(rig.end("p").reason, Reason::Context);
}

/// The key is refused once, between refusals of what is too long, and a server that fails then is asked as often as ever.
#[test]
fn refusals_before_a_key_was_had_anew_count_once() {
    for refusals in [0, 1, 3] {
        let mut rig = Rig::new();
        rig.submit(prompt("p", "Tidy the house."));
        rig.prepared_with("p", Ok(Preparation { renewable: true, ..preparation() }));
        for word in ["one ", "two ", "three ", "four "] {
            rig.call(&[("ls", "{}")]);
            rig.run_tool(1, &word.repeat(900));
        }
        rig.fail(too_long());
        for _ in 0..refusals {
            rig.fail(too_long());
            rig.tick();
        }
        rig.fail(broken(CallErrorKind::Status { status: 401, code: String::new() }));
        rig.tick();
        let mut more = 0;
        while rig.ended("p").is_none() {
            more += 1;
            rig.fail(broken(CallErrorKind::Transport));
            if rig.ended("p").is_none() {
                rig.tick();
            }
        }
        assert_eq!(more, 4, "after {refusals} refusals");
    }
}

#[test]
fn what_a_run_has_said_before_a_summary_is_its_answer_if_nothing_more_is_said() {
    let mut rig = begin_with(Some(1_000));
    rig.stream(vec![text(9, "All is tidy."), used(850, 0)]);
    rig.call(&[("ls", "{}")]);
    let said = rig.durable(&session()).turn.as_ref().and_then(|turn| turn.answer);
    assert!(said.is_some());
    rig.run_tool(1, "a");
    rig.answer("It was tidied.");
    rig.stream(vec![stop()]);
    assert_eq!((rig.end("p").status, rig.end("p").answer), (RunStatus::Ok, said));
}

#[test]
fn denials_are_counted_across_a_summary() {
    let mut rig = Rig::new();
    rig.submit(crate::rig::words::headless("p", "Do it."));
    rig.prepared_with("p", Ok(Preparation { context_window: Some(1_000), ..preparation() }));
    for tokens in [10, 850] {
        rig.stream(vec![used(tokens, 0)]);
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    }
    rig.answer("Nothing was allowed.");
    rig.call(&[("bash", r#"{"command":"ls"}"#)]);
    rig.inspected(1);
    assert_eq!(rig.end("p").status, RunStatus::Denied);
}

#[test]
fn denials_are_counted_across_a_summary_that_a_provider_asked_for() {
    let mut rig = Rig::new();
    rig.begin(crate::rig::words::headless("p", "Do it."));
    for _ in 0..2 {
        rig.call(&[("bash", r#"{"command":"ls"}"#)]);
        rig.inspected(1);
    }
    rig.fail(too_long());
    rig.answer("Nothing was allowed.");
    rig.call(&[("bash", r#"{"command":"ls"}"#)]);
    rig.inspected(1);
    assert_eq!(rig.end("p").status, RunStatus::Denied);
}
