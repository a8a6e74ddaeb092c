//! Cache marks: up to where the provider shall keep what it has read.

use super::shape::{at, known_fields, object, one_of, tag};
use crate::strict::reject::{Check, Rejection};
use serde_json::Value;

/// How many marks a request may have.
const MOST: usize = 4;

/// How many marks a request has so far.
#[derive(Debug, Default)]
pub(super) struct Marks(usize);

impl Marks {
    /// Checks and counts the mark of what is at `path`, if it has one.
    pub(super) fn take(&mut self, mark: Option<&Value>, path: &str) -> Check {
        let Some(mark) = mark.filter(|mark| !mark.is_null()) else { return Ok(()) };
        let path = at(path, "cache_control");
        let mark = object(mark, &path)?;
        tag(mark, &path, &["ephemeral"])?;
        known_fields(mark, &path, &["type", "ttl"], &[])?;
        if let Some(ttl) = mark.get("ttl") {
            one_of(ttl, &at(&path, "ttl"), &["5m", "1h"])?;
        }
        self.0 += 1;
        Ok(())
    }

    /// Checks that there are not too many.
    pub(super) fn few(&self) -> Check {
        if self.0 <= MOST {
            return Ok(());
        }
        let message =
            format!("A maximum of {MOST} blocks with cache_control may be provided. Found {}.", self.0);
        Err(Rejection::new(400, message))
    }
}
