//! What to say when there is no such file: names in its directory that look like the one that was asked for.

use std::fs::DirEntry;
use std::path::Path;

use similar::get_close_matches;

use super::outcome::Failure;
use super::quote;
use super::workspace::Workspace;

/// How many names of a directory are looked at.
const LOOKED_AT: usize = 5000;
/// How many names are offered.
const OFFERED: usize = 3;

/// The failure for a path at which there is nothing.
pub(super) fn missing(workspace: &Workspace, path: &Path) -> Failure {
    let root = workspace.root();
    if path.starts_with(root) && !root.is_dir() {
        let root = quote::bytes(root.as_os_str().as_encoded_bytes());
        return Failure::new(format!(
            "The working directory {root} was deleted or moved away, so nothing can be found or run there; say so to the user."
        ));
    }
    let name = workspace.show(path);
    match path.parent().filter(|parent| !parent.is_dir()) {
        Some(parent) => {
            let parent = workspace.show(parent);
            Failure::new(format!("There is no {name}, nor a directory {parent}; use glob or ls to find it."))
        }
        None => Failure::new(format!("There is no {name}; {}", advice(workspace, path))),
    }
}

fn advice(workspace: &Workspace, path: &Path) -> String {
    let near: Vec<_> =
        near(workspace, path).iter().map(|near| workspace.show(&path.with_file_name(near))).collect();
    if near.is_empty() {
        return "use glob or ls to find it.".to_owned();
    }
    format!("did you mean {}?", near.join(" or "))
}

/// Names beside a path that look like its own, the most alike first.
fn near(workspace: &Workspace, path: &Path) -> Vec<String> {
    let wanted = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let entries = path.parent().and_then(|parent| parent.read_dir().ok()).into_iter().flatten();
    let base = path.parent().unwrap_or(path);
    let may_be_named = |entry: &DirEntry| !workspace.is_shut(&entry.path(), base);
    let entries = entries.flatten().take(LOOKED_AT).filter(may_be_named);
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let lower: Vec<_> = names.iter().map(|name| name.to_lowercase()).collect();
    let candidates: Vec<&str> = lower.iter().map(String::as_str).collect();
    let close = get_close_matches(wanted.as_str(), &candidates, OFFERED, 0.6);
    close.iter().filter_map(|near| original(&names, &lower, near)).collect()
}

fn original(names: &[String], lower: &[String], near: &str) -> Option<String> {
    let at = lower.iter().position(|name| name == near)?;
    names.get(at).cloned()
}

/// What to say when a directory was asked for and there is none.
pub(super) fn not_a_directory(workspace: &Workspace, path: &Path) -> Failure {
    if path.exists() {
        let name = workspace.show(path);
        return Failure::new(format!("{name} is not a directory; use view to read a file."));
    }
    missing(workspace, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_offered() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let workspace = Workspace::open(directory.path())?;
        for name in ["main.rs", "Readme.md", "zebra"] {
            std::fs::write(workspace.root().join(name), "")?;
        }
        for (name, advice) in [
            ("mian.rs", "There is no mian.rs; did you mean main.rs?"),
            ("README.md", "There is no README.md; did you mean Readme.md?"),
            ("other", "There is no other; use glob or ls to find it."),
            ("src/main.rs", "There is no src/main.rs, nor a directory src; use glob or ls to find it."),
        ] {
            assert_eq!(missing(&workspace, &workspace.root().join(name)).sentence(), advice);
        }
        Ok(())
    }

    #[test]
    fn what_rules_deny_is_not_offered() -> std::io::Result<()> {
        use hostler_core::prompt::PermissionMode;
        use hostler_core::tools::{Action, Rule, Shut};
        let directory = tempfile::tempdir()?;
        let workspace = Workspace::open(directory.path())?;
        std::fs::write(workspace.root().join("secret.txt"), "")?;
        let rule = Rule::parse(Action::Deny, "read(secret.txt)", None);
        let root = workspace.root().to_string_lossy().into_owned();
        let shut = Shut::new("view", &root, PermissionMode::Headless, rule.iter());
        let path = workspace.root().join("secrets.txt");
        assert!(missing(&workspace, &path).sentence().contains("secret.txt?"));
        let advice = "There is no secrets.txt; use glob or ls to find it.";
        assert_eq!(missing(&workspace.without(shut), &path).sentence(), advice);
        Ok(())
    }

    #[tokio::test]
    async fn a_working_directory_that_is_gone_is_named() -> std::io::Result<()> {
        use crate::tools::{Control, run};
        use hostler_core::tools::read;
        let directory = tempfile::tempdir()?;
        let root = directory.path().canonicalize()?.join("work");
        std::fs::create_dir(&root)?;
        let workspace = Workspace::open(&root)?;
        std::fs::remove_dir(&root)?;
        for (tool, arguments) in [
            ("bash", r#"{"command":"true"}"#),
            ("bash", r#"{"command":"true","working_dir":"src"}"#),
            ("ls", "{}"),
            ("glob", r#"{"pattern":"*"}"#),
            ("grep", r#"{"pattern":"x"}"#),
            ("view", r#"{"file_path":"a"}"#),
        ] {
            let Ok(input) = read(tool, arguments) else { unreachable!("{tool}") };
            let text = run(&workspace, input, Control::alone()).await.text;
            let begins = format!("The working directory {} was deleted or moved away", root.display());
            assert!(text.starts_with(&begins), "{tool} {arguments}: {text}");
        }
        Ok(())
    }
}
