//! The list of what is to be done that a model keeps for work of several parts.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// How many entries a list may have. It stands in requests, so it is bounded like all that does.
pub const MAX_TODOS: usize = 200;

/// Something that is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same while it is being done, for whoever watches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// How far something is that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// It has not begun.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Completed,
}

/// The list as text, an entry a line.
pub fn listed(todos: &[Todo]) -> String {
    let mut text = String::new();
    for todo in todos {
        let status = match todo.status {
            TodoStatus::Pending => "pending",
            TodoStatus::InProgress => "in_progress",
            TodoStatus::Completed => "completed",
        };
        text.push_str(&format!("- [{status}] {}\n", todo.content));
    }
    text
}

/// What the model is told when it has changed the list.
pub(crate) fn noted(todos: &[Todo]) -> String {
    let with = |status| todos.iter().filter(|todo| todo.status == status).count();
    format!(
        "The list is noted: {} pending, {} in progress, {} completed.",
        with(TodoStatus::Pending),
        with(TodoStatus::InProgress),
        with(TodoStatus::Completed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_told_an_entry_a_line_and_in_numbers() {
        let todo = |content: &str, status| Todo { content: content.into(), status, active_form: None };
        let todos = [todo("a", TodoStatus::Completed), todo("b", TodoStatus::InProgress)];
        assert_eq!(listed(&todos), "- [completed] a\n- [in_progress] b\n");
        assert_eq!(noted(&todos), "The list is noted: 0 pending, 1 in progress, 1 completed.");
        assert_eq!(listed(&[]), "");
    }
}
