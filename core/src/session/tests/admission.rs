//! How prompts get in: acceptance, refusal, preparation, and the order in which they begin.

use crate::content::{Attachment, ErrorClass};
use crate::prompt::{Delivery, Prompt, Terms};
use crate::protocol::{Ended, RefusalKind, Reply};
use crate::record::{Reason, Record, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{delivered, preparation, prompt, run};
use crate::session::{Effect as Ask, Owned};
use crate::time::Deadline;
use crate::workspace::Effect;

/// Submits a prompt and says how it is refused.
fn refusal(rig: &mut Rig, prompt: Prompt) -> RefusalKind {
    let records = rig.log.len();
    let (id, _) = rig.submit(prompt);
    assert_eq!(rig.log.len(), records, "what is refused leaves no record");
    match rig.reply(id) {
        Reply::Refused(refusal) => refusal.kind,
        other => panic!("{other:?}"),
    }
}

fn sequence(rig: &Rig, id: crate::ids::RequestId) -> u64 {
    match rig.reply(id) {
        Reply::Accepted { sequence, .. } => *sequence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_prompt_is_on_record_before_it_is_acknowledged_and_prepared() {
    let mut rig = Rig::new();
    let (id, batch) = rig.submit(run("p", "Do it."));
    assert_eq!(batch.kinds(), ["SessionCreated", "PromptAccepted"]);
    assert_eq!(batch.asks(), ["prepare p"]);
    let Reply::Accepted { run, sequence, .. } = rig.reply(id) else { panic!("{:?}", rig.reply(id)) };
    assert_eq!((run.as_str(), *sequence), ("run-p", 1));
}

#[test]
fn a_prepared_prompt_begins_a_turn_and_asks_the_model() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    let batch = rig.prepared("p");
    assert_eq!(batch.kinds(), ["Prepared", "TurnStarted", "StepStarted", "AttemptStarted"]);
    assert_eq!(batch.asks(), ["call t1.s1.a1"]);
}

#[test]
fn what_requests_are_made_of_is_recorded_only_when_it_changes() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "One."));
    rig.answer("Done.");
    let batch = rig.enter(prompt("q", "Two."));
    assert_eq!(batch.kinds(), ["TurnStarted", "StepStarted", "AttemptStarted"]);
}

#[test]
fn a_session_is_called_by_the_beginning_of_its_first_prompt() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", &format!("\n  Mend\u{7} {}\nand more", "x".repeat(80))));
    let title = &rig.durable(&crate::rig::words::session()).title;
    assert!(title.starts_with("Mend x") && title.ends_with('…') && title.chars().count() == 60, "{title}");
}

#[test]
fn the_same_prompt_submitted_twice_is_one_prompt() {
    let mut rig = Rig::new();
    let (first, _) = rig.submit(prompt("p", "Do it."));
    let (second, batch) = rig.submit(prompt("p", "Do it."));
    assert_eq!(rig.reply(first), rig.reply(second));
    assert!(batch.entries.is_empty() && batch.asks().is_empty());
    rig.prepared("p");
    rig.answer("Done.");
    let (third, batch) = rig.submit(prompt("p", "Do it."));
    let Reply::Accepted { sequence: 1, ended, .. } = rig.reply(third) else {
        panic!("{:?}", rig.reply(third))
    };
    let over = Ended { status: RunStatus::Ok, reason: Reason::Completed };
    assert_eq!(*ended, Some(over), "also when it is over and the session was closed");
    assert!(batch.entries.is_empty());
    assert_eq!(batch.asks(), ["close s"]);
}

#[test]
fn a_used_id_with_another_text_is_refused() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    assert_eq!(refusal(&mut rig, prompt("p", "Do that.")), RefusalKind::Conflict);
    rig.answer("Done.");
    assert_eq!(refusal(&mut rig, prompt("p", "Do that.")), RefusalKind::Conflict);
}

#[test]
fn a_used_run_id_is_refused() {
    let mut rig = Rig::new();
    rig.begin(run("p", "Do it."));
    let again = Prompt { id: crate::ids::PromptId::new("q"), ..run("p", "Do it again.") };
    assert_eq!(refusal(&mut rig, again.clone()), RefusalKind::Conflict);
    rig.answer("Done.");
    assert_eq!(refusal(&mut rig, again), RefusalKind::Conflict);
}

#[test]
fn an_empty_prompt_is_refused_unless_something_is_attached() {
    let mut rig = Rig::new();
    assert_eq!(refusal(&mut rig, prompt("p", " \n")), RefusalKind::Invalid);
    assert!(rig.is_idle());
    let data = Attachment { name: "a".into(), media_type: "text/plain".into(), data: "x".into() };
    let attached = Prompt { attachments: vec![data], ..prompt("p", "") };
    let (id, _) = rig.submit(attached);
    assert_eq!(sequence(&rig, id), 1);
    rig.prepared("p");
    assert_eq!(rig.asked.len(), 1);
}

#[test]
fn a_prompt_with_a_run_of_its_own_cannot_ask_to_join_another() {
    let mut rig = Rig::new();
    let both = delivered(Delivery::Fold, run("p", "Do it."));
    assert_eq!(refusal(&mut rig, both), RefusalKind::Invalid);
}

#[test]
fn prompts_begin_in_the_order_of_acceptance_however_long_preparing_takes() {
    let mut rig = Rig::new();
    rig.submit(run("slow", "One."));
    rig.submit(run("quick", "Two."));
    assert_eq!(rig.prepared("quick").kinds(), [""; 0]);
    rig.prepared("slow");
    assert_eq!(rig.begun(), ["slow"]);
    rig.answer("Done.");
    assert_eq!(rig.begun(), ["slow", "quick"]);
}

#[test]
fn a_run_that_cannot_be_prepared_fails_in_its_place_and_the_next_one_begins() {
    let mut rig = Rig::new();
    rig.submit(run("bad", "One."));
    rig.submit(run("good", "Two."));
    rig.prepared("good");
    let batch = rig.unprepared("bad");
    let end = rig.end("bad");
    assert_eq!((end.status, end.reason), (RunStatus::Error, Reason::NoProvider));
    assert_eq!(rig.begun(), ["bad", "good"]);
    assert_eq!(batch.asks(), ["call t2.s1.a1"]);
}

#[test]
fn preparing_that_hangs_is_called_off_in_time_and_holds_nobody_back() {
    let mut rig = Rig::new();
    rig.submit(run("hung", "One."));
    rig.submit(run("next", "Two."));
    rig.prepared("next");
    assert_eq!(rig.deadline(), Some((rig.now.plus(30_000), Deadline::Prepare)));
    let batch = rig.tick();
    assert_eq!(batch.asks(), ["stop preparing hung", "call t2.s1.a1"]);
    assert_eq!(rig.end("hung").reason, Reason::Provider);
    assert!(rig.end("hung").message.contains("30 s"), "{}", rig.end("hung").message);
    assert_eq!(rig.begun(), ["hung", "next"]);
    let late = rig.prepared("hung");
    assert!(late.entries.is_empty() && late.effects.is_empty(), "what comes too late changes nothing");
}

#[test]
fn a_failed_preparation_says_what_failed() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Do it."));
    rig.unprepared("p");
    assert_eq!(rig.end("p").message, "there is no provider");
    assert!(matches!(
        rig.turns()[..],
        [crate::record::TurnOutcome::Failed(error)] if error.class == ErrorClass::NoProvider
    ));
    assert!(rig.is_idle());
}

#[test]
fn a_prompt_that_no_provider_takes_is_refused() {
    let mut rig = Rig::new();
    let (most, over) = ("a".repeat(crate::prompt::PROMPT_BYTES), "a".repeat(crate::prompt::PROMPT_BYTES + 1));
    let (refused, _) = rig.submit(prompt("over", &over));
    assert!(matches!(rig.reply(refused), Reply::Refused(_)));
    let (accepted, _) = rig.submit(prompt("most", &most));
    assert!(matches!(rig.reply(accepted), Reply::Accepted { .. }));
}

#[test]
fn whoever_submits_again_what_is_over_learns_how_it_ended() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.enter(run("q", "And that."));
    rig.cancel();
    for (prompt, reason) in [(prompt("p", "Do it."), Reason::User), (run("q", "And that."), Reason::Returned)]
    {
        let (id, _) = rig.submit(prompt);
        let Reply::Accepted { ended: Some(ended), .. } = rig.reply(id) else { panic!("{:?}", rig.reply(id)) };
        assert_eq!(*ended, Ended { status: RunStatus::Cancelled, reason });
    }
}

#[test]
fn a_run_id_that_is_empty_is_refused() {
    let mut rig = Rig::new();
    let nameless = Prompt { run: Some(crate::ids::RunId::new("")), ..prompt("p", "Do it.") };
    assert_eq!(refusal(&mut rig, nameless), RefusalKind::Invalid);
}

#[test]
fn a_run_is_not_called_as_another_prompt_was_that_had_none_of_its_own() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Do it."));
    rig.answer("Done.");
    let same = Prompt { run: Some(crate::ids::RunId::new("p")), ..prompt("q", "Do that.") };
    assert_eq!(refusal(&mut rig, same), RefusalKind::Conflict);
}

#[test]
fn a_run_whose_preparation_takes_too_long_says_how_long_it_was_waited_for() {
    let mut rig = Rig::new();
    rig.submit(prompt("p", "Go."));
    rig.wait(rig.settings.prepare);
    let said = |record: &Record| matches!(record, Record::RunFinished(end) if end.message.contains(" 30 s;"));
    assert!(rig.log.iter().any(|entry| said(&entry.record)), "{:?}", rig.log.last());
}

/// The model for which a prompt is prepared.
fn prepared_for(rig: &mut Rig, prompt: Prompt) -> Option<String> {
    let (_, batch) = rig.submit(prompt);
    batch.effects.into_iter().find_map(|effect| match effect {
        Effect::Session(Owned { effect: Ask::Prepare { terms, .. }, .. }) => Some(terms.model),
        _ => None,
    })?
}

#[test]
fn a_session_goes_on_with_its_model_unless_another_one_is_asked_for() {
    let mut rig = Rig::new();
    let terms = Terms { model: Some("p/usual".into()), usual_model: true, ..prompt("p", "").terms };
    let usual = |id: &str| Prompt { terms: terms.clone(), ..prompt(id, "Do it.") };
    assert_eq!(prepared_for(&mut rig, usual("p")).as_deref(), Some("p/usual"), "it has had none");
    rig.prepared("p");
    rig.answer("Done.");
    assert_eq!(prepared_for(&mut rig, usual("q")), Some(preparation().model.shown()));
    let mut asked = usual("r");
    (asked.terms.model, asked.terms.usual_model) = (Some("p/other".into()), false);
    assert_eq!(prepared_for(&mut rig, asked).as_deref(), Some("p/other"));
}
