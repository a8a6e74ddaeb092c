//! Configs that are refused.

use super::{accepted, refused, remove};
use serde_json::{Value, json};

fn config(body: &mut Value) -> &mut Value {
    &mut body["generationConfig"]
}

fn thinking(body: &mut Value) -> &mut Value {
    &mut body["generationConfig"]["thinkingConfig"]
}

fn calling(body: &mut Value) -> &mut Value {
    &mut body["toolConfig"]["functionCallingConfig"]
}

#[test]
fn generation_has_its_limits() {
    refused(&[
        ("an unknown field", |b| config(b)["max_tokens"] = json!(5), "\"max_tokens\" at 'generation_config'"),
        ("no tokens", |b| config(b)["maxOutputTokens"] = json!(0), "generation_config.max_output_tokens"),
        ("tokens in a text", |b| config(b)["maxOutputTokens"] = json!("many"), "(TYPE_INT32), \"many\""),
        ("too hot", |b| config(b)["temperature"] = json!(2.1), "generation_config.temperature"),
        ("heat in a text", |b| config(b)["temperature"] = json!("1"), "(TYPE_FLOAT)"),
        ("likelihood", |b| config(b)["topP"] = json!(-0.1), "generation_config.top_p"),
        ("candidates", |b| config(b)["candidateCount"] = json!(9), "candidate_count"),
        ("six stops", |b| config(b)["stopSequences"] = json!(["1", "2", "3", "4", "5", "6"]), "at most 5"),
        ("an empty stop", |b| config(b)["stopSequences"] = json!([""]), "stop_sequences[0]"),
        (
            "a kind of answer",
            |b| config(b)["responseMimeType"] = json!("text/html"),
            "(TYPE_ENUM), \"text/html\"",
        ),
        (
            "a schema alone",
            |b| config(b)["responseSchema"] = json!({}),
            "only allowed with the response_mime_type",
        ),
        ("thought and level", |b| thinking(b)["thinkingBudget"] = json!(5), "only one of thinking budget"),
        ("a level", |b| thinking(b)["thinkingLevel"] = json!("huge"), "(TYPE_ENUM), \"huge\""),
        ("an unknown thought", |b| thinking(b)["effort"] = json!("low"), "\"effort\""),
        ("a category", |b| b["safetySettings"][0]["category"] = json!("X"), "(TYPE_ENUM), \"X\""),
        ("no threshold", |b| remove(&mut b["safetySettings"][0], "threshold"), "threshold: must be given"),
    ]);
}

#[test]
fn only_what_is_offered_may_be_demanded() {
    refused(&[
        ("a mode", |b| calling(b)["mode"] = json!("REQUIRED"), "(TYPE_ENUM), \"REQUIRED\""),
        (
            "an unknown field",
            |b| calling(b)["name"] = json!("x"),
            "\"name\" at 'tool_config.function_calling_config'",
        ),
        ("names without a choice", |b| calling(b)["allowedFunctionNames"] = json!(["bash"]), "mode is ANY"),
        (
            "a name",
            |b| *calling(b) = json!({"mode": "ANY", "allowedFunctionNames": ["zap"]}),
            "\"zap\" is not among",
        ),
        ("no functions", |b| remove(b, "tools"), "set without function_declarations"),
    ]);
    accepted(&[
        ("any", |b| *calling(b) = json!({"mode": "ANY", "allowed_function_names": ["bash"]})),
        ("none", |b| *calling(b) = json!({"mode": "NONE"})),
        ("a budget", |b| *thinking(b) = json!({"thinkingBudget": -1})),
    ]);
}
