//! Keys, models, paths, and the form of errors.

use super::{JSON, KEY, TARGET, ask, exchange, least, request, valid};
use crate::strict::{Answer, Protocol, Script, StrictProvider};
use serde_json::{Value, json};

fn provider() -> StrictProvider {
    StrictProvider::start(Script::new([Answer::say("hi")]).key("key").models(["strict-1", "gemini-2.5-pro"]))
}

/// Sends a request and gives the status and the error.
fn error(method: &str, target: &str, head: &str) -> (u16, Value) {
    let provider = provider();
    let body = if method == "POST" { least("hi").to_string() } else { String::new() };
    let response = exchange(&provider, &request(method, target, head, &body)).unwrap();
    assert_eq!(provider.remaining(), 1, "a refused request took an answer");
    assert_eq!(provider.requests()[0].protocol, Protocol::Gemini);
    (response.status, response.json()["error"].take())
}

#[test]
fn keys_are_asked_for() {
    let (status, none) = error("POST", TARGET, JSON);
    assert_eq!((status, &none["code"], &none["status"]), (403, &json!(403), &json!("PERMISSION_DENIED")));
    let (status, _) = error("POST", TARGET, &format!("authorization: Bearer key\r\n{JSON}"));
    assert_eq!(status, 403);
    let (status, wrong) = error("POST", TARGET, &format!("x-goog-api-key: other\r\n{JSON}"));
    assert_eq!((status, &wrong["status"]), (400, &json!("INVALID_ARGUMENT")));
    assert_eq!(wrong["details"][0]["reason"], "API_KEY_INVALID");
    let (status, _) = error("GET", "/v1beta/models", "");
    assert_eq!(status, 403);
}

#[test]
fn places_and_models_are_known_or_refused() {
    let head = format!("{KEY}{JSON}");
    let (status, unknown) = error("POST", &TARGET.replace("strict-1", "gemini-9"), &head);
    assert_eq!((status, &unknown["status"]), (404, &json!("NOT_FOUND")));
    assert!(unknown["message"].as_str().unwrap().starts_with("models/gemini-9 is not found"), "{unknown}");
    assert_eq!(error("POST", "/v1beta/models/strict-1:generateContent?alt=sse", &head).0, 404);
    assert_eq!(error("GET", TARGET, KEY).0, 405);
    let (status, whole) = error("POST", TARGET.trim_end_matches("?alt=sse"), &head);
    assert!(status == 400 && whole["message"].as_str().unwrap().contains("alt=sse"), "{whole}");
    let (status, kind) = error("POST", TARGET, &format!("{KEY}content-type: text/plain\r\n"));
    assert_eq!((status, &kind["code"]), (400, &json!(400)));
}

#[test]
fn models_are_listed() {
    let provider = provider();
    let listed = exchange(&provider, &request("GET", "/v1beta/models", KEY, "")).unwrap().json();
    assert_eq!(listed["models"][0]["name"], "models/strict-1");
    assert_eq!(listed["models"][1]["supportedGenerationMethods"][0], "generateContent");
    provider.assert_clean();
}

#[test]
fn a_request_is_recorded_whatever_its_protocol() {
    let provider = provider();
    ask(&provider, "gemini-2.5-pro", &valid()).unwrap();
    let asked = provider.completions().remove(0);
    assert_eq!((asked.model.as_str(), asked.system_text().as_str()), ("gemini-2.5-pro", "Be brief."));
    assert_eq!(asked.user_texts(), ["List the files.", "Thanks."]);
    assert_eq!(asked.tool_results(), [("bash".into(), "one".into()), ("read".into(), "one".into())]);
    assert_eq!(asked.tool_names(), ["bash", "read"]);
}

#[test]
fn errors_have_the_form_of_google() {
    for (answer, status, name) in [
        (Answer::error(503, "Busy."), 503, "UNAVAILABLE"),
        (Answer::error(500, "Oops."), 500, "INTERNAL"),
        (Answer::rate_limited("3"), 429, "RESOURCE_EXHAUSTED"),
        (Answer::context_exceeded(), 400, "INVALID_ARGUMENT"),
    ] {
        let provider = StrictProvider::start(answer);
        let response = ask(&provider, "strict-1", &least("hi")).unwrap();
        let error = response.json()["error"].take();
        assert_eq!(
            (response.status, &error["code"], &error["status"]),
            (status, &json!(status), &json!(name))
        );
    }
}
