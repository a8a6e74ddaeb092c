//! A session as a document: what was said as it stands, and what was done in fenced blocks.

use std::fmt::Write;
use std::io::IsTerminal;

use hostler_core::client::{printable, rfc3339};
use hostler_core::content::{Block, MessageBody, ToolCall};
use hostler_core::protocol::{Transcript, TranscriptMessage};

use super::spoken;

/// The session in Markdown. What a terminal would obey is shown as what it is if standard output is one.
pub(super) fn markdown(transcript: &Transcript) -> String {
    let session = &transcript.session;
    let title = session.title.replace(['\n', '\r'], " ");
    let mut text = format!("# {title}\n\nSession `{}`, begun {}.\n", session.id, rfc3339(session.created));
    transcript.messages.iter().for_each(|message| write_message(&mut text, message));
    if std::io::stdout().is_terminal() { printable(&text) } else { text }
}

fn write_message(text: &mut String, message: &TranscriptMessage) {
    let at = rfc3339(message.at);
    // Writing to a string cannot fail.
    let _ = match &message.message.body {
        MessageBody::User(user) => {
            let names = user.attachments.iter().map(|file| format!("\n\nAttached: `{}`", file.name));
            writeln!(text, "\n## User, {at}\n\n{}{}", user.text.trim_end(), names.collect::<String>())
        }
        MessageBody::Summary(summary) => {
            writeln!(text, "\n## Summary of all before, {at}\n\n{}", summary.trim_end())
        }
        MessageBody::Assistant(answer) => {
            let heading = writeln!(text, "\n## {}, {at}", answer.model.shown());
            answer.blocks.iter().for_each(|block| write_block(text, block));
            if let Some(how) = spoken::finish(answer.finish.as_ref()) {
                let _ = writeln!(text, "\n({how})");
            }
            heading
        }
    };
}

fn write_block(text: &mut String, block: &Block) {
    let _ = match block {
        Block::Text(said) => writeln!(text, "\n{}", said.trim_end()),
        Block::Reasoning(reasoning) if reasoning.text.trim().is_empty() => Ok(()),
        Block::Reasoning(reasoning) => {
            let quoted: Vec<_> = reasoning.text.trim().lines().map(|line| format!("> {line}")).collect();
            writeln!(text, "\n{}", quoted.join("\n"))
        }
        Block::Call(call) => write_call(text, call),
    };
}

fn write_call(text: &mut String, call: &ToolCall) -> std::fmt::Result {
    writeln!(text, "\nTool `{}`:\n\n{}", call.name, fenced("json", &call.input))?;
    let Some(outcome) = &call.outcome else { return writeln!(text, "\n(no result yet)") };
    writeln!(text, "\n{}", fenced("", &outcome.text))
}

/// The text between fences that are longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|char: char| char != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("json", "{}"), "```json\n{}\n```");
        assert_eq!(fenced("", "a ```` b\n"), "`````\na ```` b\n`````");
    }
}
