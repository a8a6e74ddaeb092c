//! Paths, keys, content types and models.

use super::{
    client::{self, JSON, KEY, completion, exchange},
    least,
};
use crate::strict::{Answer, Script, StrictProvider};

/// Sends `request` to a provider that knows the key `sk-test` and the model `strict-1`.
fn check(name: &str, request: &[u8], status: u16, fragment: &str, code: Option<&str>) {
    let script = Script::from(Answer::say("hi")).key("sk-test").models(["strict-1", "strict-2"]);
    let provider = StrictProvider::start(script);
    let response = exchange(&provider, request).unwrap();
    assert_eq!(response.status, status, "{name}");
    assert_eq!(response.header("content-type"), Some("application/json"), "{name}");
    let error = &response.json()["error"];
    assert!(response.error().contains(fragment), "{name}: {error}");
    assert_eq!(error["code"].as_str(), code, "{name}");
    assert_eq!(error["type"], "invalid_request_error", "{name}");
    assert_eq!((provider.rejections().len(), provider.remaining()), (1, 1), "{name}");
}

fn line(method: &str, path: &str, headers: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n").into_bytes()
}

#[test]
fn refuses_bad_heads() {
    let body = least("hi").to_string();
    let other = body.replace("strict-1", "gpt-0");
    let rows = [
        ("no key", completion(&body, "", JSON), 401, "didn't provide an API key", None),
        ("empty key", completion(&body, "authorization: Bearer \r\n", JSON), 401, "didn't provide", None),
        ("basic", completion(&body, "authorization: Basic abc\r\n", JSON), 401, "didn't provide", None),
        (
            "wrong key",
            completion(&body, "authorization: Bearer x\r\n", JSON),
            401,
            "Incorrect",
            Some("invalid_api_key"),
        ),
        (
            "no type",
            completion(&body, KEY, ""),
            400,
            "Unsupported content type",
            Some("unsupported_content_type"),
        ),
        (
            "text",
            completion(&body, KEY, "content-type: text/plain\r\n"),
            400,
            "'text/plain'",
            Some("unsupported_content_type"),
        ),
        ("broken JSON", completion("{\"model\":", KEY, JSON), 400, "could not parse the JSON body", None),
        ("no body", completion("", KEY, JSON), 400, "could not parse the JSON body", None),
        (
            "unknown model",
            completion(&other, KEY, JSON),
            404,
            "`gpt-0` does not exist",
            Some("model_not_found"),
        ),
        (
            "unknown path",
            line("POST", "/v1/embeddings", KEY),
            404,
            "Invalid URL (POST /v1/embeddings)",
            Some("unknown_url"),
        ),
        ("method", line("GET", "/v1/chat/completions", KEY), 405, "Not allowed to GET", None),
        ("models by POST", line("POST", "/v1/models", KEY), 405, "Not allowed to POST", None),
        ("models without key", line("GET", "/v1/models", ""), 401, "didn't provide", None),
    ];
    for (name, request, status, fragment, code) in rows {
        check(name, &request, status, fragment, code);
    }
}

#[test]
fn lists_models() {
    let provider = StrictProvider::start(Script::new([]).models(["strict-1", "strict-2"]));
    let response = exchange(&provider, &line("GET", "/v1/models?limit=5", KEY)).unwrap();
    let list = response.json();
    assert_eq!((response.status, &list["object"]), (200, &"list".into()));
    assert_eq!((&list["data"][1]["id"], &list["data"][1]["object"]), (&"strict-2".into(), &"model".into()));
    provider.assert_clean();
    assert_eq!((provider.requests().len(), provider.completions().len()), (1, 0));
}

#[test]
fn answers_models_by_script() {
    let provider = StrictProvider::start(Script::new([]).models_answer(Answer::error(503, "Overloaded.")));
    let response = exchange(&provider, &line("GET", "/v1/models", KEY)).unwrap();
    assert_eq!((response.status, response.error().as_str()), (503, "Overloaded."));
    provider.assert_clean();
}

#[test]
fn takes_a_content_type_with_parameters() {
    let provider = StrictProvider::start(Answer::say("hi"));
    let kind = "Content-Type: Application/JSON; charset=utf-8\r\n";
    let response = exchange(&provider, &completion(&least("x").to_string(), KEY, kind)).unwrap();
    assert_eq!((response.status, response.joined("content").as_str()), (200, "hi"));
}

#[test]
fn records_what_arrived() {
    let provider = StrictProvider::start(Answer::say("hi"));
    let body = super::valid();
    client::post(&provider, &body).unwrap();
    let recorded = provider.requests().remove(0);
    assert_eq!((recorded.method.as_str(), recorded.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!((recorded.index, recorded.accepted()), (0, true));
    assert_eq!(recorded.header("authorization"), Some("Bearer sk-test"));
    assert_eq!((&recorded.body, recorded.text.as_str()), (&body, body.to_string().as_str()));
    assert_eq!(recorded.last_user_text(), "Thanks.");
    assert_eq!(recorded.tool_results(), [("a".into(), "one".into()), ("b".into(), "two".into())]);
    assert_eq!(recorded.tool_names(), ["bash", "read"]);
}

#[test]
fn accepts_allowed_extras() {
    let provider =
        StrictProvider::start(Script::from(Answer::say("hi")).allow(["reasoning", "reasoning_content"]));
    let mut body = super::valid();
    body["reasoning"] = serde_json::json!({"effort": "high"});
    body["messages"][5]["reasoning_content"] = "Two.".into();
    assert_eq!(client::post(&provider, &body).unwrap().status, 200);
    provider.assert_clean();
}
