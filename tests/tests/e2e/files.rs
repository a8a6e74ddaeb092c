//! Files that a run reads and writes beside its work, and runs of which nothing is kept.

use std::fs;

use hostler_tests::strict::{Answer, Gate, Recorded, Script, StrictProvider};
use serde_json::json;

use crate::{PATIENCE, home};

#[test]
fn files_are_attached() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    home.write("a.txt", "a text\n");
    fs::write(home.work().join("b.png"), b"\x89PNG\r\n\x1a\n\0\xff").unwrap();
    home.run(&provider, ["--file", "a.txt", "-f", "b.png", "What is this?"]).finish().expect_code(0);
    let said = provider.completions()[0].body.to_string();
    assert!(said.contains("a text") && said.contains("data:image/png;base64,iVBORw0KGgoA/w=="), "{said}");
}

#[test]
fn a_file_that_cannot_be_attached_is_named() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    fs::write(home.work().join("binary"), [0, 159, 146, 150]).unwrap();
    for (words, why) in [
        (["--file", "missing"], "check the path after --file"),
        (["--file", "."], "cannot be read"),
        (["--file", "binary"], "neither text"),
        (["--system", "missing"], "check the path after --system"),
        (["--output", "no/such/dir"], "give --output another file"),
        (["--output", "."], "give --output another file"),
    ] {
        let run = home.run(&provider, words).words(["Hi"]).finish().expect_code(2);
        let message = run.last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(why) && run.last()["reason"] == "usage", "{words:?}: {message}");
    }
    assert!(provider.requests().is_empty());
}

#[test]
fn the_system_prompt_is_the_users_if_they_give_one() {
    let (home, provider) = (home(), StrictProvider::start([Answer::say("Hello."), Answer::say("Hello.")]));
    home.write("system.txt", "You are a parrot.\n");
    home.run(&provider, ["--append-system", "Rhyme.", "Hi"]).finish().expect_code(0);
    home.run(&provider, ["--system", "system.txt", "Hi"]).finish().expect_code(0);
    let asked = provider.completions();
    let system = |at: usize| asked[at].messages()[0]["content"].to_string();
    assert!(system(0).contains("You are Hostler") && system(0).contains("Rhyme."), "{}", system(0));
    assert!(system(1).contains("You are a parrot.") && !system(1).contains("Hostler"), "{}", system(1));
}

#[test]
fn the_answer_is_also_written_to_a_file() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    home.write("answer.txt", "old");
    let run = home.run_text(&provider, ["--output", "answer.txt", "Hi"]).finish().expect_code(0);
    assert_eq!((run.out.as_str(), home.read("answer.txt").as_str()), ("Hello.\n", "Hello.\n"));
    assert_eq!(fs::read_dir(home.work()).unwrap().count(), 1, "nothing else is left there");
    let provider = StrictProvider::start(Answer::error(400, "No."));
    home.run(&provider, ["--output", "answer.txt", "Hi"]).finish().expect_code(1);
    assert_eq!(home.read("answer.txt"), "Hello.\n", "without an answer it is as it was");
}

#[test]
fn a_run_that_is_killed_leaves_the_file_as_it_was() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start(Answer::say("Once").gate(&gate));
    home.write("answer.txt", "old");
    let run = home.run(&provider, ["--output", "answer.txt", "Hi"]).start();
    assert!(gate.wait_reached(PATIENCE));
    run.wait_for_line("text.delta");
    run.kill();
    assert_eq!((home.read("answer.txt").as_str(), fs::read_dir(home.work()).unwrap().count()), ("old", 1));
}

#[test]
fn an_answer_that_cannot_be_written_to_its_file_is_a_failure_and_not_lost() {
    let (home, gate) = (home(), Gate::new());
    let provider = StrictProvider::start(Answer::say("Hello.").gate(&gate));
    let place = home.root().join("place");
    fs::create_dir(&place).unwrap();
    let file = place.join("answer.txt");
    let run = home.run(&provider, ["--output", file.to_str().unwrap(), "Hi"]).start();
    assert!(gate.wait_reached(PATIENCE));
    fs::remove_dir(&place).unwrap();
    gate.open();
    let run = run.finish().expect_code(1);
    let last = run.last();
    assert_eq!((&last["reason"], &last["answer"]), (&json!("storage"), &json!("Hello.")));
    assert!(last["message"].as_str().unwrap().contains("give --output another file"), "{last}");
}

#[test]
fn a_link_to_a_file_stays_one_and_the_file_is_written() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    home.write("real.txt", "old");
    std::os::unix::fs::symlink("real.txt", home.work().join("link.txt")).unwrap();
    home.run(&provider, ["--output", "link.txt", "Hi"]).finish().expect_code(0);
    assert!(home.work().join("link.txt").is_symlink());
    assert_eq!(home.read("real.txt"), "Hello.\n");
}

#[test]
fn a_file_that_cannot_be_one_is_said_before_anything_is_asked_and_none_is_made() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    std::os::unix::fs::symlink("loop", home.work().join("loop")).unwrap();
    let long = "a".repeat(300);
    for file in ["new/", long.as_str(), "loop", "."] {
        let run = home.run(&provider, ["--output", file, "Hi"]).finish().expect_code(2);
        assert!(run.last()["message"].as_str().unwrap().contains("give --output another"), "{}", run.last());
    }
    assert_eq!((provider.requests().len(), fs::read_dir(home.work()).unwrap().count()), (0, 1));
}

#[test]
fn what_there_is_of_an_answer_when_a_limit_ends_the_run_is_in_the_file_as_it_is_in_the_last_line() {
    let cut = Answer::say("Half of it").finish("length");
    let (home, provider) = (home(), StrictProvider::start(cut));
    let run = home.run(&provider, ["--output", "answer.txt", "Hi"]).finish().expect_code(4);
    assert_eq!(run.last()["answer"], "Half of it");
    assert_eq!(home.read("answer.txt"), "Half of it\n");
}

#[test]
fn a_link_to_what_is_not_there_yet_leads_to_it() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("Hello.")));
    std::os::unix::fs::symlink("real.txt", home.work().join("link.txt")).unwrap();
    home.run(&provider, ["--output", "link.txt", "Hi"]).finish().expect_code(0);
    assert!(home.work().join("link.txt").is_symlink());
    assert_eq!(home.read("real.txt"), "Hello.\n");
}

#[test]
fn a_file_that_may_not_be_written_is_said_before_anything_is_asked() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: nothing is read-only for this user");
        return;
    }
    let (home, provider) = (home(), StrictProvider::start(Answer::say("never")));
    let mode = |path: &str, mode| {
        fs::set_permissions(home.work().join(path), std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
    };
    home.write("answer.txt", "old");
    mode("answer.txt", 0o444);
    home.write("closed/keep", "");
    mode("closed", 0o555);
    for file in ["answer.txt", "closed/answer.txt"] {
        let run = home.run(&provider, ["--output", file, "Hi"]).finish().expect_code(2);
        assert!(run.last()["message"].as_str().unwrap().contains("give --output another"), "{}", run.last());
    }
    mode("closed", 0o755);
    assert!(provider.requests().is_empty() && home.read("answer.txt") == "old");
}

#[test]
fn nothing_is_kept_of_an_ephemeral_run() {
    let home = home();
    // More than a result has room for, so that the rest would be kept elsewhere.
    let look = Answer::calling("c1", "bash", json!({"command": "seq 1 200000"}));
    let provider = StrictProvider::start([look, Answer::say("I have looked.")]);
    let run = home.run_text(&provider, ["--ephemeral", "--yolo", "--format", "json", "Hi"]);
    let last: serde_json::Value = serde_json::from_str(run.finish().expect_code(0).out.trim()).unwrap();
    assert_eq!((&last["answer"], &last["tools"]["ok"]), (&json!("I have looked."), &json!(1)));
    let mut left = Vec::new();
    let mut dirs = vec![home.state(), home.root().join("tmp")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() { dirs.push(entry.path()) } else { left.push(entry.path()) }
        }
    }
    assert!(left.is_empty(), "{left:?}");
    let both = home.run(&provider, ["--ephemeral", "--continue", "Hi"]).finish().expect_code(2);
    assert!(both.out.is_empty() && both.err.contains("--ephemeral"), "{}", both.err);
}

#[test]
fn a_small_model_gives_a_title() {
    let home = home();
    let by_model = |request: &Recorded| {
        if request.body["model"] == "small-1" { Answer::say("A greeting") } else { Answer::say("Hello.") }
    };
    let provider = StrictProvider::start(Script::each(by_model).models(["strict-1", "small-1"]));
    let run = home.run(&provider, ["--small-model", "openai/small-1", "Hi"]).finish().expect_code(0);
    assert_eq!(run.last()["answer"], "Hello.");
    let asked = provider.completions();
    assert!(asked.iter().any(|request| request.body["model"] == "strict-1"));
    let unknown = home.run(&provider, ["--small-model", "nobody/x", "Hi"]).finish().expect_code(2);
    assert_eq!(unknown.last()["reason"], "unknown_model");
}

#[test]
fn with_another_directory_all_other_paths_are_seen_from_there() {
    let (home, provider) = (home(), StrictProvider::start(Answer::say("{\"name\": \"Ada\"}")));
    home.write("sub/a.txt", "below\n");
    home.write("sub/system.txt", "You are a parrot.\n");
    home.write("sub/schema.json", "{\"type\": \"object\"}\n");
    home.write("a.txt", "above\n");
    let words =
        ["--file", "a.txt", "--system", "system.txt", "--schema", "schema.json", "--output", "../out.json"];
    home.run(&provider, ["--cwd", "sub", "Who?"]).words(words).finish().expect_code(0);
    let said = provider.completions()[0].body.to_string();
    assert!(said.contains("below") && said.contains("parrot") && !said.contains("above"), "{said}");
    assert_eq!(home.read("out.json"), "{\"name\": \"Ada\"}\n");
}
