//! What must always hold, one invariant a file. Each is shown everything that can be seen of the world and says when
//! its rule is broken. None knows how the machines work inside.

use std::collections::BTreeMap;
use std::fmt::Debug;

use hostler_core::ids::{AttemptId, RequestId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::ModelRequest;
use hostler_core::protocol::Command;
use hostler_core::session::{Durable, Settings};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

mod acting;
mod asked;
mod cancelled;
mod circles;
mod conserved;
mod costs;
mod dialects;
mod durability;
mod effects;
mod ends;
mod folded;
mod forks;
mod idle;
mod legal;
mod lengths;
mod limits;
mod models;
mod named;
mod order;
mod recorded;
mod refusals;
pub(crate) mod refused;
mod replies;
mod requests;
mod schemas;
mod sequences;
mod settling;
mod streams;
mod titles;
mod totals;
mod turns;
mod words;
mod writers;

#[cfg(test)]
mod fixture;

/// Something that can be seen of the world.
pub enum Seen<'a> {
    /// This stands in the log. After a loss of power the log that is left is shown again from its beginning, to oracles
    /// that know nothing else.
    Log {
        /// Its place.
        seq: u64,
        /// The record.
        entry: &'a Entry,
    },
    /// A process has decided a batch.
    Decided {
        /// Which.
        process: usize,
        /// When.
        at: Timestamp,
        /// What it wants committed.
        entries: &'a [Entry],
        /// What its machine is like then.
        machine: &'a Workspace,
    },
    /// A batch of a process is committed, and the process knows it.
    Committed {
        /// Which.
        process: usize,
        /// What was committed.
        entries: &'a [Entry],
        /// What its machine is like then.
        machine: &'a Workspace,
        /// What the logs amount to.
        folds: &'a BTreeMap<SessionId, Durable>,
    },
    /// A machine has handled one input of a batch.
    Handled {
        /// In which process.
        process: usize,
        /// When.
        at: Timestamp,
        /// The input.
        input: &'a Input,
        /// What it has decided about it.
        entries: &'a [Entry],
        /// What the machine is like then.
        machine: &'a Workspace,
    },
    /// A process writes into the log.
    Writes {
        /// Which.
        process: usize,
        /// What.
        entries: &'a [Entry],
    },
    /// A process starts an effect.
    Start {
        /// Which.
        process: usize,
        /// What.
        effect: &'a Effect,
    },
    /// A process asks a model.
    Asks {
        /// Which attempt of which session it is.
        session: &'a SessionId,
        /// The attempt.
        attempt: AttemptId,
        /// What is asked.
        request: &'a ModelRequest,
        /// What the session's log amounts to.
        durable: &'a Durable,
    },
    /// A process has an answer held against a schema.
    Checks {
        /// The answer of which session.
        session: &'a SessionId,
        /// The schema.
        schema: &'a str,
        /// The answer.
        answer: &'a str,
    },
    /// A process hands a request to its machine.
    Request {
        /// Which.
        process: usize,
        /// The request's number.
        id: RequestId,
        /// What is asked for.
        command: &'a Command,
    },
    /// A process has a session's lock from here on.
    Lock {
        /// Which.
        process: usize,
        /// The session.
        session: &'a SessionId,
    },
    /// A process has given a session's lock back.
    Unlock {
        /// The session.
        session: &'a SessionId,
    },
    /// A process was killed, or has stopped everything after a failed commit.
    Gone {
        /// Which.
        process: usize,
    },
    /// Nothing is under way any more and nothing waits.
    Quiet {
        /// What the logs amount to.
        folds: &'a BTreeMap<SessionId, Durable>,
        /// The sessions whose logs could be written and were used last, so that nothing in them is unfinished.
        tidy: bool,
    },
}

/// An invariant.
pub trait Oracle {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Looks at something. Fails with what is wrong.
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String>;

    /// A session and its sub-agents are forgotten: what comes under that name from here on is new.
    fn forget(&mut self, session: &SessionId);

    /// Another one that knows the same.
    fn fork(&self) -> Box<dyn Oracle>;

    /// All that it remembers and that its next judgements depend on.
    fn memory(&self) -> &dyn Debug;
}

/// All invariants.
pub struct Oracles(Vec<Box<dyn Oracle>>);

impl Clone for Oracles {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|oracle| oracle.fork()).collect())
    }
}

impl Debug for Oracles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.0.iter().map(|oracle| (oracle.name(), oracle.memory()))).finish()
    }
}

impl Oracles {
    /// All of them, knowing nothing. Every so manieth record the costly ones look closely.
    pub fn new(settings: &Settings, closely: u64) -> Self {
        Self(vec![
            Box::new(conserved::Conserved::default()),
            Box::new(ends::Ends::default()),
            Box::new(turns::Turns::default()),
            Box::new(order::Order::default()),
            Box::new(sequences::Sequences::default()),
            Box::new(streams::Streams::default()),
            Box::new(titles::Titles::default()),
            Box::new(limits::Limits::new(settings)),
            Box::new(acting::Acting::default()),
            Box::new(cancelled::Cancelled::default()),
            Box::new(circles::Circles::default()),
            Box::new(effects::Named::default()),
            Box::new(settling::Settling::new(settings)),
            Box::new(replies::Replies::default()),
            Box::new(refusals::Refusals::default()),
            Box::new(words::Words::new(settings)),
            Box::new(schemas::Schemas::new(settings)),
            Box::new(named::Named::default()),
            Box::new(lengths::Lengths::default()),
            Box::new(costs::Costs::default()),
            Box::new(recorded::Recorded::new(settings)),
            Box::new(refused::Refused::default()),
            Box::new(requests::Requests::default()),
            Box::new(models::Models::default()),
            Box::new(forks::Forks::default()),
            Box::new(asked::Asked::default()),
            Box::new(totals::Totals::default()),
            Box::new(writers::Writers::default()),
            Box::new(idle::Idle::default()),
            Box::new(folded::Folded::default()),
            Box::new(durability::Durability::new(closely)),
            Box::new(legal::Legal::new(settings, closely)),
        ])
    }

    /// The names of all of them.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|oracle| oracle.name())
    }

    /// Has all of them forget a session.
    pub fn forget(&mut self, session: &SessionId) {
        self.0.iter_mut().for_each(|oracle| oracle.forget(session));
    }

    /// Shows something to all of them. Fails with the name of the first that objects, and what it says.
    pub fn see(&mut self, seen: &Seen<'_>) -> Result<(), (&'static str, String)> {
        for oracle in &mut self.0 {
            oracle.see(seen).map_err(|what| (oracle.name(), what))?;
        }
        Ok(())
    }
}
