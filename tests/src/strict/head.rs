//! Heads: what every protocol wants of them alike, and that the body is JSON at all.

use super::{
    http::Request,
    reject::{Check, Rejection},
};
use serde_json::Value;

/// The bearer token of a request; empty when there is none.
pub(super) fn bearer(request: &Request) -> &str {
    let field = request.header("authorization").unwrap_or_default();
    field.strip_prefix("Bearer ").map(str::trim).unwrap_or_default()
}

/// Checks the `content-type` field.
pub(super) fn content_type(field: Option<&str>) -> Check {
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
pub(super) fn json(body: &[u8]) -> Check {
    match serde_json::from_slice::<Value>(body) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Rejection::new(400, format!("We could not parse the JSON body of your request: {error}.")))
        }
    }
}
