//! Finding the one session or run whose id begins with what somebody typed.
//!
//! A whole id always finds what it names. A beginning finds root sessions and their runs only: a sub-agent's ids begin
//! with those of what started it. Ids are compared as ranges of text, so that no character in one has a meaning.

use std::ops::ControlFlow;

use hostler_core::protocol::{Refusal, RefusalKind};
use hostler_core::quote::quoted;
use rusqlite::Connection;

use super::error::Fault;
use super::load::each;

/// How many of the things that fit are named when more than one does.
const NAMED: usize = 5;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Session,
    Run,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Found {
    /// The row of the one that fits: a session's key, or a run's rowid.
    One(i64),
    /// None or several.
    Not(Refusal),
}

/// Finds the one whose id begins so.
pub(super) fn find(read: &Connection, kind: Kind, prefix: &str) -> Result<Found, Fault> {
    if prefix.is_empty() {
        let message = format!("an empty text names no {}; give the beginning of its id", kind.word());
        return Ok(Found::Not(Refusal::new(RefusalKind::Invalid, message)));
    }
    let mut found = candidates(read, kind.whole(), [prefix])?;
    if found.is_empty() {
        found = candidates(read, kind.beginning(), [prefix])?;
    }
    Ok(match found.as_slice() {
        [] => {
            let (word, prefix) = (kind.word(), quoted(prefix));
            let message = format!(
                "there is no {word} {prefix} here; `hostler {word}s list` shows those that there are"
            );
            Found::Not(Refusal::new(RefusalKind::NotFound, message))
        }
        [(row, _)] => Found::One(*row),
        several => Found::Not(ambiguous(kind, prefix, several)),
    })
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Session => "session",
            Kind::Run => "run",
        }
    }

    fn whole(self) -> &'static str {
        match self {
            Kind::Session => "SELECT key, id FROM sessions WHERE id = ?1",
            Kind::Run => {
                "SELECT runs.rowid, run || ' of session ' || id FROM runs JOIN sessions ON key = session
                    WHERE run = ?1 ORDER BY session LIMIT 6"
            }
        }
    }

    /// No text that begins with a prefix comes after the prefix with the last of all characters added.
    fn beginning(self) -> &'static str {
        match self {
            Kind::Session => {
                "SELECT key, id FROM sessions WHERE parent IS NULL AND id >= ?1 AND id < ?1 || char(0x10FFFF)
                    ORDER BY id LIMIT 6"
            }
            Kind::Run => {
                "SELECT runs.rowid, run FROM runs JOIN sessions ON key = session
                    WHERE parent IS NULL AND run >= ?1 AND run < ?1 || char(0x10FFFF) ORDER BY run LIMIT 6"
            }
        }
    }
}

fn candidates(read: &Connection, sql: &str, values: [&str; 1]) -> Result<Vec<(i64, String)>, Fault> {
    let mut found = Vec::new();
    each(read, sql, values, |row| {
        found.push((row.get(0)?, row.get(1)?));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn ambiguous(kind: Kind, prefix: &str, found: &[(i64, String)]) -> Refusal {
    let mut names: Vec<&str> = found.iter().take(NAMED).map(|(_, id)| id.as_str()).collect();
    if found.len() > NAMED {
        names.push("others");
    }
    let (word, prefix) = (kind.word(), quoted(prefix));
    let message =
        format!("more than one {word} begins with {prefix}: {}; give more of its id", names.join(", "));
    Refusal::new(RefusalKind::Ambiguous, message)
}
