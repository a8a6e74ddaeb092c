//! Work: calls, their results, sub-agents, and going on.

use hostler_tests::strict::{Answer, Protocol, Script, StrictProvider};
use serde_json::json;

use super::{each, goes_on, run, run_in};
use crate::agents::{delegates, is_sub_agent, with_one};
use crate::home;

#[test]
fn a_call_has_its_result_and_the_session_goes_on() {
    each(&[()], |protocol, ()| {
        let write = json!({"file_path": "a.txt", "content": "one\n"});
        let provider = StrictProvider::start([
            Answer::say("I write it.").call("c1", "write", write),
            Answer::calling("c2", "view", json!({"file_path": "a.txt"})),
            Answer::say("It says one."),
            Answer::calling("c3", "bash", json!({"command": "cat a.txt; exit 3"})),
            Answer::say("Still one."),
        ]);
        let home = home();
        let first = run_in(&home, protocol, &provider, &["Write it."], 0);
        assert_eq!((&first.last()["answer"], home.read("a.txt").as_str()), (&json!("It says one."), "one\n"));
        let second = run_in(&home, protocol, &provider, &["--continue", "Look again."], 0);
        assert_eq!(
            (&second.last()["answer"], &second.last()["tools"]["failed"]),
            (&json!("Still one."), &json!(1))
        );

        let asked = provider.completions();
        assert_eq!(asked.len(), 5);
        assert!(asked.iter().all(|request| request.protocol == protocol));
        assert!(asked[2].tool_results()[1].1.contains("one"), "{:?}", asked[2].tool_results());
        let last = &asked[4];
        assert_eq!(last.tool_results().len(), 3);
        assert!(last.tool_results()[2].1.contains("exit code 3"), "{:?}", last.tool_results());
        assert!(last.last_user_text().contains("Look again."), "{:?}", last.user_texts());
        assert_eq!(last.steps_since_user(), 1);
        assert!(last.system_text().len() > 100 && last.system_text() == asked[0].system_text());
        assert_eq!(last.tool_names(), asked[0].tool_names());
        goes_on(&home, protocol);
    });
}

#[test]
fn calls_of_one_step_have_their_results_in_their_order() {
    let names: Vec<_> = (0..12).map(|number| format!("file{number}.txt")).collect();
    each(&[()], |protocol, ()| {
        let view = |answer: Answer, (at, name): (usize, &String)| {
            answer.call(&format!("c{at}"), "view", json!({"file_path": name}))
        };
        let answers = [names.iter().enumerate().fold(Answer::new(), view), Answer::say("Read.")];
        let (home, provider) = (home(), StrictProvider::start(answers));
        names.iter().for_each(|name| home.write(name, &format!("this is {name}\n")));
        let run = run_in(&home, protocol, &provider, &["Read all."], 0);
        assert_eq!(run.last()["tools"]["ok"], 12);
        let results = provider.completions()[1].tool_results();
        assert_eq!(results.len(), 12);
        for (name, (call, text)) in names.iter().zip(results) {
            assert!(text.contains(&format!("this is {name}")), "{call}: {text}");
        }
    });
}

#[test]
fn whatever_a_command_prints_a_provider_accepts_it() {
    let printing = [
        r"printf 'a\000b\377\033[2Jc\r\nd'",
        "head -c 100000 /dev/urandom",
        "printf '\\n\\n'",
        "true",
        "kill -9 $$",
    ];
    each(&[()], |protocol, ()| {
        let call = |answer: Answer, (at, command): (usize, &&str)| {
            answer.call(&format!("c{at}"), "bash", json!({"command": command}))
        };
        let answers = vec![printing.iter().enumerate().fold(Answer::new(), call), Answer::say("Done.")];
        let (_, provider) = run(protocol, &["Go."], answers, 0);
        let results = provider.completions()[1].tool_results();
        assert_eq!(results.len(), printing.len());
        assert!(results.iter().all(|(_, text)| !text.is_empty()), "{results:?}");
    });
}

/// The smallest picture that is one, as its bytes are written in a request.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\xff";
const WRITTEN: &str = "iVBORw0KGgoA/w==";

#[test]
fn files_that_go_with_a_prompt_and_pictures_that_are_looked_at_are_shown() {
    each(&[()], |protocol, ()| {
        let home = home();
        home.write("a.txt", "a text\n");
        std::fs::write(home.work().join("b.png"), PICTURE).unwrap();
        let look = Answer::say("I look.").call("c1", "view", json!({"file_path": "b.png"}));
        let provider = StrictProvider::start([look.call("c2", "ls", json!({})), Answer::say("Pretty.")]);
        let words = ["--file", "a.txt", "--file", "b.png", "What is this?"];
        let run = run_in(&home, protocol, &provider, &words, 0);
        assert_eq!((&run.last()["answer"], &run.last()["tools"]["ok"]), (&json!("Pretty."), &json!(2)));
        let asked = provider.completions();
        assert!(asked[0].user_texts().concat().contains("a text"), "{}", asked[0].text);
        let shown = asked.iter().map(|request| request.text.matches(WRITTEN).count()).collect::<Vec<_>>();
        // The results of chat completions are nothing but text.
        let looked_at = usize::from(protocol != Protocol::Chat);
        assert_eq!(shown, [1, 1 + looked_at], "{protocol:?}: {}", asked[1].text);
        assert_eq!(asked[1].tool_results().len(), 2);
        goes_on(&home, protocol);
    });
}

#[test]
fn a_sub_agent_works_and_its_answer_is_the_result() {
    each(&[()], |protocol, ()| {
        let home = home();
        home.write("b.txt", "a needle\n");
        let provider = with_one(
            [delegates("Find the needle."), Answer::say("It is in b.txt.")],
            [Answer::calling("c1", "grep", json!({"pattern": "needle"})), Answer::say("In b.txt.")],
        );
        let run = run_in(&home, protocol, &provider, &["Where is it?"], 0);
        assert_eq!(
            (&run.last()["answer"], &run.last()["tools"]["ok"]),
            (&json!("It is in b.txt."), &json!(1))
        );
        let asked = provider.completions();
        assert_eq!(asked.iter().filter(|request| is_sub_agent(request)).count(), 2);
        assert_eq!(asked[3].tool_results()[0].1, "In b.txt.");
        goes_on(&home, protocol);
    });
}

#[test]
fn a_wrong_key_and_an_unknown_model_are_found_out() {
    each(&[()], |protocol, ()| {
        let home = home();
        let refuses = |script: Script, code: i32, reason: &str| {
            let provider = StrictProvider::start(script);
            // The provider's refusal is what this is about, so the run is not asked to be clean of it.
            let (url, key) = hostler_tests::harness::variables(protocol);
            let run = home
                .hostler([
                    "run",
                    "--model",
                    hostler_tests::harness::model(protocol),
                    "--format",
                    "jsonl",
                    "Hi",
                ])
                .variable(url, &provider.base_url_of(protocol))
                .variable(key, "sk-test");
            assert_eq!(run.finish().expect_code(code).last()["reason"], reason);
            assert_eq!(provider.rejections().len(), 1, "{:?}", provider.rejections());
        };
        refuses(Script::new([]).key("sk-other"), 3, "credentials");
        refuses(Script::new([]).models(["strict-9"]), 2, "unknown_model");
    });
}
