//! What a tool call would touch, found out by the shell, and whether that is allowed, decided here.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::prompt::PermissionMode;

/// What a tool call would do, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The commands that it would execute, each as its words.
    pub commands: Vec<Vec<String>>,
    /// The paths that it would read.
    pub reads: Vec<PathUse>,
    /// The paths that it would write.
    pub writes: Vec<PathUse>,
    /// The hosts that it would talk to.
    pub hosts: Vec<String>,
    /// Whether the above is all of it. What cannot be understood whole is never taken for harmless.
    pub complete: bool,
}

/// A path that a tool call would touch, links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathUse {
    /// The path, absolute.
    pub path: String,
    /// Whether it lies inside the workspace.
    pub inside: bool,
}

/// Whether a tool call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may not, and why, for the model and for people.
    Deny(String),
}

/// Judges a tool call: reading inside the workspace is allowed; everything else needs permission, and where nobody can
/// be asked that is a no.
pub fn judge(tool: &str, intent: &Intent, mode: PermissionMode) -> Verdict {
    let reading = matches!(tool, "view" | "ls" | "glob" | "grep");
    let harmless = intent.complete
        && intent.commands.is_empty()
        && intent.writes.is_empty()
        && intent.hosts.is_empty()
        && intent.reads.iter().all(|path| path.inside);
    match mode {
        PermissionMode::Yolo => Verdict::Allow,
        _ if reading && harmless => Verdict::Allow,
        PermissionMode::Headless => Verdict::Deny(refusal(tool, reading)),
    }
}

fn refusal(tool: &str, reading: bool) -> String {
    if reading {
        alloc::format!(
            "Permission denied: {tool} may read only inside the workspace, and nobody can be asked in this run. Nothing was read. \
             (The user can allow everything with --yolo.)"
        )
    } else {
        alloc::format!(
            "Permission denied: {tool} needs permission and nobody can be asked in this run. Nothing was done. \
             (The user can allow everything with --yolo.)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(inside: bool) -> Intent {
        let path = PathUse { path: "/w/a".into(), inside };
        Intent { reads: alloc::vec![path], complete: true, ..Intent::default() }
    }

    fn check(tool: &str, intent: Intent, mode: PermissionMode) -> &'static str {
        match judge(tool, &intent, mode) {
            Verdict::Allow => "allow",
            Verdict::Deny(_) => "deny",
        }
    }

    #[test]
    fn only_reading_inside_the_workspace_needs_no_permission() {
        use PermissionMode::{Headless, Yolo};
        assert_eq!(check("view", reading(true), Headless), "allow");
        assert_eq!(check("view", reading(false), Headless), "deny");
        assert_eq!(check("view", Intent::default(), Headless), "deny");
        assert_eq!(check("bash", reading(true), Headless), "deny");
        assert_eq!(check("bash", Intent::default(), Yolo), "allow");
    }
}
