//! Tours of made-up directories, acted out to their end.

use proptest::prelude::*;

use super::*;
use crate::content::{Block, ToolCall, ToolOutcome, ToolStatus};
use crate::ids::{CallId, StepId, TurnId};
use crate::model::{CallResult, FinishReason, Item, ModelEvent, ModelRef};
use crate::tools::{self, ToolInput};

fn start(question: &str) -> ModelRequest {
    ModelRequest {
        model: ModelRef { provider: "rehearsal".into(), model: String::new() },
        system: String::new(),
        tools: tools::specs(),
        items: vec![Item::User { text: question.into(), media: Vec::new() }],
    }
}

/// What an answer amounts to: its text, its calls and the time it takes.
#[derive(Default)]
struct Answer {
    text: String,
    calls: Vec<(String, String)>,
    millis: u64,
    finish: Option<FinishReason>,
}

fn listen(cues: &[Cue]) -> Answer {
    let mut answer = Answer::default();
    for cue in cues {
        match cue {
            Cue::Wait(millis) => answer.millis += millis,
            Cue::Say(ModelEvent::Text { text, .. }) => answer.text += text,
            Cue::Say(ModelEvent::Call { name, .. }) => answer.calls.push((name.clone(), String::new())),
            Cue::Say(ModelEvent::Input { text, .. }) => {
                answer.calls.iter_mut().last().iter_mut().for_each(|call| call.1 += text)
            }
            Cue::Say(ModelEvent::Finished(reason)) => answer.finish = Some(*reason),
            _ => {}
        }
    }
    answer
}

/// The answer and what came of its calls, as the next request holds them.
fn extend(request: &mut ModelRequest, answer: &Answer, tool: &dyn Fn(&ToolInput) -> ToolOutcome) {
    let step = StepId { turn: TurnId(1), step: u32::try_from(request.items.len()).unwrap_or(0) };
    let (mut blocks, mut results) = (vec![Block::Text(answer.text.clone())], Vec::new());
    for (call, (name, input)) in (1..).zip(&answer.calls) {
        let id = CallId { step, call };
        let outcome = tools::read(name, input)
            .map_or_else(|bad| ToolOutcome::text(ToolStatus::Error, bad.to_string()), |input| tool(&input));
        let (name, input) = (name.clone(), input.clone());
        results.push(CallResult { call: id, wire_id: id.to_string(), name: name.clone(), outcome });
        blocks.push(Block::Call(ToolCall {
            id,
            provider_id: String::new(),
            name,
            input,
            opaque: None,
            outcome: None,
        }));
    }
    request.items.push(Item::Assistant { model: request.model.clone(), blocks });
    request.items.push(Item::Results(results));
}

/// Acts a tour out; gives the tools that it called, answer by answer, and its last words.
fn walk(mut request: ModelRequest, tool: &dyn Fn(&ToolInput) -> ToolOutcome) -> (Vec<String>, String) {
    let (mut called, mut millis) = (Vec::new(), 0);
    for _ in 0..6 {
        let answer = listen(&tour(&request));
        millis += answer.millis;
        if answer.finish == Some(FinishReason::Stop) {
            assert!(millis < 3000, "{millis} ms");
            return (called, answer.text);
        }
        assert_eq!(answer.finish, Some(FinishReason::ToolCalls));
        called.push(answer.calls.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "));
        extend(&mut request, &answer, tool);
    }
    (called, "The tour does not end.".into())
}

fn ok(text: &str) -> ToolOutcome {
    ToolOutcome::text(ToolStatus::Ok, text)
}

fn small(input: &ToolInput) -> ToolOutcome {
    match input {
        ToolInput::Ls(_) => ok("src/\n  lib.rs\n  main.rs\nCargo.toml\nREADME.md\n"),
        ToolInput::Glob(_) => ok("src/README.md\nCargo.toml\nREADME.md\n"),
        ToolInput::Grep(grep) if grep.pattern == ENTRIES => ok("src/main.rs:3: fn main() {\n"),
        ToolInput::Grep(_) => ok("No matches found"),
        ToolInput::View(view) if view.file_path == "README.md" => {
            ok("     1\t# Oats\n     2\t\n     3\tFeeds horses.\n")
        }
        other => ToolOutcome::text(ToolStatus::Error, format!("unexpected: {other:?}")),
    }
}

const CLOSING: &str = "I cannot answer that, because I am a script that gives the same tour whatever it is asked. Choose a \
    language model with --model provider/model to get an answer.";

#[track_caller]
fn check(tool: &dyn Fn(&ToolInput) -> ToolOutcome, calls: &[&str], report: &str) {
    let (called, text) = walk(start("What is\nthis?"), tool);
    assert_eq!(called, calls);
    assert_eq!(text, format!("{report}\n\nYou asked: \"What is this?\" {CLOSING}"));
}

#[test]
fn a_small_repository() {
    let report = "This is what the tools found:\n\n\
        - Project: Oats (from README.md, which says: \"Feeds horses.\")\n\
        - Contents, two levels deep: 4 files and 1 directory (2 .rs, 1 .md, 1 .toml)\n\
        - Manifests: Cargo.toml (Rust)\n\
        - Entry points: src/main.rs:3\n\
        - Notes of work left to do: 0 lines";
    check(&small, &["ls glob", "grep grep", "view"], report);
}

#[test]
fn an_empty_repository() {
    let tool = |_: &ToolInput| ok("(empty)");
    check(&tool, &["ls glob"], "The tools found nothing here.");
}

#[test]
fn a_repository_without_words() {
    let tool = |input: &ToolInput| match input {
        ToolInput::Ls(_) => ok("a.png\n"),
        _ => ok("No files found"),
    };
    let report = "This is what the tools found:\n\n\
        - Contents, two levels deep: 1 file and 0 directories (1 .png)\n\
        - Entry points: none found\n\
        - Notes of work left to do: 0 lines";
    check(&tool, &["ls glob", "grep grep"], report);
}

#[test]
fn tools_that_are_not_allowed_or_fail() {
    let denied = |_: &ToolInput| ToolOutcome::text(ToolStatus::Denied, "Not you.");
    let report = "The tools found nothing here.\n\n\
        Not everything worked:\n- ls was not allowed (Not you.)\n- glob was not allowed (Not you.)";
    check(&denied, &["ls glob"], report);
    let unread = |input: &ToolInput| match input {
        ToolInput::View(_) => ToolOutcome::text(ToolStatus::Error, "It is gone."),
        ToolInput::Grep(_) => ToolOutcome::text(ToolStatus::Interrupted, "Cut."),
        input => small(input),
    };
    let report = "This is what the tools found:\n\n\
        - Contents, two levels deep: 4 files and 1 directory (2 .rs, 1 .md, 1 .toml)\n\
        - Manifests: Cargo.toml (Rust)\n\n\
        Not everything worked:\n- grep was interrupted (Cut.)\n- grep was interrupted (Cut.)\n- view failed (It is gone.)";
    check(&unread, &["ls glob", "grep grep", "view"], report);
}

#[test]
fn tools_that_are_not_on_offer() {
    let with = |names: &[&str]| {
        let mut request = start("");
        request.tools.retain(|spec| names.contains(&spec.name.as_str()));
        walk(request, &small)
    };
    assert_eq!(with(&["ls", "view"]).0, ["ls", "view"]);
    assert_eq!(with(&["grep"]).0, [""; 0]);
    let (called, text) = with(&[]);
    assert_eq!(called, [""; 0]);
    assert!(text.starts_with("I am the rehearsal model") && text.ends_with(CLOSING), "{text}");
}

#[test]
fn the_first_words_say_what_it_is() {
    let first = listen(&tour(&start("Hi")));
    assert!(
        first.text.starts_with("I am the rehearsal model: a script inside hostler, not a language model.")
    );
    assert_eq!(first.calls[0], ("ls".into(), r#"{"depth":2}"#.into()));
    let pattern = r#"{"pattern":"**/{README*,readme*,Cargo.toml,package.json,pyproject.toml,go.mod}"}"#;
    assert_eq!(first.calls[1], ("glob".into(), pattern.into()));
}

#[test]
fn another_question_gets_another_tour() {
    let mut request = start("One");
    let answer = Answer { text: "Done.".into(), ..Answer::default() };
    for _ in 0..4 {
        extend(&mut request, &answer, &small);
    }
    request.items.push(Item::User { text: "Two".into(), media: Vec::new() });
    let (called, text) = walk(request, &small);
    assert_eq!(called.len(), 3);
    assert!(text.contains("You asked: \"Two\""), "{text}");
}

proptest! {
    #[test]
    fn whatever_tools_say_the_tour_ends(
        texts in prop::collection::vec("([a-z./:#\t \n│-]|README|1|é|Cargo.toml){0,80}", 5),
        statuses in prop::collection::vec(prop::sample::select(vec![ToolStatus::Ok, ToolStatus::Ok, ToolStatus::Denied, ToolStatus::Error]), 5),
    ) {
        let tool = |input: &ToolInput| {
            let at = match input {
                ToolInput::Ls(_) => 0,
                ToolInput::Glob(_) => 1,
                ToolInput::Grep(grep) => 2 + usize::from(grep.pattern == ENTRIES),
                _ => 4,
            };
            ToolOutcome::text(statuses[at], texts[at].clone())
        };
        let (called, _) = walk(start("What?"), &tool);
        prop_assert!(called.len() <= 3);
    }
}
