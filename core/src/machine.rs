//! The shape of every state machine: inputs in, records and effects out.
//!
//! A machine decides; it carries nothing out. The shell's driver feeds it, commits its records, and only then starts
//! its effects.

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::ids::{EffectId, SessionId};
use crate::record::Record;
use crate::time::{Deadline, Timestamp};

/// A state machine: everything it will ever do follows from its inputs and their times.
pub trait Machine {
    /// What can happen to it.
    type Input;
    /// What it can ask for.
    type Effect: Effect;

    /// Decides: pushes records and effects. Durable state changes only through the records.
    fn handle(&mut self, now: Timestamp, input: Self::Input, out: &mut Effects<Self::Effect>);

    /// The earliest time at which a tick would do something, and what for. The shell sleeps until then.
    fn deadline(&self) -> Option<(Timestamp, Deadline)>;
}

/// Something that the shell is asked to do.
pub trait Effect: Clone + PartialEq + Debug {
    /// The name under which its outcome comes back; none for what cannot complete.
    fn id(&self) -> Option<EffectId>;
}

/// A record and whose it is: one row of the log, before the log has given it its place.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The session that the record belongs to.
    pub session: SessionId,
    /// When it was decided.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
}

/// What one batch of inputs led to. Records and effects are kept apart, because the records of a batch are committed
/// before any of its effects starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects<E> {
    records: Vec<Entry>,
    effects: Vec<E>,
}

impl<E> Default for Effects<E> {
    fn default() -> Self {
        Self { records: Vec::new(), effects: Vec::new() }
    }
}

impl<E: Effect> Effects<E> {
    /// An empty buffer for a batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record, to be committed with the batch.
    pub fn record(&mut self, entry: Entry) {
        self.records.push(entry);
    }

    /// Adds an effect, to be started after the batch is committed.
    pub fn push(&mut self, effect: E) {
        self.effects.push(effect);
    }

    /// Takes back an effect of this batch that has not started, so that nothing starts after its own cancel.
    ///
    /// Returns whether there was one; if not, it has started and must be stopped by an effect of its own.
    pub fn cancel(&mut self, id: &EffectId) -> bool {
        let before = self.effects.len();
        self.effects.retain(|effect| effect.id().as_ref() != Some(id));
        self.effects.len() != before
    }

    /// The records so far, in order.
    pub fn records(&self) -> &[Entry] {
        &self.records
    }

    /// The effects so far, in order.
    pub fn effects(&self) -> &[E] {
        &self.effects
    }

    /// Takes the buffer apart: first what is to be committed, then what is to be started.
    pub fn into_parts(self) -> (Vec<Entry>, Vec<E>) {
        (self.records, self.effects)
    }

    /// Whether the batch led to nothing.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.effects.is_empty()
    }
}
