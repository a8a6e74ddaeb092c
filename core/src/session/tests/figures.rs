//! Figures that others rely on: how long things are waited for, and what of a prompt makes a title.

use crate::content::Attachment;
use crate::model::Preparation;
use crate::prompt::{Prompt, Terms};
use crate::record::Record;
use crate::rig::Rig;
use crate::rig::words::{preparation, prompt, session};
use crate::session::Settings;

#[test]
fn times_are_what_they_are_and_what_older_records_leave_out_is_the_same() {
    let settings = Settings::default();
    assert_eq!((settings.ending, settings.check, settings.settle), (5_000, 30_000, 3_000));
    let mut json = serde_json::to_value(&settings).expect("settings are JSON");
    let fields = json.as_object_mut().expect("an object");
    assert!(fields.remove("ending").is_some() && fields.remove("check").is_some());
    assert_eq!(serde_json::from_value::<Settings>(json).expect("settings"), settings);
}

#[test]
fn a_first_line_that_cannot_be_shown_is_no_title() {
    for (text, title) in [
        ("\n \u{7}\n\tTidy\u{1b} up.\nThen stop.", "Tidy up."),
        ("\u{7}", "New session"),
        (&"x".repeat(60), &"x".repeat(60)),
    ] {
        let mut rig = Rig::new();
        rig.submit(prompt("p", text));
        assert_eq!(rig.durable(&session()).title, title, "{text:?}");
    }
}

/// About how many tokens there are after a step of which the provider says nothing.
fn tokens(asked: Prompt, system: &str, schema: Option<String>) -> u64 {
    let mut rig = Rig::new();
    let terms = Terms { answer_schema: schema, ..asked.terms.clone() };
    rig.submit(Prompt { terms, ..asked });
    rig.prepared_with("p", Ok(Preparation { system: system.into(), ..preparation() }));
    let batch = rig.answer("Hello.");
    let contexts = batch.records().filter_map(|record| match record {
        Record::StepFinished { context, .. } => Some(*context),
        _ => None,
    });
    contexts.last().expect("the step is finished")
}

/// Of four bytes a token, as long as no provider has said how many there were.
#[test]
fn what_stands_before_a_conversation_is_part_of_its_length() {
    let tokens = |system: &str, schema: Option<String>| tokens(prompt("p", "Hi."), system, schema);
    let (system, schema) = ("s".repeat(4_000), Some("s".repeat(400)));
    let least = tokens("", None);
    assert_eq!(tokens(&system, None) - least, 1_000);
    assert_eq!(tokens("", schema.clone()) - least, 100);
    assert_eq!(tokens(&system, schema) - least, 1_100);
}

#[test]
fn what_is_attached_is_part_of_a_conversations_length() {
    let with = |media_type: &str, bytes: usize| {
        let data = "d".repeat(bytes);
        let attached = Attachment { name: "a".into(), media_type: media_type.into(), data };
        tokens(Prompt { attachments: vec![attached], ..prompt("p", "Hi.") }, "", None)
    };
    let least = with("text/plain", 0);
    assert_eq!(with("text/plain", 400_000) - least, 100_000);
    // However large the file is, a model sees a picture of some size.
    assert!(
        with("image/png", 400_000) == with("image/png", 4_000_000)
            && with("image/png", 4_000) - least == 1_000
    );
}
