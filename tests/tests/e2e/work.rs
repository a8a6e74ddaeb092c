//! Real work: the agent looks around, changes files and runs what it changed.

use hostler_tests::harness::Home;
use hostler_tests::strict::{Answer, Call, Recorded, StrictProvider};
use serde_json::json;

use crate::home;

const WRONG: &str = "int add(int a, int b) {\n    return a - b;\n}\n";
const RIGHT: &str = "int add(int a, int b) {\n    return a + b;\n}\n";

const TEST: &str = "#include <stdio.h>
int add(int a, int b);
int main(void) {
    int sum = add(2, 3);
    if (sum != 5) {
        printf(\"failed: 2 + 3 is %d\\n\", sum);
        return 1;
    }
    printf(\"1 passed\\n\");
    return 0;
}
";

/// A program with a fault that its test finds.
fn project(home: &Home) {
    home.write("src/add.c", WRONG);
    home.write("src/test.c", TEST);
    home.write("check.sh", "set -e\ncc -o check src/add.c src/test.c\n./check\n");
}

/// What the model answers: it looks, tests, mends, tests again, looks once more, and sums up.
fn mending() -> Vec<Answer> {
    let test = || json!({"command": "sh check.sh", "description": "Run the test"});
    let edit = json!({"file_path": "src/add.c", "old_string": "a - b", "new_string": "a + b"});
    vec![
        Answer::say("I'll look around.").call("c1", "ls", json!({})),
        Answer::new().call("c2", "grep", json!({"pattern": "int add"})).call(
            "c3",
            "view",
            json!({"file_path": "src/add.c"}),
        ),
        Answer::say("Now the test.").call("c4", "bash", test()),
        Answer::calling("c5", "edit", edit),
        Answer::calling("c6", "bash", test()),
        Answer::calling("c7", "view", json!({"file_path": "src/add.c"})),
        Answer::say("The test passes: `add` subtracted."),
    ]
}

/// The result that a request brings for a call.
fn result(request: &Recorded, call: &str) -> String {
    let results = request.tool_results();
    let found = results.iter().find(|(id, _)| id == call);
    found.unwrap_or_else(|| panic!("no result of {call} in {results:#?}")).1.clone()
}

#[test]
fn it_finds_and_mends_a_fault() {
    let (home, provider) = (home(), StrictProvider::start(mending()));
    project(&home);
    let run = home.run(&provider, ["--yolo", "The test fails. Mend it."]).finish().expect_code(0);
    assert_eq!((home.read("src/add.c").as_str(), home.read("src/test.c").as_str()), (RIGHT, TEST));
    assert_eq!(run.last()["answer"], "The test passes: `add` subtracted.");
    assert_eq!((run.last()["steps"].as_u64(), run.last()["tools"]["ok"].as_u64()), (Some(7), Some(6)));
    assert_eq!(run.last()["tools"]["failed"], 1, "the first run of the test");

    let asked = provider.completions();
    assert_eq!(asked.len(), 7);
    assert!(asked[0].last_user_text().contains("The test fails. Mend it."));
    assert!(result(&asked[1], "c1").contains("add.c"));
    assert!(result(&asked[2], "c2").contains("src/add.c"));
    assert!(result(&asked[2], "c3").contains("return a - b;"));
    let failed = result(&asked[3], "c4");
    assert!(failed.contains("failed: 2 + 3 is -1") && failed.contains("exit code 1"), "{failed}");
    assert!(result(&asked[5], "c6").contains("1 passed"));
    assert!(result(&asked[6], "c7").contains("return a + b;"));
}

#[test]
fn it_offers_its_tools_in_every_request_in_the_same_words() {
    let (home, provider) = (home(), StrictProvider::start(mending()));
    project(&home);
    home.run(&provider, ["--yolo", "Mend it."]).finish().expect_code(0);
    let asked = provider.completions();
    assert_eq!(
        asked[0].tool_names(),
        ["agent", "bash", "edit", "glob", "grep", "ls", "multiedit", "todos", "view", "write"]
    );
    for (before, after) in asked.iter().zip(&asked[1..]) {
        assert_eq!(before.body["tools"], after.body["tools"]);
        let (sent, kept) = (before.messages(), &after.messages()[..before.messages().len()]);
        assert_eq!(sent, kept, "what was said is sent again as it was");
    }
}

#[test]
fn calls_of_one_step_have_their_results_in_their_order() {
    let names: Vec<_> = (0..12).map(|number| format!("file{number}.txt")).collect();
    let view = |answer: Answer, name: &String| answer.call(name, "view", json!({"file_path": name}));
    let answers = [names.iter().fold(Answer::new(), view), Answer::say("Read.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    names.iter().for_each(|name| home.write(name, &format!("this is {name}\n")));
    let run = home.run(&provider, ["Read all."]).finish().expect_code(0);
    assert_eq!(run.last()["tools"]["ok"], 12);
    let results = provider.completions()[1].tool_results();
    assert_eq!(results.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), names);
    for (name, text) in results {
        assert!(text.contains(&format!("this is {name}")), "{name}: {text}");
    }
}

#[test]
fn a_call_sees_what_the_calls_before_it_did() {
    let look = || json!({"file_path": "a.txt"});
    let answer = Answer::new()
        .call("c1", "write", json!({"file_path": "a.txt", "content": "one\n"}))
        .call("c2", "view", look())
        .call("c3", "bash", json!({"command": "echo two > a.txt"}))
        .call("c4", "view", look());
    let (home, provider) = (home(), StrictProvider::start([answer, Answer::say("Done.")]));
    let run = home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert_eq!(run.last()["tools"]["ok"], 4);
    let asked = provider.completions();
    assert!(result(&asked[1], "c2").contains("one"));
    assert!(result(&asked[1], "c4").contains("two"));
    assert_eq!(home.read("a.txt"), "two\n");
}

#[test]
fn files_are_made_with_the_directories_that_they_need() {
    let content = "a tab\t, a quote \", a backslash \\ and an umlaut ü\n";
    let write = json!({"file_path": "deep/er/new.txt", "content": content});
    let answers = [Answer::new().with_call(Call::new("c1", "write", write).pieces(3)), Answer::say("Done.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert_eq!(home.read("deep/er/new.txt"), content);
}

#[test]
fn whatever_a_command_prints_a_provider_accepts_it() {
    let printing = [
        r"printf 'a\000b\377\033[2Jc\r\nd'",
        "head -c 100000 /dev/urandom",
        "seq 1 2000000",
        "printf '%0100000d' 7",
        "printf '\\n\\n'",
        "echo error >&2; exit 7",
        "kill -9 $$",
    ];
    let call = |answer: Answer, (at, command): (usize, &&str)| {
        answer.call(&format!("c{at}"), "bash", json!({"command": command}))
    };
    let answers = [printing.iter().enumerate().fold(Answer::new(), call), Answer::say("Done.")];
    let (home, provider) = (home(), StrictProvider::start(answers));
    let run = home.run(&provider, ["--yolo", "Go."]).finish().expect_code(0);
    assert_eq!(
        (run.last()["tools"]["ok"].as_u64(), run.last()["tools"]["failed"].as_u64()),
        (Some(5), Some(2))
    );
    let asked = provider.completions();
    for (call, text) in asked[1].tool_results() {
        assert!(!text.is_empty() && text.len() < 200_000, "{call} has {} bytes", text.len());
    }
    assert!(result(&asked[1], "c5").contains("exit code 7") && result(&asked[1], "c6").contains("signal 9"));
    let seen = result(&asked[1], "c2");
    assert!(
        seen.starts_with("1\n2\n") && seen.ends_with("1999999\n2000000"),
        "the beginning and the end are kept"
    );
}

#[test]
fn whatever_a_file_holds_a_provider_accepts_it() {
    let (home, provider) = (
        home(),
        StrictProvider::start([
            Answer::new()
                .call("c1", "view", json!({"file_path": "binary"}))
                .call("c2", "view", json!({"file_path": "empty"}))
                .call("c3", "view", json!({"file_path": "long"}))
                .call("c4", "view", json!({"file_path": "missing"}))
                .call("c5", "grep", json!({"pattern": "("}))
                .call("c6", "grep", json!({"pattern": "x", "path": "."})),
            Answer::say("Done."),
        ]),
    );
    std::fs::write(home.work().join("binary"), [0, 1, 2, 255, b'x', 0]).unwrap();
    home.write("empty", "");
    home.write("long", &"x".repeat(5_000_000));
    let run = home.run(&provider, ["Go."]).finish().expect_code(0);
    assert_eq!(run.lines().tools().len(), 6);
    for (call, text) in provider.completions()[1].tool_results() {
        assert!(!text.is_empty() && text.len() < 200_000, "{call} has {} bytes", text.len());
    }
}
