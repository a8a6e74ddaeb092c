//! What a run may cost.

use crate::content::Usage;
use crate::model::{Preparation, Prices};
use crate::prompt::{Prompt, Terms};
use crate::record::{Reason, RunStatus};
use crate::rig::Rig;
use crate::rig::words::{self, overloaded, prompt, stop, text, used};

/// A turn that may cost that much, with a model that takes a dollar for a million tokens that it reads.
fn costing(most: u64) -> Rig {
    let mut rig = Rig::new();
    let asked = prompt("p", "Do it.");
    let terms = Terms { max_cost: Some(most), ..asked.terms.clone() };
    rig.submit(Prompt { terms, ..asked });
    let prices = Some(Box::new(Prices { input: 1_000_000, ..Prices::default() }));
    rig.prepared_with("p", Ok(Preparation { prices, ..words::preparation() }));
    rig
}

/// The model reads so many tokens and calls a tool, which runs.
fn step(rig: &mut Rig, tokens: u64) {
    let [call, input] = words::called(0, "ls", "{}");
    rig.stream(vec![call, input, used(tokens, 0), stop()]);
    rig.run_tool(1, "a");
}

fn end(rig: &Rig) -> (RunStatus, Reason, Option<u64>) {
    let end = rig.end("p");
    (end.status, end.reason, end.totals.cost)
}

#[test]
fn nothing_more_is_asked_once_it_has_cost_as_much_as_it_may() {
    let mut rig = costing(10);
    step(&mut rig, 6);
    assert!(rig.ended("p").is_none());
    step(&mut rig, 4);
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::MaxCost, Some(10)));
    let message = &rig.end("p").message;
    assert!(message.contains("0.00001 dollars"), "{message}");
}

#[test]
fn an_answer_that_is_complete_is_not_taken_back() {
    let mut rig = costing(10);
    rig.stream(vec![text(0, "Done."), used(500, 0), stop()]);
    assert_eq!(end(&rig), (RunStatus::Ok, Reason::Completed, Some(500)));
}

#[test]
fn failed_attempts_count() {
    let mut rig = costing(10);
    rig.stream(vec![text(0, "We"), used(9, 0)]);
    rig.fail(overloaded(None));
    assert!(rig.ended("p").is_none());
    rig.tick();
    rig.stream(vec![text(0, "We"), used(1, 0)]);
    rig.fail(overloaded(None));
    assert_eq!(end(&rig), (RunStatus::Limit, Reason::MaxCost, Some(10)));
    assert_eq!(rig.end("p").totals.usage, Usage { input: 10, ..Usage::default() });
}

#[test]
fn a_run_whose_cost_cannot_be_known_is_not_begun() {
    let mut rig = Rig::new();
    let asked = prompt("p", "Do it.");
    let terms = Terms { max_cost: Some(1), ..asked.terms.clone() };
    rig.enter(Prompt { terms, ..asked });
    assert_eq!(end(&rig), (RunStatus::Error, Reason::Usage, None));
    assert!(rig.asked.is_empty());
}
