//! However a stream is cut up into bytes, it says the same.

use hostler_tests::strict::{Answer, Call, Protocol};
use serde_json::{Value, json};

use super::{each, run};

/// A stream with everything in it that can be cut in two: thoughts and their seals, characters of several bytes, escapes,
/// and two calls.
fn answers(split: impl Fn(Answer) -> Answer) -> Vec<Answer> {
    let command = json!({"command": "echo 'ä → \"🦀\"'"});
    let works = Answer::new()
        .sealed("Hm, schön.")
        .deltas(["Grüße", " — \"🦀\"\n", "und los."])
        .with_call(Call::new("c1", "bash", command).pieces(3))
        .call("c2", "ls", json!({}));
    let sums_up = Answer::new().sealed("").deltas(["Fertig", ": 🎉 \\ ", "\u{2028}."]).usage(60, 3);
    vec![split(works), split(sums_up)]
}

/// What came of it: the answer, the usage, what was streamed, and what was called with which result.
fn outcome(protocol: Protocol, split: impl Fn(Answer) -> Answer) -> Value {
    let (run, provider) = run(protocol, &["Hi"], answers(split), 0);
    let lines = run.lines();
    let streamed: Vec<_> =
        lines.of("text.delta").iter().map(|line| lines.streamed(&line["message_id"])).collect();
    let calls: Vec<_> = lines
        .of("tool.finished")
        .iter()
        .map(|line| [&line["name"], &line["input"], &line["output"]].map(Clone::clone))
        .collect();
    let asked = provider.completions().pop().unwrap();
    json!({
        "answer": run.last()["answer"], "usage": run.last()["usage"], "first": streamed.first(), "last": streamed.last(),
        "calls": calls, "results": asked.tool_results(), "steps": asked.steps_since_user(),
    })
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    Pieces(usize),
    Random(u64),
}

impl Cut {
    fn apply(self, answer: Answer) -> Answer {
        match self {
            Self::Pieces(size) => answer.chunks_of(size),
            Self::Random(seed) => answer.chunks_at_random(seed),
        }
    }
}

#[test]
fn any_split_says_the_same() {
    let pieces = [1, 2, 3, 7].map(Cut::Pieces);
    let random = (0..8).map(Cut::Random);
    let cuts: Vec<_> = pieces.into_iter().chain(random).flat_map(|cut| [(cut, false), (cut, true)]).collect();
    each(&[()], |protocol, ()| {
        let whole = outcome(protocol, |answer| answer);
        assert_eq!(whole["answer"], "Fertig: 🎉 \\ \u{2028}.");
        assert_eq!(whole["results"][0][1], "ä → \"🦀\"");
    });
    let whole: Vec<_> =
        super::SPOKEN.iter().map(|protocol| (*protocol, outcome(*protocol, |answer| answer))).collect();
    each(&cuts, |protocol, (cut, crlf)| {
        let split = |answer| {
            let answer = cut.apply(answer);
            if *crlf { answer.crlf() } else { answer }
        };
        let (_, expected) = whole.iter().find(|(whole, _)| *whole == protocol).unwrap();
        assert_eq!(&outcome(protocol, split), expected, "{protocol:?} in {cut:?}");
    });
}
