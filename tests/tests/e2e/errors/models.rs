//! Models that cannot be asked.

use super::Page;
use crate::home;

#[test]
fn a_model_that_cannot_be_asked_is_said_so() {
    let (mut page, home) = (Page::new(), home());
    home.write("broken.json", "{");
    home.write("shouts.json", r#"{"steps": [{"say": [{"shout": "x"}]}]}"#);
    let run = |words: &[&str]| home.hostler(["run", "Hi"]).words(words.to_vec());
    page.meet("No model and no key.", &home, run(&[]));
    page.meet("A key and no model (OPENAI_API_KEY is set).", &home, run(&[]).variable("OPENAI_API_KEY", "k"));
    for (what, model) in [
        ("A model without its provider.", "gpt-5"),
        ("A provider that is not known.", "nobody/x"),
        ("One that is nearly known.", "opnai/gpt-5"),
        ("A provider without a model.", "openai/"),
        ("The same without a slash.", "llamacpp"),
        ("Nothing.", ""),
        ("A provider without a key.", "openai/gpt-5"),
        ("Another one.", "anthropic/claude"),
        ("A scenario that is not there.", "rehearsal:missing.json"),
        ("A scenario that breaks off.", "rehearsal:broken.json"),
        ("A scenario that makes no sense.", "rehearsal:shouts.json"),
    ] {
        page.meet(what, &home, run(&["--model", model]));
    }
    let costly = run(&["--model", "openai/strict-1", "--max-cost", "1"]).variable("OPENAI_API_KEY", "k");
    page.meet("A limit on costs without prices.", &home, costly);
    page.is("models");
}

#[test]
fn a_key_that_cannot_be_had_is_said_so() {
    let mut page = Page::new();
    for (what, key) in [
        ("A command that fails.", r#""key_command": "exit 3""#),
        ("A command that prints nothing.", r#""key_command": "true""#),
        ("A command that prints something else.", r#""key_command": "echo one; echo two""#),
        ("A file that is not there.", r#""key_file": "missing""#),
        ("A file that is a directory.", r#""key_file": "/""#),
        ("A key that is none.", r#""key": "a\u0007b""#),
        ("A header that cannot be.", r#""key": "k", "headers": {"x-a": "a\nb"}"#),
    ] {
        let home = home();
        home.configure(&format!(
            r#"{{"models": {{"mine/x": {{"context_window": 1000000}}}}, "providers": {{"mine": {{"base_url": "http://127.0.0.1:1/v1", {key}}}}}}}"#
        ));
        page.meet(what, &home, home.hostler(["run", "--model", "mine/x", "Hi"]));
    }
    page.is("keys");
}
