//! A client at the door: it asks, and it sees what happens.

use std::time::Duration;

use hostler_core::ids::{ClientId, PromptId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::prompt::Prompt;
use hostler_core::protocol::{
    Answer, AskId, Command, Event, EventId, Notice, Query, Refusal, Reply, Request, SessionChoice,
    SessionInfo,
};
use hostler_core::record::{CancelScope, Reason, Record, RunFinished};
use hostler_core::session::Asked;
use hostler_shell::door::{Door, InProcess, Subscription};
use hostler_tests::harness::PATIENCE;

use crate::session;

/// A client that follows the log.
pub(crate) struct Client {
    door: InProcess,
    id: ClientId,
    events: Subscription,
    /// All that it has seen.
    pub(crate) seen: Vec<Entry>,
}

impl Client {
    pub(crate) async fn new(door: InProcess, name: &str, from: Option<EventId>) -> Self {
        let events = door.subscribe(from).await.unwrap();
        Self { door, id: ClientId::new(name), events, seen: Vec::new() }
    }

    /// Asks and waits for the answer.
    pub(crate) async fn command(&self, command: Command) -> Reply {
        self.request(Request::Command(command)).await
    }

    pub(crate) async fn query(&self, query: Query) -> Reply {
        self.request(Request::Query(query)).await
    }

    async fn request(&self, request: Request) -> Reply {
        tokio::time::timeout(PATIENCE, self.door.request(request)).await.expect("there is an answer").unwrap()
    }

    /// Submits a prompt to a session that it begins.
    pub(crate) async fn begins(&self, id: &str, prompt: Prompt) {
        let choice = SessionChoice::New { id: session(id) };
        let reply = self.command(Command::Submit { session: choice, prompt }).await;
        assert!(matches!(reply, Reply::Accepted { .. }), "{reply:?}");
    }

    /// Submits a prompt to a session that exists.
    pub(crate) async fn submits(&self, id: &str, prompt: Prompt) -> Reply {
        let choice = SessionChoice::Existing { id: session(id) };
        self.command(Command::Submit { session: choice, prompt }).await
    }

    /// Submits a prompt that is accepted, and waits until it is known what becomes of it next.
    pub(crate) async fn queues(&mut self, id: &str, prompt: Prompt) {
        let name = prompt.id.clone();
        let reply = self.submits(id, prompt).await;
        assert!(matches!(reply, Reply::Accepted { .. }), "{reply:?}");
        self.sees(
            &format!("{name} is queued"),
            |record| matches!(record, Record::PromptQueued { prompt } if *prompt == name),
        )
        .await;
    }

    /// Waits until somebody is told that another process has a session.
    pub(crate) async fn is_told_to_wait(&mut self) {
        let told = async {
            while !matches!(&*self.events.next().await.unwrap(), Event::Notice(Notice::SessionBusy { .. })) {}
        };
        tokio::time::timeout(PATIENCE, told).await.expect("somebody is told");
    }

    /// Why a prompt is refused.
    pub(crate) async fn is_refused(&self, id: &str, prompt: Prompt) -> Refusal {
        match self.submits(id, prompt).await {
            Reply::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    /// Cancels, and returns the runs that this ends.
    pub(crate) async fn cancels(&self, id: &str, scope: CancelScope) -> Vec<String> {
        let cancel = Command::Cancel { session: session(id), scope, reason: Reason::User };
        match self.command(cancel).await {
            Reply::Cancelled { runs } => runs.iter().map(ToString::to_string).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// Answers what a session asks, and says whether that counted.
    pub(crate) async fn answers(&self, id: &str, ask: &AskId, answer: Answer) -> bool {
        let (session, ask, client) = (session(id), ask.clone(), self.id.clone());
        match self.command(Command::Answer { session, ask, answer, client }).await {
            Reply::Answered { resolved } => resolved,
            other => panic!("{other:?}"),
        }
    }

    /// What waits for permission in a session.
    pub(crate) async fn asks(&self, id: &str) -> Vec<Asked> {
        match self.query(Query::Asks { session: session(id) }).await {
            Reply::Asks(asks) => asks,
            other => panic!("{other:?}"),
        }
    }

    /// The session as lists show it.
    pub(crate) async fn info(&self, id: &str) -> SessionInfo {
        match self.query(Query::FindSession { prefix: id.to_owned() }).await {
            Reply::Session(info) => info,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until what was seen fits.
    pub(crate) async fn until(&mut self, what: &str, fits: impl Fn(&[Entry]) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !fits(&self.seen) {
            let event = tokio::time::timeout_at(deadline, self.events.next()).await;
            let event =
                event.unwrap_or_else(|_| panic!("waited in vain until {what}; seen was {:#?}", self.seen));
            match &*event.unwrap() {
                Event::Record { entry, .. } => self.seen.push(entry.clone()),
                Event::Notice(_) => {}
                Event::Resync { .. } => panic!("the log was replaced"),
            }
        }
    }

    /// Waits for a record.
    pub(crate) async fn sees(&mut self, what: &str, fits: impl Fn(&Record) -> bool) -> Entry {
        self.until(what, |seen| seen.iter().any(|entry| fits(&entry.record))).await;
        self.seen.iter().find(|entry| fits(&entry.record)).unwrap().clone()
    }

    /// Waits until so many calls of a session have been asked about, and returns the last.
    pub(crate) async fn is_asked(&mut self, id: &str, times: usize) -> AskId {
        let id = session(id);
        let asked = |seen: &[Entry]| -> Vec<AskId> {
            let own = seen.iter().filter(|entry| entry.session == id);
            own.filter_map(|entry| match &entry.record {
                Record::PermissionAsked { session, call, .. } => {
                    Some(AskId { session: session.clone(), call: *call })
                }
                _ => None,
            })
            .collect()
        };
        self.until("permission is asked for", |seen| asked(seen).len() >= times).await;
        asked(&self.seen).pop().unwrap()
    }

    /// Waits for the end of a prompt's run.
    pub(crate) async fn end(&mut self, prompt: &str) -> RunFinished {
        let is_its =
            |record: &Record| matches!(record, Record::RunFinished(end) if end.prompt.as_str() == prompt);
        match self.sees(&format!("{prompt} ends"), is_its).await.record {
            Record::RunFinished(end) => end,
            other => panic!("{other:?}"),
        }
    }

    /// The kinds of the records of a session that it has seen, chunks left out.
    pub(crate) fn kinds(&self, id: &SessionId) -> Vec<&'static str> {
        let own = self.seen.iter().filter(|entry| entry.session == *id && !entry.record.is_chunk());
        own.map(|entry| entry.record.kind()).collect()
    }

    /// How often a run of that prompt ended, as far as it has seen.
    pub(crate) fn ends(&self, prompt: &str) -> usize {
        let id = PromptId::new(prompt);
        let is_its = |entry: &&Entry| matches!(&entry.record, Record::RunFinished(end) if end.prompt == id);
        self.seen.iter().filter(is_its).count()
    }

    /// Sees all that came of what the driver was told before.
    pub(crate) async fn catches_up(&mut self) {
        // A command that changes nothing is answered once everything before it is committed and published.
        assert_eq!(self.cancels("no such session", CancelScope::Session).await, [] as [String; 0]);
        while let Ok(event) = tokio::time::timeout(Duration::ZERO, self.events.next()).await {
            if let Event::Record { entry, .. } = &*event.unwrap() {
                self.seen.push(entry.clone());
            }
        }
    }
}
