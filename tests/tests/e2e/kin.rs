//! Those who offer chat completions with something of their own: OpenRouter, DeepSeek, and servers on this machine.

use hostler_tests::harness::{Finished, Home, Hostler};
use hostler_tests::strict::{Answer, Script, StrictProvider};
use serde_json::{Value, json};

use crate::home;

/// A run that asks the strict provider under the name of another one.
fn asks<'a>(home: &'a Home, name: &str, provider: &StrictProvider, words: &[&str]) -> Hostler<'a> {
    let (url, key) =
        (format!("{}_BASE_URL", name.to_uppercase()), format!("{}_API_KEY", name.to_uppercase()));
    let model = format!("{name}/vendor/strict-1");
    let run = home.hostler(["run", "--model", &model, "--format", "jsonl", "--yolo"]).words(words.to_vec());
    run.variable(&url, &provider.base_url()).variable(&key, "sk-test")
}

#[track_caller]
fn run(name: &str, script: impl Into<Script>, code: i32) -> (Finished, StrictProvider) {
    let (home, provider) = (home(), StrictProvider::start(script));
    let run = asks(&home, name, &provider, &["Hi"]).finish().expect_code(code);
    provider.assert_clean();
    (run, provider)
}

/// A chunk with that delta, as OpenRouter sends it.
fn chunk(delta: Value) -> Value {
    json!({"id": "gen-1", "provider": "Somebody", "model": "vendor/strict-1", "object": "chat.completion.chunk",
        "created": 1, "choices": [{"index": 0, "delta": delta, "finish_reason": null, "native_finish_reason": null, "logprobs": null}]})
}

fn thinks(text: &str, detail: Value) -> Value {
    chunk(json!({"role": "assistant", "content": "", "reasoning": text, "reasoning_details": [detail]}))
}

#[test]
fn every_key_has_its_variable() {
    for name in ["openrouter", "deepseek", "groq", "mistral", "xai"] {
        let script = Script::new([Answer::say("Hello.")]).key("sk-test").models(["vendor/strict-1"]);
        let (run, provider) = run(name, script, 0);
        assert_eq!(run.last()["answer"], "Hello.", "{name}");
        assert_eq!(provider.completions()[0].model, "vendor/strict-1");
        let home = home();
        let run = home.hostler(["run", "--model", &format!("{name}/x"), "--format", "jsonl", "Hi"]).finish();
        let message = run.expect_code(3).last()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(&format!("{}_API_KEY", name.to_uppercase())), "{message}");
    }
}

#[test]
fn details_of_thoughts_go_back_to_openrouter_as_they_came() {
    let text = |text: &str| json!({"type": "reasoning.text", "text": text, "index": 0, "format": "f"});
    let sealed =
        json!({"type": "reasoning.encrypted", "data": "c2VjcmV0", "index": 1, "format": "f", "id": "rs_1"});
    let looks = Answer::new()
        .comment("OPENROUTER PROCESSING")
        .event(thinks("Let me", text("Let me")))
        .event(thinks(" see.", text(" see.")))
        .event(chunk(
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig"}]}),
        ))
        .event(chunk(json!({"content": "", "reasoning_details": [sealed]})))
        .text("I look.")
        .call("call_1", "ls", json!({}));
    let script = Script::new([looks, Answer::say("Done.")]).allow(["reasoning_details"]);
    let (run, provider) = run("openrouter", script, 0);
    let thought: String =
        run.lines().of("reasoning.delta").iter().filter_map(|line| line["text"].as_str()).collect();
    assert_eq!((thought.as_str(), &run.last()["answer"]), ("Let me see.", &json!("Done.")));
    let whole = json!({"type": "reasoning.text", "text": "Let me see.", "index": 0, "format": "f", "signature": "sig"});
    let answer = provider.completions()[1].messages()[2].clone();
    assert_eq!(answer["reasoning_details"], json!([whole, sealed]), "{answer}");
}

#[test]
fn thoughts_go_back_to_deepseek_beside_calls_even_if_there_were_none() {
    for (thought, told) in [("Let me see.", "Let me see."), ("", "")] {
        let looks = Answer::new().reasoning(thought).call("call_1", "ls", json!({}));
        let script = Script::new([looks, Answer::say("Done.")]).allow(["reasoning_content"]);
        let (_, provider) = run("deepseek", script, 0);
        assert_eq!(provider.completions()[1].messages()[2]["reasoning_content"], told);
    }
    let looks = Answer::new().reasoning_field("reasoning").reasoning("Hm.").call("call_1", "ls", json!({}));
    let (_, provider) = run("groq", [looks, Answer::say("Done.")], 0);
    let answer = provider.completions()[1].messages()[2].clone();
    assert!(!answer.to_string().contains("reasoning"), "nobody else is told: {answer}");
}

#[test]
fn an_error_inside_a_stream_is_what_the_provider_says() {
    let ends = |code: Value, message: &str| {
        let mut end = chunk(json!({"content": ""}));
        end["choices"][0]["finish_reason"] = json!("error");
        end["error"] = json!({"code": code, "message": message, "metadata": {"provider_name": "Somebody"}});
        Answer::say("Hel").event(end).garbage("data: [DONE]").no_tail()
    };
    let (passing, _) =
        run("openrouter", [ends(json!(502), "Provider disconnected"), Answer::say("Hello.")], 0);
    assert_eq!((&passing.last()["answer"], &passing.last()["attempts"]), (&json!("Hello."), &json!(2)));
    let cause = passing.lines().first("retry").unwrap()["cause"].as_str().unwrap().to_owned();
    assert!(cause.contains("Provider disconnected"), "{cause}");
    let (last, _) = run("openrouter", [ends(json!(400), "Bad schema"), Answer::say("never")], 1);
    assert!(last.last()["message"].as_str().unwrap().contains("Bad schema"), "{}", last.last());
}

#[test]
fn fields_beside_the_usage_are_no_hindrance() {
    let mut end = chunk(json!({"role": "assistant", "content": ""}));
    end["usage"] = json!({"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37, "cost": 0.00012, "is_byok": false,
        "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 5, "audio_tokens": 0},
        "cost_details": {"upstream_inference_cost": null}, "completion_tokens_details": {"reasoning_tokens": 3}});
    let (run, _) = run("openrouter", Answer::say("Hello.").no_usage().event(end), 0);
    let usage = &run.last()["usage"];
    let counts =
        ["input", "cache_read", "cache_write", "output", "reasoning"].map(|name| usage[name].as_u64());
    assert_eq!(counts, [Some(15), Some(10), Some(5), Some(7), Some(3)]);
    let deepseek = json!({"prompt_tokens": 18, "completion_tokens": 40, "total_tokens": 58,
        "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 10});
    let mut end = chunk(json!({"content": ""}));
    end["usage"] = deepseek;
    let (run, _) = self::run("deepseek", Answer::say("Hello.").no_usage().event(end), 0);
    assert_eq!((&run.last()["usage"]["input"], &run.last()["usage"]["cache_read"]), (&json!(10), &json!(8)));
}

/// A home that looks for servers on this machine, of which the first is the strict provider.
fn with_a_server(provider: &StrictProvider) -> Home {
    let home = home();
    let url = provider.base_url();
    home.configure(
        &json!({"local_servers": true, "providers": {"ollama": {"base_url": url, "key": "k"}}}).to_string(),
    );
    home
}

#[test]
fn a_server_on_this_machine_is_found_when_nothing_else_is_named() {
    let provider = StrictProvider::start(Script::new([Answer::say("Hello.")]).models(["qwen", "llama"]));
    let home = with_a_server(&provider);
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).finish().expect_code(0);
    assert_eq!((&run.last()["answer"], provider.completions()[0].model.as_str()), (&json!("Hello."), "qwen"));
    let said = run.lines().of("warning").iter().any(|line| line.to_string().contains(&provider.base_url()));
    assert!(said, "it is said where the model was found: {}", run.out);
    provider.assert_clean();
}

#[test]
fn nobody_looks_for_a_server_where_a_key_is_set() {
    let provider = StrictProvider::start(Script::new([]));
    let home = with_a_server(&provider);
    let run = home.hostler(["run", "--format", "jsonl", "Hi"]).variable("OPENAI_API_KEY", "sk-test");
    let run = run.finish().expect_code(3);
    assert_eq!((&run.last()["reason"], provider.requests().len()), (&json!("no_provider"), 0));
}
