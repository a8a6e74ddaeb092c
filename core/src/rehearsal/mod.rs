//! The rehearsal model: a script inside the program in place of a language model, and it says so.
//!
//! It needs no network and no key. It says, does and breaks what a scenario
//! file says ([`Scenario`], [`play`]). The answer is a list of
//! [`Cue`]s, made from the request alone, which the shell acts out with real waits. The format of scenario files is
//! described for people in `docs/rehearsal.md`.

mod cue;
mod play;
mod reading;
mod scenario;

pub use cue::Cue;
pub use play::play;
pub use scenario::{Attempt, Ending, Refusal, Scenario, ScenarioError, Sentence, Step};

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
