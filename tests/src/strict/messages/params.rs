//! Parameters: the fields of a request other than its messages and tools, and which go together.

use super::{
    blocks,
    cache::Marks,
    shape::{
        at, boolean, field, integer, known_fields, list, object, one_of, refuse, share, short, string, tag,
    },
};
use crate::strict::{
    protocol::Rules,
    reject::{Check, Rejection},
};
use serde_json::{Map, Value};

type Body = Map<String, Value>;

/// The least that a model may be given to think with.
const MIN_BUDGET: u64 = 1024;

/// Every field of the reference.
const FIELDS: &[&str] = &[
    "cache_control",
    "container",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// Checks that the fields are known, that those which must be there are, and each by itself.
pub(super) fn each(body: &Body, rules: &Rules) -> Check {
    short(field(body, "", "model")?, "model", 256)?;
    field(body, "", "messages")?;
    integer(field(body, "", "max_tokens")?, "max_tokens", 1)?;
    known_fields(body, "", FIELDS, &rules.extra)?;
    streamed(body)?;
    body.iter().try_for_each(|(name, value)| one(name, value))
}

/// Only streams are answered here.
fn streamed(body: &Body) -> Check {
    match body.get("stream").map(|stream| boolean(stream, "stream")).transpose()? {
        Some(true) => Ok(()),
        Some(false) | None => Err(Rejection::house("stream", "'stream' must be true.")),
    }
}

fn one(name: &str, value: &Value) -> Check {
    match name {
        "container" | "inference_geo" => string(value, name).map(drop),
        "metadata" => metadata(value),
        "output_config" => output(value),
        "service_tier" => one_of(value, name, &["auto", "standard_only"]).map(drop),
        "stop_sequences" => stops(value),
        "temperature" | "top_p" => share(value, name).map(drop),
        "top_k" => integer(value, name, 0).map(drop),
        // Checked elsewhere, or allowed by the script.
        _ => Ok(()),
    }
}

fn metadata(value: &Value) -> Check {
    let metadata = object(value, "metadata")?;
    known_fields(metadata, "metadata", &["user_id"], &[])?;
    match metadata.get("user_id") {
        None | Some(Value::Null) => Ok(()),
        Some(user) => short(user, "metadata.user_id", 256).map(drop),
    }
}

fn output(value: &Value) -> Check {
    let output = object(value, "output_config")?;
    known_fields(output, "output_config", &["effort", "format"], &[])?;
    if let Some(effort) = output.get("effort") {
        one_of(effort, "output_config.effort", &["low", "medium", "high", "xhigh", "max"])?;
    }
    output.get("format").map_or(Ok(()), |format| object(format, "output_config.format").map(drop))
}

fn stops(value: &Value) -> Check {
    for (index, stop) in list(value, "stop_sequences")?.iter().enumerate() {
        let path = at("stop_sequences", index);
        if string(stop, &path)?.trim().is_empty() {
            return Err(refuse("stop_sequences", "each stop sequence must contain non-whitespace"));
        }
    }
    Ok(())
}

/// Checks the instructions.
pub(super) fn system(body: &Body, marks: &mut Marks) -> Check {
    match body.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(blocks) => {
            for (index, block) in list(blocks, "system")?.iter().enumerate() {
                let path = at("system", index);
                let block = object(block, &path)?;
                tag(block, &path, &["text"])?;
                blocks::text(block, &path, "system", marks)?;
            }
            Ok(())
        }
    }
}

/// Checks how the model may think, and what does not go with that.
pub(super) fn thinking(body: &Body) -> Check {
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    let thinking = object(thinking, "thinking")?;
    match tag(thinking, "thinking", &["enabled", "disabled", "adaptive"])? {
        "enabled" => {
            known_fields(thinking, "thinking.enabled", &["type", "budget_tokens", "display"], &[])?;
            budget(field(thinking, "thinking.enabled", "budget_tokens")?, &body["max_tokens"])?;
        }
        "adaptive" => known_fields(thinking, "thinking.adaptive", &["type", "display"], &[])?,
        _ => return known_fields(thinking, "thinking.disabled", &["type"], &[]),
    }
    if let Some(display) = thinking.get("display") {
        one_of(display, "thinking.display", &["summarized", "omitted"])?;
    }
    goes_with_thinking(body)
}

fn budget(value: &Value, max_tokens: &Value) -> Check {
    let budget = integer(value, "thinking.enabled.budget_tokens", MIN_BUDGET)?;
    if max_tokens.as_u64().is_some_and(|most| budget < most) {
        return Ok(());
    }
    let message = "`max_tokens` must be greater than `thinking.budget_tokens`.";
    Err(Rejection::bad("max_tokens", message))
}

fn goes_with_thinking(body: &Body) -> Check {
    let temperature = body.get("temperature").and_then(Value::as_f64);
    if temperature.is_some_and(|temperature| temperature < 1.0) {
        let message = "`temperature` may only be set to 1 when thinking is enabled.";
        return Err(Rejection::bad("temperature", message));
    }
    if body.get("top_p").and_then(Value::as_f64).is_some_and(|top_p| top_p < 0.95) {
        let message = "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.";
        return Err(Rejection::bad("top_p", message));
    }
    if body.contains_key("top_k") {
        return Err(Rejection::bad("top_k", "`top_k` must be unset when thinking is enabled."));
    }
    let forced =
        body.get("tool_choice").is_some_and(|choice| choice["type"] == "any" || choice["type"] == "tool");
    if forced {
        return Err(Rejection::bad(
            "tool_choice",
            "Thinking may not be enabled when tool_choice forces tool use.",
        ));
    }
    Ok(())
}
