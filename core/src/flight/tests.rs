//! The flight record of a rig's run, replayed.

use super::*;
use crate::ids::ClientId;
use crate::model::ModelEvent;
use crate::prompt::{PermissionMode, Prompt, Terms};
use crate::protocol::{Answer, AskId, Breadth, Command};
use crate::rig::Rig;
use crate::rig::words::{self, overloaded, prompt, run, text};
use crate::tools::{Action, Intent, PathUse, Rule};

/// A run with most of what can happen in it.
fn flight() -> String {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    rig.stream(vec![text(0, "I will.")]);
    rig.fail(overloaded(None));
    rig.tick();
    rig.enter(run("q", "Then this."));
    rig.call(&[("ls", "{}"), ("bash", r#"{"command":"make"}"#)]);
    rig.run_tool(1, "a.rs");
    rig.inspected(2);
    rig.cancel_run("p");
    rig.wait(3_000);
    rig.answer("Done.");
    assert!(rig.is_idle());
    rig.flight()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(String::from).collect()
}

#[test]
fn a_flight_is_decided_again_as_it_was() {
    let text = flight();
    let report = replay(&text).expect("it is a flight record");
    assert_eq!(report.differs, None);
    assert_eq!(report.batches as usize, text.lines().count() - 1);
    assert!(report.inputs >= report.batches && !report.cut);
}

#[test]
fn the_first_batch_that_differs_is_named() {
    let mut lines = lines(&flight());
    let at = lines.iter().position(|line| line.contains("Look around.")).expect("the prompt is there");
    lines[at] = lines[at].replace("Look around.", "Look away.");
    // The request for the lock comes first; the prompt is decided when the session is open.
    let report = replay(&lines.join("\n")).expect("it is a flight record");
    let differs = report.differs.expect("it differs");
    assert_eq!((differs.batch, report.batches), (2, 2));
    assert!(differs.decided.contains("Look away.") && differs.recorded != differs.replayed);
}

#[test]
fn a_changed_time_is_found_too() {
    let mut lines = lines(&flight());
    let mut batch: Batch = serde_json::from_str(&lines[3]).expect("it is a batch");
    batch.at = batch.at.plus(1);
    lines[3] = serde_json::to_string(&batch).expect("it is plain data");
    let report = replay(&lines.join("\n")).expect("it is a flight record");
    assert_eq!(report.differs.map(|differs| differs.batch), Some(3));
}

#[test]
fn a_last_line_that_was_cut_short_is_ignored() {
    let text = flight();
    let whole = replay(&text).expect("it is a flight record");
    let cut = replay(&text[..text.len() - 30]).expect("it is a flight record");
    assert!(cut.cut && cut.differs.is_none());
    assert_eq!(cut.batches, whole.batches - 1);
}

#[test]
fn a_broken_line_in_the_middle_is_an_error() {
    let mut lines = lines(&flight());
    lines[2].truncate(20);
    let error = replay(&lines.join("\n")).expect_err("a batch is missing");
    assert!(matches!(error, FlightError::Line { line: 3, .. }), "{error}");
}

#[test]
fn what_is_no_flight_record_is_refused() {
    assert!(matches!(replay(""), Err(FlightError::Header(_))));
    assert!(matches!(replay("{}"), Err(FlightError::Header(_))));
    assert_eq!(replay(r#"{"format":99}"#), Err(FlightError::Format(99)));
}

/// What people, models and tools say in [`flight`], and a preparation.
const SAID: [&str; 8] =
    ["Look around", "Then this", "I will", "make", "a.rs", "Done", "You are tested", "overloaded"];

fn redacted(text: &str) -> String {
    let redacted = redact(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(redacted.text.lines().count() as u64, redacted.batches + 1);
    redacted.text
}

/// The names of the records and effects of all batches.
fn kinds(text: &str) -> Vec<String> {
    let segment = Segment::read(text).expect("it is a flight record");
    let mut machine = segment.header.state;
    let batches = segment.batches.into_iter().flat_map(|batch| {
        let out = handle(&mut machine, batch.at, batch.inputs);
        let records = out.records().iter().map(|entry| entry.record.kind().to_string());
        let effects =
            out.effects().iter().map(|effect| alloc::format!("{:?}", crate::machine::Effect::id(effect)));
        records.chain(effects).collect::<Vec<_>>()
    });
    batches.collect()
}

#[test]
fn a_redacted_record_says_nothing_and_leads_to_the_same_decisions() {
    let text = flight();
    let hidden = redacted(&text);
    for said in SAID.iter().filter(|said| text.contains(**said)) {
        assert!(!hidden.contains(said), "{said:?} is still there");
    }
    assert!(SAID.iter().filter(|said| text.contains(**said)).count() > 4);
    let report = replay(&hidden).expect("it is a flight record");
    let original = replay(&text).expect("it is a flight record");
    assert_eq!(report, original);
    assert_eq!(kinds(&hidden), kinds(&text));
    assert_eq!(hidden.len(), text.len(), "every text has a placeholder of its length");
}

#[test]
fn names_words_of_the_format_and_the_shape_of_arguments_stay() {
    let hidden = redacted(&flight());
    for kept in [r#""name":"bash""#, r#""permission":"yolo""#, r#""session":"s""#, r#""run":"run-q""#] {
        assert!(flight().contains(kept) && hidden.contains(kept), "{kept} is gone");
    }
    assert!(hidden.contains(r#"{\"command\":\""#));
}

#[test]
fn the_same_text_has_the_same_placeholder() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    rig.call(&[("view", r#"{"file_path":"secret/file"}"#), ("view", r#"{"file_path":"another"}"#)]);
    rig.run_tool(1, "secret/file");
    let hidden = redacted(&rig.flight());
    let placeholder = "xxxxxxxxxxx";
    assert!(!hidden.contains("secret") && !hidden.contains("another"));
    assert!(hidden.contains(&alloc::format!(r#"{{\"file_path\":\"{placeholder}\"}}"#)), "{hidden}");
    assert!(hidden.contains(&alloc::format!(r#""text":"{placeholder}""#)), "{hidden}");
}

#[test]
fn a_prompt_that_is_submitted_again_is_recognised_when_it_is_hidden() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    rig.answer("Done.");
    // The session is let go and read again: only the digest of the first prompt is left of it.
    rig.submit(prompt("p", "Look around."));
    rig.submit(prompt("p", "Look elsewhere."));
    let hidden = redacted(&rig.flight());
    assert_eq!(kinds(&hidden), kinds(&rig.flight()));
    assert_eq!(replay(&hidden).map(|report| report.differs), Ok(None));
}

#[test]
fn a_conversation_that_is_too_long_stays_too_long_when_it_is_hidden() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    rig.call(&[("ls", "{}")]);
    rig.run_tool(1, "a.rs");
    let message = "Sorry: the PROMPT IS TOO LONG for you, dear customer 4711";
    let kind = crate::model::CallErrorKind::Status { status: 400, code: "invalid request of 4711".into() };
    let error =
        crate::model::CallError { kind, message: message.into(), retry_after: None, should_retry: None };
    rig.fail(error);
    let hidden = redacted(&rig.flight());
    assert!(rig.log.iter().any(|entry| entry.record.kind() == "SummaryStarted"));
    assert!(!hidden.contains("4711") && hidden.contains("PROMPT IS TOO LONG"), "{hidden}");
}

#[test]
fn seals_that_were_refused_are_refused_when_it_is_hidden() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Look around."));
    let seal = ModelEvent::Opaque { block: 0, data: "\"secret\"".into() };
    let [call, input] = words::called(0, "ls", "{}");
    rig.stream(vec![call, input, seal, words::stop()]);
    rig.run_tool(1, "a.rs");
    let message = "Thought signature of customer 4711 is not valid";
    let kind = crate::model::CallErrorKind::Status { status: 400, code: "INVALID_ARGUMENT".into() };
    rig.fail(crate::model::CallError {
        kind,
        message: message.into(),
        retry_after: None,
        should_retry: None,
    });
    let hidden = redacted(&rig.flight());
    assert!(
        !hidden.contains("4711") && !hidden.contains("secret") && hidden.contains("signature"),
        "{hidden}"
    );
}

#[test]
fn a_record_that_is_decided_differently_is_not_redacted() {
    let lines = lines(&flight()).join("\n").replacen("Look around.", "Look away!!.", 1);
    assert_eq!(redact(&lines), Err(RedactError::Differs(2)));
    assert!(matches!(redact("{}"), Err(RedactError::Flight(FlightError::Header(_)))));
}

#[test]
fn a_record_that_was_cut_short_is_redacted_up_to_there() {
    let text = flight();
    let hidden = redact(&text[..text.len() - 30]).expect("it can be redacted");
    assert!(hidden.cut);
    assert_eq!(hidden.batches as usize, text.lines().count() - 2);
}

/// A record that begins in the middle: with the state that the first batches have led to.
fn from_the_middle(text: &str, number: u64) -> String {
    let moment = at(text, number).expect("there is such a batch");
    let mut segment = Segment::read(text).expect("it is a flight record");
    segment.header.state = moment.state;
    let batches = segment.batches.iter().filter(|batch| batch.batch > number);
    let batches = batches.map(|batch| serde_json::to_string(batch).expect("it is plain data"));
    let header = serde_json::to_string(&segment.header).expect("it is plain data");
    core::iter::once(header).chain(batches).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_record_that_begins_in_the_middle_of_things_is_redacted_too() {
    let text = flight();
    let last = at(&text, 1).expect("there is such a batch").last;
    for number in 1..last {
        let middle = from_the_middle(&text, number);
        let hidden = redacted(&middle);
        assert_eq!(kinds(&hidden), kinds(&middle), "from batch {number}");
        assert!(SAID.iter().all(|said| !hidden.contains(said)), "from batch {number}: {hidden}");
    }
}

#[test]
fn a_moment_says_what_happened_and_what_that_led_to() {
    let text = flight();
    let lines = lines(&text);
    let call = lines.iter().position(|line| line.contains("ToolCalls")).expect("the call is there") as u64;
    let words = at(&text, call).expect("there is such a batch").describe();
    for part in ["Batch", "What happened", "MessageFinished", "InspectCall", "bash: no outcome", "is queued"]
    {
        assert!(words.contains(part), "{part} is missing in\n{words}");
    }
    let begin = at(&text, 0).expect("there is a beginning").describe();
    assert!(begin.contains("The beginning") && begin.contains("no session is in use"), "{begin}");
    let last = lines.len() as u64 - 1;
    let missing = FlightError::NoBatch { number: last + 1, first: 1, last };
    assert_eq!(at(&text, last + 1).map(|moment| moment.last), Err(missing));
}

#[test]
fn a_moment_behind_a_batch_that_differs_says_so() {
    let text = flight().replacen("Look around.", "Look away!!.", 1);
    assert!(!at(&text, 1).expect("it is there").describe().contains("differently"));
    assert!(at(&text, 3).expect("it is there").describe().contains("Batch 2 is decided differently"));
}

#[test]
fn what_people_are_asked_is_hidden_and_what_they_granted_still_holds() {
    let asked = prompt("p", "Do it.");
    let terms = Terms { permission: PermissionMode::Interactive, ..asked.terms.clone() };
    let mut rig = Rig::new();
    rig.begin(Prompt { terms, ..asked });
    rig.call(&[("view", r#"{"file_path":"/w/a"}"#), ("view", r#"{"file_path":"/w/a"}"#)]);
    rig.inspected_as(1, words::reading(false));
    rig.inspected_as(2, words::reading(false));
    let ask = AskId { session: words::session(), call: words::call_id(1, 1, 1) };
    let (session, client) = (words::session(), ClientId::new("me"));
    let answer = Answer::Session(Breadth::Directory);
    rig.asks_for(Command::Answer { session, ask, answer, client });
    assert_eq!(rig.done(1, "seen").asks(), [] as [String; 0], "the second is allowed by that and still runs");
    rig.done(2, "seen");
    let hidden = redacted(&rig.flight());
    assert!(!hidden.contains("/w/a") && hidden.contains("view"), "{hidden}");
    assert_eq!(kinds(&hidden), kinds(&rig.flight()));
}

/// What a call would do, as in `$ cargo test`, `< /w/a`, `> /w/a` and `@ example.com`.
fn intent(text: &str) -> Intent {
    let mut intent = Intent { complete: true, root: "/w".into(), ..Intent::default() };
    let (what, about) = text.split_once(' ').expect("it says what");
    let path = PathUse { path: about.into(), inside: about.starts_with("/w/") };
    match what {
        "$" => intent.commands.push(about.split(' ').map(String::from).collect()),
        "<" => intent.reads.push(path),
        ">" => intent.writes.push(path),
        _ => intent.hosts.push(about.into()),
    }
    intent
}

/// A run by these rules in which a tool is called once for each intent; and whether each call was allowed.
fn ruled(rules: &[&str], tool: &str, intents: &[&str]) -> (String, Vec<bool>) {
    let rule = |text: &&str| {
        let (action, subject) = text.split_once(' ').expect("it is a rule");
        let action = if action == "allow" { Action::Allow } else { Action::Deny };
        Rule::parse(action, subject, None).expect("it is a rule")
    };
    let asked = prompt("p", "Do it.");
    let rules = rules.iter().map(rule).collect();
    let terms = Terms { permission: PermissionMode::Headless, rules, ..asked.terms.clone() };
    let mut rig = Rig::new();
    rig.begin(Prompt { terms, ..asked });
    let input = match tool {
        "bash" => r#"{"command":"something"}"#,
        "write" => r#"{"file_path":"something","content":""}"#,
        _ => r#"{"file_path":"something"}"#,
    };
    rig.call(&intents.iter().map(|_| (tool, input)).collect::<Vec<_>>());
    let allowed = intents.iter().zip(1..).map(|(text, call)| {
        let asks = rig.inspected_as(call, intent(text)).asks();
        let runs = asks.iter().any(|ask| ask.starts_with("run"));
        if runs {
            rig.done(call, "Done.");
        }
        runs
    });
    let allowed = allowed.collect();
    (rig.flight(), allowed)
}

#[track_caller]
fn check_ruled(rules: &[&str], tool: &str, intents: &[(&str, bool)], said: &[&str]) {
    let (texts, expected): (Vec<_>, Vec<_>) = intents.iter().copied().unzip();
    let (text, allowed) = ruled(rules, tool, &texts);
    assert_eq!(allowed, expected, "{rules:?}");
    let hidden = redacted(&text);
    assert_eq!(kinds(&hidden), kinds(&text), "{rules:?}");
    assert_eq!(replay(&hidden).map(|report| report.differs), Ok(None), "{rules:?}");
    assert!(said.iter().all(|said| text.contains(said) && !hidden.contains(said)), "{rules:?}: {hidden}");
}

#[test]
fn rules_about_paths_with_a_wildcard_in_a_name_decide_the_same_when_it_is_hidden() {
    check_ruled(
        &["allow write(src/*.rs)", "deny write(src/secret*.rs)"],
        "write",
        &[("> /w/src/main.rs", true), ("> /w/src/secret-1.rs", false), ("> /w/src/main.c", false)],
        &["main", "secret", "src", ".rs"],
    );
    check_ruled(
        &["deny read(**/*.env)", "deny read(a?c)"],
        "view",
        &[("< /w/x/prod.env", false), ("< /w/x/PROD.ENV", false), ("< /w/abc", false), ("< /w/abcd", true)],
        &["prod", "env"],
    );
}

#[test]
fn rules_about_commands_with_a_star_in_a_word_decide_the_same_when_it_is_hidden() {
    check_ruled(
        &["allow bash(cargo t*)", "deny bash(cargo test *secret*)", "allow bash(git*)"],
        "bash",
        &[
            ("$ cargo test", true),
            ("$ cargo build", false),
            ("$ cargo test my-secrets", false),
            ("$ /usr/bin/git log", true),
            ("$ gitk", true),
        ],
        &["secret", "build"],
    );
    check_ruled(
        &["allow bash(npm run test:* --all)", "allow bash(make test-?)"],
        "bash",
        &[("$ npm run test:unit --all", true), ("$ npm run build", false), ("$ make test-a", false)],
        &["unit", "make"],
    );
}

#[test]
fn rules_about_hosts_with_a_star_in_a_name_decide_the_same_when_it_is_hidden() {
    check_ruled(
        &["allow bash(curl *)", "allow host(api-*.example.com)"],
        "bash",
        &[("@ api-1.example.com", true), ("@ www.example.com", false), ("@ API-2.example.com", true)],
        &["api-1", "example"],
    );
}
