//! What a tool call would touch, found out before it is allowed.
//!
//! Nothing is decided here. What cannot be understood whole is said to be incomplete. How commands are understood is in
//! `command`.

use hostler_core::tools::{GlobInput, Intent, PathUse, ToolInput};

use super::command;
use super::glob;
use super::workspace::Workspace;

/// Finds out what a tool call would touch. What a link or `..` leads to is what counts.
pub fn inspect(workspace: &Workspace, input: &ToolInput) -> Intent {
    let root = workspace.root().to_string_lossy().into_owned();
    Intent { root, ..touched(workspace, input) }
}

fn touched(workspace: &Workspace, input: &ToolInput) -> Intent {
    match input {
        ToolInput::Bash(input) => command::inspect(workspace, input),
        ToolInput::View(input) => reading(place(workspace, Some(&input.file_path))),
        ToolInput::Ls(input) => reading(place(workspace, input.path.as_deref())),
        ToolInput::Glob(input) => reading(base(workspace, input)),
        ToolInput::Grep(input) => reading(place(workspace, input.path.as_deref())),
        ToolInput::Edit(input) => writing(place(workspace, Some(&input.file_path))),
        ToolInput::MultiEdit(input) => writing(place(workspace, Some(&input.file_path))),
        ToolInput::Write(input) => writing(place(workspace, Some(&input.file_path))),
    }
}

fn place(workspace: &Workspace, given: Option<&str>) -> Option<PathUse> {
    workspace.resolve(given.unwrap_or(".")).ok().map(|place| place.to_use())
}

fn base(workspace: &Workspace, input: &GlobInput) -> Option<PathUse> {
    glob::base(workspace, input).ok().map(|(place, _)| place.to_use())
}

fn reading(place: Option<PathUse>) -> Intent {
    Intent { complete: place.is_some(), reads: place.into_iter().collect(), ..Intent::default() }
}

/// A file is read before it is changed.
fn writing(place: Option<PathUse>) -> Intent {
    let writes = place.iter().cloned().collect();
    Intent { writes, ..reading(place) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_core::tools::read;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// What an intent says, short: r and w for reads and writes, capital for outside, ? for incomplete.
    fn short(intent: &Intent) -> String {
        let letter = |path: &PathUse, inside, outside| if path.inside { inside } else { outside };
        let reads = intent.reads.iter().map(|path| letter(path, 'r', 'R'));
        let writes = intent.writes.iter().map(|path| letter(path, 'w', 'W'));
        reads.chain(writes).chain((!intent.complete).then_some('?')).collect()
    }

    #[test]
    fn what_a_call_touches_is_found_out() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().join("work");
        fs::create_dir(&root)?;
        symlink("..", root.join("up"))?;
        symlink("loop", root.join("loop"))?;
        let workspace = Workspace::open(&root)?;
        for (tool, arguments, expected) in [
            ("view", r#"{"file_path":"a"}"#, "r"),
            ("view", r#"{"file_path":"../a"}"#, "R"),
            ("view", r#"{"file_path":"up/a"}"#, "R"),
            ("view", r#"{"file_path":"loop"}"#, "?"),
            ("view", r#"{"file_path":""}"#, "?"),
            ("ls", "{}", "r"),
            ("ls", r#"{"path":"/"}"#, "R"),
            ("glob", r#"{"pattern":"**/*"}"#, "r"),
            ("glob", r#"{"pattern":"../*"}"#, "R"),
            ("glob", r#"{"pattern":"*/../../*"}"#, "?"),
            ("glob", r#"{"pattern":"*","path":"up"}"#, "R"),
            ("glob", r#"{"pattern":"/etc/*"}"#, "R"),
            ("grep", r#"{"pattern":"../x","include":"../*"}"#, "r"),
            ("grep", r#"{"pattern":"x","path":"up/other"}"#, "R"),
            ("edit", r#"{"file_path":"a","old_string":"","new_string":""}"#, "rw"),
            ("edit", r#"{"file_path":"up/a","old_string":"","new_string":""}"#, "RW"),
            ("multiedit", r#"{"file_path":"up/a","edits":[]}"#, "RW"),
            ("write", r#"{"file_path":"x/y/a","content":""}"#, "rw"),
            ("write", r#"{"file_path":"loop/a","content":""}"#, "?"),
            ("bash", r#"{"command":"true < a > b"}"#, "rw"),
            ("bash", r#"{"command":"true > up/b"}"#, "W"),
            ("bash", r#"{"command":"true","working_dir":"up"}"#, "R"),
            ("bash", r#"{"command":"$x"}"#, "?"),
        ] {
            let intent = read(tool, arguments).map(|input| short(&inspect(&workspace, &input)));
            assert_eq!(intent.as_deref(), Ok(expected), "{tool} {arguments}");
        }
        Ok(())
    }
}
