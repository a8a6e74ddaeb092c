//! Sessions: going on with one, listing them, and showing what was said and how runs ended.

use hostler_tests::harness::{Finished, Home};
use hostler_tests::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// The JSON objects that a command prints, one a line.
fn objects(home: &Home, words: &[&str]) -> Vec<Value> {
    let printed = home.hostler(words.to_vec()).finish().expect_code(0).out;
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn show(home: &Home, id: &str) -> String {
    home.hostler(["sessions", "show", id]).finish().expect_code(0).out
}

/// Says something in a new session and returns that session.
fn begin(home: &Home, text: &str) -> String {
    let provider = StrictProvider::start(Answer::say("Noted."));
    home.run(&provider, [text]).finish().expect_code(0).lines().session()
}

#[test]
fn a_run_can_go_on_where_the_last_one_ended() {
    let answers = [Answer::calling("c1", "ls", json!({})), Answer::say("Empty."), Answer::say("As I said.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let first = home.run(&provider, ["What is here?"]).finish().expect_code(0);
    let second = home.run(&provider, ["--continue", "Really?"]).finish().expect_code(0);
    assert_eq!(first.lines().session(), second.lines().session());
    assert_ne!(first.lines().run(), second.lines().run());
    let asked = provider.completions();
    let roles: Vec<_> = asked[2].messages().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(asked[2].last_user_text(), "Really?");
}

#[test]
fn the_last_session_is_the_one_that_changed_last() {
    let home = home();
    let (first, second) = (begin(&home, "one"), begin(&home, "two"));
    let provider = StrictProvider::start([Answer::say("1"), Answer::say("2")]);
    let run = |words: &[&str]| home.run(&provider, words.to_vec()).finish().expect_code(0).lines().session();
    assert_eq!(run(&["--session", &first, "again"]), first);
    assert_eq!(run(&["--continue", "again"]), first);
    assert_ne!(first, second);
}

#[test]
fn without_a_session_going_on_begins_one() {
    let (home, provider) = (home(), StrictProvider::start([Answer::say("New."), Answer::say("Old.")]));
    let first = home.run(&provider, ["--continue", "Hi"]).finish().expect_code(0);
    let second = home.run(&provider, ["-C", "Hi"]).finish().expect_code(0);
    assert_eq!(first.lines().session(), second.lines().session());
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let home = home();
    let session = begin(&home, "one");
    let provider = StrictProvider::start(Answer::say("Yes."));
    let run = home.run(&provider, ["--session", &session[..8], "again"]).finish().expect_code(0);
    assert_eq!(run.lines().session(), session);
}

/// Whether the run ended as one does whose session could not be found, and said why.
#[track_caller]
fn not_found(run: &Finished, why: &str) {
    let last = run.last();
    let message = last["message"].as_str().unwrap();
    assert!(run.code == Some(2) && last["reason"] == "usage" && message.contains(why), "{last}");
}

#[test]
fn what_names_no_session_or_several_is_a_mistake() {
    let home = home();
    let provider = StrictProvider::start(Answer::say("never"));
    let go_on = |prefix: &str| home.run(&provider, ["--session", prefix, "Hi"]).finish();
    not_found(&go_on("zz"), "there is no session \"zz\"");
    not_found(&go_on(""), "an empty text names no session");
    let mut begun: Vec<String> = Vec::new();
    // Among 17 ids in hexadecimal two begin alike.
    let twice = loop {
        let session = begin(&home, "one");
        let known = begun.iter().any(|other| other[..1] == session[..1]);
        begun.push(session.clone());
        if known {
            break session[..1].to_owned();
        }
    };
    not_found(&go_on(&twice), "more than one session begins with");
    let show = home.hostler(["sessions", "show", &twice]).finish().expect_code(2);
    assert!(show.out.is_empty() && show.err.contains("more than one session"), "{}", show.err);
    home.hostler(["sessions", "show", "zz"]).finish().expect_code(2);
    assert!(provider.requests().is_empty());
}

#[test]
fn sessions_are_listed_the_last_first() {
    let home = home();
    let empty = home.hostler(["sessions", "list"]).finish().expect_code(0).out;
    assert!(empty.contains("no sessions"), "{empty}");
    assert_eq!(objects(&home, &["sessions", "list", "--json"]), [] as [Value; 0]);
    let (first, second) = (begin(&home, "The first\nof them"), begin(&home, "The second"));
    let listed = objects(&home, &["sessions", "list", "--json"]);
    let ids: Vec<_> = listed.iter().map(|session| session["id"].clone()).collect();
    assert_eq!(ids, [json!(second), json!(first)]);
    assert_eq!((&listed[0]["messages"], &listed[0]["runs"]), (&json!(2), &json!(1)));
    assert_eq!(objects(&home, &["sessions", "list", "--json", "--limit", "1"]).len(), 1);
    let text = home.hostler(["sessions", "list"]).finish().expect_code(0).out;
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains(&second[..8]) && text.contains("The first"), "{text}");
}

#[test]
fn a_session_shows_all_that_was_said() {
    let call = Answer::say("I'll look.").call("c1", "view", json!({"file_path": "a.txt"}));
    let (home, provider) =
        (home(), StrictProvider::start([call, Answer::new().reasoning("Hm.").text("It says hello.")]));
    home.write("a.txt", "hello\u{1b}[2J\n");
    let session = home.run(&provider, ["Read it."]).finish().expect_code(0).lines().session();
    let shown = show(&home, &session[..10]);
    for part in ["Read it.", "I'll look.", "> view", "hello", "(thinking) Hm.", "It says hello.", &session] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "nothing that a terminal obeys is shown");
    let object = objects(&home, &["sessions", "show", &session, "--json"]).remove(0);
    assert_eq!(
        (&object["session"]["id"], object["messages"].as_array().unwrap().len()),
        (&json!(session), 3)
    );
}

#[test]
fn sessions_belong_to_their_directory() {
    let home = home();
    begin(&home, "one");
    home.write("other/file", "");
    let listed = home.hostler(["sessions", "list", "--json"]).directory(home.work().join("other"));
    assert_eq!(listed.finish().expect_code(0).out, "");
    std::os::unix::fs::symlink(home.work(), home.root().join("link")).unwrap();
    let listed = home.hostler(["sessions", "list", "--json"]).directory(home.root().join("link"));
    assert_eq!(listed.finish().expect_code(0).out.lines().count(), 1, "a link leads to the same directory");
}

#[test]
fn a_first_prompt_that_failed_is_not_lost_and_is_shown_with_the_next_one() {
    let (home, provider) = (home(), StrictProvider::start([Answer::error(401, "No."), Answer::say("Here.")]));
    let failed = home.run(&provider, ["Write a poem."]).finish().expect_code(3).lines().session();
    let run = home.run(&provider, ["--continue", "Now that there is a key."]).finish().expect_code(0);
    assert_eq!(run.lines().session(), failed);
    let asked = provider.completions()[1].messages().to_vec();
    let said = serde_json::to_string(&asked).unwrap();
    assert!(said.contains("Write a poem.") && said.contains("Now that there is a key."), "{said}");
}

#[test]
fn a_run_is_shown_with_how_it_ended() {
    let (home, provider) =
        (home(), StrictProvider::start([Answer::say("Hello."), Answer::error(400, "No.")]));
    let good = home.run(&provider, ["Hi\nyou"]).finish().expect_code(0).lines().run();
    let bad = home.run(&provider, ["Hi"]).finish().expect_code(1).lines().run();
    let shown = |run: &str| home.hostler(["runs", "show", run]).finish().expect_code(0).out;
    assert!(shown(&good[..12]).contains("ok (completed, exit code 0)"), "{}", shown(&good));
    assert!(shown(&good).contains("Hi\nyou"));
    assert!(shown(&bad).contains("error (provider, exit code 1)"), "{}", shown(&bad));
    let object = objects(&home, &["runs", "show", &bad, "--json"]).remove(0);
    assert_eq!((&object["run"], &object["finished"]["reason"]), (&json!(bad), &json!("provider")));
    assert_eq!((&object["finished"]["exit_code"], &object["activity"]), (&json!(1), &json!("idle")));
    home.hostler(["runs", "show", "zz"]).finish().expect_code(2);
}
