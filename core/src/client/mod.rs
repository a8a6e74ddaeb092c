//! The client's side of the door: what a `hostler run` prints and when it is over.

mod calendar;
mod exit;
mod headless;
mod lines;
mod live;
mod terms;
mod text;

pub use calendar::rfc3339;
pub use exit::exit_code;
pub use headless::{Earlier, Effect, Format, Gathered, Headless, Input, Options, Signal, Which};
pub use lines::{quiet_json, run_json, whole_run_json};
pub use terms::Wishes;
pub use text::{one_line, printable};

#[cfg(test)]
mod tests;
