//! Real files: what is found where, what is said about mistakes, and what a hostile project cannot do.

use std::fs;

use super::*;

struct Stand {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::create_dir_all(root.join("repo/sub/deep")).unwrap();
        Self { _temp: temp, root }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn places(&self, cwd: &str) -> Places {
        let home = Some(self.root.join("home").into_os_string());
        Places::new(&self.root.join(cwd), &self.root.join("state"), None, home)
    }

    fn load(&self, cwd: &str) -> Result<Loaded, Unusable> {
        load(&self.places(cwd), |_| None)
    }

    /// What is wrong, with this test's directory left out.
    fn wrong(&self, cwd: &str) -> Vec<String> {
        let Unusable(wrong) = self.load(cwd).unwrap_err();
        wrong.iter().map(|text| text.replace(&format!("{}/", self.root.display()), "")).collect()
    }
}

const USER: &str = "home/.config/hostler/config.json";

#[test]
fn the_nearest_project_up_to_the_root_of_the_repository_counts() {
    let stand = Stand::new();
    let model =
        |cwd: &str| stand.load(cwd).unwrap().settings.get(&["limits", "max_steps"]).unwrap().value.json();
    assert_eq!(model("repo/sub/deep"), "500");
    stand.write(".hostler/config.json", r#"{"limits": {"max_steps": 1}}"#);
    assert_eq!(model("repo/sub/deep"), "500", "what lies above the repository is not its own");
    stand.write("repo/.hostler/config.jsonc", r#"{"limits": {"max_steps": 2},} // ok"#);
    assert_eq!(model("repo/sub/deep"), "2");
    stand.write("repo/sub/.hostler/config.json", r#"{"limits": {"max_steps": 3}}"#);
    assert_eq!(model("repo/sub/deep"), "3");
    assert_eq!(model("repo"), "2");
    fs::create_dir(stand.root.join("plain")).unwrap();
    assert_eq!(model("plain"), "500");
    stand.write("plain/.hostler/config.json", r#"{"limits": {"max_steps": 4}}"#);
    assert_eq!(model("plain"), "4");
}

#[test]
fn every_mistake_is_pointed_at() {
    let stand = Stand::new();
    stand.write(USER, "{\n  // comment\n  \"modle\": \"x\",\n  \"limits\": { \"timeout\": 5 },\n}\n");
    stand.write("repo/.hostler/config.json", "{\"model\": \"a/b\"");
    assert_eq!(
        stand.wrong("repo"),
        [
            format!("{USER}:3:3: There is no key modle; did you mean model?"),
            format!(
                "{USER}:4:26: limits.timeout must be a duration in quotes, such as \"90s\", not a number."
            ),
            "repo/.hostler/config.json:1:1: This is not JSON (the object that begins at 1:1 is not closed); close it with }.".to_owned(),
        ]
    );
    stand.write("repo/.hostler/config.json", "{}");
    stand.write(USER, r#"{"permissions": {"deny": ["bsh"]}}"#);
    assert!(stand.wrong("repo")[0].starts_with(&format!(
        "{USER}:1:27: permissions.deny: \"bsh\" is not a rule; did you mean \"bash\"?"
    )));
    stand.write(USER, r#"{"providers": {"mine": {"key": "k"}}}"#);
    assert_eq!(
        stand.wrong("repo"),
        [format!("{USER}:1:32: The provider mine is not known by itself, so it needs a base_url.")]
    );
    stand.write(&format!("{USER}c"), "{}");
    assert_eq!(stand.wrong("repo"), [format!("There are both {USER} and {USER}c; keep one.")]);
    fs::remove_file(stand.root.join(USER)).unwrap();
    let found = load(&stand.places("repo"), |name| (name == "OPENAI_BASE_URL").then(|| "localhost".into()));
    assert_eq!(
        found.unwrap_err().0,
        ["OPENAI_BASE_URL must be the URL of a server, such as https://example.com/v1."]
    );
}

#[test]
fn a_project_counts_once_it_is_trusted_and_until_then_that_is_said() {
    let stand = Stand::new();
    stand.write(
        "repo/.hostler/config.json",
        r#"{"model": "a/b", "permissions": {"allow": ["bash"], "deny": ["edit"]}}"#,
    );
    let loaded = stand.load("repo/sub").unwrap();
    assert_eq!((loaded.config.model, &loaded.config.permissions.deny[..]), (None, &["edit".to_owned()][..]));
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    let repo = stand.root.join("repo");
    assert!(warning.contains("model, permissions.allow does not count"), "{warning}");
    assert!(warning.ends_with(&format!("hostler trust {}", repo.display())), "{warning}");

    let trusted = Trusted::in_state(&stand.root.join("state"));
    trusted.set(&repo, true).unwrap();
    let loaded = stand.load("repo/sub").unwrap();
    assert_eq!((loaded.config.model.as_deref(), loaded.warnings.len()), (Some("a/b"), 0));
    assert_eq!(loaded.config.permissions.allow, ["bash"]);

    stand.write("repo/sub/.hostler/config.json", r#"{"model": "evil/one"}"#);
    assert_eq!(stand.load("repo/sub").unwrap().config.model, None, "trust does not reach below");
}

#[test]
fn a_file_that_is_none_does_not_hold_anything_up() {
    let stand = Stand::new();
    fs::create_dir_all(stand.root.join("repo/.hostler/config.json")).unwrap();
    assert_eq!(
        stand.wrong("repo"),
        ["repo/.hostler/config.json cannot be read (it is not a regular file); mend it or move it away."]
    );
}

#[test]
fn a_key_is_set_and_a_mistake_changes_nothing() {
    let stand = Stand::new();
    let file = file_to_change(&stand.places("repo"), false).unwrap();
    set(&file, "model", "openai/gpt-5", &[]).unwrap();
    set(&file, "limits.max_steps", "7", &[]).unwrap();
    set(&file, "models.\"ollama/q.3\".tools", "true", &[]).unwrap();
    set(&file, "permissions.deny", r#"["bash(rm *)"]"#, &[]).unwrap();
    let before = fs::read_to_string(&file).unwrap();
    let loaded = stand.load("repo").unwrap();
    assert_eq!(
        (loaded.config.model.as_deref(), loaded.config.limits.max_steps),
        (Some("openai/gpt-5"), Some(7))
    );
    assert!(loaded.config.models["ollama/q.3"].abilities.unwrap().tools);
    for (key, value, says) in [
        ("modle", "x", "There is no key modle; did you mean model?"),
        ("limits.max_steps", "many", "limits.max_steps must be a whole number, not a text."),
        ("limits", "5", "limits must be an object in braces, not a number."),
        (
            "",
            "5",
            "\"\" is not the path of a key; write names with dots between, such as providers.openai.base_url.",
        ),
        ("providers.x.protocol", "chatt", "providers.x.protocol cannot be \"chatt\"; did you mean \"chat\"?"),
    ] {
        assert_eq!(set(&file, key, value, &[]).unwrap_err().0, [says], "{key}");
    }
    let text = set(&file, "permissions.allow", "bash(git *)", &[]).unwrap_err().0;
    assert_eq!(text, ["permissions.allow must be a list of texts, not a text; write '[\"bash(git *)\"]'."]);
    let unusable = set(&file, "providers.mine.key_file", "k", &[]).unwrap_err();
    assert!(
        unusable.0[0].ends_with("The provider mine is not known by itself, so it needs a base_url."),
        "{unusable}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let project = file_to_change(&stand.places("repo/sub"), true).unwrap();
    assert_eq!(project, stand.root.join("repo/sub/.hostler/config.json"));
    set(&file, "providers.mine.base_url", "http://a", &[]).unwrap();
    set(&project, "providers.mine.key_file", "k", &beneath_project(&stand.places("repo/sub"))).unwrap();
    assert!(set(&project, "providers.yours.key_file", "k", &[]).is_err());
}

#[test]
fn a_provider_goes_with_the_last_that_is_said_of_it() {
    let stand = Stand::new();
    let file = file_to_change(&stand.places("repo"), false).unwrap();
    set(&file, "providers.mine.base_url", "http://a", &[]).unwrap();
    assert!(unset(&file, "providers.mine.base_url", &[]).unwrap());
    assert!(!fs::read_to_string(&file).unwrap().contains("mine"));
    stand.write(USER, r#"{"providers": {"mine": {}}}"#);
    assert_eq!(
        stand.wrong("repo"),
        [format!("{USER}:1:24: The provider mine is not known by itself, so it needs a base_url.")]
    );
}

#[test]
fn a_file_with_mistakes_is_told_of_as_it_is_and_can_be_mended() {
    let stand = Stand::new();
    let text = "{\"modle\": 1,\n \"zzz\": 2}\n";
    stand.write(USER, text);
    let file = stand.root.join(USER);
    let wrong = set(&file, "limits.max_steps", "5", &[]).unwrap_err().0;
    assert!(wrong[0].contains("config.json:1:2: There is no key modle"), "{wrong:?}");
    assert!(wrong[1].contains("config.json:2:2: There is no key zzz"), "{wrong:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert!(unset(&file, "modle", &[]).unwrap());
    assert!(unset(&file, "zzz", &[]).unwrap());
    let none = unset(&file, "zzz", &[]).unwrap_err().0;
    assert!(none[0].starts_with("There is no key zzz; there are "), "{none:?}");
    set(&file, "limits.max_steps", "5", &[]).unwrap();
    // What does not go together is found out only behind what makes no sense by itself.
    for mend in ["zzz", "providers.mine"] {
        stand.write(USER, r#"{"zzz": 1, "providers": {"mine": {}}}"#);
        let mended = unset(&file, mend, &[]);
        assert_eq!(mended.is_ok(), mend == "zzz", "{mend}: {mended:?}");
    }
    stand.write(USER, r#"{"zzz": 1, "providers": {"mine": {}}}"#);
    assert!(unset(&file, "zzz", &[]).unwrap() && unset(&file, "providers.mine", &[]).unwrap());
    set(&file, "limits.max_steps", "5", &[]).unwrap();
}
