//! The commands that show and check: `config`, `schema`, `models`, `dirs`, `doctor`; and working somewhere else.

use std::fs;
use std::path::Path;

use hostler_tests::harness::{Finished, snapshot};
use hostler_tests::strict::{Answer, Protocol, Script, StrictProvider};
use serde_json::Value;

use crate::home;

fn json(run: &Finished) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

#[test]
fn what_holds_is_shown_with_who_said_it_and_without_secrets() {
    let home = home();
    home.configure("{\n  \"model\": \"openai/x\",\n  \"providers\": {\"openai\": {\"headers\": {\"x-a\": \"hush\"}}}\n}\n");
    let path = home.configuration().display().to_string();
    let show = |words: &[&str]| {
        let command =
            home.hostler(["config", "show"]).words(words.to_vec()).variable("OPENAI_API_KEY", "hush");
        command.finish().expect_code(0)
    };
    let shown = show(&["--origin"]);
    for line in [
        format!("model = \"openai/x\"    ({path}:2:12)"),
        format!("providers.openai.headers.x-a = \"(secret)\"    ({path}:3:47)"),
        "providers.openai.key = \"(secret)\"    (the environment variable OPENAI_API_KEY)".to_owned(),
        "limits.max_steps = 500    (the default)".to_owned(),
    ] {
        assert!(shown.out.lines().any(|shown| shown == line), "{line} in\n{}", shown.out);
    }
    assert_eq!(show(&["model"]).out, "model = \"openai/x\"\n");
    assert_eq!(show(&["limits.timeout"]).out, "limits.timeout is not set.\n");
    let limits = show(&["limits"]).out;
    assert!(limits.lines().count() > 1 && limits.lines().all(|line| line.starts_with("limits.")), "{limits}");
    let wrong = home.hostler(["config", "show", "modle"]).finish().expect_code(2);
    assert_eq!(wrong.err, "hostler: There is no key modle; did you mean model?\n");
    let all = json(&show(&["--json"]));
    assert_eq!(all["settings"]["model"]["origins"][0], format!("{path}:2:12"));
    assert!(!shown.out.contains("hush") && !all.to_string().contains("hush"));
}

#[test]
fn a_key_is_set_and_all_else_in_the_file_stays() {
    let home = home();
    home.configure("{\n  // why\n  \"model\": \"a/b\", // really\n}\n");
    let set = |words: &[&str]| home.hostler(["config", "set"]).words(words.to_vec()).finish();
    set(&["model", "openai/gpt-5"]).expect_code(0);
    let text = fs::read_to_string(home.configuration()).unwrap();
    assert_eq!(text, "{\n  // why\n  \"model\": \"openai/gpt-5\", // really\n}\n");
    let wrong = set(&["limits.max_step", "5"]).expect_code(2);
    assert_eq!(wrong.err, "hostler: There is no key limits.max_step; did you mean max_steps?\n");
    let wrong = set(&["limits.max_steps", "five"]).expect_code(2);
    assert_eq!(wrong.err, "hostler: limits.max_steps must be a whole number, not a text.\n");
    assert_eq!(fs::read_to_string(home.configuration()).unwrap(), text);
    set(&["limits.max_steps", "5", "--project"]).expect_code(0);
    assert_eq!(home.read(".hostler/config.json"), "{\n  \"limits\": {\n    \"max_steps\": 5\n  }\n}\n");
}

#[test]
fn a_key_is_unset_and_all_else_in_the_file_stays() {
    let home = home();
    let text = "{\n  // why\n  \"model\": \"a/b\", // really\n  \"models\": { \"a/b.1\": { \"tools\": true } },\n}\n";
    home.configure(text);
    let unset = |words: &[&str]| home.hostler(["config", "unset"]).words(words.to_vec()).finish();
    let done = unset(&["models.a/b.1"]).expect_code(0);
    assert!(done.out.starts_with("models.a/b.1 is no longer set in /"), "{}", done.out);
    let left = fs::read_to_string(home.configuration()).unwrap();
    assert!(left.contains("// why\n  \"model\": \"a/b\"") && left.contains("\"models\": {}"), "{left}");
    let wrong = unset(&["models.a/b.1"]).expect_code(2);
    assert!(
        wrong.err.contains("models.a/b.1 is not set in /") && wrong.err.contains("show --origin"),
        "{}",
        wrong.err
    );
    assert_eq!(unset(&["modle"]).expect_code(2).err, "hostler: There is no key modle; did you mean model?\n");
    unset(&["model", "--project"]).expect_code(2);
    assert_eq!(fs::read_to_string(home.configuration()).unwrap(), left);
    assert!(!home.work().join(".hostler").exists());
}

/// What people read who ask what a command does.
#[test]
fn help_says_what_there_is() {
    let home = home();
    for (words, name) in [
        (&["config"][..], "config"),
        (&["config", "show"], "config-show"),
        (&["config", "set"], "config-set"),
        (&["config", "unset"], "config-unset"),
        (&["schema"], "schema"),
        (&["trust"], "trust"),
        (&["models"], "models"),
        (&["dirs"], "dirs"),
        (&["doctor"], "doctor"),
    ] {
        let help = home.hostler(words.to_vec()).words(["--help"]).finish().expect_code(0);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/e2e/help/{name}.txt"));
        // The program under test has another name.
        snapshot::check(&file, &help.out.replace("hostler-under-test", "hostler"));
    }
}

#[test]
fn the_schema_is_json() {
    let schema = json(&home().hostler(["schema", "config"]).finish().expect_code(0));
    assert_eq!(schema["properties"]["limits"]["properties"]["max_steps"]["type"], "integer");
}

#[test]
fn models_are_listed_with_what_is_known_of_them() {
    let home = home();
    let models = |words: &[&str]| {
        let command = home.hostler(["models"]).words(words.to_vec()).variable("ANTHROPIC_API_KEY", "k");
        command.finish().expect_code(0)
    };
    let line = ["anthropic/claude-sonnet-4-5", "200000", "64000", "tools", "vision", "reasoning", "$3/$15"];
    let all = models(&[]).out;
    assert!(all.starts_with("model  ") && all.contains("dollars for a million tokens, in/out\n"), "{all}");
    assert!(all.lines().any(|shown| shown.split_whitespace().eq(line)), "{all}");
    assert!(models(&["gpt-5"]).out.contains("--all"));
    assert!(models(&["--all", "OPENAI/gpt-5"]).out.contains("\nopenai/gpt-5  "));
    let listed = models(&["--json", "claude-sonnet-4-5"]);
    let first: Value = serde_json::from_str(listed.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["configured"], &first["dollars_per_million"]["output"]),
        (&Value::from(true), &Value::from(15))
    );
}

#[test]
fn everything_is_where_it_is_said_to_be() {
    let home = home();
    let other = home.work().join("other");
    fs::create_dir(home.work().join("sub")).unwrap();
    let words = ["dirs", "--json", "--cwd", "sub", "--data-dir", "../other"];
    let dirs = json(&home.hostler(words).finish().expect_code(0));
    assert_eq!(dirs["cwd"], home.work().join("sub").to_str().unwrap());
    assert_eq!(dirs["data"], other.to_str().unwrap());
    assert_eq!(dirs["config"], home.configuration().to_str().unwrap());
    let provider = StrictProvider::start(Script::always(Answer::say("Hello.")));
    home.run(&provider, ["Hi", "--cwd", "sub", "--data-dir", "../other"]).finish().expect_code(0);
    assert!(other.join("workspaces").is_dir() && fs::read_dir(home.state()).unwrap().next().is_none());
    let listed =
        home.hostler(["sessions", "list", "--json", "--cwd", "sub", "--data-dir", "../other"]).finish();
    assert_eq!(listed.expect_code(0).out.lines().count(), 1);
    let lost = home.hostler(["dirs", "--cwd", "missing"]).finish().expect_code(2);
    assert!(lost.err.starts_with("hostler: missing cannot be worked in ("), "{}", lost.err);
}

#[test]
fn a_doctor_finds_what_is_wrong() {
    let home = home();
    let check = |provider: Option<&StrictProvider>| {
        let command = home.hostler(["doctor", "--json"]);
        let run = match provider {
            Some(provider) => command.provider(provider),
            None => command,
        };
        let run = run.finish();
        let found = json(&run);
        assert_eq!((found["ok"] == true, run.code), (run.code == Some(0), run.code), "{found}");
        let bad = found["checks"].as_array().unwrap().iter().filter(|check| check["verdict"] == "wrong");
        bad.map(|check| check["check"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Servers that the machine may have are looked for elsewhere.
    let nowhere = r#"{"base_url": "http://127.0.0.1:1/v1"}"#;
    let local = format!(r#""ollama": {nowhere}, "llamacpp": {nowhere}, "lmstudio": {nowhere}"#);
    home.configure(&format!(r#"{{"providers": {{{local}}}}}"#));
    assert_eq!(check(None), ["provider"]);
    let good = StrictProvider::start(Script::always(Answer::say("Hello.")));
    assert_eq!(check(Some(&good)), [""; 0]);
    good.assert_clean();
    let locked = StrictProvider::start(Script::new([]).key("another"));
    let base = locked.base_url();
    home.configure(&format!(r#"{{"providers": {{{local}, "mine": {{"base_url": "{base}", "key": "k"}}}}}}"#));
    assert_eq!(check(None), ["provider"]);
    home.configure("{\"a\": }");
    assert_eq!(check(None), ["configuration"]);
}

/// A server that gives everybody the same page.
fn page() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let _ = std::io::Read::read(&mut connection, &mut asked);
            let body = "<html><title>Welcome</title></html>";
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = std::io::Write::write_all(&mut connection, (head + body).as_bytes());
        }
    });
    address
}

#[test]
fn a_doctor_tells_who_answers() {
    let said = |configured: &str, variables: &[(&str, &str)]| {
        let home = home();
        home.configure(&format!(r#"{{"local_servers": false, "providers": {{{configured}}}}}"#));
        let command = home.hostler(["doctor", "--json"]);
        let command = variables.iter().fold(command, |command, (name, value)| command.variable(name, value));
        let found = json(&command.finish());
        let checks = found["checks"].as_array().unwrap().clone();
        let about = checks.into_iter().find(|check| check["check"] == "provider").unwrap();
        (about["verdict"].as_str().unwrap().to_owned(), about["message"].as_str().unwrap().to_owned())
    };
    let (verdict, message) = said(&format!(r#""mine": {{"base_url": "{}", "key": "k"}}"#, page()), &[]);
    assert!(verdict == "wrong" && message.contains("is not a server of models"), "{message}");
    let gemini = StrictProvider::start(Script::new([]).key("another"));
    let (verdict, message) =
        said("", &[("GEMINI_BASE_URL", &gemini.base_url_of(Protocol::Gemini)), ("GEMINI_API_KEY", "wrong")]);
    assert!(verdict == "wrong" && message.contains("refuses the key"), "{message}");
    let (verdict, message) = said("", &[]);
    assert!(verdict == "wrong" && message.starts_with("no key is set"), "{message}");
}

#[test]
fn a_server_on_this_machine_is_known_to_all_who_are_asked() {
    let provider = StrictProvider::start(Script::new([]).models(["qwen", "llama"]));
    let (home, url) = (home(), provider.base_url());
    let nowhere = r#"{"base_url": "http://127.0.0.1:1/v1"}"#;
    let configure = |looked_for: bool| {
        home.configure(&format!(
            r#"{{"local_servers": {looked_for}, "providers": {{"ollama": {{"base_url": "{url}", "key": "k"}},
                "llamacpp": {nowhere}, "lmstudio": {nowhere}}}}}"#
        ));
    };
    configure(true);
    let listed = home.hostler(["models"]).finish().expect_code(0).out;
    assert!(listed.contains("ollama/qwen  ") && listed.contains("ollama/llama  "), "{listed}");
    let checked = home.hostler(["doctor"]).finish().expect_code(0).out;
    assert!(checked.contains(&format!("a run uses ollama/qwen, which was found at {url}")), "{checked}");
    let keyed = home.hostler(["models", "qwen"]).variable("OPENAI_API_KEY", "k").finish().expect_code(0).out;
    assert!(keyed.contains("ollama/qwen"), "a doctor would find it too: {keyed}");
    configure(false);
    let listed = home.hostler(["models"]).finish().expect_code(0).out;
    assert!(!listed.contains("ollama/qwen"), "{listed}");
    provider.assert_clean();
}

#[test]
fn a_doctor_says_of_a_model_that_cannot_be_what_a_run_says() {
    let home = home();
    home.configure(r#"{"local_servers": false, "model": "work/big"}"#);
    let said = home.hostler(["run", "Hi"]).finish().expect_code(2).err;
    let sentence = said.trim().strip_prefix("hostler: ").unwrap().to_owned();
    assert!(sentence.starts_with("No provider work is configured, "), "{sentence}");
    let checked = home.hostler(["doctor"]).finish().expect_code(1).out;
    assert!(checked.contains(&format!("wrong  model          {sentence}\n")), "{checked}");
}

#[test]
fn what_is_quoted_is_short() {
    let (home, long) = (home(), "x".repeat(100_000));
    for (words, variable) in [
        (&["models"][..], "HOSTLER_LOG"),
        (&["run", "--model", &long, "Hi"], "NOTHING"),
        (&["sessions", "show", &long], "NOTHING"),
        (&["--cwd", &long, "models"], "NOTHING"),
        (&["man", &long], "NOTHING"),
    ] {
        let run = home.hostler(words.to_vec()).variable(variable, &long).finish();
        assert!(run.code != Some(0) && run.err.contains("xxx"), "{:?}", &words[..1]);
        assert!(run.out.len() + run.err.len() < 5_000, "{:?}: {}", &words[..1], run.err.len());
    }
}
