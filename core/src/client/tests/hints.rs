//! What is said about calls that were denied because nobody could be asked.

use super::stand::{Stand, TURN, options};
use crate::client::{Format, Options};
use crate::content::{ToolOutcome, ToolStatus};
use crate::ids::MessageId;
use crate::prompt::PermissionMode;
use crate::record::{Reason, Record, RunStatus};
use crate::rig::words::call_id;

/// A run in which calls were denied that these rules would have let pass, each with others.
fn denied(options: Options, facts: &[Option<&str>]) -> Stand {
    let mut stand = Stand::begun(options);
    let calls: Vec<_> = (1..).zip(facts).map(|(at, _)| call_id(TURN.0, 1, at)).collect();
    stand.answered(1, "I may not.", &calls);
    for (call, facts) in calls.into_iter().zip(facts) {
        let outcome =
            ToolOutcome { metadata: facts.map(String::from), ..ToolOutcome::text(ToolStatus::Denied, "No.") };
        stand.record(Record::ToolCallFinished { message: MessageId(2), call, outcome, duration: 0 });
    }
    stand.step_finished(1);
    stand.finish(RunStatus::Ok, Reason::Completed);
    stand
}

fn hints(stand: &Stand) -> Vec<&str> {
    stand.err.lines().filter(|line| line.starts_with("hostler: Denied")).collect()
}

#[test]
fn each_kind_of_denied_call_is_named_once_with_what_would_allow_it() {
    let make = Some(r#"{"allow":["bash(make)"]}"#);
    let odd = Some(r#"{"allow":["read(/etc/it's)","host(example.com)"]}"#);
    let stand = denied(options(Format::Text), &[make, make, odd]);
    assert_eq!(
        hints(&stand),
        [
            "hostler: Denied: bash make; allow it with --allow 'bash(make)', or everything with --yolo.",
            r"hostler: Denied: bash make; allow it with --allow 'read(/etc/it'\''s)' --allow 'host(example.com)', or everything with --yolo.",
        ]
    );
    assert_eq!(stand.out, "I may not.\n");
}

#[test]
fn where_no_rule_or_too_many_would_do_only_the_whole_is_offered() {
    for facts in [r#"{"allow":[]}"#, r#"{"allow":["bash(a)","bash(b)","bash(c)"]}"#] {
        let stand = denied(options(Format::Text), &[Some(facts)]);
        assert_eq!(hints(&stand), ["hostler: Denied: bash make; allow everything with --yolo."]);
    }
}

#[test]
fn what_cannot_be_known_beforehand_is_said_to_be_so() {
    for (facts, advice) in [
        (
            r#"{"allow":["bash"],"unknown":true}"#,
            "allow all commands with --allow bash, or everything with --yolo",
        ),
        (r#"{"allow":[],"unknown":true}"#, "allow everything with --yolo"),
    ] {
        let stand = denied(options(Format::Text), &[Some(facts)]);
        let line = format!("hostler: Denied: bash make; what it does cannot be known beforehand; {advice}.");
        assert_eq!(hints(&stand), [line]);
    }
}

#[test]
fn there_are_three_lines_at_most() {
    let facts: Vec<_> = (0..5).map(|at| format!(r#"{{"allow":["bash(a{at})"]}}"#)).collect();
    let facts: Vec<_> = facts.iter().map(|facts| Some(facts.as_str())).collect();
    assert_eq!(hints(&denied(options(Format::Text), &facts[..3])).len(), 3);
    let stand = denied(options(Format::Text), &facts);
    let lines = hints(&stand);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[2], "hostler: Denied besides: 3 other kinds of call; allow everything with --yolo.");
}

#[test]
fn what_a_rule_forbids_is_not_offered_and_whoever_wants_quiet_or_json_has_it() {
    let make = Some(r#"{"allow":["bash(make)"]}"#);
    for (options, facts) in [
        (options(Format::Text), None),
        (options(Format::Text), Some(r#"{"other":1}"#)),
        (options(Format::Text), Some("nonsense")),
        (options(Format::Json), make),
        (options(Format::Jsonl), make),
        (Options { quiet: true, ..options(Format::Text) }, make),
    ] {
        let stand = denied(options, &[facts]);
        assert_eq!((hints(&stand).len(), stand.exit), (0, Some(0)), "{facts:?}");
    }
}

/// A run in which calls were denied with these results.
fn forbidden(options: Options, results: &[&str]) -> Stand {
    let mut stand = Stand::begun(options);
    let calls: Vec<_> = (1..).zip(results).map(|(at, _)| call_id(TURN.0, 1, at)).collect();
    stand.answered(1, "I may not.", &calls);
    for (call, text) in calls.into_iter().zip(results) {
        let outcome = ToolOutcome::text(ToolStatus::Denied, *text);
        stand.record(Record::ToolCallFinished { message: MessageId(2), call, outcome, duration: 0 });
    }
    stand.step_finished(1);
    stand.finish(RunStatus::Denied, Reason::Denied);
    stand
}

#[test]
fn the_rule_that_forbids_a_call_is_named_and_the_end_is_told_as_it_was() {
    let by_rule =
        "Permission denied: by the rule \"deny bash(make *)\", bash may not run make. Nothing was done.";
    for mode in [PermissionMode::Yolo, PermissionMode::Headless] {
        let mut options = options(Format::Text);
        options.prompt.terms.permission = mode;
        let stand = forbidden(options, &[by_rule, by_rule, "Permission denied: this is a planning run."]);
        assert_eq!(hints(&stand), ["hostler: Denied: bash make, by the rule deny bash(make *)."]);
        assert!(stand.err.ends_with("hostler: So it ended.\n"), "{}", stand.err);
    }
}
