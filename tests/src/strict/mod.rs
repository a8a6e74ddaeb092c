//! The strict provider: a server on the loopback interface that refuses what a real provider refuses.
//!
//! It speaks every [`Protocol`] as its public API reference describes, over HTTP/1.1 and with streamed answers, and lists
//! its models. A test hands it a [`Script`] of [`Answer`]s, which know no protocol, points the program at
//! [`StrictProvider::base_url_of`] the one it is about, and ends with [`StrictProvider::assert_clean`], which fails when
//! any request was one that a real provider refuses. It shares no code with the program, so that the two cannot be wrong
//! in the same way.
//!
//! ```
//! use hostler_tests::strict::{Answer, StrictProvider};
//!
//! let provider = StrictProvider::start([
//!     Answer::calling("call_1", "bash", serde_json::json!({"command": "ls"})),
//!     Answer::say("Two files."),
//! ]);
//! assert!(provider.base_url().ends_with("/v1"));
//! provider.assert_clean();
//! ```

mod answer;
mod chat;
mod gate;
mod gemini;
mod head;
mod http;
mod messages;
mod play;
mod protocol;
mod record;
mod reject;
mod responses;
mod script;
mod seal;
mod serve;
mod server;
mod sse;
mod stop;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Call};
pub use gate::Gate;
pub use protocol::{Protocol, check_body};
pub use record::{Recorded, Said, Verdict};
pub use script::Script;
pub use server::StrictProvider;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex` even when a thread panicked while holding it: a failed test must still be able to read what happened.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
