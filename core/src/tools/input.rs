//! What a model may pass to each tool. Read from the text that the model wrote; what does not fit is never run.

use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::todos::{MAX_TODOS, Todo};

/// A tool call that makes sense: a known tool with arguments of the right shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolInput {
    /// Run a shell command.
    Bash(BashInput),
    /// Read a part of a file.
    View(ViewInput),
    /// List a directory.
    Ls(LsInput),
    /// Find files by name.
    Glob(GlobInput),
    /// Find lines by content.
    Grep(GrepInput),
    /// Replace text in a file.
    Edit(EditInput),
    /// Replace several texts in a file.
    MultiEdit(MultiEditInput),
    /// Write a whole file.
    Write(WriteInput),
}

/// What a tool call is: something that the shell does, or something that is done here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallInput {
    /// The shell runs a tool.
    Tool(ToolInput),
    /// A sub-agent is given a task.
    Agent(AgentInput),
    /// The list of what is to be done changes.
    Todos(TodosInput),
}

/// Arguments of `agent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInput {
    /// The whole task.
    pub prompt: String,
}

/// Arguments of `todos`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodosInput {
    /// The whole list.
    pub todos: Vec<Todo>,
}

/// Arguments of `bash`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BashInput {
    /// The command, as one would type it.
    pub command: String,
    /// What it is for, in a few words, for whoever watches.
    #[serde(default)]
    pub description: Option<String>,
    /// Where to run it; the workspace if not given.
    #[serde(default)]
    pub working_dir: Option<String>,
    /// After how many seconds to stop it.
    #[serde(default)]
    pub timeout: Option<u64>,
}

/// Arguments of `view`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewInput {
    /// The file.
    pub file_path: String,
    /// How many lines to skip.
    #[serde(default)]
    pub offset: Option<u64>,
    /// How many lines to read.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Arguments of `ls`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LsInput {
    /// The directory; the workspace if not given.
    #[serde(default)]
    pub path: Option<String>,
    /// How deep to go.
    #[serde(default)]
    pub depth: Option<u64>,
}

/// Arguments of `glob`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobInput {
    /// The pattern, such as `**/*.rs`.
    pub pattern: String,
    /// Where to look; the workspace if not given.
    #[serde(default)]
    pub path: Option<String>,
}

/// Arguments of `grep`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrepInput {
    /// A regular expression.
    pub pattern: String,
    /// Where to look; the workspace if not given.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files whose name fits this pattern.
    #[serde(default)]
    pub include: Option<String>,
    /// Take the pattern as plain text.
    #[serde(default)]
    pub literal_text: bool,
}

/// Arguments of `edit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditInput {
    /// The file.
    pub file_path: String,
    /// What to replace; empty to make a new file.
    pub old_string: String,
    /// What to put there; empty to delete.
    pub new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: bool,
}

/// Arguments of `multiedit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultiEditInput {
    /// The file.
    pub file_path: String,
    /// What to replace, one after the other, all or nothing.
    pub edits: Vec<Replace>,
}

/// One of several replacements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replace {
    /// What to replace; empty, in the first one, to make a new file.
    pub old_string: String,
    /// What to put there; empty to delete.
    pub new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: bool,
}

/// Arguments of `write`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteInput {
    /// The file.
    pub file_path: String,
    /// All of its content.
    pub content: String,
}

/// A tool call that makes no sense, and what the model is told about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInput {
    /// There is no such tool.
    #[error("There is no tool named {}. The tools are: {known}.", crate::quote::quoted(.name))]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The arguments do not fit.
    #[error(
        "The arguments of {name} do not fit: {problem}. Nothing was run; call it again with valid arguments."
    )]
    Arguments {
        /// The tool.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

/// How many characters of what a model wrote are repeated to it.
const SHOWN: usize = 300;

/// Reads a call of one of the shell's tools as the model wrote it.
pub fn read(name: &str, input: &str) -> Result<ToolInput, BadInput> {
    match name {
        "bash" => arguments(name, input).map(ToolInput::Bash),
        "view" => arguments(name, input).map(ToolInput::View),
        "ls" => arguments(name, input).map(ToolInput::Ls),
        "glob" => arguments(name, input).map(ToolInput::Glob),
        "grep" => arguments(name, input).map(ToolInput::Grep),
        "edit" => arguments(name, input).map(ToolInput::Edit),
        "multiedit" => arguments(name, input).map(ToolInput::MultiEdit),
        "write" => arguments(name, input).map(ToolInput::Write),
        _ => Err(unknown(name, super::spec::names())),
    }
}

/// Reads any tool call as the model wrote it, also of tools that are none of the shell's.
pub fn read_call(name: &str, input: &str) -> Result<CallInput, BadInput> {
    match name {
        "agent" => match arguments::<AgentInput>(name, input)? {
            task if task.prompt.trim().is_empty() => Err(misfit(name, "the prompt is empty")),
            task => Ok(CallInput::Agent(task)),
        },
        "todos" => match arguments::<TodosInput>(name, input)? {
            list if list.todos.len() > MAX_TODOS => {
                Err(misfit(name, &alloc::format!("there are more than {MAX_TODOS} entries")))
            }
            list => Ok(CallInput::Todos(list)),
        },
        _ => read(name, input).map(CallInput::Tool),
    }
}

/// The refusal of a tool that is not among those.
pub fn unknown(name: &str, known: String) -> BadInput {
    BadInput::UnknownTool { name: short(name), known }
}

fn misfit(name: &str, problem: &str) -> BadInput {
    BadInput::Arguments { name: name.to_string(), problem: problem.to_string() }
}

fn arguments<T: DeserializeOwned>(name: &str, input: &str) -> Result<T, BadInput> {
    // A model that means "no arguments" often writes nothing at all.
    let text = if input.trim().is_empty() { "{}" } else { input };
    serde_json::from_str(text).map_err(|problem| misfit(name, &short(&problem.to_string())))
}

/// A text that may quote all that the model wrote, cut.
fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => alloc::format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_read() {
        let call = read("view", r#"{"file_path":"a.rs","limit":3}"#);
        let expected = ViewInput { file_path: "a.rs".to_string(), offset: None, limit: Some(3) };
        assert_eq!(call, Ok(ToolInput::View(expected)));
        assert_eq!(read("ls", ""), Ok(ToolInput::Ls(LsInput { path: None, depth: None })));
    }

    #[test]
    fn what_is_none_of_the_shells_is_read_too() {
        let task = read_call("agent", r#"{"prompt":"look"}"#);
        assert_eq!(task, Ok(CallInput::Agent(AgentInput { prompt: "look".to_string() })));
        let list = read_call("todos", r#"{"todos":[{"content":"a","status":"in_progress"}]}"#);
        assert!(matches!(list, Ok(CallInput::Todos(list)) if list.todos.len() == 1));
        assert!(matches!(read_call("ls", "{}"), Ok(CallInput::Tool(ToolInput::Ls(_)))));
        let many =
            alloc::format!(r#"{{"todos":[{}]}}"#, [r#"{"content":"a","status":"pending"}"#; 201].join(","));
        for (name, input, reason) in [
            ("agent", r#"{"prompt":" "}"#, "the prompt is empty"),
            ("agent", "{}", "missing field `prompt`"),
            ("todos", r#"{"todos":[{"content":"a","status":"later"}]}"#, "unknown variant"),
            ("todos", many.as_str(), "more than 200 entries"),
            ("rm", "{}", "There is no tool named"),
        ] {
            let error = read_call(name, input).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|text| text.contains(reason)), "{name}: {error:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_reason() {
        for (name, input, reason) in [
            ("bash", "{", "EOF"),
            ("bash", "{}", "missing field `command`"),
            ("bash", r#"{"command":3}"#, "invalid type"),
            ("bash", r#"["ls"]extra"#, "trailing"),
            ("rm", "{}", "There is no tool named \"rm\""),
        ] {
            let error = read(name, input).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|text| text.contains(reason)), "{name} {input}: {error:?}");
        }
    }
}
