//! How to answer: the generation config and the safety settings.

use super::proto::{Message, violation};
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

const GENERATION: &[&str] = &[
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
    "responseModalities",
    "candidateCount",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "enableEnhancedCivicAnswers",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
    "mediaResolution",
];

const CATEGORIES: &[&str] = &[
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
    "HARM_CATEGORY_CIVIC_INTEGRITY",
];

const THRESHOLDS: &[&str] =
    &["BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"];

/// Checks the generation config at `path`.
pub(super) fn generation(value: &Value, path: &str) -> Check {
    let config = Message::read(value, path, GENERATION)?;
    config.number("temperature", 0.0, 2.0)?;
    config.number("topP", 0.0, 1.0)?;
    config.number("presencePenalty", -2.0, 2.0)?;
    config.number("frequencyPenalty", -2.0, 2.0)?;
    config.integer("topK", 1, i64::from(i32::MAX))?;
    config.integer("candidateCount", 1, 8)?;
    config.integer("maxOutputTokens", 1, i64::from(i32::MAX))?;
    config.integer("seed", i64::from(i32::MIN), i64::from(i32::MAX))?;
    config.integer("logprobs", 0, 20)?;
    config.boolean("responseLogprobs")?;
    config.word("responseMimeType", &["text/plain", "application/json", "text/x.enum"])?;
    stops(&config)?;
    schemas(&config)?;
    match config.get("thinkingConfig") {
        Some(value) => thinking(value, &config.at("thinkingConfig")),
        None => Ok(()),
    }
}

fn stops(config: &Message<'_>) -> Check {
    let stops = config.list("stopSequences")?;
    if stops.len() > 5 {
        return Err(violation(&config.at("stopSequences"), "at most 5 stop sequences are allowed."));
    }
    match stops.iter().find(|(stop, _)| stop.as_str().is_none_or(str::is_empty)) {
        Some((_, path)) => Err(violation(path, "a stop sequence must be a text that is not empty.")),
        None => Ok(()),
    }
}

/// A schema goes with an answer in JSON, and there is only one.
fn schemas(config: &Message<'_>) -> Check {
    let given = ["responseSchema", "responseJsonSchema"].iter().filter(|name| config.has(name)).count();
    if given > 1 {
        let what = "only one of response_schema and response_json_schema may be set.";
        return Err(violation(&config.at("responseJsonSchema"), what));
    }
    let json = config.string("responseMimeType")?.is_some_and(|kind| kind != "text/plain");
    if given == 1 && !json {
        let what = "a response schema is only allowed with the response_mime_type application/json.";
        return Err(violation(&config.at("responseMimeType"), what));
    }
    Ok(())
}

fn thinking(value: &Value, path: &str) -> Check {
    let config = Message::read(value, path, &["includeThoughts", "thinkingBudget", "thinkingLevel"])?;
    config.boolean("includeThoughts")?;
    config.integer("thinkingBudget", -1, 32_768)?;
    config.word("thinkingLevel", &["MINIMAL", "LOW", "MEDIUM", "HIGH"])?;
    if config.has("thinkingBudget") && config.has("thinkingLevel") {
        return Err(Rejection::bad(path, "You can only set only one of thinking budget and thinking level."));
    }
    Ok(())
}

/// Checks one safety setting.
pub(super) fn safety(value: &Value, path: &str) -> Check {
    let setting = Message::read(value, path, &["category", "threshold"])?;
    for (name, words) in [("category", CATEGORIES), ("threshold", THRESHOLDS)] {
        if setting.word(name, words)?.is_none() {
            return Err(violation(&setting.at(name), "must be given."));
        }
    }
    Ok(())
}
