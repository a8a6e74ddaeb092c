//! Tells subscribers what is in the log. Who does not keep up is cut off and catches up from the log.

use std::collections::VecDeque;
use std::sync::Arc;

use hostler_core::machine::Entry;
use hostler_core::protocol::{Event, EventId, Notice};
use tokio::sync::mpsc;

use super::Shared;
use crate::door::Page;
use crate::store::{Committed, Store};

/// How many events a subscriber may be behind.
const BEHIND: usize = 4096;

/// How many records one page of catching up has.
const PAGE: usize = 1024;

/// The subscribers of a log.
#[derive(Debug)]
pub(super) struct Publisher {
    log: String,
    /// How often the log could not be written, and what is said about the last time.
    failures: (u64, String),
    subscribers: Vec<mpsc::Sender<Shared>>,
}

impl Publisher {
    pub(super) fn new(log: &str) -> Self {
        Self { log: log.to_owned(), failures: (0, String::new()), subscribers: Vec::new() }
    }

    /// Tells of records that are committed.
    pub(super) fn records(&mut self, entries: Vec<Entry>, committed: &[Committed]) {
        if self.subscribers.is_empty() {
            return;
        }
        for (entry, place) in entries.into_iter().zip(committed) {
            self.tell(Event::Record { id: self.id(place.seq), entry });
        }
    }

    /// Tells of something that is not history. That the log could not be written is told also to those who are behind.
    pub(super) fn notice(&mut self, notice: Notice) {
        if let Notice::StorageFailed { message } = &notice {
            self.failures = (self.failures.0 + 1, message.clone());
        }
        self.tell(Event::Notice(notice));
    }

    fn tell(&mut self, event: Event) {
        let event = Arc::new(event);
        self.subscribers.retain(|subscriber| subscriber.try_send(event.clone()).is_ok());
    }

    fn id(&self, seq: u64) -> EventId {
        EventId { log: self.log.clone(), seq }
    }

    /// What came after a place, and the stream from there once nothing is missing.
    pub(super) fn subscribe(&mut self, from: Option<EventId>, store: &Store) -> Result<Page, String> {
        let problem = |error: crate::store::StoreError| error.to_string();
        let head = store.head().map_err(problem)?;
        let Some(from) = from else { return Ok(self.follow(VecDeque::new(), head)) };
        if from.log != self.log || from.seq > head {
            let resync = Event::Resync { head: self.id(head), sessions: Vec::new() };
            return Ok(self.follow(VecDeque::from([Arc::new(resync)]), head));
        }
        let missed = store.after(from.seq, PAGE).map_err(problem)?;
        let whole = missed.len() < PAGE;
        let event = |(seq, entry)| Arc::new(Event::Record { id: self.id(seq), entry });
        let missed: VecDeque<_> = missed.into_iter().map(event).collect();
        if whole {
            Ok(self.follow(missed, head))
        } else {
            Ok(Page { missed, live: None, head: None, failures: self.failures.clone() })
        }
    }

    fn follow(&mut self, missed: VecDeque<Shared>, head: u64) -> Page {
        let (sender, live) = mpsc::channel(BEHIND);
        self.subscribers.push(sender);
        Page { missed, live: Some(live), head: Some(self.id(head)), failures: self.failures.clone() }
    }
}
