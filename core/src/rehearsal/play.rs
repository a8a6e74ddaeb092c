//! A scenario acted out: the answer to a request, made from the scenario, the request and the attempt's number alone.
//!
//! The step is found by counting the answers since the prompt, so that playing needs no memory: an attempt that is
//! made again, in this process or the next, meets the same step.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cue::{Cue, Teller, Voice};
use super::scenario::{Attempt, Ending, Refusal, Scenario, Sentence};
use super::{answered, current};
use crate::content::Usage;
use crate::model::{CallError, CallErrorKind, CallResult, Item, ModelEvent, ModelRequest};
use crate::provider::excerpt::one_line;

/// The answer to a request; `attempt` counts from 1.
pub fn play(scenario: &Scenario, request: &ModelRequest, attempt: u32) -> Vec<Cue> {
    let step = answered(request);
    match scenario.steps.get(step).and_then(|step| step.attempt(attempt)) {
        Some(attempt) => perform(attempt, step + 1, request),
        None => over(scenario.steps.len()),
    }
}

fn perform(attempt: &Attempt, step: usize, request: &ModelRequest) -> Vec<Cue> {
    if let Some(error) = attempt.expect.as_ref().and_then(|text| unmet(text, step, request)) {
        return refused(error);
    }
    let mut teller = Teller::new();
    for sentence in &attempt.say {
        say(sentence, step, &mut teller);
    }
    match &attempt.ending {
        Ending::Finish(reason) => teller.finish(attempt.usage, *reason),
        Ending::Cut => teller.fail(cut()),
        Ending::Stall => teller.hang(),
        Ending::Refuse(refusal) => refused(refuse(refusal)),
    }
}

fn say(sentence: &Sentence, step: usize, teller: &mut Teller) {
    match sentence {
        Sentence::Text { text, pieces } => teller.pieces(Voice::Text, text, *pieces),
        Sentence::Reasoning { text, pieces } => teller.pieces(Voice::Reasoning, text, *pieces),
        Sentence::Delay(millis) => teller.wait(*millis),
        Sentence::Repeat { text, times } => (0..*times).for_each(|_| teller.pieces(Voice::Text, text, 1)),
        Sentence::Call { tool, input, id } => {
            let id = id.clone().unwrap_or_else(|| made_up(step, teller.calls() + 1));
            teller.call(id, tool, input);
        }
    }
}

/// The id of a call that the scenario gives none.
pub(super) fn made_up(step: usize, call: u32) -> String {
    format!("rehearsal-{step}-{call}")
}

fn over(steps: usize) -> Vec<Cue> {
    let mut teller = Teller::new();
    let plural = if steps == 1 { "" } else { "s" };
    let text =
        format!("The scenario is over: it has {steps} step{plural}, and this request comes after the last.");
    teller.say(Voice::Text, &text);
    teller.finish(Usage::default(), None)
}

/// The failure of an attempt whose request is not what the scenario expects. Trying again would not help.
fn unmet(text: &str, step: usize, request: &ModelRequest) -> Option<CallError> {
    let results = last_results(request);
    if results.iter().any(|result| result.outcome.text.contains(text)) {
        return None;
    }
    let found = match results.last() {
        Some(result) => format!("the last result is {:?}", one_line(&result.outcome.text, 200)),
        None => "the request does not end with results".into(),
    };
    let message =
        format!("Step {step} of the scenario expects a result that contains {text:?}, but {found}.");
    let kind = CallErrorKind::Status { status: 400, code: "rehearsal_expectation".into() };
    Some(CallError { kind, message, retry_after: None, should_retry: Some(false) })
}

fn last_results(request: &ModelRequest) -> &[CallResult] {
    match current(request).last() {
        Some(Item::Results(results)) => results,
        _ => &[],
    }
}

fn cut() -> CallError {
    let message = "The connection was cut, because the scenario says so.".into();
    CallError { kind: CallErrorKind::Transport, message, retry_after: None, should_retry: None }
}

fn refuse(refusal: &Refusal) -> CallError {
    let Refusal { status, code, message, retry_after, should_retry } = refusal;
    let said =
        if message.is_empty() { "The request was refused, because the scenario says so." } else { message };
    CallError {
        kind: CallErrorKind::Status { status: *status, code: code.clone() },
        message: said.into(),
        retry_after: *retry_after,
        should_retry: *should_retry,
    }
}

/// An attempt that fails before anybody says a word.
fn refused(error: CallError) -> Vec<Cue> {
    Vec::from([Cue::Say(ModelEvent::Failed(error))])
}

#[cfg(test)]
mod tests {
    use super::super::cue::tests::show;
    use super::*;
    use crate::content::{Block, ToolOutcome, ToolStatus};
    use crate::ids::{CallId, StepId, TurnId};
    use crate::model::ModelRef;

    const SCENARIO: &str = r#"{"steps":[
        {"say":[{"reasoning":"Hm."},{"text":"abcd","pieces":2},{"delay_ms":5},{"text":"e"},
                {"call":{"tool":"ls","input":{"depth":1}}},{"call":{"tool":"ls","raw":"","id":"own"}},{"text":"f"}],
         "usage":{"input":3,"output":4}},
        {"attempts":[
            {"refuse":{"status":429,"code":"slow","retry_after_ms":9}},
            {"say":[{"repeat":{"text":"x","times":2}},{"cut":true}]},
            {"say":[{"stall":true}]},
            {"say":[{"text":"done"}],"finish":"length","expect":{"last_result_contains":"needle"}}
        ]}
    ]}"#;

    /// A conversation with old answers before the prompt, and `answers` after it, the last with that result.
    fn request(answers: usize, result: Option<&str>) -> ModelRequest {
        let model = ModelRef { provider: "rehearsal".into(), model: String::new() };
        let user = Item::User { text: "go".into(), media: Vec::new() };
        let answer = Item::Assistant { model: model.clone(), blocks: vec![Block::Text("a".into())] };
        let call = CallId { step: StepId { turn: TurnId(1), step: 1 }, call: 1 };
        let outcome = |text: &str| ToolOutcome::text(ToolStatus::Ok, text);
        let results = |text| {
            Item::Results(vec![CallResult {
                call,
                wire_id: "w".into(),
                name: "ls".into(),
                outcome: outcome(text),
            }])
        };
        let mut items = vec![user.clone(), answer.clone(), user];
        items.extend(std::iter::repeat_n(answer, answers));
        items.extend(result.map(results));
        ModelRequest { model, system: String::new(), tools: Vec::new(), items }
    }

    #[track_caller]
    fn check(answers: usize, result: Option<&str>, attempt: u32, expected: &[&str]) {
        let scenario = Scenario::parse(SCENARIO).unwrap_or(Scenario { steps: Vec::new() });
        let cues = play(&scenario, &request(answers, result), attempt);
        assert_eq!(cues.iter().map(show).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_step_is_acted_out() {
        let whole = [
            "Connected",
            "0 thought Hm.",
            "1 text ab",
            "1 text cd",
            "wait 5",
            "1 text e",
            "2 call ls rehearsal-1-1",
            "2 input {\"depth\":1}",
            "3 call ls own",
            "4 text f",
            "usage 3 4",
            "Finished(ToolCalls)",
        ];
        check(0, None, 1, &whole);
        check(0, None, 7, &whole);
    }

    #[test]
    fn each_attempt_goes_its_own_way_and_the_last_repeats() {
        let refused = r#"failed Status { status: 429, code: "slow" } The request was refused, because the scenario says so."#;
        check(1, Some("needle"), 0, &[refused]);
        check(1, Some("needle"), 1, &[refused]);
        let broken = "failed Transport The connection was cut, because the scenario says so.";
        check(1, Some("needle"), 2, &["Connected", "0 text x", "0 text x", broken]);
        check(1, Some("needle"), 3, &["Connected", "hang"]);
        for attempt in [4, 5, u32::MAX] {
            check(
                1,
                Some("a needle!"),
                attempt,
                &["Connected", "0 text done", "usage 0 0", "Finished(Length)"],
            );
        }
    }

    #[test]
    fn what_is_expected_must_be_there() {
        let start = r#"failed Status { status: 400, code: "rehearsal_expectation" } Step 2 of the scenario expects a result that contains "needle", but "#;
        check(1, Some("hay"), 4, &[&format!("{start}the last result is \"hay\".")]);
        check(1, None, 4, &[&format!("{start}the request does not end with results.")]);
    }

    #[test]
    fn after_the_last_step_the_scenario_is_over() {
        let text = "0 text The scenario is over: it has 2 steps, and this request comes after the last.";
        check(2, None, 1, &["Connected", text, "usage 0 0", "Finished(Stop)"]);
    }
}
