//! What Google refuses of a conversation, as its reference states it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::says_something;

const ROLES: [&str; 2] = ["user", "model"];

/// Which rule a body breaks, if it breaks one.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let contents = body["contents"].as_array().ok_or("no contents")?;
    let mut asked: Vec<(&str, &Value)> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let role = content["role"].as_str().ok_or("no role")?;
        if role != ROLES[at % 2] {
            return Err(format!("content {at} is by the {role}"));
        }
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty()).ok_or("no parts")?;
        let answered = of(parts, "functionResponse");
        if answered != asked {
            return Err(format!("content {at} answers {answered:?} and not {asked:?}"));
        }
        let late = parts.iter().skip(answered.len()).any(|part| part.get("functionResponse").is_some());
        asked = of(parts, "functionCall");
        if late || !parts.iter().any(speaks) {
            return Err(format!("content {at} has its parts wrong: {content}"));
        }
        parts.iter().try_for_each(|part| check_part(part, role))?;
    }
    let ends_well = asked.is_empty() && contents.len() % 2 == 1;
    ends_well.then_some(()).ok_or_else(|| "it does not end with the user".into())
}

/// The names and ids of the calls or responses.
fn of<'a>(parts: &'a [Value], field: &str) -> Vec<(&'a str, &'a Value)> {
    let found = parts.iter().filter_map(|part| part.get(field));
    found.map(|call| (call["name"].as_str().unwrap_or_default(), &call["id"])).collect()
}

fn speaks(part: &Value) -> bool {
    let text = part["text"].as_str().is_some_and(|text| !text.trim().is_empty() && part["thought"] != true);
    text || ["functionCall", "functionResponse", "inlineData"].iter().any(|field| part.get(*field).is_some())
}

fn check_part(part: &Value, role: &str) -> Result<(), String> {
    let signature = &part["thoughtSignature"];
    let signed = says_something(signature) && role == "model";
    let named = |call: &Value| {
        let name = call["name"].as_str().unwrap_or_default();
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let (call, response) = (&part["functionCall"], &part["functionResponse"]);
    let good = if call.is_object() {
        role == "model" && named(call) && call["args"].is_object()
    } else if response.is_object() {
        role == "user" && named(response) && response["response"].is_object()
    } else if part["inlineData"].is_object() {
        role == "user"
    } else {
        signed || speaks(part)
    };
    (good && (signature.is_null() || signed)).then_some(()).ok_or_else(|| format!("bad part {part}"))
}
