//! What a run prints while it is under way and at its end, in each format.

use super::stand::{Stand, TURN, finished, options};
use crate::client::{Format, Input, Options};
use crate::content::ToolStatus;
use crate::ids::{MessageId, SessionId};
use crate::model::{CallErrorKind, Preparation};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::{self, broken, call_id};

fn live() -> Options {
    Options { live: true, ..options(Format::Text) }
}

fn retry(stand: &mut Stand) {
    let attempt = crate::ids::AttemptId { step: call_id(TURN.0, 1, 1).step, attempt: 1 };
    stand.record(Record::AttemptFailed {
        attempt,
        message: MessageId(2),
        error: broken(CallErrorKind::Transport),
        usage: Default::default(),
        cost: None,
        too_long: false,
        seals: false,
        retry_after: Some(4_001),
    });
}

/// A whole run with one of nearly everything.
fn eventful(options: Options) -> Stand {
    let mut stand = Stand::begun(options);
    stand.text("Let me");
    retry(&mut stand);
    let (message, block) = (MessageId(2), 0);
    stand.record(Record::ReasoningAppended { message, block, text: "hm".into() });
    stand.text("I will build.");
    let (first, second) = (call_id(1, 1, 1), call_id(1, 1, 2));
    stand.answered(1, "I will build.", &[first, second]);
    stand.record(Record::ToolOutputAppended { call: first, text: "cc".into() });
    stand.tool(first, ToolStatus::Ok, "built");
    let (by, grants) = ("policy".into(), Vec::new());
    let (call, allowed, person, session) = (second, false, false, None);
    stand.record(Record::PermissionDecided { call, allowed, by, session, person, grants });
    stand.step_finished(1);
    stand.step(2);
    stand.text("It is built.");
    stand.answered(2, "It is built.", &[]);
    stand.step_finished(2);
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand
}

#[test]
fn lines_are_numbered_without_gaps_and_the_last_one_is_the_end() {
    let stand = eventful(options(Format::Jsonl));
    let expected = [
        "run.started",
        "prompt.started",
        "step.started",
        "text.delta",
        "retry",
        "attempt.reset",
        "reasoning.delta",
        "text.delta",
        "tool.output",
        "tool.started",
        "tool.finished",
        "permission.denied",
        "step.finished",
        "step.started",
        "text.delta",
        "step.finished",
        "run.finished",
    ];
    assert_eq!(stand.kinds(), expected);
    for (line, seq) in stand.lines().iter().zip(1_u64..) {
        assert_eq!((&line["v"], &line["seq"]), (&1.into(), &seq.into()));
        assert_eq!(line["run"], "run-p");
    }
    assert_eq!((stand.exit, stand.err.as_str()), (Some(0), ""));
}

#[test]
fn a_line_that_is_a_record_says_where_in_the_log_it_stands() {
    let stand = eventful(options(Format::Jsonl));
    let lines = stand.lines();
    assert!(lines[0].get("cursor").is_none());
    assert_eq!(lines[1]["cursor"], "log-1");
    let last = stand.last();
    assert_eq!(last["cursor"], last["last_cursor"]);
    assert!(lines[1..].iter().all(|line| line["cursor"].is_string() && line["session"] == "s"));
}

#[test]
fn lines_say_what_happened() {
    let lines = eventful(options(Format::Jsonl)).lines();
    let of = |kind: &str| lines.iter().find(|line| line["type"] == kind).cloned().unwrap_or_default();
    let retry = of("retry");
    assert_eq!(
        (&retry["attempt"], &retry["delay_ms"], &retry["cause"]),
        (&1.into(), &4_001.into(), &"it broke".into())
    );
    let tool = of("tool.finished");
    assert_eq!(
        (&tool["call"], &tool["name"], &tool["status"]),
        (&"t1.s1.c1".into(), &"bash".into(), &"ok".into())
    );
    assert_eq!((&tool["output"], &tool["duration_ms"]), (&"built".into(), &1_250.into()));
    assert_eq!(tool["input"], r#"{"command":"make"}"#);
    assert_eq!(of("permission.denied")["by"], "policy");
    let step = of("step.finished");
    assert_eq!(
        (&step["step"], &step["cost_usd"], &step["context_tokens"]),
        (&"t1.s1".into(), &1.5.into(), &12.into())
    );
    assert_eq!(step["usage"]["input"], 10);
    let end = of("run.finished");
    assert_eq!(
        (&end["status"], &end["exit_code"], &end["reason"]),
        (&"ok".into(), &0.into(), &"completed".into())
    );
    assert_eq!((&end["answer"], &end["message_id"]), (&"It is built.".into(), &3.into()));
    assert_eq!((&end["duration_ms"], &end["steps"]), (&77.into(), &1.into()));
}

#[test]
fn other_sessions_and_other_turns_are_not_ours() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.accept();
    stand.text("of the turn before");
    let message = MessageId(2);
    let foreign = Record::TextAppended { message, block: 0, text: "elsewhere".into() };
    stand.record_of(&SessionId::new("other"), foreign);
    let mut end = finished(RunStatus::Ok, Reason::Completed);
    end.prompt = crate::ids::PromptId::new("before");
    stand.record(Record::RunFinished(end));
    assert_eq!((stand.kinds().len(), stand.exit), (1, None));
}

#[test]
fn one_object_says_all_at_the_end() {
    let stand = eventful(options(Format::Json));
    assert_eq!(stand.kinds(), ["run.finished"]);
    let end = stand.last();
    assert_eq!((&end["seq"], &end["answer"]), (&1.into(), &"It is built.".into()));
    assert!(stand.err.is_empty(), "{}", stand.err);
}

#[test]
fn text_is_the_answer_alone_and_progress_goes_to_standard_error() {
    let stand = eventful(options(Format::Text));
    assert_eq!(stand.out, "It is built.\n");
    assert_eq!(stand.err, "retrying in 5 s: it broke\n> bash make\n  bash make: 1.2 s\n");
    let quiet = eventful(Options { quiet: true, ..options(Format::Text) });
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("It is built.\n", ""));
}

#[test]
fn an_answer_that_ends_its_line_is_printed_byte_for_byte() {
    let mut stand = Stand::begun(options(Format::Text));
    stand.answered(1, "One.\n\n\u{1b}[1mTwo.\n", &[]);
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!(stand.out, "One.\n\n\u{1b}[1mTwo.\n");
}

#[test]
fn a_terminal_is_not_made_to_obey_the_answer() {
    for options in [live(), options(Format::Text)] {
        let mut stand = Stand::begun(Options { terminal: true, ..options });
        stand.text("\u{1b}[2Jhi");
        stand.answered(1, "\u{1b}[2Jhi", &[]);
        stand.finish(RunStatus::Ok, Reason::Completed);
        assert_eq!(stand.out, "\\u{1b}[2Jhi\n");
    }
}

#[test]
fn live_text_comes_as_it_comes_with_a_blank_line_between_steps() {
    let stand = eventful(live());
    assert_eq!(stand.out, "Let me\n\nI will build.\n\nIt is built.\n");
}

#[test]
fn live_text_that_breaks_its_own_lines_gets_no_more_breaks_than_it_needs() {
    let mut stand = Stand::begun(live());
    stand.text("One.\n");
    stand.answered(1, "One.\n", &[]);
    stand.step_finished(1);
    stand.step(2);
    stand.text("Two.\n");
    stand.answered(2, "Two.\n", &[]);
    stand.step_finished(2);
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!(stand.out, "One.\n\nTwo.\n");
}

#[test]
fn live_steps_without_tools_between_them_are_told_apart_as_well() {
    let mut stand = Stand::begun(live());
    stand.text("One");
    stand.answered(1, "One", &[]);
    stand.step_finished(1);
    stand.step(2);
    stand.text("Two");
    stand.text(", three");
    stand.step_finished(2);
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!(stand.out, "One\n\nTwo, three\n");
}

#[test]
fn a_run_without_an_answer_prints_none() {
    for options in [live(), options(Format::Text)] {
        let mut stand = Stand::begun(options);
        stand.finish(RunStatus::Error, Reason::Provider);
        assert_eq!((stand.out.as_str(), stand.err.as_str()), ("", "hostler: So it ended.\n"));
        assert_eq!(stand.exit, Some(1));
    }
}

#[test]
fn nothing_is_said_after_the_end() {
    let mut stand = eventful(options(Format::Jsonl));
    let out = stand.out.clone();
    stand.feed(Input::Tick);
    stand.text("late");
    stand.finish(RunStatus::Error, Reason::Provider);
    assert_eq!((stand.exit, &stand.out), (Some(0), &out));
}

#[test]
fn an_end_that_was_not_delivered_is_no_success() {
    let mut stand = eventful(options(Format::Jsonl));
    let out = stand.out.clone();
    stand.feed(Input::OutputClosed);
    stand.feed(Input::OutputClosed);
    assert_eq!((stand.exit, &stand.out), (Some(141), &out));
}

#[test]
fn what_there_is_to_say_about_a_preparation_is_said_to_the_run_that_it_is_for() {
    let prepared = |text: &str| {
        let notices = vec![text.to_string()];
        Record::Prepared { preparation: Preparation { notices, ..words::preparation() } }
    };
    let started = |prompt: &str| Record::TurnStarted {
        turn: TURN,
        run: words::run(prompt, "").run_id(),
        prompt: words::run(prompt, "").id,
        message: MessageId(1),
    };
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.accept();
    stand.record(prepared("Said to somebody else."));
    stand.record(started("other"));
    stand.record(prepared("Nobody knows its limits."));
    stand.record(started("p"));
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!(stand.kinds(), ["run.started", "warning", "prompt.started", "run.finished"]);
    assert_eq!(stand.lines()[1]["message"], "Nobody knows its limits.");
}

fn demanding(format: Format) -> Options {
    let mut options = options(format);
    options.prompt.terms.answer_schema = Some("{}".into());
    options
}

/// A run with a schema whose first answer is refused.
fn refused(options: Options) -> Stand {
    let mut stand = Stand::begun(options);
    stand.text("Sure!");
    stand.answered(1, "Sure!", &[]);
    stand.step_finished(1);
    stand.record(Record::AnswerRefused {
        turn: TURN,
        answer: Some(MessageId(2)),
        problem: "It is\nnot JSON.".into(),
        prompt: words::run("p", "").id,
        message: MessageId(3),
        text: "Again.".into(),
    });
    stand
}

#[test]
fn an_answer_that_does_not_satisfy_its_schema_is_said_to_be_none() {
    let mut stand = refused(demanding(Format::Jsonl));
    let line = stand.last();
    assert_eq!((&line["type"], &line["message_id"]), (&"answer.refused".into(), &2.into()));
    assert_eq!(line["problem"], "It is\nnot JSON.");
    stand.step(2);
    stand.answered(2, "{}", &[]);
    stand.finish(RunStatus::Ok, Reason::Completed);
    assert_eq!((stand.exit, &stand.last()["answer"]), (Some(0), &"{}".into()));
}

#[test]
fn only_what_satisfies_the_schema_is_printed_as_the_answer() {
    // Also where text is printed as it comes: nobody knows yet what will do.
    for live in [false, true] {
        let mut stand = refused(Options { live, ..demanding(Format::Text) });
        assert_eq!(
            stand.err,
            "asking again, since the answer does not satisfy the schema: It is not JSON.\n"
        );
        stand.step(2);
        stand.text("{}");
        stand.answered(2, "{}", &[]);
        stand.finish(RunStatus::Ok, Reason::Completed);
        assert_eq!((stand.exit, stand.out.as_str()), (Some(0), "{}\n"), "live: {live}");
    }
}

#[test]
fn a_run_that_ends_before_it_has_an_answer_that_satisfies_its_schema_has_none() {
    for (status, reason, code) in [
        (RunStatus::Error, Reason::Schema, 1),
        (RunStatus::Limit, Reason::MaxSteps, 4),
        (RunStatus::Cancelled, Reason::Sigterm, 143),
    ] {
        let mut stand = refused(Options { keeps: true, ..demanding(Format::Json) });
        stand.step(2);
        stand.answered(2, "Sure!", &[]);
        stand.finish(status, reason);
        assert_eq!((stand.exit, &stand.last()["answer"]), (Some(code), &serde_json::Value::Null));
        assert!(stand.keep.is_empty(), "nothing is kept of what is no answer");
    }
}
