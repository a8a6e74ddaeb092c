//! A workspace under test: virtual time, its log, what is under way outside of it, and the laws that hold after every
//! batch.
//!
//! The rig stands in for the driver. It hands inputs over in batches, takes their records for committed, and carries
//! the effects out as far as noting that they are under way; what comes of them is said by the test. A crash drops the
//! machine and whatever is under way, and keeps the log.

#![allow(dead_code, reason = "each test binary uses a part of it")]

mod drive;
mod fates;
mod flights;
mod growth;
mod laws;
mod prefixes;
mod schemas;
mod tape;
mod transcript;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::history;
use hostler_core::ids::{AttemptId, RequestId, SessionId};
use hostler_core::machine::{Effects, Entry, Machine};
use hostler_core::model::ModelRequest;
use hostler_core::protocol::{Command, Notice, Reply};
use hostler_core::record::Record;
use hostler_core::session::{self, Durable, Settings};
use hostler_core::time::{Deadline, Timestamp};
use hostler_core::workspace::{Effect, Input, Workspace};

use flights::Flights;
use growth::Growth;
use laws::Laws;
use tape::Tape;

/// A workspace under test.
pub(crate) struct Rig {
    pub(crate) now: Timestamp,
    pub(crate) settings: Settings,
    /// What is committed.
    pub(crate) log: Vec<Entry>,
    /// What is under way outside the machine.
    pub(crate) flights: Flights,
    /// What models were asked.
    pub(crate) asked: Vec<(AttemptId, ModelRequest)>,
    pub(crate) replies: BTreeMap<RequestId, Reply>,
    pub(crate) notices: Vec<Notice>,
    machine: Workspace,
    laws: Laws,
    tape: Tape,
    requests: u64,
    growth: Growth,
}

/// What a batch led to.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) effects: Vec<Effect>,
}

impl Batch {
    /// The names of its records.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.record.kind()).collect()
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.entries.iter().map(|entry| &entry.record)
    }

    /// Its effects in a few words each, without answers to requests.
    pub(crate) fn asks(&self) -> Vec<String> {
        let is_reply = |effect: &&Effect| matches!(effect, Effect::Reply { .. });
        self.effects.iter().filter(|effect| !is_reply(effect)).map(words::ask).collect()
    }
}

impl Rig {
    /// A workspace with the usual limits.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// A workspace in which a server runs the sessions.
    pub(crate) fn serving() -> Self {
        Self::with(Settings { serving: true, ..Settings::default() })
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let machine = Workspace::new(settings.clone());
        Self {
            now,
            tape: Tape::begin(now, &machine),
            laws: Laws::new(settings.settle),
            settings,
            log: Vec::new(),
            flights: Flights::default(),
            asked: Vec::new(),
            replies: BTreeMap::new(),
            notices: Vec::new(),
            machine,
            requests: 0,
            growth: Growth::default(),
        }
    }

    /// Hands over a batch as the driver does: a passed deadline first, then what the shell has to say itself.
    pub(crate) fn batch(&mut self, inputs: Vec<Input>) -> Batch {
        let inputs = self.gathered(inputs);
        let out = self.decide(&inputs);
        self.tape.note(self.now, inputs, &out);
        let (entries, effects) = out.into_parts();
        self.commit(&entries);
        effects.iter().for_each(|effect| self.start(effect));
        self.laws.after_batch(self.now, &self.machine, &self.flights);
        Batch { entries, effects }
    }

    fn gathered(&mut self, inputs: Vec<Input>) -> Vec<Input> {
        let due = self.deadline().is_some_and(|(at, _)| at <= self.now);
        let tick = due.then_some(Input::Tick);
        tick.into_iter().chain(self.flights.own_words.drain(..)).chain(inputs).collect()
    }

    fn decide(&mut self, inputs: &[Input]) -> Effects<Effect> {
        let mut out = Effects::new();
        for input in inputs {
            self.flights.ended(input);
            self.laws.input(input);
            self.machine.handle(self.now, input.clone(), &mut out);
        }
        out
    }

    fn commit(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.laws.record(entry);
            self.log.push(entry.clone());
        }
    }

    fn start(&mut self, effect: &Effect) {
        self.laws.effect(effect);
        self.flights.start(effect);
        match effect {
            Effect::Reply { to, reply } => {
                let before = self.replies.insert(*to, (**reply).clone());
                assert_eq!(before, None, "request {to:?} is answered twice");
            }
            Effect::Notify(notice) => self.notices.push(notice.clone()),
            Effect::Session(owned) => {
                if let session::Effect::CallModel { attempt, .. } = &owned.effect {
                    self.ask(&owned.session, *attempt);
                }
            }
            Effect::DeleteSession { session } => {
                self.log.retain(|entry| entry.session.root() != *session);
                self.laws.forget(session);
            }
            Effect::OpenSession { .. } | Effect::CancelOpen { .. } | Effect::CloseSession { .. } => {}
        }
    }

    fn ask(&mut self, session: &SessionId, attempt: AttemptId) {
        let request = self.machine.model_request(session).expect("a model is asked for a step that is over");
        assert_eq!(history::check(&request.items), Ok(()), "the request of {attempt}");
        prefixes::everybody_takes(&request);
        let durable = self.laws.durable(session).expect("the session has a log");
        let works = durable.turn.as_ref().is_some_and(|turn| turn.purpose == session::Purpose::Work);
        // A request for a summary may leave out what does not fit.
        if works {
            transcript::nothing_is_left_out(durable, &request);
            self.growth.asked(session, durable, &request);
        }
        self.asked.push((attempt, request));
    }

    /// The process ends between two batches.
    pub(crate) fn crash(&mut self) {
        self.machine = Workspace::new(self.settings.clone());
        self.flights = Flights::default();
        self.laws.crash();
        self.tape = Tape::begin(self.now, &self.machine);
    }

    /// The process ends before a batch is committed.
    pub(crate) fn crash_uncommitted(&mut self, inputs: Vec<Input>) {
        let inputs = self.gathered(inputs);
        self.decide(&inputs);
        self.crash();
    }

    /// The process ends when a batch is committed and none of its effects has started.
    pub(crate) fn crash_unstarted(&mut self, inputs: Vec<Input>) {
        let inputs = self.gathered(inputs);
        let (entries, _) = self.decide(&inputs).into_parts();
        self.commit(&entries);
        self.crash();
    }

    /// The earliest time at which a tick would do something.
    pub(crate) fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        self.machine.deadline()
    }

    /// Time passes until the next deadline.
    pub(crate) fn tick(&mut self) -> Batch {
        let (at, _) = self.deadline().expect("nothing is waited for");
        self.now = self.now.max(at);
        let batch = self.batch(Vec::new());
        let left = self.deadline().filter(|(at, _)| *at <= self.now);
        assert_eq!(left, None, "a tick leaves undone what is due");
        batch
    }

    /// Time passes, and every deadline in it with it.
    pub(crate) fn wait(&mut self, millis: u64) {
        let until = self.now.plus(millis);
        while self.deadline().is_some_and(|(at, _)| at <= until) {
            self.tick();
        }
        self.now = until;
    }

    /// A request at the door; its answer is found under the id.
    pub(crate) fn request(&mut self, command: Command) -> (RequestId, Input) {
        self.requests += 1;
        let id = RequestId(self.requests);
        let source = match &command {
            Command::Fork { from, .. } => self.folded(from).map(Box::new),
            _ => None,
        };
        (id, Input::Request { id, command, taken: None, source })
    }

    /// The machine itself.
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.machine
    }

    /// What a session's log amounts to, folded as it went.
    pub(crate) fn durable(&self, session: &SessionId) -> &Durable {
        self.laws.durable(session).expect("the session has a log")
    }

    /// What a session's log amounts to, folded from its beginning; nothing if it has none.
    pub(crate) fn folded(&self, session: &SessionId) -> Option<Durable> {
        let mut entries = self.log.iter().filter(|entry| entry.session == *session).peekable();
        entries.peek()?;
        let mut durable = Durable::new(session.clone());
        entries.for_each(|entry| durable.evolve(entry.at, &entry.record));
        Some(durable)
    }

    /// The sub-agents of a session whose runs have no end, as their logs left them.
    pub(crate) fn unfinished_children(&self, session: &SessionId) -> Vec<Durable> {
        let ids: BTreeSet<_> = self.log.iter().map(|entry| entry.session.clone()).collect();
        let own = ids.iter().filter(|id| id.is_child() && id.root() == *session);
        own.filter_map(|id| self.folded(id)).filter(|durable| !durable.is_idle()).collect()
    }

    /// Whether no session is in use.
    pub(crate) fn is_idle(&self) -> bool {
        self.machine.is_idle()
    }

    /// Whether a session is open.
    pub(crate) fn is_open(&self, session: &SessionId) -> bool {
        self.machine.durable(session).is_some()
    }

    /// Every accepted prompt has its end.
    pub(crate) fn everything_has_ended(&self) {
        self.laws.all_ended();
    }

    /// The flight record since the start or the last crash.
    pub(crate) fn flight(&self) -> String {
        self.tape.text()
    }
}
