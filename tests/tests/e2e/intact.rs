//! Whatever goes wrong with a run, what was said before stays as it is, and so does its own prompt once that was taken.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use hostler_tests::harness::{Finished, Home, Hostler};
use hostler_tests::strict::{Answer, Script, StrictProvider};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::home;

/// What each run asks that something goes wrong with.
const ASKED: &str = "And now?";

/// A home with a session in which a file was looked at.
struct Before {
    home: Home,
    session: String,
    messages: Vec<Value>,
}

impl Before {
    fn new() -> Self {
        let home = home();
        home.write("notes.txt", "Remember the milk.\n");
        let view = Answer::calling("c1", "view", json!({"file_path": "notes.txt"}));
        let provider = StrictProvider::start([view, Answer::say("The milk.")]);
        let session =
            home.run(&provider, ["What is to be remembered?"]).finish().expect_code(0).lines().session();
        let messages = messages(&home, &session);
        assert!(messages.len() >= 3, "{messages:?}");
        Self { home, session, messages }
    }

    /// Holds that nothing of it is lost after a run that ended so, and that another run can go on from there.
    fn is_intact(&self, what: &str, run: &Finished, takes_the_prompt: bool) {
        let after = messages(&self.home, &self.session);
        let (kept, new) = after.split_at(self.messages.len().min(after.len()));
        assert_eq!(kept, self.messages, "{what}: what was said before");
        let is_there = new.iter().any(|message| message.to_string().contains(ASKED));
        assert_eq!(is_there, takes_the_prompt, "{what}: the prompt is kept if it was taken: {new:?}");
        assert!(run.code == Some(0) || !run.err.is_empty(), "{what}: something is said");
        let provider = StrictProvider::start(Answer::say("Yes."));
        self.home.run(&provider, ["--session", &self.session, "Still there?"]).finish().expect_code(0);
        let heard = provider.completions()[0].messages().iter().map(Value::to_string).collect::<String>();
        for part in ["What is to be remembered?", "Remember the milk.", "The milk."] {
            assert!(heard.contains(part), "{what}: the model hears {part:?} again: {heard}");
        }
        assert_eq!(heard.contains(ASKED), takes_the_prompt, "{what}: {heard}");
        let checked = self.home.hostler(["doctor", "--json"]).variable("OPENAI_API_KEY", "k").finish();
        let checked: Value = serde_json::from_str(&checked.out).unwrap();
        let log = checked["checks"].as_array().unwrap().iter().find(|check| check["check"] == "log").unwrap();
        assert_eq!(log["verdict"], "ok", "{what}: {log}");
    }

    fn log(&self) -> PathBuf {
        let mut workspaces = fs::read_dir(self.home.state().join("hostler/workspaces")).unwrap();
        workspaces.next().unwrap().unwrap().path().join("hostler.db")
    }
}

fn messages(home: &Home, session: &str) -> Vec<Value> {
    let exported = home.hostler(["sessions", "export", session, "--format", "json"]).finish().expect_code(0);
    let exported: Value = serde_json::from_str(&exported.out).unwrap();
    exported["messages"].as_array().unwrap().clone()
}

fn again<'a>(before: &'a Before, provider: &'a StrictProvider, words: &[&str]) -> Hostler<'a> {
    before.home.run_text(provider, ["-q", "--session", &before.session]).words(words.to_vec()).words([ASKED])
}

#[test]
fn nothing_is_lost_to_a_run_that_was_called_wrongly() {
    let before = Before::new();
    let provider = StrictProvider::start([]);
    for (what, words) in [
        ("an unknown option", &["--frobnicate"][..]),
        ("an unknown model", &["--model", "nothing"]),
        ("an unknown provider", &["--model", "nobody/nothing"]),
        ("an unknown session", &["--session", "zz"]),
    ] {
        let run = again(&before, &provider, words).finish().expect_code(2);
        before.is_intact(what, &run, false);
    }
}

#[test]
fn nothing_is_lost_to_a_configuration_that_is_broken() {
    let before = Before::new();
    before.home.configure("{ \"limits\": { \"max_steps\": \"many\" } }");
    let run = again(&before, &StrictProvider::start([]), &[]).finish().expect_code(2);
    fs::remove_file(before.home.configuration()).unwrap();
    before.is_intact("a broken configuration", &run, false);
}

#[test]
fn nothing_is_lost_to_a_provider_that_is_not_reached_or_refuses() {
    let before = Before::new();
    let provider = StrictProvider::start(Answer::error(401, "Your API key has expired"));
    let run = again(&before, &provider, &[]).finish().expect_code(3);
    before.is_intact("an expired key", &run, true);
    let before = Before::new();
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let nobody = format!("http://{closed}/v1");
    let words = ["run", "-q", "--model", "openai/strict-1", "--session", &before.session, ASKED];
    let run = before.home.hostler(words).variable("OPENAI_API_KEY", "k").variable("OPENAI_BASE_URL", &nobody);
    before.is_intact("no network", &run.finish().expect_code(1), true);
}

#[test]
fn nothing_is_lost_to_a_disk_that_is_full() {
    let before = Before::new();
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.").repeat(2_000, "0123456789")));
    // In blocks of 512 bytes: less than what the answer needs, and more than the prompt does.
    let size = fs::metadata(before.log()).unwrap().len() / 512 + 8;
    let limit = format!(r#"ulimit -f {size}; exec "$0" "$@""#);
    let run = again(&before, &provider, &[]).through_shell(&limit).finish().expect_code(1);
    let taken = messages(&before.home, &before.session).len() > before.messages.len();
    before.is_intact("a full disk", &run, taken);
}

#[test]
fn nothing_is_lost_in_a_log_of_an_older_or_a_newer_program() {
    let before = Before::new();
    let provider = StrictProvider::start([]);
    let version = |version: u32| {
        let log = Connection::open(before.log()).unwrap();
        log.pragma_update(None, "user_version", version).unwrap();
    };
    version(1_000);
    let run = again(&before, &provider, &[]).finish().expect_code(1);
    version(2);
    before.is_intact("a newer log", &run, false);
    let before = Before::new();
    let log = Connection::open(before.log()).unwrap();
    log.execute_batch("DROP TABLE asks; PRAGMA user_version = 1;").unwrap();
    drop(log);
    let provider = StrictProvider::start(Answer::say("Yes."));
    let run = before.home.run(&provider, ["--session", &before.session, ASKED]).finish().expect_code(0);
    before.is_intact("an older log", &run, true);
}
