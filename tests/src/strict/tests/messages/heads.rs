//! Keys, versions and models, and how a failure is told.

use super::{ask, least};
use crate::strict::tests::client::{JSON, exchange};
use crate::strict::{Answer, Protocol, Script, StrictProvider};
use serde_json::json;

fn post(head: &str) -> Vec<u8> {
    let body = least("Hi").to_string();
    let length = body.len();
    format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\n{head}content-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

#[test]
fn refuses_bad_heads() {
    let version = "anthropic-version: 2023-06-01\r\n";
    let rows = [
        (
            "no version",
            format!("x-api-key: sk-test\r\n{JSON}"),
            400,
            "invalid_request_error",
            "header is required",
        ),
        (
            "version",
            format!("anthropic-version: 2024\r\n{JSON}"),
            400,
            "invalid_request_error",
            "not a valid version",
        ),
        ("no key", format!("{version}{JSON}"), 401, "authentication_error", "x-api-key header is required"),
        (
            "bearer",
            format!("{version}authorization: Bearer sk-test\r\n{JSON}"),
            401,
            "authentication_error",
            "x-api-key",
        ),
        (
            "wrong key",
            format!("{version}x-api-key: x\r\n{JSON}"),
            401,
            "authentication_error",
            "invalid x-api-key",
        ),
        ("type", format!("{version}x-api-key: sk-test\r\n"), 400, "invalid_request_error", "content type"),
    ];
    for (name, head, status, kind, says) in rows {
        let provider = StrictProvider::start(Script::from(Answer::say("unused")).key("sk-test"));
        let response = exchange(&provider, &post(&head)).unwrap();
        let body = response.json();
        assert_eq!(
            (response.status, &body["type"], &body["error"]["type"]),
            (status, &json!("error"), &json!(kind)),
            "{name}"
        );
        assert!(response.error().contains(says), "{name}: {}", response.error());
        assert_eq!((provider.rejections().len(), provider.remaining()), (1, 1), "{name}");
    }
}

#[test]
fn knows_its_models() {
    let provider = StrictProvider::start(Script::new([]).models(["strict-2", "strict-3"]));
    let response = ask(&provider, &least("Hi"));
    assert_eq!((response.status, response.error().as_str()), (404, "model: strict-1"));
    let get = "GET /v1/models HTTP/1.1\r\nhost: x\r\nanthropic-version: 2023-06-01\r\nx-api-key: k\r\n\r\n";
    let list = exchange(&provider, get.as_bytes()).unwrap().json();
    assert_eq!((&list["data"][1]["id"], &list["data"][1]["type"]), (&json!("strict-3"), &json!("model")));
    assert_eq!((&list["last_id"], &list["has_more"]), (&json!("strict-3"), &json!(false)));
}

#[test]
fn tells_failures_in_its_own_form() {
    let rows = [
        (Answer::rate_limited("7"), 429, "rate_limit_error", "rate limit"),
        (Answer::context_exceeded(), 400, "invalid_request_error", "prompt is too long"),
        (Answer::error(529, "Overloaded."), 529, "overloaded_error", "Overloaded."),
        (Answer::error(500, "Oops."), 500, "api_error", "Oops."),
    ];
    for (answer, status, kind, says) in rows {
        let provider = StrictProvider::start(answer);
        let response = ask(&provider, &least("Hi"));
        assert_eq!((response.status, &response.json()["error"]["type"]), (status, &json!(kind)));
        assert!(response.error().contains(says), "{}", response.error());
        provider.assert_clean();
    }
}

#[test]
fn records_what_arrived() {
    let provider = StrictProvider::start(Answer::say("hi"));
    ask(&provider, &super::valid());
    let recorded = provider.requests().remove(0);
    assert_eq!((recorded.protocol, recorded.model.as_str()), (Protocol::Messages, "strict-1"));
    assert_eq!(recorded.system_text(), "Be brief.");
    assert_eq!(recorded.user_texts(), ["List the files.", "Well?", "And in this picture?"]);
    assert_eq!(recorded.tool_results(), [("a".into(), "one".into()), ("b".into(), "two".into())]);
    assert_eq!((recorded.tool_names(), recorded.steps_since_user()), (vec!["bash".into(), "read".into()], 0));
}
