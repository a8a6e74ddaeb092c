//! Thoughts of chat completions: they come back with the calls that they led to.

use super::{call, client::post, least};
use crate::strict::{Answer, StrictProvider};
use serde_json::{Value, json};

/// What is said when an answer with a call comes back in that form.
fn said(answer: Answer, thoughts: Option<&str>) -> Option<String> {
    let provider = StrictProvider::start([answer, Answer::say("ok")]);
    post(&provider, &least("hi")).unwrap();
    let mut body = least("hi");
    let mut calling = json!({"role": "assistant", "tool_calls": [call("a", "ls", "{}")]});
    if let Some(thoughts) = thoughts {
        calling["reasoning_content"] = Value::from(thoughts);
    }
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
    body["messages"].as_array_mut().unwrap().extend([calling, result]);
    let response = post(&provider, &body).unwrap();
    (response.status != 200).then(|| response.error())
}

#[test]
fn thoughts_that_were_told_come_back_with_calls() {
    let thinks = || Answer::new().reasoning("Hm.").reasoning(" So.").call("a", "ls", json!({}));
    assert_eq!(said(thinks(), Some("Hm. So.")), None);
    for wrong in [None, Some("Hm."), Some("")] {
        assert!(said(thinks(), wrong).is_some_and(|said| said.contains("must be passed back")), "{wrong:?}");
    }
    let silent = || Answer::new().reasoning("").call("a", "ls", json!({}));
    assert_eq!(said(silent(), Some("")), None);
    assert!(said(silent(), None).is_some(), "also if nothing was thought");
    let other = || thinks().reasoning_field("reasoning");
    assert_eq!(said(other(), None), None);
    assert!(said(other(), Some("Hm. So.")).is_some(), "who has another field does not know this one");
}
