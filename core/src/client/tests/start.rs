//! From the first line to acceptance: the prompt, the session, and whatever can go wrong with them.

use super::stand::{Stand, finished, options};
use crate::client::{Earlier, Format, Gathered, Input, Options, Which};
use crate::ids::{ClientId, RunId, SessionId};
use crate::protocol::{
    Activity, Command, Ended, Event, Holder, Notice, Query, Refusal, RefusalKind, Reply, Request, RunInfo,
    SessionChoice, SessionInfo,
};
use crate::record::{Reason, Record, ReturnReason, RunStatus, Totals};
use crate::rig::words;
use crate::time::Timestamp;

pub(super) fn info(id: &str) -> SessionInfo {
    SessionInfo {
        id: SessionId::new(id),
        title: "t".into(),
        parent: None,
        created: Timestamp::default(),
        updated: Timestamp::default(),
        messages: 0,
        runs: 0,
        model: None,
        totals: Totals::default(),
        activity: Activity::Idle,
    }
}

pub(super) fn found(id: &str) -> Input {
    Input::Reply(Box::new(Reply::Session(info(id))))
}

fn refused(kind: RefusalKind) -> Input {
    Input::Reply(Box::new(Reply::Refused(Refusal::new(kind, "No."))))
}

fn chosen(stand: &Stand) -> &SessionChoice {
    match stand.requests.last() {
        Some(Request::Command(Command::Submit { session, .. })) => session,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_line_comes_before_anything_is_asked() {
    let warnings = vec!["mind the gap".into()];
    let mut stand = Stand::new(Options { warnings, ..options(Format::Jsonl) });
    stand.feed(Input::Begin);
    assert!(stand.requests.is_empty());
    let lines = stand.lines();
    assert_eq!(lines[0]["type"], "run.started");
    assert_eq!(lines[0]["run"], "run-p");
    assert!(lines[0]["session"].is_null() && lines[0]["model"].is_null());
    assert_eq!((&lines[0]["version"], &lines[0]["cwd"]), (&"1.2.3".into(), &"/w".into()));
    assert_eq!(lines[0]["permission_mode"], "yolo");
    assert_eq!(lines[0]["ts"], "1970-01-01T00:00:01.000Z");
    assert_eq!((&lines[1]["type"], &lines[1]["message"]), (&"warning".into(), &"mind the gap".into()));
    assert!(stand.err.is_empty(), "who reads lines is told in lines");
}

#[test]
fn warnings_go_to_standard_error_in_other_formats() {
    for format in [Format::Text, Format::Json] {
        let mut stand = Stand::new(options(format));
        stand.feed(Input::Begin);
        stand.feed(Input::Ready(Box::new(Gathered {
            text: "Do it.".into(),
            warnings: vec!["not read".into()],
            ..Gathered::default()
        })));
        assert_eq!(stand.err, "hostler: warning: not read\n");
        assert!(stand.out.is_empty());
    }
}

#[test]
fn a_new_session_is_submitted_to_at_once() {
    let mut stand = Stand::new(options(Format::Text));
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    assert_eq!(*chosen(&stand), SessionChoice::New { id: words::session() });
    let Some(Request::Command(Command::Submit { prompt, .. })) = stand.requests.last() else { panic!() };
    assert_eq!((prompt.text.as_str(), prompt.client == ClientId::new("client")), ("Do it.", true));
    stand.ready("Again.");
    assert_eq!(stand.requests.len(), 1, "a prompt is complete once");
}

#[test]
fn the_latest_session_is_continued_or_a_new_one_begun() {
    let which = || Which::Latest(SessionId::new("fresh"));
    let mut stand = Stand::new(Options { session: which(), ..options(Format::Text) });
    stand.ready("Do it.");
    assert_eq!(stand.requests, [Request::Query(Query::LatestSession)]);
    stand.feed(found("old"));
    assert_eq!(*chosen(&stand), SessionChoice::Existing { id: SessionId::new("old") });
    let mut stand = Stand::new(Options { session: which(), ..options(Format::Text) });
    stand.ready("Do it.");
    stand.feed(refused(RefusalKind::NotFound));
    assert_eq!(*chosen(&stand), SessionChoice::New { id: SessionId::new("fresh") });
}

/// All that goes on with what was kept before.
fn going_on() -> [Options; 4] {
    let latest = || Which::Latest(SessionId::new("fresh"));
    let prefix = || Which::Prefix("ol".into());
    let fork = || Some(SessionId::new("copy"));
    [(latest(), None), (prefix(), None), (latest(), fork()), (prefix(), fork())]
        .map(|(session, fork)| Options { session, fork, ..options(Format::Jsonl) })
}

#[test]
fn what_cannot_be_written_is_not_gone_on_with_and_nothing_else_is_begun_for_it() {
    for options in going_on() {
        let mut stand = Stand::new(Options { earlier: Earlier::ReadOnly("/state".into()), ..options });
        stand.feed(Input::Begin);
        stand.ready("Do it.");
        assert_eq!((stand.exit, stand.requests.len()), (Some(1), 0));
        assert_eq!((&stand.last()["status"], &stand.last()["reason"]), (&"error".into(), &"storage".into()));
        let message = stand.last()["message"].as_str().unwrap_or_default().to_string();
        assert!(message.contains("/state, which cannot be written to"), "{message}");
    }
}

#[test]
fn where_earlier_sessions_cannot_be_seen_none_is_begun_in_the_place_of_one() {
    for options in going_on() {
        let mut stand = Stand::new(Options { earlier: Earlier::Unknown, ..options });
        stand.feed(Input::Begin);
        stand.ready("Do it.");
        stand.feed(refused(RefusalKind::NotFound));
        assert_eq!((stand.exit, stand.requests.len()), (Some(2), 1));
    }
    let latest = Which::Latest(SessionId::new("fresh"));
    let mut stand =
        Stand::new(Options { session: latest, earlier: Earlier::Unknown, ..options(Format::Text) });
    stand.ready("Do it.");
    stand.feed(found("old"));
    assert_eq!(*chosen(&stand), SessionChoice::Existing { id: SessionId::new("old") });
}

#[test]
fn a_new_session_is_begun_wherever_earlier_ones_are() {
    for earlier in [Earlier::Reachable, Earlier::Unknown, Earlier::ReadOnly("/state".into())] {
        let mut stand = Stand::new(Options { earlier, ..options(Format::Text) });
        stand.ready("Do it.");
        assert_eq!(*chosen(&stand), SessionChoice::New { id: words::session() });
    }
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id_or_the_run_is_bad_usage() {
    let prefixed = || Options { session: Which::Prefix("ol".into()), ..options(Format::Jsonl) };
    let mut stand = Stand::new(prefixed());
    stand.ready("Do it.");
    assert_eq!(stand.requests, [Request::Query(Query::FindSession { prefix: "ol".into() })]);
    stand.feed(found("old"));
    assert_eq!(chosen(&stand).id().as_str(), "old");
    for kind in [RefusalKind::NotFound, RefusalKind::Ambiguous] {
        let mut stand = Stand::new(prefixed());
        stand.ready("Do it.");
        stand.feed(refused(kind));
        assert_eq!(stand.exit, Some(2));
        assert_eq!((&stand.last()["status"], &stand.last()["reason"]), (&"error".into(), &"usage".into()));
    }
}

#[test]
fn an_empty_prompt_is_bad_usage() {
    for format in [Format::Text, Format::Json, Format::Jsonl] {
        let mut stand = Stand::new(options(format));
        stand.feed(Input::Begin);
        stand.ready(" \n");
        assert_eq!(stand.exit, Some(2));
        assert!(stand.requests.is_empty());
        let told = if format == Format::Text { stand.err.clone() } else { stand.out.clone() };
        assert!(told.contains("The prompt is empty"), "{told}");
    }
}

#[test]
fn a_refusal_ends_the_run_with_its_kind() {
    for (kind, status, code) in [
        (RefusalKind::Invalid, "error", 2),
        (RefusalKind::NotFound, "error", 2),
        (RefusalKind::Conflict, "error", 2),
        (RefusalKind::Storage, "error", 1),
        (RefusalKind::Cancelled, "cancelled", 7),
        (RefusalKind::Closing, "cancelled", 7),
    ] {
        let mut stand = Stand::new(options(Format::Jsonl));
        stand.feed(Input::Begin);
        stand.ready("Do it.");
        stand.feed(refused(kind));
        let last = stand.last();
        assert_eq!(
            (stand.exit, &last["status"], &last["message"]),
            (Some(code), &status.into(), &"No.".into())
        );
        assert_eq!(last["exit_code"], code);
    }
}

#[test]
fn a_workspace_that_cannot_be_opened_ends_the_run() {
    let mut stand = Stand::new(options(Format::Text));
    stand.feed(Input::Begin);
    stand.feed(Input::Unavailable(Refusal::new(RefusalKind::Storage, "The disk is full.")));
    assert_eq!((stand.exit, stand.err.as_str()), (Some(1), "hostler: The disk is full.\n"));
}

/// Another process has the session that a prompt waits for.
pub(super) fn busy(prompt: &str) -> Input {
    Input::Event(Box::new(Event::Notice(Notice::SessionBusy {
        session: words::session(),
        prompt: crate::ids::PromptId::new(prompt),
        holder: Holder { pid: 42, since: Timestamp::from_millis(0) },
    })))
}

#[test]
fn whoever_waits_for_a_session_is_told_of_it() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    stand.ready("Do it.");
    stand.feed(busy("another"));
    stand.feed(busy("p"));
    assert_eq!(stand.kinds(), ["run.started", "prompt.queued"]);
    assert_eq!(stand.last()["holder"]["pid"], 42);
    let mut stand = Stand::new(options(Format::Text));
    stand.ready("Do it.");
    stand.feed(busy("p"));
    assert_eq!(stand.err, "waiting: process 42 has the session\n");
}

#[test]
fn what_waits_behind_another_turn_and_what_goes_back_is_told() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.accept();
    let prompt = words::run("p", "").id;
    stand.record(Record::PromptQueued { prompt: prompt.clone() });
    assert!(stand.last()["holder"].is_null() && stand.last()["cursor"] == "log-1");
    let (client, text) = (ClientId::new("client"), "Do it.".into());
    stand.record(Record::PromptReturned { prompt, client, text, reason: ReturnReason::Cleared });
    stand.record(Record::RunFinished(super::stand::finished(RunStatus::Cancelled, Reason::Returned)));
    assert_eq!(stand.kinds(), ["run.started", "prompt.queued", "prompt.returned", "run.finished"]);
    assert_eq!(stand.exit, Some(7));
}

#[test]
fn what_is_kept_for_the_directory_joins_the_rules_of_the_command_line() {
    let rule = |text| crate::tools::Rule::parse(crate::tools::Action::Allow, text, None).expect("a rule");
    let mut asked = options(Format::Text);
    asked.prompt.terms.rules = vec![rule("edit")];
    let mut stand = Stand::new(asked);
    stand.feed(Input::Begin);
    let gathered = Gathered { text: "Do it.".into(), rules: vec![rule("bash")], ..Gathered::default() };
    stand.feed(Input::Ready(Box::new(gathered)));
    let Some(Request::Command(Command::Submit { prompt, .. })) = stand.requests.last() else { panic!() };
    assert_eq!(prompt.terms.rules, [rule("edit"), rule("bash")]);
}

#[test]
fn what_cannot_be_gathered_ends_the_run_before_anything_is_asked() {
    let mut stand = Stand::new(options(Format::Jsonl));
    stand.feed(Input::Begin);
    stand.feed(Input::Mistake("The file is not there.".into()));
    assert_eq!((stand.exit, stand.requests.len()), (Some(2), 0));
    assert_eq!(
        (&stand.last()["reason"], &stand.last()["message"]),
        (&"usage".into(), &"The file is not there.".into())
    );
}

#[test]
fn a_prompt_that_is_over_already_ends_as_the_log_says() {
    let ended = Ended { status: RunStatus::Limit, reason: Reason::MaxSteps };
    let begin = || {
        let mut stand = Stand::new(options(Format::Jsonl));
        stand.feed(Input::Begin);
        stand.ready("Do it.");
        let (session, prompt, run) = (words::session(), words::run("p", "").id, RunId::new("run-p"));
        let reply = Reply::Accepted { session, prompt, run, sequence: 1, ended: Some(ended) };
        stand.feed(Input::Reply(Box::new(reply)));
        assert_eq!(stand.exit, None);
        let query = Query::FindRun { prefix: "run-p".into() };
        assert_eq!(stand.requests.last(), Some(&Request::Query(query)));
        stand
    };
    let info = RunInfo {
        run: RunId::new("run-p"),
        session: words::session(),
        prompt: words::run("p", "").id,
        text: "Do it.".into(),
        accepted: Timestamp::default(),
        message: None,
        finished: Some(finished(RunStatus::Limit, Reason::MaxSteps)),
        activity: Activity::Idle,
    };
    let mut stand = begin();
    stand.feed(Input::Reply(Box::new(Reply::Runs(vec![info]))));
    assert_eq!((stand.exit, &stand.last()["reason"]), (Some(4), &"max_steps".into()));
    let mut stand = begin();
    stand.feed(Input::Reply(Box::new(Reply::Runs(Vec::new()))));
    assert_eq!((stand.exit, &stand.last()["reason"]), (Some(1), &"storage".into()));
}
