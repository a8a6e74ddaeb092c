//! What a provider says when it refuses: error bodies in all the shapes that providers and compatible servers give them.
//!
//! Only reads what was said. Which class of error that is, and whether to try again, is decided elsewhere.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::excerpt::{MESSAGE, one_line};
use super::retry;
use crate::model::{CallError, CallErrorKind};

/// What was reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The provider's code or type for it; may be empty.
    pub(super) code: String,
    /// What it says, in one line.
    pub(super) message: String,
}

/// The failure that a response with a status other than success stands for.
pub fn error_from_response(status: u16, headers: &[(&str, &str)], body: &[u8], now_ms: u64) -> CallError {
    let body = String::from_utf8_lossy(body);
    let mut report = report_text(&body);
    if is_redirect(status) {
        report = Report { code: String::new(), message: redirected(headers) };
    } else if is_page(&body) {
        report.code = PAGE.to_string();
    }
    if report.message.is_empty() {
        report.message = format!("HTTP status {status} without a message.");
    }
    CallError {
        kind: CallErrorKind::Status { status, code: report.code },
        message: report.message,
        retry_after: retry::retry_after(headers, now_ms).or_else(|| retry::retry_delay(&body)),
        should_retry: retry::should_retry(headers),
    }
}

/// Whether the value of an `error` field says that there is one.
pub(super) fn is_said(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Reads an error body, whatever it is.
pub(super) fn report_text(text: &str) -> Report {
    let text = text.trim();
    if is_page(text) {
        return Report { code: String::new(), message: page(text) };
    }
    let mut found = serde_json::from_str(text).map(|value| report(&value)).unwrap_or_default();
    if found.message.is_empty() {
        found.message = one_line(text, MESSAGE);
    }
    found
}

/// Reads an error body that is JSON; the message is empty if none is found.
pub(super) fn report(body: &Value) -> Report {
    // Gemini wraps its error in a list, Cloudflare has a list of them.
    let body = body.get(0).unwrap_or(body);
    let errors = body.get("errors").and_then(|errors| errors.get(0));
    let error = body.get("error").filter(|error| is_said(error)).or(errors).unwrap_or(body);
    let report = match error.as_str() {
        Some(text) => bare(text, body),
        None => Report { code: code(error), message: message(error) },
    };
    Report { message: one_line(&report.message, MESSAGE), ..report }
}

/// `"error": "text"`, where the text is a code if there is a message beside it.
fn bare(text: &str, body: &Value) -> Report {
    let beside = message(body);
    if beside.is_empty() {
        Report { code: String::new(), message: text.to_string() }
    } else {
        Report { code: text.to_string(), message: beside }
    }
}

/// The most telling name of an error: a code in words, the reason that Google gives beside it, its type, Google's status,
/// a number.
fn code(error: &Value) -> String {
    let details = error["details"].as_array().into_iter().flatten();
    let reason = details.filter_map(|detail| detail["reason"].as_str());
    let names = ["type", "status"].into_iter().filter_map(|key| error[key].as_str());
    let mut names = error["code"].as_str().into_iter().chain(reason).chain(names);
    match names.find(|name| !name.is_empty()) {
        Some(name) => name.to_string(),
        None => error["code"].as_i64().map(|number| number.to_string()).unwrap_or_default(),
    }
}

fn message(error: &Value) -> String {
    let fields = ["message", "detail", "msg", "error_description"];
    let found =
        fields.iter().map(|key| details(&error[*key])).find(|text| !text.is_empty()).unwrap_or_default();
    // OpenRouter passes on what the provider behind it said.
    match error["metadata"]["raw"].as_str() {
        Some(raw) if !raw.is_empty() => format!("{found}: {raw}"),
        _ => found,
    }
}

/// A text, or FastAPI's list of what is wrong with each field.
fn details(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let parts: Vec<String> = list.iter().map(message).filter(|text| !text.is_empty()).collect();
            parts.join("; ")
        }
        Value::Object(_) => message(value),
        _ => String::new(),
    }
}

/// The code of a web page in the place of an answer: whoever sends one is no provider, or stands before it.
pub(crate) const PAGE: &str = "web_page";

fn is_page(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

/// Whether that HTTP status says that what was asked for is elsewhere.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Where it leads: no more of the address than its origin, since keys may be in the rest.
fn redirected(headers: &[(&str, &str)]) -> String {
    let location = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    match location.and_then(|(_, address)| origin(address)) {
        Some(origin) => format!("It redirects to {origin}"),
        None => "It redirects to another address".to_string(),
    }
}

/// The scheme, host and port of an address on the web.
fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once("://")?;
    let known = ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']');
    let sound = !host.is_empty() && host.len() <= 255 && host.bytes().all(fits);
    sound.then(|| format!("{known}://{host}"))
}

/// What a web page in place of an answer has to say: its title.
fn page(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let title = || {
        let start = lower.find("<title>")? + "<title>".len();
        let end = start + lower.get(start..)?.find("</title>")?;
        Some(one_line(html.get(start..end)?, 200)).filter(|title| !title.is_empty())
    };
    match title() {
        Some(title) => format!("A web page came in place of an answer: {title}"),
        None => "A web page came in place of an answer.".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, code: &str, message: &str) {
        let error = error_from_response(429, &[], body.as_bytes(), 0);
        assert_eq!(error.message, message, "{body}");
        assert_eq!(error.kind, CallErrorKind::Status { status: 429, code: code.into() }, "{body}");
    }

    #[test]
    fn bodies_of_every_shape() {
        check(
            r#"{"error":{"message":"You exceeded\nyour quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            "insufficient_quota",
            "You exceeded your quota.",
        );
        check(
            r#"{"error":{"message":"No.","type":"invalid_request_error","code":null}}"#,
            "invalid_request_error",
            "No.",
        );
        check(
            r#"{"error":{"code":500,"message":"Loading","type":"unavailable_error"}}"#,
            "unavailable_error",
            "Loading",
        );
        check(r#"{"error":{"code":502,"message":"Bad"}}"#, "502", "Bad");
        check(
            r#"[{"error":{"code":429,"message":"Slow","status":"RESOURCE_EXHAUSTED"}}]"#,
            "RESOURCE_EXHAUSTED",
            "Slow",
        );
        check(r#"{"error":"model 'x' not found"}"#, "", "model 'x' not found");
        check(r#"{"error":"bad_key","message":"The key is bad."}"#, "bad_key", "The key is bad.");
        check(r#"{"message":"Unauthorized","request_id":"1"}"#, "", "Unauthorized");
        check(
            r#"{"object":"error","message":"Too long","type":"BadRequestError","code":400}"#,
            "BadRequestError",
            "Too long",
        );
        check(r#"{"detail":"Not Found"}"#, "", "Not Found");
        check(
            r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"not a list"}]}"#,
            "",
            "field required; not a list",
        );
        check(
            r#"{"errors":[{"code":10000,"message":"Authentication error"}]}"#,
            "10000",
            "Authentication error",
        );
        check(
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"try later"}}}"#,
            "429",
            "Provider returned error: try later",
        );
    }

    #[test]
    fn bodies_that_are_no_errors() {
        check("", "", "HTTP status 429 without a message.");
        check("  upstream \n timed out ", "", "upstream timed out");
        check(
            "<html><head><TITLE>502 Bad\nGateway</TITLE>",
            PAGE,
            "A web page came in place of an answer: 502 Bad Gateway",
        );
        check("<!doctype html><p>", PAGE, "A web page came in place of an answer.");
        check(r#"{"oops":1}"#, "", r#"{"oops":1}"#);
        check("[]", "", "[]");
        check("null", "", "null");
    }

    #[test]
    fn a_message_is_short() {
        let error = error_from_response(500, &[], "é".repeat(2000).as_bytes(), 0);
        assert_eq!(error.message.chars().count(), 500);
        let error = error_from_response(500, &[], &[0xff, b'a'], 0);
        assert_eq!(error.message, "\u{fffd}a");
    }

    #[test]
    fn what_google_tells_beside_an_error_is_read() {
        let body = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
            "details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        check(body, "API_KEY_INVALID", "API key not valid.");
        let wait = |headers: &[(&str, &str)], delay: &str| {
            let body = format!(r#"[{{"error":{{"code":429,"details":[{{}},{{"retryDelay":"{delay}"}}]}}}}]"#);
            error_from_response(429, headers, body.as_bytes(), 0).retry_after
        };
        assert_eq!((wait(&[], "34s"), wait(&[("retry-after", "2")], "34s")), (Some(34_000), Some(2_000)));
    }

    #[test]
    fn a_redirect_says_where_to_and_no_more_of_that() {
        for (location, message) in [
            ("https://api.example.com:8443/v1?key=secret", "It redirects to https://api.example.com:8443"),
            ("HTTP://user:secret@[::1]:1/", "It redirects to http://[::1]:1"),
            ("/login?secret", "It redirects to another address"),
            ("ftp://example.com", "It redirects to another address"),
            ("https://exa mple.com", "It redirects to another address"),
            ("https://", "It redirects to another address"),
        ] {
            for status in [301, 302, 303, 307, 308] {
                let error = error_from_response(status, &[("Location", location)], b"<html>Moved", 0);
                assert_eq!(error.message, message, "{location}");
            }
        }
        assert_eq!(error_from_response(302, &[], b"", 0).message, "It redirects to another address");
    }

    #[test]
    fn headers_are_read() {
        let headers = [("Retry-After", "3"), ("x-should-retry", "false")];
        let error = error_from_response(429, &headers, b"", 0);
        assert_eq!((error.retry_after, error.should_retry), (Some(3000), Some(false)));
    }
}
