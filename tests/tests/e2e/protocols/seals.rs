//! Reasoning that is sealed comes back as it was. The provider refuses whatever was changed, and what is missing where it
//! may not be.

use hostler_tests::strict::{Answer, Protocol, StrictProvider};
use serde_json::json;

use super::{each, goes_on, run_in};
use crate::agents::with_one;
use crate::home;

/// What every seal begins with.
const SEAL: &str = "U2VhbGVk";

/// How many seals each request brought back.
fn seals(protocol: Protocol, provider: &StrictProvider) -> Vec<usize> {
    // The items of Responses are called by their seals as well.
    let seal = match protocol {
        Protocol::Responses => format!("\"encrypted_content\":\"{SEAL}"),
        Protocol::Chat | Protocol::Messages | Protocol::Gemini => SEAL.to_owned(),
    };
    provider.completions().iter().map(|request| request.text.matches(&seal).count()).collect()
}

#[test]
fn what_was_sealed_comes_back_in_every_step() {
    each(&[()], |protocol, ()| {
        let thinks = |thought: &str, id: &str| Answer::new().sealed(thought).call(id, "ls", json!({}));
        let provider = StrictProvider::start([
            thinks("Where to begin? Ä \"quote\".", "a"),
            Answer::new().sealed("And then?").sealed("").text("I look.").call("b", "ls", json!({})).call(
                "c",
                "ls",
                json!({}),
            ),
            thinks("", "d"),
            Answer::new().sealed("That was it.").text("Done."),
            thinks("Once more.", "e"),
            Answer::say("Done again."),
        ]);
        let home = home();
        run_in(&home, protocol, &provider, &["Look around."], 0);
        let run = run_in(&home, protocol, &provider, &["--continue", "Again."], 0);
        assert_eq!((&run.last()["answer"], provider.remaining()), (&json!("Done again."), 0));
        provider.assert_clean();
        let seals = seals(protocol, &provider);
        match protocol {
            Protocol::Chat => assert_eq!(seals, [0; 6], "nothing is sealed here"),
            Protocol::Messages | Protocol::Responses => {
                assert_eq!(seals[..4], [0, 1, 3, 4], "of one run all come back");
            }
            Protocol::Gemini => assert!(seals[..4].is_sorted() && seals[3] > 0, "{seals:?}"),
        }
        goes_on(&home, protocol);
    });
}

#[test]
fn a_sub_agent_gives_back_what_was_sealed_for_it() {
    each(&[()], |protocol, ()| {
        let home = home();
        let provider = with_one(
            [
                Answer::new().sealed("Let another look.").call("c1", "agent", json!({"prompt": "Look."})),
                Answer::say("Seen."),
            ],
            [
                Answer::new().sealed("I look.").call("c1", "ls", json!({})),
                Answer::new().sealed("Hm.").text("Nothing."),
            ],
        );
        assert_eq!(run_in(&home, protocol, &provider, &["Go."], 0).last()["answer"], "Seen.");
        goes_on(&home, protocol);
    });
}

#[test]
fn another_protocol_is_not_given_what_one_has_sealed() {
    each(&[()], |protocol, ()| {
        let home = home();
        let first = StrictProvider::start([
            Answer::new().sealed("Hm.").text("I look.").call("a", "ls", json!({})),
            Answer::new().sealed("Well.").text("Done."),
        ]);
        run_in(&home, protocol, &first, &["Look."], 0);
        for other in super::SPOKEN {
            let provider = StrictProvider::start(Answer::say("Hello."));
            run_in(&home, other, &provider, &["--continue", "And you?"], 0);
            let asked = provider.completions().remove(0);
            if other != protocol {
                assert!(
                    !asked.text.contains(SEAL),
                    "{other:?} is given what {protocol:?} sealed: {}",
                    asked.text
                );
            }
            assert_eq!(asked.tool_results().len(), 1);
        }
        let again = StrictProvider::start(Answer::say("Hello again."));
        run_in(&home, protocol, &again, &["--continue", "And you?"], 0);
    });
}
