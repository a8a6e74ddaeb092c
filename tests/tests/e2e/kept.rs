//! What is kept of what commands print, who may read it, and what is kept nowhere: keys.

use std::fs;
use std::path::{Path, PathBuf};

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::{Value, json};

use crate::home;

const KEY: &str = "sk-test-4711-0815-that-nobody-may-see";

/// The one result that the second request of a script brings.
fn result(provider: &StrictProvider) -> String {
    provider.completions()[1].tool_results().last().unwrap().1.clone()
}

/// Has the model make one call, in a session if it has one; returns the call's result and the session.
fn call(home: &Home, words: &[&str], tool: &str, input: Value) -> (String, String) {
    let provider = StrictProvider::start([Answer::calling("c1", tool, input), Answer::say("Done.")]);
    let run = home.run(&provider, ["Go."]).words(words.iter().copied()).finish().expect_code(0);
    let session =
        run.lines().all().iter().find_map(|line| line["session"].as_str().map(str::to_owned)).unwrap();
    (result(&provider), session)
}

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => found.push(path),
        }
    }
    found
}

#[test]
fn long_output_can_be_paged_in_its_session_and_in_no_other() {
    let home = home();
    let (printed, one) = call(&home, &["--yolo"], "bash", json!({"command": "seq 1 200000"}));
    assert!(printed.starts_with("1\n2\n") && printed.ends_with("\n200000"), "{}", printed.len());
    let (_, rest) = printed.split_once("; all of the output is in ").unwrap();
    let (file, _) = rest.split_once(", which view and grep can read").unwrap();
    let lines: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(fs::read_to_string(file).unwrap(), lines);
    let (page, again) = (json!({"file_path": file, "offset": 99_999, "limit": 2}), ["--session", &one]);
    let (paged, _) = call(&home, &again, "view", page.clone());
    assert!(paged.starts_with("100000\t100000\n100001\t100001\n"), "{paged}");
    let (found, _) = call(&home, &again, "grep", json!({"pattern": "^77777$", "path": file}));
    assert!(found.contains(":77777: 77777"), "{found}");
    let beside = PathBuf::from(file).parent().and_then(Path::parent).unwrap().to_owned();
    for (words, tool, input) in [
        (&[][..], "view", page),
        (&again[..], "ls", json!({"path": beside})),
        (&again[..], "write", json!({"file_path": file, "content": "x"})),
    ] {
        let (denied, _) = call(&home, words, tool, input);
        assert!(denied.contains("Permission denied"), "{tool}: {denied}");
    }
}

#[test]
fn short_output_leaves_no_file() {
    let home = home();
    assert_eq!(call(&home, &["--yolo"], "bash", json!({"command": "seq 1 3"})).0, "1\n2\n3");
    assert!(files(&home.state()).iter().all(|file| !file.to_string_lossy().contains("/output/")));
}

#[test]
fn keys_are_nowhere_but_in_the_request() {
    let home = home();
    let looking = "env; set; cat /proc/self/environ /proc/$PPID/environ; seq 1 20000";
    let provider = StrictProvider::start([
        Answer::calling("c1", "bash", json!({"command": looking})),
        Answer::say("Done."),
    ]);
    let run = home
        .run(&provider, ["--yolo", "Go."])
        .variable("OPENAI_API_KEY", KEY)
        .variable("ANTHROPIC_API_KEY", KEY)
        .variable("MY_OWN_NAME_FOR_IT", KEY)
        .variable("HEADERS", &format!("Authorization: Bearer {KEY}"))
        .variable("HARMLESS", "seen")
        .finish()
        .expect_code(0);
    let printed = result(&provider);
    assert!(printed.contains("HARMLESS=seen"), "{printed}");
    assert!(!printed.contains(KEY) && !run.out.contains(KEY) && !run.err.contains(KEY));
    let kept = files(&home.state());
    assert!(kept.iter().any(|file| file.extension().is_some_and(|kind| kind == "db")), "{kept:?}");
    assert!(kept.iter().any(|file| file.to_string_lossy().contains("/flight/")), "{kept:?}");
    assert!(kept.iter().any(|file| file.to_string_lossy().contains("/output/")), "{kept:?}");
    for file in kept {
        let content = fs::read(&file).unwrap();
        let found = content.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "{file:?} has the key");
    }
}

#[test]
fn a_key_that_a_provider_repeats_is_kept_and_shown_nowhere() {
    let said = format!("Incorrect API key provided: {KEY}. It came as Bearer {KEY}");
    let body = json!({"error": {"message": said, "type": KEY}}).to_string();
    let answers = [
        ("a refusal", Answer::status(401, &body), 3),
        ("an error", Answer::status(400, &body), 1),
        ("words", Answer::status(400, &said), 1),
        ("a page", Answer::status(403, &format!("<html><title>{said}</title>")), 3),
        ("an event", Answer::new().text("Well").error_event(&said), 1),
        ("an answer", Answer::new().text(&said), 0),
    ];
    for (what, answer, code) in answers {
        let (home, provider) = (home(), StrictProvider::start(Script::always(answer)));
        let command = format!(
            r#"{{"local_servers": false, "providers": {{"mine": {{"base_url": "{}",
            "key_command": "printf %s-%s sk-test 4711-0815-that-nobody-may-see"}}}}}}"#,
            provider.base_url()
        );
        home.configure(&command);
        let run = home.hostler(["run", "--model", "mine/strict-1", "--format", "jsonl", "-vvv", "Hi"]);
        let run = run.variable("HOSTLER_LOG", "trace").finish().expect_code(code);
        assert!(run.out.contains("[key]"), "{what}: {}", run.out);
        assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "{what}: {}{}", run.out, run.err);
        let kept = files(&home.state());
        for part in ["/hostler.db", "/flight/", "/logs/"] {
            assert!(kept.iter().any(|file| file.to_string_lossy().contains(part)), "{what}: {kept:?}");
        }
        for file in kept {
            let content = fs::read(&file).unwrap();
            let found = content.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "{what}: {file:?} has the key");
        }
    }
}
