//! What can happen to a run, and what it asks for.

use alloc::boxed::Box;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::Gathered;
use crate::protocol::{Event, Refusal, Reply, Request};

/// A signal that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// What can happen to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// It begins. Nothing else comes before.
    Begin,
    /// What the run needs is gathered.
    Ready(Box<Gathered>),
    /// Something that the run needs cannot be had, which makes no sense of what was asked for; one sentence says what.
    Mistake(String),
    /// The model that was asked for cannot be one that anybody has; one sentence says why.
    UnknownModel(String),
    /// The workspace is open.
    Opened,
    /// The workspace could not be opened, and why.
    Unavailable(Refusal),
    /// The server that has the run was lost and does not come back, and why, in one sentence.
    ServerLost(String),
    /// The request that was made last is answered.
    Reply(Box<Reply>),
    /// Something happened in the workspace.
    Event(Box<Event>),
    /// The answer is in its file, or why it is not, in one sentence.
    Kept(Result<(), String>),
    /// A signal came.
    Signal(Signal),
    /// The reader of standard output went away. It is the one thing that still matters when the run is over: what was
    /// printed last is then lost.
    OutputClosed,
    /// Standard output cannot be written although somebody reads it, and why. It matters as long as that does.
    OutputFailed(String),
    /// The time is over that a reader of standard output is given, and it has not taken all of it.
    Undelivered,
    /// Time has passed.
    Tick,
}

/// What a run asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Open the workspace, which may take time. Nothing is asked before.
    Open,
    /// Ask at the door.
    Request(Box<Request>),
    /// Put the answer into its file, which then has all of it or is as it was.
    Keep(String),
    /// Write to standard output, in order.
    Out(String),
    /// Write a line to standard error.
    Err(String),
    /// Write nothing more and end the process with that code.
    Exit(u8),
}

impl crate::machine::Effect for Effect {
    fn id(&self) -> Option<crate::ids::EffectId> {
        None
    }
}
