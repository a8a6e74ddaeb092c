//! Figures that others rely on: how long things are waited for, and what of a prompt makes a title.

use crate::rig::Rig;
use crate::rig::words::{prompt, session};
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
