//! What people permitted for always in a workspace: a file beside its log, which belongs to the user and not to the
//! repository.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hostler_core::tools::Rule;

use rustix::fs::{FlockOperation, flock};
use tempfile::NamedTempFile;

use crate::config::files;
use crate::tools::leads_to;

const FILE: &str = "rules.json";

/// How many bytes the file may have.
const FILE_BYTES: u64 = 8 << 20;

/// The file with the rules that are kept in that directory of state.
pub fn file(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// The rules that are kept in that directory of state. Fails if the file is there and cannot be read or makes no sense.
pub fn kept(dir: &Path) -> io::Result<Vec<Rule>> {
    match files::read(&dir.join(FILE), FILE_BYTES)? {
        Some(text) => Ok(serde_json::from_str(&text)?),
        None => Ok(Vec::new()),
    }
}

/// Keeps more rules beside those that are there. Whoever reads the file sees it as it was before or as it is then.
pub fn keep(dir: &Path, more: &[Rule]) -> io::Result<()> {
    // Two processes may keep something at the same time; the lock goes with the open directory.
    let directory = File::open(dir)?;
    flock(&directory, FlockOperation::LockExclusive)?;
    let mut rules = kept(dir)?;
    for rule in more {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    let text = serde_json::to_string_pretty(&rules)?;
    let mut file = NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(dir.join(FILE)).map_err(|error| error.error)?;
    Ok(())
}

/// What rules come to where they meet the files of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The rules that hold.
    pub rules: Vec<Rule>,
    /// What whoever wrote them may not have meant.
    pub warnings: Vec<String>,
}

/// Holds rules against what is there, wherever they were written. `root` is the workspace, canonical, where relative paths
/// begin.
pub fn meet(rules: Vec<Rule>, root: &Path) -> Met {
    let mut warnings = Vec::new();
    for warning in rules.iter().filter_map(|rule| about_itself(rule, root)) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    Met { rules: behind_links(rules, root), warnings }
}

/// A warning about a rule that allows a directory and nothing that is in it.
fn about_itself(rule: &Rule, root: &Path) -> Option<String> {
    let path = rule.only_path()?;
    let is_directory = root.join(path.trim_start_matches("./")).is_dir();
    is_directory.then(|| {
        format!("The rule {rule} is about {path} itself; write {} for what is in it.", rule.in_it().subject)
    })
}

/// The rules, and beside each that denies or asks about a path through a link the same about the place to which it leads now:
/// a call is judged by where it leads and not by what it says. `root` is the workspace, canonical, where relative paths begin.
fn behind_links(mut rules: Vec<Rule>, root: &Path) -> Vec<Rule> {
    let behind = |rule: &Rule| rule.behind(|path| leads_elsewhere(root, path));
    let more: Vec<_> = rules.iter().filter_map(behind).collect();
    rules.extend(more);
    rules
}

fn leads_elsewhere(root: &Path, path: &str) -> Option<String> {
    let named = root.join(path.trim_start_matches("./"));
    let place = leads_to(root, path)?;
    // One whose name is no text is in no rule.
    (place != named).then(|| place.into_os_string().into_string().ok()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use hostler_core::tools::{Action, Subject};

    use super::*;

    fn rule(tool: &str) -> Rule {
        Rule { action: Action::Allow, subject: Subject::Tool(tool.to_owned()) }
    }

    #[test]
    fn rules_are_kept_once_and_for_the_user_alone() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(kept(temp.path()).unwrap(), []);
        keep(temp.path(), &[rule("view")]).unwrap();
        keep(temp.path(), &[rule("ls"), rule("view")]).unwrap();
        assert_eq!(kept(temp.path()).unwrap(), [rule("view"), rule("ls")]);
        let mode = fs::metadata(temp.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }

    #[test]
    fn what_is_denied_by_the_name_of_a_link_is_denied_where_it_leads() {
        use hostler_core::prompt::PermissionMode;
        use hostler_core::tools::{Intent, PathUse, Verdict, judge};
        use std::os::unix::fs::symlink;

        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/deep")).unwrap();
        symlink("real", root.join("lnk")).unwrap();
        symlink("lnk/deep", root.join("far")).unwrap();
        symlink("later", root.join("dangling")).unwrap();
        let allowed = |rule: &str, path: &str| {
            let rules = behind_links(vec![Rule::parse(Action::Deny, rule, None).unwrap()], &root);
            let place = PathUse { path: root.join(path).display().to_string(), inside: true };
            let intent = Intent {
                reads: vec![place],
                complete: true,
                root: root.display().to_string(),
                ..Intent::default()
            };
            judge("view", &intent, PermissionMode::Yolo, &rules) == Verdict::Allow
        };
        let absolute = format!("read({}/lnk/**)", root.display());
        for (rule, path) in [
            ("read(lnk/**)", "real/k"),
            ("read(./lnk/deep/*)", "real/deep/k"),
            ("path(lnk)", "real/k"),
            ("read(far/new/*.txt)", "real/deep/new/a.txt"),
            ("read(dangling)", "later"),
            (absolute.as_str(), "real/k"),
        ] {
            assert!(!allowed(rule, path), "{rule}");
            assert!(allowed(rule, "other/k"), "{rule}");
        }
        let plain = vec![Rule::parse(Action::Deny, "read(real/**)", None).unwrap()];
        assert_eq!(behind_links(plain.clone(), &root), plain);
        let allow = vec![Rule::parse(Action::Allow, "read(lnk/**)", None).unwrap()];
        assert_eq!(behind_links(allow.clone(), &root), allow);
    }

    #[test]
    fn whoever_allows_a_directory_is_told_that_it_is_about_the_directory_itself() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        let warnings = |action, texts: &[&str]| {
            let rules: Vec<_> = texts.iter().map(|text| Rule::parse(action, text, None).unwrap()).collect();
            let met = meet(rules.clone(), &root);
            assert_eq!(met.rules, rules);
            met.warnings
        };
        assert_eq!(
            warnings(Action::Allow, &["write(src)", "write(src)", "read(./src/deep)"]),
            [
                "The rule allow write(src) is about src itself; write write(src/**) for what is in it.",
                "The rule allow read(./src/deep) is about ./src/deep itself; write read(./src/deep/**) for what is in it.",
            ]
        );
        for text in
            ["write(src/)", "write(src/**)", "write(s*)", "read(file)", "read(new)", "bash(src)", "view"]
        {
            assert!(warnings(Action::Allow, &[text]).is_empty(), "{text}");
        }
        assert!(warnings(Action::Deny, &["write(src)"]).is_empty());
    }

    #[test]
    fn a_file_that_makes_no_sense_is_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join(FILE), "mine").unwrap();
        assert!(keep(temp.path(), &[rule("ls")]).is_err());
        assert_eq!(fs::read_to_string(temp.path().join(FILE)).unwrap(), "mine");
        fs::remove_file(temp.path().join(FILE)).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, temp.path().join(FILE), rustix::fs::Mode::RWXU).unwrap();
        assert!(kept(temp.path()).unwrap_err().to_string().contains("not a regular file"));
    }
}
