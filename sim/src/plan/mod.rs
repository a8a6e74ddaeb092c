//! What is done to the world: a list of actions, made from a seed or read from a file, and never changed while it runs.
//!
//! Shrinking deletes actions and rounds times, and nothing else.

mod generate;
mod text;

pub use generate::generate;
pub use text::{read_action, write_action};

/// All that people and misfortune do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In no particular order.
    pub actions: Vec<Action>,
}

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its name, which it keeps when others are deleted.
    pub id: u64,
    /// When it is due, in milliseconds from the start.
    pub at: u64,
    /// The moment that it waits for once it is due.
    pub aim: Aim,
    /// What is done.
    pub what: What,
}

/// The moment that an action waits for once it is due. What never comes is waited for no longer than a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// None.
    None,
    /// The next deadline of its process, or a millisecond before or after: -1, 0 or 1.
    Deadline(i64),
    /// A batch with a record of that kind has been decided and is not committed.
    Decided(&'static str),
    /// A batch with a record of that kind is committed, and none of its effects has started.
    Committed(&'static str),
}

/// The records that an action can aim at.
pub const AIMS: [&str; 17] = [
    "PromptAccepted",
    "PromptQueued",
    "PromptFolded",
    "TurnStarted",
    "AttemptStarted",
    "TextAppended",
    "AttemptFailed",
    "SummaryStarted",
    "MessageFinished",
    "ToolCallStarted",
    "ToolCallFinished",
    "CancelAccepted",
    "RunFinished",
    "PermissionAsked",
    "PermissionDecided",
    "SubAgentFinished",
    "SessionCreated",
];

/// What is done. Processes, sessions and prompts are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A prompt is submitted.
    Submit(Submit),
    /// A session is cancelled, or the run of a prompt.
    Cancel {
        /// Through which process.
        process: u64,
        /// Which session.
        session: u64,
        /// The run of which prompt; the whole session if none.
        prompt: Option<u64>,
    },
    /// A sub-agent of a session is cancelled, by itself.
    Stop {
        /// Through which process.
        process: u64,
        /// Of which session.
        session: u64,
    },
    /// The queue of a session is cleared.
    Clear {
        /// Through which process.
        process: u64,
        /// Which session.
        session: u64,
    },
    /// Somebody says what a session is called.
    Rename {
        /// Through which process.
        process: u64,
        /// Which session.
        session: u64,
        /// The how-manieth name.
        name: u64,
    },
    /// A session is made from another one.
    Fork {
        /// Through which process.
        process: u64,
        /// From which session.
        from: u64,
        /// Which session is made.
        session: u64,
    },
    /// A session is forgotten.
    Delete {
        /// Through which process.
        process: u64,
        /// Which session.
        session: u64,
    },
    /// A `hostler run` gets a signal, or its reader goes away.
    Signal {
        /// The run of which prompt.
        prompt: u64,
        /// What: 0 hangup, 1 interrupt, 2 terminate, 3 the reader.
        how: u64,
    },
    /// A process is killed without warning.
    Kill {
        /// Which.
        process: u64,
        /// How long until it is started again.
        down: u64,
    },
    /// A process does nothing for a while.
    Suspend {
        /// Which.
        process: u64,
        /// For how long.
        time: u64,
    },
    /// The power goes: all processes end, and what was not safe from that is lost.
    Power {
        /// How long until they are started again.
        down: u64,
        /// How many of the records that may be lost are lost, per mille.
        lost: u64,
    },
    /// The disk goes bad for a while.
    Outage {
        /// How: 0 slow, 1 busy, 2 fails, 3 fails although it is done.
        how: u64,
        /// For how long.
        time: u64,
    },
}

/// A submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    /// Through which process.
    pub process: u64,
    /// To which session.
    pub session: u64,
    /// Whether the session may be made for it.
    pub new: bool,
    /// Which prompt.
    pub prompt: u64,
    /// Whether it has a run id.
    pub run: bool,
    /// How it meets a turn: 0 as usual, 1 joins, 2 waits.
    pub delivery: u64,
    /// What its calls may do: 0 what rules allow, 1 everything, 2 also what a person permits who is asked.
    pub permission: u64,
    /// How many steps it may have.
    pub steps: u64,
    /// The longest wait that a provider may ask for.
    pub wait: u64,
    /// Whether it comes from a `hostler run`.
    pub headless: bool,
    /// Whether its answer must satisfy a schema.
    pub schema: bool,
    /// What is wrong with it: 0 nothing, 1 it is empty, 2 another text than before, 3 the run id of another.
    pub flaw: u64,
}

impl What {
    /// It concerns sessions whose numbers are so much higher.
    fn shift(&mut self, by: u64) {
        match self {
            What::Submit(submit) => submit.session += by,
            What::Cancel { session, .. }
            | What::Stop { session, .. }
            | What::Clear { session, .. }
            | What::Rename { session, .. }
            | What::Delete { session, .. } => *session += by,
            What::Fork { from, session, .. } => (*from, *session) = (*from + by, *session + by),
            What::Signal { .. }
            | What::Kill { .. }
            | What::Suspend { .. }
            | What::Power { .. }
            | What::Outage { .. } => {}
        }
    }

    /// The process that it concerns; none if it concerns all.
    pub fn process(&self) -> Option<u64> {
        match self {
            What::Submit(submit) => Some(submit.process),
            What::Cancel { process, .. }
            | What::Stop { process, .. }
            | What::Clear { process, .. }
            | What::Rename { process, .. }
            | What::Fork { process, .. }
            | What::Delete { process, .. }
            | What::Kill { process, .. }
            | What::Suspend { process, .. } => Some(*process),
            What::Power { .. } | What::Outage { .. } | What::Signal { .. } => None,
        }
    }
}
