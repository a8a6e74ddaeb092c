//! What a provider has sealed goes back to it word for word, until it refuses its own seals.

use crate::model::{CallError, CallErrorKind, Item, ModelEvent};
use crate::record::{Record, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{broken, called, prompt, stop};

fn refusal() -> CallError {
    let kind = CallErrorKind::Status { status: 400, code: "invalid_request_error".into() };
    CallError {
        message: "messages.1.content.0: Invalid `signature` in `thinking` block".into(),
        ..broken(kind)
    }
}

/// A sealed thought and a call.
fn think(rig: &mut Rig) {
    let thought = ModelEvent::Reasoning { block: 0, text: "hm".into() };
    let seal = ModelEvent::Opaque { block: 0, data: "\"seal\"".into() };
    let [call, input] = called(1, "ls", "{}");
    let seal_of_call = ModelEvent::Opaque { block: 1, data: "\"seal\"".into() };
    rig.stream(vec![thought, seal, call, seal_of_call, input, stop()]);
    rig.run_tool(1, "a");
}

/// How many answers of the request that was made last are sealed, and of how many.
fn sealed(rig: &Rig) -> (usize, usize) {
    let items = rig.asked.last().map(|(_, request)| request.items.clone()).unwrap_or_default();
    let answers = items.iter().filter_map(|item| match item {
        Item::Assistant { blocks, .. } => Some(blocks.clone()),
        Item::User { .. } | Item::Results(_) => None,
    });
    let answers: Vec<_> = answers.collect();
    let is_sealed = |block: &crate::content::Block| block.unsealed() != *block;
    (answers.iter().filter(|blocks| blocks.iter().any(is_sealed)).count(), answers.len())
}

#[test]
fn it_is_asked_once_more_without_them_and_at_once() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Think."));
    think(&mut rig);
    assert_eq!(sealed(&rig), (1, 1));
    rig.fail(refusal());
    rig.tick();
    assert_eq!((sealed(&rig), rig.asked.len()), ((0, 1), 3));
    think(&mut rig);
    assert_eq!(sealed(&rig), (1, 2), "what it seals from then on goes back to it");
    rig.answer("Done.");
    assert_eq!(rig.end("p").status, RunStatus::Ok);
}

#[test]
fn trouble_of_another_kind_leaves_them_where_they_are() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Think."));
    think(&mut rig);
    let batch = rig.fail(crate::rig::words::overloaded(None));
    let kept = |record: &Record| matches!(record, Record::AttemptFailed { seals: false, .. });
    assert!(batch.records().any(kept), "{batch:?}");
    rig.tick();
    assert_eq!(sealed(&rig), (1, 1));
}

#[test]
fn a_refusal_of_what_has_no_seals_is_final() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Think."));
    think(&mut rig);
    rig.fail(refusal());
    rig.tick();
    rig.fail(refusal());
    assert_eq!(rig.end("p").status, RunStatus::Error);
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Think."));
    rig.fail(refusal());
    assert_eq!((rig.end("p").status, rig.asked.len()), (RunStatus::Error, 1));
}

#[test]
fn whoever_goes_on_after_a_crash_does_not_send_them_either() {
    let mut rig = Rig::new();
    rig.begin(prompt("p", "Think."));
    think(&mut rig);
    let batch = rig.fail(refusal());
    let recorded = batch.records().any(|record| matches!(record, Record::AttemptFailed { seals: true, .. }));
    assert!(recorded, "{batch:?}");
    rig.crash();
    rig.begin(prompt("q", "Again."));
    assert_eq!(sealed(&rig).0, 0);
    rig.answer("Done.");
    assert_eq!(rig.end("q").status, RunStatus::Ok);
}
