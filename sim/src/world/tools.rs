//! What tools and preparations do: their work, something else, or nothing.

use std::collections::VecDeque;

use hostler_core::content::{Attachment, ErrorClass, ErrorInfo, ToolOutcome, ToolStatus};
use hostler_core::ids::{CallId, PromptId};
use hostler_core::model::{LongPrices, ModelRef, Preparation, Prices, SmallModel, ToolSpec};
use hostler_core::session::Input;
use hostler_core::tools::{Intent, PathUse, ToolInput};

use super::jobs::Manner;
use super::staged::{StagedPreparation, StagedTool};
use crate::dice::Roll;
use crate::options::Options;

/// How long a tool may run before whoever carries it out ends it, in milliseconds.
pub(super) const TOOL_TIME: u64 = 120_000;

/// What a run of a tool will say, and what it does when it is cancelled.
pub(super) fn tool(call: CallId, roll: &mut Roll, options: &Options) -> (VecDeque<(u64, Input)>, Manner) {
    let mut script = VecDeque::new();
    let output = if roll.chance(options.tool_flood) { roll.between(10, 80) } else { roll.below(3) };
    let output = if options.short > 0 { 0 } else { output };
    // Whoever does not listen to a cancel can be heard long after it.
    let manner = manner(call, roll, options);
    let long = roll.chance(options.tool_long) || manner == Manner::Deaf;
    let output = if long { output.max(12) } else { output };
    for nth in 0..output {
        let text = if output > 12 { "flood ".repeat(300) } else { format!("line {nth}\n") };
        let text = if nth == 1 { String::new() } else { text };
        let most = if long { 4_000 } else { 20 };
        script.push_back((options.delay(roll, most), Input::ToolOutput { call, text }));
    }
    let error = roll.chance(options.tool_error);
    let silent = roll.chance(options.tool_silent);
    let (status, text) =
        if error { (ToolStatus::Error, "It failed.") } else { (ToolStatus::Ok, "It is done.") };
    // Where circles are gone round in, what comes of the same call may be something else each time.
    let changes = if matches!(options.circle, 3 | 5 | 6) { 900 } else { 30 };
    let number = roll.below(1 << 16);
    let changes = options.provider_circle > 0 && roll.chance(changes);
    let text = if changes { format!("{text} {number}") } else { text.to_owned() };
    let hangs = roll.chance(options.tool_hang);
    let soon = options.delay(roll, 200);
    let at = if hangs { TOOL_TIME } else { soon };
    let status = if hangs { ToolStatus::Error } else { status };
    let mut outcome = ToolOutcome::text(status, if silent { "" } else { &text });
    if roll.chance(50) {
        outcome.media.push(picture(roll.pick(&[30, 6_500])));
    }
    script.push_back((at, Input::ToolFinished { call, outcome }));
    (script, manner)
}

fn picture(size: usize) -> Attachment {
    let (name, media_type) = ("a".to_owned(), "image/png".to_owned());
    Attachment { name, media_type, data: "x".repeat(size) }
}

fn manner(call: CallId, roll: &mut Roll, options: &Options) -> Manner {
    let deaf = roll.chance(options.tool_deaf);
    let slow = roll.chance(options.tool_slow);
    let late = options.settle.saturating_sub(1) + roll.below(3);
    let soon = options.delay(roll, 20);
    match (deaf, slow) {
        (true, _) => Manner::Deaf,
        (_, true) => Manner::Reports(call, late),
        _ => Manner::Reports(call, soon),
    }
}

/// What a script has laid down for a tool.
pub(super) fn staged_tool(call: CallId, staged: StagedTool) -> (VecDeque<(u64, Input)>, Manner) {
    let (status, text) =
        if staged.fails { (ToolStatus::Error, "It failed.") } else { (ToolStatus::Ok, "It is done.") };
    let finished = Input::ToolFinished { call, outcome: ToolOutcome::text(status, text) };
    let manner = if staged.deaf { Manner::Deaf } else { Manner::Reports(call, 0) };
    (VecDeque::from([(staged.after, finished)]), manner)
}

/// What a call would touch.
pub(super) fn intent(input: &ToolInput, roll: &mut Roll, options: &Options) -> Intent {
    let root = "/w".to_owned();
    let inside = !roll.chance(options.outside) && options.short != 3;
    let outside = roll.pick(&["/out/a", "/out/a", "/out/b", "/out/x/a"]);
    // Where every order is tried, one path is enough.
    let outside = if options.short > 0 { "/out/a" } else { outside };
    let path = |inside| PathUse { path: if inside { "/w/a" } else { outside }.to_owned(), inside };
    match input {
        ToolInput::Bash(bash) => Intent {
            commands: vec![vec![bash.command.clone()]],
            complete: roll.chance(500),
            root,
            ..Intent::default()
        },
        ToolInput::Edit(_) | ToolInput::Write(_) => {
            Intent { writes: vec![path(inside)], complete: true, root, ..Intent::default() }
        }
        _ => Intent { reads: vec![path(inside)], complete: true, root, ..Intent::default() },
    }
}

/// What a call of a script would touch follows from what it says: what begins with `/out/` lies outside, and of a command
/// with a `$` not all can be known.
pub(super) fn plain_intent(input: &ToolInput) -> Intent {
    let used = |path: &str| PathUse { path: path.to_owned(), inside: !path.starts_with("/out/") };
    let inner = |path: &Option<String>| used(path.as_deref().unwrap_or("/w"));
    let (reads, writes, commands) = match input {
        ToolInput::Bash(bash) => (vec![], vec![], vec![vec![bash.command.clone()]]),
        ToolInput::Edit(edit) => (vec![], vec![used(&edit.file_path)], vec![]),
        ToolInput::MultiEdit(edit) => (vec![], vec![used(&edit.file_path)], vec![]),
        ToolInput::Write(write) => (vec![], vec![used(&write.file_path)], vec![]),
        ToolInput::View(view) => (vec![used(&view.file_path)], vec![], vec![]),
        ToolInput::Ls(ls) => (vec![inner(&ls.path)], vec![], vec![]),
        ToolInput::Glob(glob) => (vec![inner(&glob.path)], vec![], vec![]),
        ToolInput::Grep(grep) => (vec![inner(&grep.path)], vec![], vec![]),
    };
    let complete = commands.iter().flatten().all(|command| !command.contains('$'));
    Intent { commands, reads, writes, complete, root: "/w".to_owned(), ..Intent::default() }
}

/// The tools that a model is offered: their names are all that matters here, and short requests suit small windows.
fn offered() -> Vec<ToolSpec> {
    let names = hostler_core::tools::specs().into_iter().map(|spec| spec.name);
    names.map(|name| ToolSpec { name, description: String::new(), schema: String::new() }).collect()
}

/// What preparing a run will come to.
pub(super) fn preparation(prompt: PromptId, roll: &mut Roll, options: &Options) -> VecDeque<(u64, Input)> {
    let slow = roll.chance(options.prepare_slow);
    let late = options.prepare.saturating_sub(1) + roll.below(3);
    let soon = options.delay(roll, 30);
    let failed = roll.chance(options.prepare_fail);
    let result = prepared(roll.pick(&["one", "one", "two"]), failed, options);
    let hangs = roll.chance(options.prepare_hang);
    let outcome = (if slow { late } else { soon }, Input::Prepared { prompt, result });
    if hangs { VecDeque::new() } else { VecDeque::from([outcome]) }
}

fn prepared(model: &str, failed: bool, options: &Options) -> Box<Result<Preparation, ErrorInfo>> {
    let error = ErrorInfo::new(ErrorClass::NoProvider, "There is no provider.");
    let named = |model: &str| ModelRef { provider: "sim".to_owned(), model: model.to_owned() };
    let small = SmallModel { model: named("small"), prices: prices("small", options) };
    let found = Preparation {
        model: named(model),
        system: "You are simulated.".to_owned(),
        answer_schema: None,
        tools: offered(),
        context_window: (options.window > 0).then_some(options.window),
        prices: prices(model, options).map(Box::new),
        notices: Vec::new(),
        small: (model == "two").then(|| Box::new(small)),
        renewable: options.renewable > 0,
    };
    Box::new(if failed { Err(error) } else { Ok(found) })
}

/// What models cost, in micro-dollars for a million tokens.
fn prices(model: &str, options: &Options) -> Option<Prices> {
    let [input, output, cache_read, cache_write] = match model {
        "small" => [100_000, 400_000, 10_000, 125_000],
        _ => [3_000_000, 15_000_000, 300_000, 3_750_000],
    };
    let long = LongPrices {
        above: 700,
        input: 6_000_000,
        output: 22_500_000,
        cache_read: 600_000,
        cache_write: 7_500_000,
    };
    let long = (model == "two").then_some(long);
    (options.priced > 0).then_some(Prices { input, output, cache_read, cache_write, long })
}

/// What a script has laid down for a preparation.
pub(super) fn staged_preparation(
    prompt: PromptId,
    staged: StagedPreparation,
    options: &Options,
) -> VecDeque<(u64, Input)> {
    let outcome = Input::Prepared { prompt, result: prepared("one", staged.fails, options) };
    staged.after.map(|after| (after, outcome)).into_iter().collect()
}
