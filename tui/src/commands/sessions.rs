//! `hostler sessions`: lists the sessions of this directory, shows one, and what else is done with one.

use std::fmt::Write;
use std::process::ExitCode;

use hostler_core::client::printable;
use hostler_core::content::{Block, MessageBody, ToolCall};
use hostler_core::ids::SessionId;
use hostler_core::protocol::{Activity, Command, Query, Reply, SessionInfo, Transcript};
use hostler_core::quote::count;
use uuid::Uuid;

use super::{Asking, cut, export, json, minute, one_more, print, say_cut, short, spoken, unexpected};
use crate::cli::{Document, Sessions};
use crate::failure::Failure;

pub(crate) fn sessions(command: &Sessions) -> Result<ExitCode, Failure> {
    let asking = match command {
        Sessions::List { .. } | Sessions::Show { .. } | Sessions::Export { .. } => Asking::to_read()?,
        Sessions::Rename { .. } | Sessions::Fork { .. } | Sessions::Delete { .. } => Asking::new()?,
    };
    match command {
        Sessions::List { json: as_json, limit } => {
            let Reply::Sessions(mut sessions) = asking.query(Query::Sessions { limit: one_more(*limit) })?
            else {
                return Err(unexpected());
            };
            let is_cut = cut(&mut sessions, *limit);
            if *as_json {
                let lines: Result<Vec<_>, _> = sessions.iter().map(json).collect();
                print(&lines?.concat())?;
            } else {
                print(&list(&sessions))?;
                if is_cut {
                    say_cut(*limit, "session");
                }
            }
        }
        Sessions::Show { id, json: as_json } => {
            let transcript = asking.transcript(id)?;
            if *as_json { print(&json(&transcript)?)? } else { print(&show(&transcript))? }
        }
        Sessions::Rename { id, title } => {
            let session = asking.find_session(id)?.id;
            asking.command(Command::Rename { session, title: title.join(" ") })?;
        }
        Sessions::Fork { id, json: as_json } => {
            let from = asking.find_session(id)?.id;
            let session = SessionId::new(Uuid::new_v4().to_string());
            asking.command(Command::Fork { from, session: session.clone() })?;
            if *as_json {
                print(&json(&asking.find_session(session.as_str())?)?)?;
            } else {
                print(&format!("{session}\n"))?;
            }
        }
        Sessions::Delete { id } => delete(&asking, id)?,
        Sessions::Export { id, format } => {
            let transcript = asking.transcript(id)?;
            match format {
                Document::Markdown => print(&export::markdown(&transcript))?,
                Document::Json => print(&json(&transcript)?)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Deletes sessions, in the order in which they are named, if all of them can be found. What is refused is said with what is gone
/// by then.
fn delete(asking: &Asking, ids: &[String]) -> Result<(), Failure> {
    let found: Result<Vec<_>, _> = ids.iter().map(|id| asking.find_session(id)).collect();
    let mut gone: Vec<SessionId> = Vec::new();
    for session in found? {
        if gone.contains(&session.id) {
            continue;
        }
        let deleted = asking.command(Command::Delete { session: session.id.clone() });
        deleted.map_err(|failure| match gone.as_slice() {
            [] => failure,
            gone => failure.besides(&format!("Deleted before that: {}.", count(gone.len(), "session"))),
        })?;
        gone.push(session.id);
    }
    Ok(())
}

fn list(sessions: &[SessionInfo]) -> String {
    if sessions.is_empty() {
        return "There are no sessions in this directory yet; `hostler run` begins one.\n".to_owned();
    }
    let mut text = String::new();
    for session in sessions {
        let (id, updated) = (short(session.id.as_str()), minute(session.updated));
        let (title, state) = (printable(&session.title).replace('\n', " "), state(&session.activity));
        let plural = if session.messages == 1 { "message" } else { "messages" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{id}  {updated}  {:>4} {:<8}  {title}{state}", session.messages, plural);
    }
    text
}

fn state(activity: &Activity) -> String {
    match activity {
        Activity::Idle => String::new(),
        Activity::Running(holder) => format!("  (running in process {})", holder.pid),
        Activity::Interrupted => "  (interrupted)".to_owned(),
    }
}

fn show(transcript: &Transcript) -> String {
    let session = &transcript.session;
    let mut text = format!("{}\n{}{}\n", session.id, printable(&session.title), state(&session.activity));
    for message in &transcript.messages {
        text.push('\n');
        match &message.message.body {
            MessageBody::User(user) => {
                let _ = writeln!(text, "[{}] user\n{}", message.message.id, printable(&user.text));
                for file in &user.attachments {
                    let _ = writeln!(text, "Attached: {}", printable(&file.name));
                }
            }
            MessageBody::Summary(summary) => {
                let _ =
                    writeln!(text, "[{}] summary of all before\n{}", message.message.id, printable(summary));
            }
            MessageBody::Assistant(answer) => {
                let _ = writeln!(text, "[{}] {}", message.message.id, printable(&answer.model.shown()));
                answer.blocks.iter().for_each(|block| show_block(&mut text, block));
                if let Some(how) = spoken::finish(answer.finish.as_ref()) {
                    let _ = writeln!(text, "({how})");
                }
            }
        }
    }
    text
}

fn show_block(text: &mut String, block: &Block) {
    let _ = match block {
        Block::Text(said) => writeln!(text, "{}", printable(said)),
        Block::Reasoning(reasoning) if reasoning.text.is_empty() => Ok(()),
        Block::Reasoning(reasoning) => writeln!(text, "(thinking) {}", printable(&reasoning.text)),
        Block::Call(call) => show_call(text, call),
    };
}

fn show_call(text: &mut String, call: &ToolCall) -> std::fmt::Result {
    writeln!(text, "> {} {}", printable(&call.name), printable(&call.input))?;
    let Some(outcome) = &call.outcome else { return writeln!(text, "  (no result yet)") };
    let lines = printable(&outcome.text);
    lines.lines().try_for_each(|line| writeln!(text, "  {line}"))
}
