//! How a run ends, and with which code: by itself, by a signal, by its time, or without a reader.

use super::stand::{Stand, finished, options};
use crate::client::{Effect, Format, Input, Options, Signal, exit_code};
use crate::machine::{Effects, Machine};
use crate::protocol::{Command, Event, Notice, Refusal, RefusalKind, Reply, Request};
use crate::record::{CancelScope, Reason, Record, RunStatus};
use crate::time::{Deadline, Timestamp};

fn begun() -> Stand {
    Stand::begun(options(Format::Jsonl))
}

fn cancels(stand: &Stand) -> Vec<Reason> {
    let cancels = stand.requests.iter().filter_map(|request| match request {
        Request::Command(Command::Cancel { scope: CancelScope::Run(run), reason, .. }) => {
            assert_eq!(run.as_str(), "run-p");
            Some(*reason)
        }
        _ => None,
    });
    cancels.collect()
}

/// The run is over with that status, reason and code, and says so once.
fn is_over(stand: &Stand, status: &str, reason: &str, code: u8) {
    let last = stand.last();
    assert_eq!((&last["status"], &last["reason"]), (&status.into(), &reason.into()));
    assert_eq!((&last["exit_code"], stand.exit), (&code.into(), Some(code)));
    assert_eq!(stand.kinds().iter().filter(|kind| *kind == "run.finished").count(), 1);
}

#[test]
fn the_code_is_that_of_the_run_in_every_format() {
    for format in [Format::Text, Format::Json, Format::Jsonl] {
        for (status, reason) in [
            (RunStatus::Ok, Reason::Completed),
            (RunStatus::Error, Reason::Provider),
            (RunStatus::Error, Reason::Interrupted),
            (RunStatus::Error, Reason::UnknownModel),
            (RunStatus::Error, Reason::Credentials),
            (RunStatus::Limit, Reason::MaxSteps),
            (RunStatus::Denied, Reason::Denied),
            (RunStatus::Cancelled, Reason::Client),
        ] {
            let mut stand = Stand::begun(options(format));
            stand.finish(status, reason);
            assert_eq!(stand.exit, Some(exit_code(status, reason)), "{format:?} {status:?} {reason:?}");
        }
    }
}

#[test]
fn failed_tools_fail_the_run_only_if_that_is_asked_for() {
    for (fail_on_tool_error, code) in [(false, 0), (true, 1)] {
        let mut stand = Stand::begun(Options { fail_on_tool_error, ..options(Format::Jsonl) });
        let mut end = finished(RunStatus::Ok, Reason::Completed);
        end.totals.tools.failed = 2;
        stand.record(Record::RunFinished(end));
        assert_eq!(stand.exit, Some(code));
        assert_eq!(stand.last()["reason"] == "tool_error", fail_on_tool_error);
    }
}

#[test]
fn a_signal_asks_for_the_end_and_waits_for_it() {
    for (signal, reason, word, code) in [
        (Signal::Hangup, Reason::Sighup, "sighup", 129),
        (Signal::Interrupt, Reason::Sigint, "sigint", 130),
        (Signal::Terminate, Reason::Sigterm, "sigterm", 143),
    ] {
        let mut stand = begun();
        stand.signal(signal);
        assert_eq!((cancels(&stand), stand.exit), (vec![reason], None));
        stand.finish(RunStatus::Cancelled, reason);
        is_over(&stand, "cancelled", word, code);
    }
}

#[test]
fn what_goes_back_because_of_our_signal_ended_by_that_signal() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.accept();
    stand.signal(Signal::Interrupt);
    stand.record(Record::RunFinished(finished(RunStatus::Cancelled, Reason::Returned)));
    is_over(&stand, "cancelled", "sigint", 130);
}

#[test]
fn a_run_that_succeeds_all_the_same_is_a_success() {
    let mut stand = begun();
    stand.signal(Signal::Terminate);
    stand.finish(RunStatus::Ok, Reason::Completed);
    is_over(&stand, "ok", "completed", 0);
}

#[test]
fn a_second_interrupt_ends_the_process_at_once() {
    let mut stand = begun();
    stand.signal(Signal::Interrupt);
    stand.signal(Signal::Interrupt);
    assert_eq!(cancels(&stand).len(), 1);
    is_over(&stand, "cancelled", "sigint", 130);
    let soon = stand.now.plus(1_000);
    assert!(stand.run.must_end_by().is_some_and(|until| until > stand.now && until < soon));
}

#[test]
fn what_was_said_last_and_not_delivered_is_no_success() {
    let mut stand = begun();
    stand.record(Record::RunFinished(finished(RunStatus::Ok, Reason::Completed)));
    assert_eq!(stand.exit, Some(0));
    let mut out = Effects::new();
    stand.run.handle(stand.now, Input::OutputClosed, &mut out);
    stand.run.handle(stand.now, Input::OutputClosed, &mut out);
    assert_eq!(out.into_parts().1, [Effect::Exit(141)], "once");
}

#[test]
fn what_was_said_and_not_taken_in_time_ends_as_whoever_had_no_more_patience_did() {
    for (signal, code) in [(Signal::Hangup, 129), (Signal::Interrupt, 130), (Signal::Terminate, 143)] {
        let mut stand = begun();
        stand.record(Record::RunFinished(finished(RunStatus::Ok, Reason::Completed)));
        assert_eq!(stand.exit, Some(0));
        let mut out = Effects::new();
        stand.run.handle(stand.now, Input::Signal(signal), &mut out);
        assert!(stand.run.must_end_by().is_some_and(|until| until > stand.now));
        stand.run.handle(stand.now, Input::Signal(Signal::Interrupt), &mut out);
        assert!(stand.run.must_end_by().is_some_and(|until| until < stand.now), "the second ends it at once");
        stand.run.handle(stand.now, Input::Undelivered, &mut out);
        stand.run.handle(stand.now, Input::Undelivered, &mut out);
        assert_eq!(out.into_parts().1, [Effect::Exit(code)], "once");
    }
}

#[test]
fn an_interrupt_after_another_signal_ends_it_too_and_other_signals_do_not() {
    let mut stand = begun();
    stand.signal(Signal::Terminate);
    stand.signal(Signal::Terminate);
    stand.signal(Signal::Hangup);
    assert_eq!((cancels(&stand).len(), stand.exit), (1, None));
    stand.signal(Signal::Interrupt);
    is_over(&stand, "cancelled", "sigterm", 143);
}

#[test]
fn an_end_that_does_not_come_is_not_waited_for_as_long_as_five_seconds() {
    let mut stand = begun();
    stand.signal(Signal::Terminate);
    assert!(stand.run.must_end_by().is_some_and(|until| until < stand.now.plus(5_000)));
    let until = stand.now.plus(4_500);
    assert_eq!(stand.run.deadline(), Some((until, Deadline::Exit)));
    stand.tick_at(until.as_millis() - 1);
    assert_eq!(stand.exit, None);
    stand.tick_at(until.as_millis());
    is_over(&stand, "cancelled", "sigterm", 143);
    assert_eq!(stand.run.deadline(), None);
}

#[test]
fn what_was_not_submitted_ends_at_once() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    stand.signal(Signal::Interrupt);
    is_over(&stand, "cancelled", "sigint", 130);
    assert!(stand.requests.is_empty());
}

#[test]
fn what_waits_for_its_workspace_ends_at_once() {
    for opened in [Input::Opened, Input::Unavailable(Refusal::new(RefusalKind::Storage, "It is busy."))] {
        let mut stand = Stand::new(options(Format::Jsonl));
        stand.opens = false;
        stand.feed(Input::Begin);
        stand.ready("Do it.");
        assert!(stand.requests.is_empty(), "nothing is asked before it is open");
        stand.signal(Signal::Terminate);
        is_over(&stand, "cancelled", "sigterm", 143);
        stand.feed(opened);
        assert!(stand.requests.is_empty());
    }
}

#[test]
fn time_that_is_over_while_a_session_is_waited_for_is_a_limit_that_is_explained() {
    let mut stand = Stand::new(Options { timeout: Some(10), ..options(Format::Jsonl) });
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    stand.tick_at(1_010);
    assert_eq!(cancels(&stand), [Reason::Timeout]);
    let refusal = Refusal::new(RefusalKind::Cancelled, "It was cancelled while it waited.");
    stand.feed(Input::Reply(Box::new(Reply::Refused(refusal))));
    is_over(&stand, "limit", "timeout", 4);
    assert!(stand.last()["message"].as_str().unwrap().contains("--timeout"), "{}", stand.last());
}

#[test]
fn what_is_submitted_and_not_accepted_is_cancelled_and_refused() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    stand.signal(Signal::Hangup);
    assert_eq!(cancels(&stand), [Reason::Sighup]);
    let refusal = Refusal::new(RefusalKind::Cancelled, "It was cancelled.");
    stand.feed(Input::Reply(Box::new(Reply::Refused(refusal))));
    is_over(&stand, "cancelled", "sighup", 129);
}

#[test]
fn the_time_that_a_run_may_take_is_a_limit() {
    let mut stand = Stand::begun(Options { timeout: Some(60_000), ..options(Format::Jsonl) });
    assert_eq!(stand.run.deadline(), Some((Timestamp::from_millis(61_000), Deadline::Run)));
    stand.tick_at(60_999);
    assert!(cancels(&stand).is_empty());
    stand.tick_at(61_000);
    assert_eq!(cancels(&stand), [Reason::Timeout]);
    stand.finish(RunStatus::Limit, Reason::Timeout);
    is_over(&stand, "limit", "timeout", 4);
}

#[test]
fn a_run_that_ran_out_of_time_before_it_began_is_a_limit_too() {
    let timed = || Options { timeout: Some(10), ..options(Format::Jsonl) };
    let mut reading = Stand::new(timed());
    reading.feed(Input::Begin);
    reading.tick_at(1_010);
    is_over(&reading, "limit", "timeout", 4);
    let mut queued = Stand::new(timed());
    queued.accept();
    queued.tick_at(1_010);
    queued.record(Record::RunFinished(finished(RunStatus::Cancelled, Reason::Returned)));
    is_over(&queued, "limit", "timeout", 4);
}

#[test]
fn without_a_reader_nothing_more_is_printed_and_the_run_is_cancelled() {
    let mut stand = begun();
    let out = stand.out.clone();
    stand.feed(Input::OutputClosed);
    assert_eq!(cancels(&stand), [Reason::OutputClosed]);
    stand.text("unread");
    stand.finish(RunStatus::Cancelled, Reason::OutputClosed);
    assert_eq!((stand.out, stand.exit), (out, Some(141)));
}

#[test]
fn a_reader_that_goes_away_before_the_prompt_is_read_ends_it_there() {
    let mut stand = Stand::new(options(Format::Text));
    stand.feed(Input::Begin);
    stand.feed(Input::OutputClosed);
    assert_eq!((stand.out.as_str(), stand.exit), ("", Some(141)));
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run_as_a_failure_of_storage() {
    let mut stand = begun();
    let message = "The disk is full.".into();
    stand.feed(Input::Event(Box::new(Event::Notice(Notice::StorageFailed { message }))));
    is_over(&stand, "error", "storage", 1);
    assert_eq!(stand.last()["message"], "The disk is full.");
}

#[test]
fn what_was_answered_so_far_is_part_of_an_end_that_is_not_on_record() {
    let mut stand = begun();
    stand.answered(1, "So far.", &[]);
    stand.signal(Signal::Interrupt);
    stand.signal(Signal::Interrupt);
    assert_eq!(stand.last()["answer"], "So far.");
}

#[test]
fn output_that_cannot_be_written_is_a_failure_that_is_said() {
    let mut stand = Stand::begun(options(Format::Jsonl));
    stand.feed(Input::OutputFailed("No space left on device".into()));
    assert_eq!(cancels(&stand), [Reason::Storage], "the log says why as well");
    stand.finish(RunStatus::Error, Reason::Storage);
    assert_eq!(stand.exit, Some(1));
    assert_eq!(
        stand.err,
        "hostler: Standard output cannot be written (No space left on device); see whether there is room where it leads.\n"
    );

    let mut stand = Stand::begun(options(Format::Text));
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand.feed(Input::OutputFailed("No space left on device".into()));
    assert!(
        stand.exit == Some(1) && stand.err.ends_with("see whether there is room where it leads.\n"),
        "{}",
        stand.err
    );
}
