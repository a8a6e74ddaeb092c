//! What holds always, checked after every record, every effect and every batch.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::{AttemptId, CallId, SessionId};
use hostler_core::machine::{Entry, Machine};
use hostler_core::protocol::{AskId, Command};
use hostler_core::record::Record;
use hostler_core::session::{self, Durable, Owned, Phase};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

use super::fates::Fates;
use super::flights::Flights;
use super::prefixes;
use super::schemas::Schemas;
use super::transcript::Transcript;

/// The laws, and what they need to remember.
pub(crate) struct Laws {
    sessions: BTreeMap<SessionId, Shadow>,
    /// How long what a cancel covers may take to end.
    settle: u64,
    helped: BTreeSet<SessionId>,
}

/// What the log has said of a session, and what has been started for it.
struct Shadow {
    durable: Durable,
    fates: Fates,
    transcript: Transcript,
    schemas: Schemas,
    attempts: BTreeSet<AttemptId>,
    asked: BTreeSet<AttemptId>,
    run: BTreeSet<CallId>,
    seen: prefixes::Seen,
}

impl Laws {
    pub(crate) fn new(settle: u64) -> Self {
        Self { sessions: BTreeMap::new(), settle, helped: BTreeSet::new() }
    }

    pub(crate) fn durable(&self, session: &SessionId) -> Option<&Durable> {
        self.sessions.get(session).map(|shadow| &shadow.durable)
    }

    /// Something is about to be handled.
    pub(crate) fn input(&mut self, input: &Input) {
        if let Input::Request { command: Command::ClearQueue { session }, .. } = input
            && let Some(shadow) = self.sessions.get_mut(session)
        {
            shadow.fates.cleared = true;
        }
        if let Input::Session { session, input } = input
            && let Some(shadow) = self.sessions.get_mut(session)
        {
            shadow.schemas.input(input);
        }
    }

    /// Something is committed.
    pub(crate) fn record(&mut self, entry: &Entry) {
        let shadow =
            self.sessions.entry(entry.session.clone()).or_insert_with(|| Shadow::new(&entry.session));
        let Shadow { durable, fates, transcript, schemas, attempts, seen, .. } = shadow;
        fates.before(durable, entry, self.settle);
        transcript.before(durable, &entry.record);
        schemas.before(durable, &entry.record);
        if let Record::AttemptStarted { attempt } = &entry.record {
            assert!(attempts.insert(*attempt), "{attempt} is made twice");
        }
        durable.evolve(entry.at, &entry.record);
        fates.after(durable);
        prefixes::check(durable, entry.at, seen);
        // Where nothing waits, a server does the same.
        if durable.open.values().any(|open| open.phase != Phase::InTurn) {
            prefixes::check_serving(durable, entry.at, seen);
        }
    }

    /// Something is about to start.
    pub(crate) fn effect(&mut self, effect: &Effect) {
        if let Effect::Session(owned) = effect {
            let shadow = self.sessions.get_mut(&owned.session).expect("an effect of a session without log");
            shadow.effect(owned);
        }
    }

    /// A batch is over.
    pub(crate) fn after_batch(&mut self, now: Timestamp, machine: &Workspace, flights: &Flights) {
        let children = self.sessions.keys().filter(|id| id.is_child() && machine.durable(id).is_some());
        // A session whose sub-agent is at work waits for that.
        self.helped = children.map(SessionId::root).collect();
        let asked = asked(machine, self.sessions.keys());
        for (session, shadow) in &mut self.sessions {
            shadow.fates.cleared = false;
            let open = machine.durable(session);
            if let Some(durable) = open {
                assert_eq!(*durable, shadow.durable, "the machine's state is not what its log amounts to");
                let helped = self.helped.contains(session);
                let asks = asked.iter().any(|ask| ask.session == *session);
                assert!(
                    helped || asks || flights.awaits(session) || machine.deadline().is_some(),
                    "{session} waits for nothing that could come"
                );
                let named = flights.titles.contains(session);
                assert!(!durable.is_idle() || named, "{session} is idle and was not closed");
            } else {
                shadow.fates.all_ended_unless_crashed();
            }
            if session.is_child() && open.is_some() {
                let parent = machine.durable(&session.root());
                assert!(
                    parent.is_some_and(|parent| parent.turn.is_some()),
                    "{session} outlives what opened it"
                );
            }
            shadow.fates.in_time(now);
            shadow.one_serial_or_few_readers(flights);
        }
    }

    /// A session and its sub-agents are forgotten.
    pub(crate) fn forget(&mut self, root: &SessionId) {
        self.sessions.retain(|session, _| session.root() != *root);
    }

    /// Every accepted prompt has its end.
    pub(crate) fn all_ended(&self) {
        for (session, shadow) in &self.sessions {
            assert!(shadow.fates.all_ended(), "something of {session} has not ended");
        }
    }

    /// The process has ended: what it had promised to end in time is ended by the next one.
    pub(crate) fn crash(&mut self) {
        self.sessions.values_mut().for_each(|shadow| shadow.fates.crash());
    }
}

/// What people are asked: calls of turns that are under way, and that nobody has started or ended.
fn asked<'a>(machine: &Workspace, sessions: impl Iterator<Item = &'a SessionId>) -> Vec<AskId> {
    let open = sessions.filter_map(|session| machine.durable(session));
    let asked: Vec<_> = open.flat_map(|durable| durable.asks.iter().map(|asked| asked.id.clone())).collect();
    for ask in &asked {
        let whose = machine.durable(&ask.session).expect("a session that is over asks for something");
        let call = whose.current().and_then(|(_, answer)| answer.call(ask.call));
        assert!(call.is_some_and(|call| call.outcome.is_none()), "{ask:?} is asked about and over");
    }
    asked
}

impl Shadow {
    fn new(session: &SessionId) -> Self {
        Self {
            durable: Durable::new(session.clone()),
            fates: Fates::default(),
            transcript: Transcript::default(),
            schemas: Schemas::default(),
            attempts: BTreeSet::new(),
            asked: BTreeSet::new(),
            run: BTreeSet::new(),
            seen: prefixes::Seen::default(),
        }
    }

    fn effect(&mut self, Owned { effect, .. }: &Owned) {
        use session::Effect as Ask;
        match effect {
            Ask::CallModel { attempt, .. } => {
                self.fates.may_go_on(attempt.step.turn);
                assert!(self.attempts.contains(attempt), "{attempt} is made and not recorded");
                assert!(self.asked.insert(*attempt), "{attempt} is made twice");
            }
            Ask::CancelCall { attempt } => {
                assert!(self.attempts.contains(attempt), "{attempt} is stopped and was never made");
            }
            Ask::InspectCall { call, .. } => self.is_known(*call),
            Ask::RunTool { call, .. } => {
                self.fates.may_go_on(call.step.turn);
                self.is_known(*call);
                assert!(self.transcript.started.contains(call), "{call} runs and that is not recorded");
                assert!(self.run.insert(*call), "{call} runs twice");
            }
            Ask::CancelTool { call } => self.is_known(*call),
            Ask::Prepare { prompt, .. } | Ask::CancelPrepare { prompt } => {
                let known =
                    self.durable.find_open(prompt).is_some() || self.durable.closed.contains_key(prompt);
                assert!(known, "{prompt} is prepared and was never accepted");
            }
            Ask::MakeTitle { .. } | Ask::CancelTitle | Ask::CancelCheck { .. } => {}
            Ask::CheckAnswer { step } => self.fates.may_go_on(step.turn),
            Ask::KeepRules { rules } => assert!(!rules.is_empty(), "nothing is kept for always"),
            Ask::Reply { .. } => panic!("a workspace answers by itself"),
        }
    }

    fn is_known(&self, call: CallId) {
        assert!(self.transcript.calls.contains(&call), "{call} is unknown");
    }

    /// Calls that are looked at or run overlap only if they read, and at most five of them.
    fn one_serial_or_few_readers(&self, flights: &Flights) {
        let Some((_, answer)) = self.durable.current() else { return };
        let running = |call: &CallId| {
            let key = (self.durable.id.clone(), *call);
            flights.inspections.contains_key(&key) || flights.tools.contains_key(&key)
        };
        let busy: Vec<_> =
            answer.calls().filter(|call| call.outcome.is_none() && running(&call.id)).collect();
        let serial = busy.iter().any(|call| !hostler_core::tools::overlaps(&call.name));
        assert!(busy.len() <= if serial { 1 } else { 5 }, "too many calls at once: {busy:?}");
    }
}
