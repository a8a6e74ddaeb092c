//! The tools themselves: what each one does when it has been allowed.
//!
//! [`inspect`] finds out what a call would touch; the core decides whether it may; [`run`] carries it out. Nothing here
//! asks anybody or remembers what was decided. Every call ends with an outcome whose text is never empty.

mod bash;
mod binary;
mod change;
mod command;
mod control;
mod diff;
mod edit;
mod files;
mod fresh;
#[cfg(test)]
mod fuzz;
mod glob;
mod grep;
#[cfg(test)]
mod hard_cases;
mod hits;
mod inspect;
mod lines;
mod ls;
mod multiedit;
mod names;
mod nearest;
mod outcome;
mod outputs;
mod paths;
mod quote;
mod replace;
mod save;
mod text;
mod threads;
mod view;
mod walk;
mod workspace;
mod write;

pub use bash::supervise;
pub(crate) use binary::base64;
pub use control::{Cancelled, Canceller, Control, Progress};
pub use inspect::inspect;
pub(crate) use paths::leads_to;
pub use save::put;
pub use workspace::Workspace;

use hostler_core::content::ToolOutcome;
use hostler_core::tools::ToolInput;

use threads::{reading, writing};

/// Carries out a tool call. Dropping the future gives it up: a command is killed, a search stops, a write that has begun
/// is carried to its end.
pub async fn run(workspace: &Workspace, input: ToolInput, mut control: Control) -> ToolOutcome {
    let place = workspace.clone();
    let cancelled = &mut control.cancelled;
    match input {
        ToolInput::Bash(input) => bash::bash(workspace, &input, control).await,
        ToolInput::View(input) => reading(cancelled, move |stop| view::view(&place, &input, stop)).await,
        ToolInput::Ls(input) => reading(cancelled, move |stop| ls::ls(&place, &input, stop)).await,
        ToolInput::Glob(input) => reading(cancelled, move |stop| glob::glob(&place, &input, stop)).await,
        ToolInput::Grep(input) => reading(cancelled, move |stop| grep::grep(&place, &input, stop)).await,
        ToolInput::Edit(input) => writing(cancelled, move || edit::edit(&place, &input)).await,
        ToolInput::MultiEdit(input) => writing(cancelled, move || multiedit::multiedit(&place, &input)).await,
        ToolInput::Write(input) => writing(cancelled, move || write::write(&place, &input)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_core::content::ToolStatus;
    use hostler_core::tools::read;

    #[test]
    fn a_call_may_be_carried_out_on_any_thread() {
        fn require_send<T: Send>(_: T) {}
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        require_send(run(&workspace, read("ls", "{}").unwrap(), Control::alone()));
    }

    #[tokio::test]
    async fn every_tool_is_reached_and_says_something() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        for (tool, arguments) in [
            ("write", r#"{"file_path":"a","content":"one\n"}"#),
            ("edit", r#"{"file_path":"a","old_string":"one","new_string":"two"}"#),
            ("multiedit", r#"{"file_path":"a","edits":[{"old_string":"two","new_string":"two!"}]}"#),
            ("view", r#"{"file_path":"a"}"#),
            ("ls", "{}"),
            ("glob", r#"{"pattern":"*"}"#),
            ("grep", r#"{"pattern":"two"}"#),
            ("bash", r#"{"command":"cat a"}"#),
        ] {
            let input = read(tool, arguments).unwrap();
            let outcome = run(&workspace, input, Control::alone()).await;
            assert_eq!(outcome.status, ToolStatus::Ok, "{tool}: {}", outcome.text);
            assert!(!outcome.text.trim().is_empty(), "{tool}");
        }
    }
}
