//! The tools as a model is told of them. The wording is part of every request, so it is short and never changes
//! between two requests of a session.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::model::ToolSpec;

struct Row {
    name: &'static str,
    description: &'static str,
    schema: &'static str,
    overlaps: bool,
}

/// The tool that opens a sub-agent's session; a sub-agent has none of its own.
const AGENT: &str = "agent";

/// In the order of their names, which is the order in which a model is told of them.
const TOOLS: &[Row] = &[
    Row {
        name: "agent",
        description: "Give a task of finding out to a sub-agent that can only read (view, ls, glob, grep) and get its answer. Good \
            for broad searches, several at once if they are independent. It knows nothing of this conversation: say all it \
            needs and what to answer. Its answer is not shown to the user.",
        schema: r#"{"type":"object","properties":{"prompt":{"type":"string","description":"The whole task."}},"required":["prompt"]}"#,
        overlaps: true,
    },
    Row {
        name: "bash",
        description: "Run a command with bash in the workspace and get its output and exit code. Each call is a fresh \
            shell; stdin is empty and there is no terminal. Long output is cut in the middle and \
            kept in a file that view and grep can read. Use the other \
            tools to read, search and edit files.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string","description":"The command to run."},"description":{"type":"string","description":"What it is for, in a few words."},"working_dir":{"type":"string","description":"Where to run it; the workspace if not given."},"timeout":{"type":"integer","description":"Seconds after which it is stopped: 120 if not given, at most 3600."}},"required":["command"]}"#,
        overlaps: false,
    },
    Row {
        name: "edit",
        description: "Replace text in a file. old_string must occur exactly once (include enough lines around it), unless \
            replace_all is true. View the file first. An empty old_string makes a new file with new_string in it.",
        schema: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"The file, absolute or relative to the workspace."},"old_string":{"type":"string","description":"The text to replace, exactly as it stands."},"new_string":{"type":"string","description":"The text to put there."},"replace_all":{"type":"boolean","description":"Replace every occurrence."}},"required":["file_path","old_string","new_string"]}"#,
        overlaps: false,
    },
    Row {
        name: "glob",
        description: "Find files by a pattern of their path, such as **/*.rs or src/*.{ts,tsx}. Newest first, at most 100; \
            ignored files are left out.",
        schema: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The pattern."},"path":{"type":"string","description":"Where to look; the workspace if not given."}},"required":["pattern"]}"#,
        overlaps: true,
    },
    Row {
        name: "grep",
        description: "Find lines by a regular expression in the files of a directory. At most 100 matches; ignored and \
            binary files are left out.",
        schema: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The regular expression."},"path":{"type":"string","description":"Where to look; the workspace if not given."},"include":{"type":"string","description":"Only files whose name fits this pattern, such as *.rs."},"literal_text":{"type":"boolean","description":"Take the pattern as plain text."}},"required":["pattern"]}"#,
        overlaps: true,
    },
    Row {
        name: "ls",
        description: "List a directory as a tree. At most 1000 entries; ignored files are left out.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","description":"The directory; the workspace if not given."},"depth":{"type":"integer","description":"How many levels to go down; all if not given."}}}"#,
        overlaps: true,
    },
    Row {
        name: "multiedit",
        description: "Replace several texts in one file, one after the other; each sees what those before it did. If one \
            fails, nothing is changed. The rules of edit hold for each.",
        schema: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"The file, absolute or relative to the workspace."},"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"old_string":{"type":"string","description":"The text to replace, exactly as it stands."},"new_string":{"type":"string","description":"The text to put there."},"replace_all":{"type":"boolean","description":"Replace every occurrence."}},"required":["old_string","new_string"]},"description":"The replacements, in order."}},"required":["file_path","edits"]}"#,
        overlaps: false,
    },
    Row {
        name: "todos",
        description: "Keep the list of what is to be done, for work of several parts. Pass the whole list each time; one entry at \
            a time is in progress, and what is done is marked at once. Leave it out for simple tasks.",
        schema: r#"{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"content":{"type":"string","description":"What is to be done."},"status":{"type":"string","enum":["pending","in_progress","completed"]},"active_form":{"type":"string","description":"The same while it is being done, such as: Running the tests."}},"required":["content","status"]},"description":"The whole list, in order."}},"required":["todos"]}"#,
        overlaps: false,
    },
    Row {
        name: "view",
        description: "Read a text file with line numbers: 200 lines from the beginning unless offset and limit say otherwise. \
            Or look at a picture (PNG, JPEG, GIF, WebP).",
        schema: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"The file, absolute or relative to the workspace."},"offset":{"type":"integer","description":"How many lines to skip."},"limit":{"type":"integer","description":"How many lines to read; 200 if not given."}},"required":["file_path"]}"#,
        overlaps: true,
    },
    Row {
        name: "write",
        description: "Write a whole file, making the directories it needs. View a file first before you overwrite it; use \
            edit for changes.",
        schema: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"The file, absolute or relative to the workspace."},"content":{"type":"string","description":"All of its content."}},"required":["file_path","content"]}"#,
        overlaps: false,
    },
];

/// All tools, as a model is told of them.
pub fn specs() -> Vec<ToolSpec> {
    let spec = |row: &Row| ToolSpec {
        name: row.name.to_string(),
        description: row.description.to_string(),
        schema: row.schema.to_string(),
    };
    TOOLS.iter().map(spec).collect()
}

/// The tools of a sub-agent, out of those of the session that it helps: the ones that only read.
pub fn sub_agent_specs(offered: &[ToolSpec]) -> Vec<ToolSpec> {
    let reads = |spec: &&ToolSpec| spec.name != AGENT && overlaps(&spec.name);
    offered.iter().filter(reads).cloned().collect()
}

/// Whether a call of that tool may run while others that may do so are running. The rest overlap nothing.
pub fn overlaps(name: &str) -> bool {
    TOOLS.iter().any(|row| row.name == name && row.overlaps)
}

/// The names of all tools, for a sentence.
pub(super) fn names() -> String {
    TOOLS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_a_json_object_and_names_are_in_order() {
        let names: Vec<_> = TOOLS.iter().map(|row| row.name).collect();
        assert!(names.is_sorted());
        for row in TOOLS {
            let schema: serde_json::Value = serde_json::from_str(row.schema).unwrap_or_default();
            assert_eq!(schema["type"], "object", "{}", row.name);
        }
    }
}
