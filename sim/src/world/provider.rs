//! What a model answers: in pieces, late, in part, wrongly, or never.

use std::collections::VecDeque;

use hostler_core::content::{Block, Usage};
use hostler_core::ids::AttemptId;
use hostler_core::model::{CallError, CallErrorKind, FinishReason, Item, ModelEvent, ModelRequest};
use hostler_core::session::Input;

use super::jobs::Manner;
use super::staged::StagedAnswer;
use crate::dice::Roll;
use crate::options::Options;
use crate::sometimes;

/// What one attempt will say.
pub(super) struct Answer {
    /// Each so long after what came before.
    pub(super) script: VecDeque<(u64, Input)>,
    /// What it goes on saying.
    pub(super) endless: Option<(u64, Input)>,
    /// What it does when it is cancelled.
    pub(super) manner: Manner,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// Which attempt it is.
    pub(super) attempt: AttemptId,
    /// Whether a sub-agent asks.
    pub(super) sub_agent: bool,
    /// Whether the request has seals of the model that is asked.
    pub(super) sealed: bool,
}

/// Whether a request has seals of the model that it is for.
pub(super) fn has_seals(request: &ModelRequest) -> bool {
    request.items.iter().any(|item| match item {
        Item::Assistant { model, blocks } if *model == request.model => {
            blocks.iter().any(|block| match block {
                Block::Reasoning(reasoning) => reasoning.opaque.is_some(),
                Block::Call(call) => call.opaque.is_some(),
                Block::Text(_) => false,
            })
        }
        _ => false,
    })
}

/// The answer that this luck gives.
pub(super) fn answer(asked: Asked, roll: &mut Roll, options: &Options) -> Answer {
    let Asked { attempt, sub_agent, sealed } = asked;
    if options.short > 0 {
        return short(attempt, sub_agent, options);
    }
    let connect = options.connect + options.first_event;
    let mut events = vec![(delay(connect, roll, options), ModelEvent::Connected)];
    let endless = roll.chance(options.provider_endless);
    let refused = refusal(roll, options).or_else(|| refused_seals(sealed, roll, options));
    if let Some(refused) = refused {
        let (at, _) = events.remove(0);
        events.push((at, ModelEvent::Failed(refused)));
    } else {
        content(attempt, sub_agent, &mut events, roll, options);
        ending(&mut events, roll, options);
    }
    break_off(&mut events, roll, options);
    let late = if roll.chance(options.provider_late) { 1 + roll.below(6) as usize } else { 0 };
    for _ in 0..late {
        events.push(too_late(roll));
    }
    let endless = endless.then(|| {
        events.retain(|(_, event)| !matches!(event, ModelEvent::Finished(_) | ModelEvent::Failed(_)));
        let more = ModelEvent::Text { block: 0, text: "and so on and so on ".to_owned() };
        (options.idle.saturating_sub(1), input(attempt, more))
    });
    let script = events.into_iter().map(|(at, event)| (at, input(attempt, event))).collect();
    Answer { script, endless, manner: Manner::Silent(late) }
}

/// What a model makes of a first prompt.
pub(super) fn title(roll: &mut Roll, options: &Options) -> Answer {
    let say = |text: &str| ModelEvent::Text { block: 0, text: text.to_owned() };
    let mut events =
        vec![(delay(options.first_event.min(options.prepare), roll, options), ModelEvent::Connected)];
    if let Some(refused) = refusal(roll, options) {
        events.push((0, ModelEvent::Failed(refused)));
    } else {
        let words =
            ["**A title**", "\"A title\"\nand more", " \n", "<think>hm", "<think>hm</think>A title", "word "];
        let word = roll.pick(&words);
        for _ in 0..roll.pick(&[1, 1, 20]) {
            events.push((options.delay(roll, 2_000), say(word)));
        }
        if roll.chance(300) {
            events.push((0, ModelEvent::Reasoning { block: 1, text: "hm".to_owned() }));
        }
        if !roll.chance(options.usage_missing) {
            events.push((0, ModelEvent::Usage(Usage { input: 9, output: 3, ..Usage::default() })));
        }
        ending(&mut events, roll, options);
    }
    break_off(&mut events, roll, options);
    let late = if roll.chance(options.provider_late) { 1 } else { 0 };
    for _ in 0..late {
        events.push(too_late(roll));
    }
    let script = events.into_iter().map(|(at, event)| (at, Input::Title { event })).collect();
    Answer { script, endless: None, manner: Manner::Silent(late) }
}

/// What a script has laid down.
pub(super) fn staged(attempt: AttemptId, staged: StagedAnswer) -> Answer {
    let script = staged.events.into_iter().map(|(at, event)| (at, input(attempt, event))).collect();
    Answer { script, endless: None, manner: Manner::Silent(staged.late) }
}

/// One word, in the first step one call if there are any, and the end.
fn short(attempt: AttemptId, sub_agent: bool, options: &Options) -> Answer {
    let mut events = vec![ModelEvent::Text { block: 0, text: "word".to_owned() }];
    if options.calls > 0 && attempt.step.step == 1 {
        let agent = options.short == 4 && !sub_agent;
        let (name, arguments) = if agent { ("agent", "{\"prompt\":\"a\"}") } else { ("ls", "{}") };
        events.push(ModelEvent::Call { block: 1, id: "x".to_owned(), name: name.to_owned() });
        events.push(ModelEvent::Input { block: 1, text: arguments.to_owned() });
    }
    if options.short == 2 {
        events.push(ModelEvent::Usage(Usage { input: options.window, ..Usage::default() }));
    }
    events.push(ModelEvent::Finished(FinishReason::Stop));
    let script = events.into_iter().map(|event| (0, input(attempt, event))).collect();
    Answer { script, endless: None, manner: Manner::Silent(0) }
}

fn input(attempt: AttemptId, event: ModelEvent) -> Input {
    Input::Model { attempt, event }
}

/// Soon, or about when it is given up.
fn delay(limit: u64, roll: &mut Roll, options: &Options) -> u64 {
    let slow = roll.chance(options.provider_slow);
    let soon = options.delay(roll, 40);
    let late = limit.saturating_sub(1) + roll.below(3);
    if slow { late } else { soon }
}

/// What is refused whatever is asked: keys in the words of several providers, access, the model; and what stands before a
/// provider may say so with a page for browsers.
const REFUSALS: &[(u16, &str)] = &[
    (401, ""),
    (401, "invalid_api_key"),
    (400, "API_KEY_INVALID"),
    (403, ""),
    (404, ""),
    (400, "model_not_found"),
    (403, "web_page"),
    (502, "web_page"),
    (200, "web_page"),
];

fn refusal(roll: &mut Roll, options: &Options) -> Option<CallError> {
    let refused = roll.chance(options.provider_status);
    let kind = roll.below(10);
    let wait = roll.pick(&[0, 1, 2_000, 60_000, 60_001, u64::MAX / 2]);
    let status = |status, code: &str| CallErrorKind::Status { status, code: code.to_owned() };
    let (kind, retry_after) = match kind {
        0 => {
            let (refused, code) = roll.pick(REFUSALS);
            (status(refused, code), None)
        }
        1 | 2 => (status(429, ""), Some(wait)),
        3 => (status(500, ""), None),
        4 => (status(503, ""), Some(wait)),
        5 | 9 => return refused.then(|| too_long(roll)),
        6 => (status(429, "insufficient_quota"), None),
        7 => (CallErrorKind::Transport, None),
        _ => (CallErrorKind::Credentials, None),
    };
    // Why there is no key is a sentence of whoever looks for it.
    let none = kind == CallErrorKind::Credentials;
    let message = if none { "There is no key; set one." } else { "refused" }.to_owned();
    let error = CallError { kind, message, retry_after, should_retry: None };
    refused.then_some(error)
}

/// Providers have several words for a conversation that is too long.
fn too_long(roll: &mut Roll) -> CallError {
    let (status, code, message) = roll.pick(&[
        (400, "context_length_exceeded", "refused"),
        (400, "context_length_exceeded", "refused"),
        (400, "", "prompt is too long: 9 tokens > 8 maximum"),
        (413, "", "refused"),
    ]);
    let kind = CallErrorKind::Status { status, code: code.to_owned() };
    CallError { kind, message: message.to_owned(), retry_after: None, should_retry: None }
}

/// Some do not know their own seals any more, and seldom one says so that was sent none.
fn refused_seals(sealed: bool, roll: &mut Roll, options: &Options) -> Option<CallError> {
    let often = if sealed { options.provider_seals } else { options.provider_seals / 40 };
    let refused = roll.chance(often);
    let (status, code, message) = roll.pick(&[
        (400, "", "Invalid `signature` in `thinking` block"),
        (422, "invalid_encrypted_content", "It could not be verified."),
    ]);
    let kind = CallErrorKind::Status { status, code: code.to_owned() };
    refused.then(|| CallError { kind, message: message.to_owned(), retry_after: None, should_retry: None })
}

/// Anything that an attempt may say when nobody awaits it any more.
fn too_late(roll: &mut Roll) -> (u64, ModelEvent) {
    let wait = roll.pick(&[1, 100, 3_000]);
    let after = roll.below(wait);
    let error = CallError {
        kind: CallErrorKind::Transport,
        message: "late".to_owned(),
        retry_after: None,
        should_retry: None,
    };
    let event = match roll.below(6) {
        0 | 1 => ModelEvent::Text { block: 9, text: "late".to_owned() },
        2 => ModelEvent::Connected,
        3 => ModelEvent::Usage(Usage { input: 7, ..Usage::default() }),
        4 => ModelEvent::Failed(error),
        _ => ModelEvent::Finished(FinishReason::Stop),
    };
    (after, event)
}

/// After so many steps the model calls no tools any more.
const STEPS: u32 = 8;

/// The same for a sub-agent, of which a turn may have many.
const AGENT_STEPS: u32 = 2;

fn content(
    attempt: AttemptId,
    sub_agent: bool,
    events: &mut Vec<(u64, ModelEvent)>,
    roll: &mut Roll,
    options: &Options,
) {
    let most = if sub_agent { AGENT_STEPS } else { STEPS };
    let first = delay(options.first_event, roll, options);
    let from = events.len();
    let mut block = 0;
    if roll.chance(300) {
        say(events, block, true, roll, options);
        block += 1;
    }
    if !roll.chance(options.provider_empty) {
        say(events, block, false, roll, options);
        block += 1;
    } else if roll.chance(500) {
        events.push((0, ModelEvent::Text { block, text: " \n".to_owned() }));
        block += 1;
    }
    if roll.chance(options.provider_circle) {
        let text = round(attempt, options);
        events.push((0, ModelEvent::Call { block, id: "same".to_owned(), name: "ls".to_owned() }));
        events.push((0, ModelEvent::Input { block, text }));
    } else if roll.chance(options.calls) && attempt.step.step <= most {
        calls(events, block, sub_agent, roll, options);
    }
    if !roll.chance(options.usage_missing) {
        events.push((0, ModelEvent::Usage(usage(roll, options))));
    }
    if let Some((delay, _)) = events.get_mut(from) {
        *delay = first;
    }
}

/// What is called in a turn that goes round in circles, or nearly.
fn round(attempt: AttemptId, options: &Options) -> String {
    let step = attempt.step.step;
    let place = match options.circle {
        0 => 0,
        1 => step % 2,
        2 => step % 3,
        3 => step % 4,
        4 => step,
        5 => {
            if step % 10 == 9 {
                step
            } else {
                0
            }
        }
        _ => {
            if step.is_multiple_of(2) {
                step
            } else {
                0
            }
        }
    };
    format!("{{\"path\":\"{place}\"}}")
}

/// What an answer has used. Where the window is large, that is often about as much as leaves no room for more.
fn usage(roll: &mut Roll, options: &Options) -> Usage {
    // What is said to be so short cannot be halved often.
    let (input, output) =
        if roll.chance(100) { (roll.below(8), 0) } else { (roll.below(1000), roll.below(100)) };
    let (cached, written, full) = (roll.pick(&[0, 0, 300]), roll.pick(&[0, 0, 20]), roll.chance(400));
    let reserve = roll.pick(&[20_000, 20_000, 40_000]);
    let edge = roll.between(0, 4) + options.window.saturating_sub(reserve + 2);
    let input = if full && options.window >= 100_000 { edge - output - cached - written } else { input };
    Usage { input, output, cache_read: cached, cache_write: written, reasoning: 0 }
}

fn say(events: &mut Vec<(u64, ModelEvent)>, block: u32, reasoning: bool, roll: &mut Roll, options: &Options) {
    let tiny = roll.chance(options.provider_tiny);
    let pieces = if tiny { roll.between(1, 12) } else { roll.between(1, 3) };
    for piece in 0..pieces {
        let text = if tiny { "ab cd".chars().nth(piece as usize % 5).map(String::from) } else { None };
        let text = text.unwrap_or_else(|| format!("said {piece}. "));
        let event =
            if reasoning { ModelEvent::Reasoning { block, text } } else { ModelEvent::Text { block, text } };
        events.push((delay(options.idle, roll, options), event));
    }
    if reasoning && roll.chance(300) {
        events.push((0, ModelEvent::Opaque { block, data: "\"sealed\"".to_owned() }));
    }
}

const READERS: [(&str, &str); 4] = [
    ("ls", "{}"),
    ("view", "{\"file_path\":\"a\"}"),
    ("grep", "{\"pattern\":\"a\"}"),
    ("glob", "{\"pattern\":\"a\"}"),
];

const TOOLS: [(&str, &str); 8] = [
    ("agent", "{\"prompt\":\"a\"}"),
    ("todos", "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}"),
    ("ls", "{}"),
    ("view", "{\"file_path\":\"a\"}"),
    ("grep", "{\"pattern\":\"a\"}"),
    ("bash", "{\"command\":\"a\"}"),
    ("write", "{\"file_path\":\"a\",\"content\":\"b\"}"),
    ("glob", "{\"pattern\":\"a\"}"),
];

fn calls(
    events: &mut Vec<(u64, ModelEvent)>,
    from: u32,
    sub_agent: bool,
    roll: &mut Roll,
    options: &Options,
) {
    let count = roll.between(1, 4) as u32;
    let twin = roll.chance(options.call_twin);
    for block in from..from + count {
        // A sub-agent has tools that read; it seldom calls others.
        let (first, readers) = (roll.chance(options.agents), roll.chance(800));
        let (name, arguments) = match (sub_agent, first, readers) {
            (false, true, _) => TOOLS[0],
            (true, _, true) => roll.pick(&READERS),
            _ => roll.pick(&TOOLS),
        };
        let name = if roll.chance(options.call_unknown) { "dream" } else { name };
        let broken = roll.chance(options.call_broken);
        let id = if twin { "call".to_owned() } else { format!("call-{block}-{}", roll.below(1 << 20)) };
        events.push((
            delay(options.idle, roll, options),
            ModelEvent::Call { block, id, name: name.to_owned() },
        ));
        let half = arguments.len() / 2;
        let (begin, end) = arguments.split_at(half);
        events.push((0, ModelEvent::Input { block, text: begin.to_owned() }));
        if !broken {
            events.push((
                delay(options.idle, roll, options),
                ModelEvent::Input { block, text: end.to_owned() },
            ));
        }
    }
}

fn ending(events: &mut Vec<(u64, ModelEvent)>, roll: &mut Roll, options: &Options) {
    let other = roll.chance(options.provider_finish);
    let reason = roll.pick(&[FinishReason::Length, FinishReason::ContentFilter, FinishReason::Unknown]);
    let usual = roll.pick(&[FinishReason::Stop, FinishReason::ToolCalls]);
    let reason = if other { reason } else { usual };
    let at = options.delay(roll, 3);
    let open = roll.chance(options.provider_open);
    let after = roll.pick(&[0, 1, options.ending.saturating_sub(1), options.ending, options.ending + 1]);
    let (goes_on, comes) = (roll.chance(300), roll.chance(500));
    if open {
        events.push((at, ModelEvent::Ending(reason)));
        if goes_on {
            events.push((after, ModelEvent::Text { block: 9, text: "and more. ".to_owned() }));
        }
        sometimes!("answer said to be done that does not end", if !comes);
        if !comes {
            return;
        }
    }
    let at = if open { after } else { at };
    events.push((at, ModelEvent::Finished(reason)));
}

/// Falls silent, breaks off or turns into nonsense at any point.
fn break_off(events: &mut Vec<(u64, ModelEvent)>, roll: &mut Roll, options: &Options) {
    let point = roll.below(events.len() as u64) as usize;
    let (stall, cut) = (roll.chance(options.provider_stall), roll.chance(options.provider_cut));
    let garbage = roll.chance(options.provider_garbage);
    let kind = match roll.below(2) {
        0 => CallErrorKind::Protocol,
        _ => CallErrorKind::Stream { code: "overloaded_error".to_owned() },
    };
    let kind = if cut { CallErrorKind::Truncated } else { kind };
    if stall {
        return events.truncate(point);
    }
    if cut || garbage {
        events.truncate(point);
        let error =
            CallError { kind, message: "broken off".to_owned(), retry_after: None, should_retry: None };
        events.push((options.delay(roll, 5), ModelEvent::Failed(error)));
    }
}
