//! What is wrong with what is configured.

use std::fs;

use super::Page;
use crate::home;

#[test]
fn a_configuration_that_cannot_be_used_is_said_so() {
    let mut page = Page::new();
    for (what, text) in [
        ("It breaks off.", "{\n  \"model\": \"openai/x\""),
        ("It is no JSON.", "{\n  model = openai/x\n}\n"),
        ("It is no object.", "[]\n"),
        ("A key that there is not.", "{\n  \"modle\": \"openai/x\"\n}\n"),
        ("One that is like none.", "{\n  \"zzz\": 1\n}\n"),
        ("A key that comes twice.", "{\n  \"model\": \"a/b\",\n  \"model\": \"a/c\"\n}\n"),
        ("A value of another kind.", "{\n  \"limits\": {\n    \"max_steps\": \"many\"\n  }\n}\n"),
        ("A number that is too small.", "{\"limits\": {\"max_steps\": 0}}"),
        ("A duration that is none.", "{\"limits\": {\"timeout\": \"soon\"}}"),
        ("An address that is none.", "{\"providers\": {\"mine\": {\"base_url\": \"mine\"}}}"),
        ("A provider without an address.", "{\"providers\": {\"mine\": {\"key\": \"k\"}}}"),
        ("A provider of which nothing is said.", "{\"providers\": {\"work\": {}}}"),
        ("A key by another name.", "{\"providers\": {\"openai\": {\"api_key\": \"k\"}}}"),
        ("Two places for a key.", "{\"providers\": {\"openai\": {\"key\": \"k\", \"key_file\": \"f\"}}}"),
        ("A protocol that there is not.", "{\"providers\": {\"openai\": {\"protocol\": \"soap\"}}}"),
        ("A header that cannot be.", "{\"providers\": {\"openai\": {\"headers\": {\"a b\": \"c\"}}}}"),
        ("A model without a provider.", "{\"models\": {\"gpt\": {\"context_window\": 1}}}"),
        ("Prices that are none.", "{\"models\": {\"a/b\": {\"prices\": {\"input\": -1}}}}"),
        ("A rule about a tool that there is not.", "{\"permissions\": {\"allow\": [\"shell(ls)\"]}}"),
        ("Several mistakes.", "{\n  \"modle\": 1,\n  \"limits\": {\"max_steps\": true}\n}\n"),
        ("What a terminal would obey.", "{\"a\u{1b}[2J\\u001b]0;x\\u0007\": 1}"),
    ] {
        let home = home();
        home.configure(text);
        page.meet(what, &home, home.hostler(["run", "--model", "rehearsal", "Hi"]));
    }
    page.is("configuration");
}

/// Makes of a home what is to be tried.
type Lay = fn(&hostler_tests::harness::Home);

#[test]
fn files_and_variables_that_cannot_be_used_are_said_so() {
    let mut page = Page::new();
    let run = ["run", "--model", "openai/x", "Hi"];
    let lay: [(&str, Lay); 6] = [
        ("It is a directory.", |home| {
            fs::remove_file(home.configuration()).unwrap();
            fs::create_dir(home.configuration()).unwrap();
        }),
        ("It is not text.", |home| fs::write(home.configuration(), b"{\"a\": \"\xff\"}").unwrap()),
        ("It is too long.", |home| home.configure(&" ".repeat(2 << 20))),
        ("There are two.", |home| fs::write(home.configuration().with_extension("jsonc"), "{}").unwrap()),
        ("The project's own has a mistake.", |home| home.write(".hostler/config.json", "{\"modle\": 1}")),
        ("The list of trusted directories is damaged.", |home| {
            home.write(".hostler/config.json", "{}");
            fs::create_dir(home.state().join("hostler")).unwrap();
            fs::write(home.state().join("hostler/trusted.json"), "[").unwrap();
        }),
    ];
    for (what, lay) in lay {
        let home = home();
        lay(&home);
        page.meet(what, &home, home.hostler(run));
    }
    let home = home();
    page.meet(
        "An address in a variable that is none (OPENAI_BASE_URL=here).",
        &home,
        home.hostler(run).variable("OPENAI_BASE_URL", "here"),
    );
    for (what, words) in [
        ("A key to be set that there is not.", &["modle", "x"][..]),
        ("A key to be set that is none.", &["a..b", "x"]),
        ("A model to be set without its provider.", &["model", "gpt-5"]),
        ("A value to be set of another kind.", &["limits.max_steps", "many"]),
        ("A rule to be set that is no list.", &["permissions.allow", "bash(git *)"]),
        ("A value to be set that cannot be.", &["providers.openai.base_url", "here"]),
    ] {
        page.meet(what, &home, home.hostler(["config", "set"]).words(words.to_vec()));
    }
    let homeless = home.hostler(["config", "set", "model", "a/b"]).without("HOME");
    page.meet("A key to be set without a home.", &home, homeless);
    home.configure("{");
    page.meet(
        "A key to be set in a file that is broken.",
        &home,
        home.hostler(["config", "set", "model", "a/b"]),
    );
    home.configure("{\"modle\": 1}");
    page.meet(
        "A key to be set in a file that has a mistake.",
        &home,
        home.hostler(["config", "set", "model", "a/b"]),
    );
    page.is("configured");
}
