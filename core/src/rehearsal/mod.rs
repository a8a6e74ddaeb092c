//! The rehearsal model: a script inside the program in place of a language model, and it says so.
//!
//! It needs no network and no key. Without a scenario it gives a [`tour`] of the directory through the real tools; with
//! one ([`Scenario`]) it says, does and breaks what the file says ([`play`]). Either way the answer is a list of
//! [`Cue`]s, made from the request alone, which the shell acts out with real waits. The format of scenario files is
//! described for people in `docs/rehearsal.md`.

mod cue;
mod play;
mod reading;
mod report;
mod scenario;
mod survey;
mod tour;
mod tree;

pub use cue::Cue;
pub use play::play;
pub use scenario::{Attempt, Ending, Refusal, Scenario, ScenarioError, Sentence, Step};
pub use tour::tour;

use crate::model::{Item, ModelRequest};

/// The items since a person last said something, that item included.
fn current(request: &ModelRequest) -> &[Item] {
    let items = &request.items;
    let start = items.iter().rposition(|item| matches!(item, Item::User { .. })).unwrap_or(0);
    &items[start..]
}

/// How many answers have been given since a person last said something.
fn answered(request: &ModelRequest) -> usize {
    current(request).iter().filter(|item| matches!(item, Item::Assistant { .. })).count()
}
