//! Whether a turn goes round in circles: the same calls with the same results, in a row or taking turns, or other calls
//! that change nothing.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::content::{AssistantMessage, ToolOutcome};
use crate::digest;

/// How many steps with calls are looked at.
const WINDOW: usize = 10;

/// How often one step may occur among them.
const REPEATS: usize = 5;

/// Of how few different steps they may consist.
const VARIETY: usize = 3;

/// What the last steps of a turn did and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    steps: VecDeque<Footprint>,
}

/// What a step did and what came of it, in digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Tools, arguments and results.
    pub(crate) whole: String,
    /// Tools and results.
    pub(crate) results: String,
}

impl Trail {
    /// Adds a step that is over. One without calls leaves no trace.
    pub(super) fn add(&mut self, answer: &AssistantMessage) {
        let Some(footprint) = footprint(answer) else { return };
        if self.steps.len() == WINDOW {
            self.steps.pop_front();
        }
        self.steps.push_back(footprint);
    }

    /// Whether the last steps are a circle.
    pub(super) fn is_circle(&self) -> bool {
        if self.steps.len() < WINDOW {
            return false;
        }
        let whole = count(self.steps.iter().map(|step| step.whole.as_str()));
        let results = count(self.steps.iter().map(|step| step.results.as_str()));
        whole.values().any(|times| *times > REPEATS) || whole.len() <= VARIETY || results.len() == 1
    }
}

fn count<'a>(steps: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut times = BTreeMap::new();
    for step in steps {
        *times.entry(step).or_default() += 1;
    }
    times
}

/// All that came of a call, pictures too: those of different things are often introduced with the same words.
fn result(outcome: &ToolOutcome) -> String {
    let mut result = outcome.text.clone();
    for media in &outcome.media {
        result.push('\0');
        result.push_str(&media.data);
    }
    result
}

/// What a step did; none if it did nothing.
pub(crate) fn footprint(answer: &AssistantMessage) -> Option<Footprint> {
    let (mut whole, mut results) = (String::new(), String::new());
    for call in answer.calls() {
        let outcome = call.outcome.as_ref().map(result).unwrap_or_default();
        for part in [call.name.as_str(), "\0", call.input.as_str(), "\0", &outcome, "\0"] {
            whole.push_str(part);
        }
        for part in [call.name.as_str(), "\0", &outcome, "\0"] {
            results.push_str(part);
        }
    }
    let any = !whole.is_empty();
    any.then(|| Footprint { whole: digest::of(whole.as_bytes()), results: digest::of(results.as_bytes()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Attachment, Block, ToolCall, ToolStatus};
    use crate::ids::{CallId, StepId, TurnId};
    use crate::model::ModelRef;

    fn step(input: usize, output: usize) -> AssistantMessage {
        let step = StepId { turn: TurnId(1), step: 1 };
        let outcome = ToolOutcome::text(ToolStatus::Ok, alloc::format!("out {output}"));
        let call = ToolCall {
            id: CallId { step, call: 1 },
            provider_id: String::new(),
            name: "bash".into(),
            input: alloc::format!("in {input}"),
            opaque: None,
            outcome: Some(outcome),
        };
        let model = ModelRef { provider: "p".into(), model: "m".into() };
        AssistantMessage { step, model, blocks: alloc::vec![Block::Call(call)], finish: None }
    }

    fn check(steps: impl Iterator<Item = (usize, usize)>) -> bool {
        let mut trail = Trail::default();
        steps.for_each(|(input, output)| trail.add(&step(input, output)));
        trail.is_circle()
    }

    #[test]
    fn circles_are_noticed_once_there_are_enough_steps() {
        assert!(!check((0..9).map(|_| (0, 0))), "too few");
        assert!(check((0..10).map(|_| (0, 0))), "one step over and over");
        assert!(check((0..10).map(|n| if n < 6 { (0, 0) } else { (n, n) })), "six of ten");
        assert!(check((0..10).map(|n| (n % 2, n % 2))), "two taking turns");
        assert!(check((0..10).map(|n| (n % 3, n % 3))), "three taking turns");
        assert!(check((0..10).map(|n| (n, 0))), "other arguments that change nothing");
    }

    #[test]
    fn pictures_of_different_things_are_different_results() {
        let mut trail = Trail::default();
        for n in 0..10 {
            let mut answer = step(0, 0);
            let picture = Attachment {
                name: "a".into(),
                media_type: "image/png".into(),
                data: alloc::format!("picture {n}"),
            };
            let call = CallId { step: answer.step, call: 1 };
            let outcome = answer.call_mut(call).and_then(|call| call.outcome.as_mut());
            outcome.into_iter().for_each(|outcome| outcome.media.push(picture.clone()));
            trail.add(&answer);
        }
        assert!(!trail.is_circle());
    }

    #[test]
    fn progress_is_no_circle() {
        assert!(!check((0..30).map(|n| (n, n))), "all different");
        assert!(!check((0..30).map(|n| (0, n))), "the same call with other results");
        assert!(!check((0..10).map(|n| if n < 5 { (0, 0) } else { (n, n) })), "five of ten");
        assert!(!check((0..10).map(|n| (n, n / 2))), "results that repeat now and then");
    }
}
