//! Whatever happens to a run and in whatever order: it ends once, its exit code follows from how it says that it ended, and
//! it is the same in every format.

use proptest::prelude::*;
use serde_json::from_value;

use super::stand::{Stand, finished, options};
use super::start::info;
use crate::client::{Format, Input, Options, Signal, Which, exit_code};
use crate::content::ToolStatus;
use crate::ids::{RunId, SessionId};
use crate::protocol::{Event, Notice, Refusal, RefusalKind, Reply};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::{self, call_id};

pub(super) const STATUSES: [RunStatus; 5] =
    [RunStatus::Ok, RunStatus::Error, RunStatus::Cancelled, RunStatus::Limit, RunStatus::Denied];

pub(super) const REASONS: [Reason; 29] = [
    Reason::Completed,
    Reason::Provider,
    Reason::Refusal,
    Reason::Storage,
    Reason::Internal,
    Reason::Interrupted,
    Reason::ToolError,
    Reason::Schema,
    Reason::Usage,
    Reason::UnknownModel,
    Reason::NoProvider,
    Reason::Credentials,
    Reason::OutputLimit,
    Reason::MaxSteps,
    Reason::MaxCost,
    Reason::Timeout,
    Reason::MaxWait,
    Reason::Repetition,
    Reason::Context,
    Reason::Denied,
    Reason::Returned,
    Reason::ServerLost,
    Reason::Client,
    Reason::Shutdown,
    Reason::User,
    Reason::Sighup,
    Reason::Sigint,
    Reason::Sigterm,
    Reason::OutputClosed,
];

const REFUSALS: [RefusalKind; 7] = [
    RefusalKind::Invalid,
    RefusalKind::NotFound,
    RefusalKind::Ambiguous,
    RefusalKind::Conflict,
    RefusalKind::Storage,
    RefusalKind::Cancelled,
    RefusalKind::Closing,
];

/// Something that happens to a run.
#[derive(Clone, Debug)]
enum Happens {
    Ready(bool),
    Mistake,
    Opened,
    Unavailable(RefusalKind),
    Found,
    Accepted,
    Refused(RefusalKind),
    /// A step with an answer and so many failed tools.
    Answers(u32),
    Ends(RunStatus, Reason, u32),
    StorageFails,
    Kept(bool),
    Signal(Signal),
    ReaderLeaves,
    OutputFails,
    Later(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    let refusal = || prop::sample::select(REFUSALS.to_vec());
    let signal = prop::sample::select(vec![Signal::Hangup, Signal::Interrupt, Signal::Terminate]);
    let (status, reason) = (prop::sample::select(STATUSES.to_vec()), prop::sample::select(REASONS.to_vec()));
    prop_oneof![
        4 => prop::bool::weighted(0.9).prop_map(Happens::Ready),
        1 => Just(Happens::Mistake),
        4 => Just(Happens::Opened),
        1 => refusal().prop_map(Happens::Unavailable),
        3 => Just(Happens::Found),
        4 => Just(Happens::Accepted),
        1 => refusal().prop_map(Happens::Refused),
        3 => (0..3_u32).prop_map(Happens::Answers),
        2 => (status, reason, 0..3_u32).prop_map(|(status, reason, failed)| Happens::Ends(status, reason, failed)),
        1 => Just(Happens::StorageFails),
        2 => any::<bool>().prop_map(Happens::Kept),
        1 => signal.prop_map(Happens::Signal),
        1 => Just(Happens::ReaderLeaves),
        1 => Just(Happens::OutputFails),
        1 => (1..6_000_u64).prop_map(Happens::Later),
    ]
}

fn feed(stand: &mut Stand, what: &Happens) {
    let refused = |kind: &RefusalKind| Refusal::new(*kind, "No.");
    match what {
        Happens::Ready(text) => stand.ready(if *text { "Do it." } else { " " }),
        Happens::Mistake => stand.feed(Input::Mistake("Not so.".into())),
        Happens::Opened => stand.feed(Input::Opened),
        Happens::Unavailable(kind) => stand.feed(Input::Unavailable(refused(kind))),
        Happens::Found => stand.feed(Input::Reply(Box::new(Reply::Session(info("s"))))),
        Happens::Accepted => {
            let (session, prompt) = (words::session(), words::run("p", "").id);
            let run = RunId::new("run-p");
            let accepted = Reply::Accepted { session, prompt, run, sequence: 1, ended: None };
            stand.feed(Input::Reply(Box::new(accepted)));
        }
        Happens::Refused(kind) => stand.feed(Input::Reply(Box::new(Reply::Refused(refused(kind))))),
        Happens::Answers(failed) => {
            stand.step(1);
            stand.text("So.");
            let calls: Vec<_> = (1..=*failed).map(|call| call_id(1, 1, call)).collect();
            stand.answered(1, "So.", &calls);
            calls.iter().for_each(|call| stand.tool(*call, ToolStatus::Error, "No."));
            stand.step_finished(1);
        }
        Happens::Ends(status, reason, failed) => {
            let mut end = finished(*status, *reason);
            end.totals.tools.failed = *failed;
            stand.record(Record::RunFinished(end));
        }
        Happens::StorageFails => {
            let message = "The disk is full.".into();
            stand.feed(Input::Event(Box::new(Event::Notice(Notice::StorageFailed { message }))));
        }
        Happens::Kept(well) => {
            let kept = if *well { Ok(()) } else { Err("The disk is full.".to_string()) };
            stand.feed(Input::Kept(kept));
        }
        Happens::Signal(signal) => stand.signal(*signal),
        Happens::ReaderLeaves => stand.feed(Input::OutputClosed),
        Happens::OutputFails => stand.feed(Input::OutputFailed("It is full.".into())),
        Happens::Later(millis) => {
            let at = stand.now.plus(*millis).as_millis();
            stand.tick_at(at);
        }
    }
}

/// Lives through a story until the run is over; returns its exit code, and what it had printed by then.
fn live(options: Options, story: &[Happens]) -> (u8, Stand) {
    let mut stand = Stand::new(options);
    stand.opens = false;
    stand.feed(Input::Begin);
    // The first signal sets a bound, and a disk that has taken the answer says so.
    let end = [Happens::Signal(Signal::Terminate), Happens::Later(5_000), Happens::Kept(true)];
    for what in story.iter().chain(&end) {
        feed(&mut stand, what);
        if let Some(code) = stand.exit {
            return (code, stand);
        }
    }
    panic!("it has not ended after {story:?}");
}

proptest! {
    #[test]
    fn the_exit_code_follows_from_the_last_line_alone(
        story in prop::collection::vec(happens(), 0..24),
        (keeps, strict, which) in (any::<bool>(), any::<bool>(), 0..3_u8),
        timeout in prop::option::of(1..6_000_u64),
    ) {
        let session = match which {
            0 => Which::New(words::session()),
            1 => Which::Latest(words::session()),
            _ => Which::Prefix("s".into()),
        };
        let fork = (which == 2 && strict).then(|| SessionId::new("s"));
        let as_format = |format| {
            let usual = options(format);
            Options { keeps, fail_on_tool_error: strict, session: session.clone(), fork: fork.clone(), timeout, ..usual }
        };
        let (code, lines) = live(as_format(Format::Jsonl), &story);
        let (json_code, json) = live(as_format(Format::Json), &story);
        let (text_code, _) = live(as_format(Format::Text), &story);
        prop_assert_eq!((json_code, text_code), (code, code));

        let ends = lines.kinds().iter().filter(|kind| *kind == "run.finished").count();
        // Without a reader there is nobody to say it to.
        prop_assert_eq!(ends, usize::from(lines.run.has_reader()));
        if lines.run.has_reader() {
            let last = lines.last();
            prop_assert_eq!(&last["type"], "run.finished");
            let status = from_value(last["status"].clone()).expect("a status");
            let reason = from_value(last["reason"].clone()).expect("a reason");
            prop_assert_eq!((&last["exit_code"], exit_code(status, reason)), (&code.into(), code));
            let object = json.last();
            for field in ["status", "reason", "exit_code", "message", "answer", "usage", "tools", "steps"] {
                prop_assert_eq!(&object[field], &last[field], "{}", field);
            }
        } else {
            prop_assert!(code == 141 || code == 1, "{}", code);
        }
    }
}
