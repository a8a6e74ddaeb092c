//! A disk that takes nothing more, in the middle of a run.

use std::fs;

use hostler_tests::harness::PATIENCE;
use hostler_tests::strict::{Answer, Gate, StrictProvider};

use crate::home;

#[test]
fn a_log_that_is_deleted_during_a_run_is_noticed() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start(Answer::say("Hello.").gate(&gate));
    let run = home.run_text(&provider, ["--format", "json", "Hi"]).start();
    assert!(gate.wait_reached(PATIENCE));
    fs::remove_dir_all(home.state().join("hostler")).unwrap();
    gate.open();
    let run = run.finish().expect_code(1);
    let last: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!(last["reason"], "storage");
    let message = last["message"].as_str().unwrap();
    assert!(message.contains("was deleted or moved away while it was in use"), "{message}");
}

#[test]
fn a_limit_on_the_size_of_files_is_a_failure_that_is_said() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.").repeat(2_000, "0123456789")));
    let limited = r#"ulimit -f 100; exec "$0" "$@""#;
    let run = home.run_text(&provider, ["--format", "json", "Hi"]).through_shell(limited).finish();
    assert_eq!((run.code, run.signal), (Some(1), None), "{}", run.err);
    let last: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    assert_eq!((&last["reason"], &last["status"]), (&"storage".into(), &"error".into()), "{last}");
}
