//! Heads: the key and the content type, and that the body is JSON at all.

use super::Rules;
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// Checks the `authorization` field.
pub(in crate::strict) fn authorization(field: Option<&str>, rules: &Rules) -> Check {
    let key = field.and_then(|field| field.strip_prefix("Bearer ")).map(str::trim).unwrap_or_default();
    if key.is_empty() {
        let message = "You didn't provide an API key. You need to provide your API key in an Authorization header \
                       using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        return Err(Rejection::new(401, message));
    }
    match &rules.key {
        Some(known) if known != key => {
            Err(Rejection::new(401, "Incorrect API key provided.").code("invalid_api_key"))
        }
        _ => Ok(()),
    }
}

/// Checks the `content-type` field.
pub(in crate::strict) fn content_type(field: Option<&str>) -> Check {
    let kind = field.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = format!(
        "Unsupported content type: '{kind}'. This API method only accepts 'application/json' requests."
    );
    Err(Rejection::new(400, message).code("unsupported_content_type"))
}

/// Checks that the body is JSON.
pub(in crate::strict) fn json(body: &[u8]) -> Check {
    match serde_json::from_slice::<Value>(body) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Rejection::new(400, format!("We could not parse the JSON body of your request: {error}.")))
        }
    }
}
