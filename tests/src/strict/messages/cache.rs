//! Cache marks: up to where the provider shall keep what it has read.

use super::shape::{at, known_fields, object, one_of, refuse, tag};
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// How many marks a request may have.
const MOST: usize = 4;

/// The marks of a request so far, in the order in which the provider reads it: tools, instructions, messages.
#[derive(Debug, Default)]
pub(super) struct Marks {
    count: usize,
    /// Whether one is kept for five minutes.
    short: bool,
}

impl Marks {
    /// Checks and counts the mark of what is at `path`, if it has one.
    pub(super) fn take(&mut self, mark: Option<&Value>, path: &str) -> Check {
        let Some(mark) = mark.filter(|mark| !mark.is_null()) else { return Ok(()) };
        let path = at(path, "cache_control");
        let mark = object(mark, &path)?;
        tag(mark, &path, &["ephemeral"])?;
        known_fields(mark, &path, &["type", "ttl"], &[])?;
        let ttl_path = at(&path, "ttl");
        let ttl = mark.get("ttl").map(|ttl| one_of(ttl, &ttl_path, &["5m", "1h"])).transpose()?;
        if ttl == Some("1h") && self.short {
            let what = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that \
                        blocks are processed in the following order: `tools`, `system`, `messages`.";
            return Err(refuse(&ttl_path, what));
        }
        self.short |= ttl != Some("1h");
        self.count += 1;
        Ok(())
    }

    /// Checks that there are not too many.
    pub(super) fn few(&self) -> Check {
        if self.count <= MOST {
            return Ok(());
        }
        let message =
            format!("A maximum of {MOST} blocks with cache_control may be provided. Found {}.", self.count);
        Err(Rejection::new(400, message))
    }
}
