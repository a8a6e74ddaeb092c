//! What is said of a provider that says nothing.

use super::stand::{Stand, TURN, options};
use crate::client::{Format, Options};
use crate::content::Usage;
use crate::ids::{AttemptId, MessageId};
use crate::machine::Machine;
use crate::model::{CallError, CallErrorKind};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::call_id;
use crate::time::{Deadline, Timestamp};

const SAID: &str = "waiting for p/m; for 10 s there has been nothing to show (Ctrl-C cancels)\n";

fn attempt(attempt: u32) -> AttemptId {
    AttemptId { step: call_id(TURN.0, 1, 1).step, attempt }
}

/// An attempt begins.
fn asks(stand: &mut Stand, number: u32) {
    stand.record(Record::AttemptStarted { attempt: attempt(number) });
}

fn fails(stand: &mut Stand, number: u32) {
    stand.record(Record::AttemptFailed {
        attempt: attempt(number),
        message: MessageId(2),
        error: CallError {
            kind: CallErrorKind::Transport,
            message: "It was silent.".into(),
            retry_after: None,
            should_retry: None,
        },
        retry_after: Some(1_000),
        usage: Usage::default(),
        cost: None,
        seals: false,
        too_long: false,
    });
}

#[test]
fn each_silent_attempt_is_told_of_once() {
    let mut stand = Stand::begun(options(Format::Text));
    asks(&mut stand, 1);
    assert_eq!(stand.run.deadline(), Some((Timestamp::from_millis(11_000), Deadline::FirstEvent)));
    stand.tick_at(10_999);
    assert_eq!(stand.err, "");
    stand.tick_at(11_000);
    stand.tick_at(31_000);
    assert_eq!((stand.err.as_str(), stand.run.deadline()), (SAID, None));
    fails(&mut stand, 1);
    assert_eq!(stand.run.deadline(), None, "the wait before the next attempt is no silence");
    asks(&mut stand, 2);
    stand.tick_at(41_000);
    assert_eq!(stand.err.matches(SAID).count(), 2, "{}", stand.err);
    stand.finish(RunStatus::Ok, Reason::Completed);
}

#[test]
fn whatever_comes_ends_the_silence() {
    let mut stand = Stand::begun(options(Format::Text));
    asks(&mut stand, 1);
    stand.text("He");
    assert_eq!(stand.run.deadline(), None);
    stand.answered(1, "Hello.", &[]);
    stand.step_finished(1);
    stand.step(2);
    assert_eq!(stand.run.deadline(), None);
}

#[test]
fn scripts_and_whoever_wants_quiet_are_told_nothing() {
    for options in
        [options(Format::Json), options(Format::Jsonl), Options { quiet: true, ..options(Format::Text) }]
    {
        let mut stand = Stand::begun(options);
        asks(&mut stand, 1);
        assert_eq!(stand.run.deadline(), None);
    }
}

#[test]
fn the_time_that_a_run_may_take_is_kept_beside_it() {
    let mut stand = Stand::begun(Options { timeout: Some(60_000), ..options(Format::Text) });
    asks(&mut stand, 1);
    stand.tick_at(11_000);
    assert_eq!(stand.err, SAID);
    assert_eq!(stand.run.deadline(), Some((Timestamp::from_millis(61_000), Deadline::Run)));
}
