//! The in-process door: what clients ask for and see, with the real store, driver, tools and HTTP behind it, and the strict
//! provider behind that.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
mod asks;
mod cancel;
mod client;
mod crash;
mod desk;
mod queue;
mod titles;

use hostler_core::ids::{CallId, ClientId, PromptId, RunId, SessionId, StepId, TurnId};
use hostler_core::prompt::{Delivery, PermissionMode, Prompt, Terms};
use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::json;

/// A prompt of nobody in particular, on the terms of a run without anybody to ask.
fn prompt(id: &str, text: &str) -> Prompt {
    Prompt {
        id: PromptId::new(id),
        run: None,
        client: ClientId::new("me"),
        text: text.to_owned(),
        attachments: Vec::new(),
        terms: Terms { model: Some("openai/strict-1".to_owned()), ..Terms::headless() },
    }
}

/// The same with a run that its caller follows.
fn run(id: &str, text: &str) -> Prompt {
    Prompt { run: Some(RunId::new(id)), ..prompt(id, text) }
}

fn delivered(prompt: Prompt, delivery: Delivery) -> Prompt {
    Prompt { terms: Terms { delivery, ..prompt.terms }, ..prompt }
}

/// A prompt of somebody who can be asked.
fn watched(id: &str, text: &str) -> Prompt {
    let prompt = prompt(id, text);
    Prompt { terms: Terms { permission: PermissionMode::Interactive, ..prompt.terms }, ..prompt }
}

fn session(id: &str) -> SessionId {
    SessionId::new(id)
}

fn call_id(turn: u32, step: u32, call: u32) -> CallId {
    CallId { step: StepId { turn: TurnId(turn), step }, call }
}

/// A provider that gives the run the listed answers, and whoever has no sub-agents of its own (sub-agents themselves, and
/// who is asked for a title) the others.
fn split(run: impl IntoIterator<Item = Answer>, others: impl IntoIterator<Item = Answer>) -> StrictProvider {
    let mut run = run.into_iter().collect::<Vec<_>>().into_iter();
    let mut others = others.into_iter().collect::<Vec<_>>().into_iter();
    StrictProvider::start(Script::each(move |request| {
        let is_own = request.tool_names().contains(&"agent".to_owned());
        if is_own {
            run.next().expect("the run asks once more")
        } else {
            others.next().expect("so do others")
        }
    }))
}

/// An answer that looks around.
fn looks() -> Answer {
    Answer::say("I look.").call("c1", "ls", json!({}))
}
