//! The one loop that owns a machine: take what waits, let it decide, commit, publish, start the effects, sleep until
//! the next deadline. It contains no decision.
//!
//! Nothing is answered and nothing started from memory that is ahead of the disk. A commit that fails is a crash of the
//! workspace: whatever is under way is stopped, whoever waits is told, and the machine begins anew from the log.

mod batch;
mod flight;
mod flown;
mod jobs;
mod logged;
mod outage;
mod publish;
mod sessions;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hostler_core::ids::{AttemptId, RequestId, SessionId};
use hostler_core::machine::{Effects, Entry, Machine};
use hostler_core::model::{CallError, CallErrorKind, ModelEvent};
use hostler_core::outage::Outage;
use hostler_core::protocol::{EventId, Notice, Refusal, RefusalKind, Reply, Request};
use hostler_core::record::Strength;
use hostler_core::session::{Effect as Ask, Input as SessionInput, Owned, Settings};
use hostler_core::tools::Rule;
use hostler_core::workspace::{Effect, Input, Workspace};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;
use crate::door::{InProcess, Page};
use crate::models::Models;
use crate::store::{Store, StoreError, lock::SessionLock};
use crate::{rules, tools};

pub use flight::flight_directory;
pub use flown::flights_of;

use flight::Flight;
use jobs::Jobs;
use publish::Publisher;

/// How many messages may wait for the driver before whoever sends them waits too.
const INBOX: usize = 1024;

/// What reaches a driver.
#[derive(Debug)]
pub(crate) enum Message {
    /// An outcome of an effect.
    Input(Input),
    /// The lock of a session, which was waited for.
    Locked {
        /// The session.
        session: SessionId,
        /// Its lock, or why it cannot be had.
        lock: Result<SessionLock, String>,
    },
    /// A client asks for something.
    Request {
        /// For what.
        request: Request,
        /// Where the answer goes.
        reply: oneshot::Sender<Reply>,
    },
    /// A client wants to follow the log.
    Subscribe {
        /// From behind which place; from the end if none.
        from: Option<EventId>,
        /// Where the first page goes.
        reply: oneshot::Sender<Result<Page, String>>,
    },
    /// Everything is to stop.
    Close(oneshot::Sender<()>),
}

/// What a workspace is opened with.
#[derive(Debug)]
pub struct Setup {
    /// Where its state lies; none if nothing is to be kept.
    pub dir: Option<PathBuf>,
    /// Its log.
    pub store: Store,
    /// Where tools work.
    pub tools: tools::Workspace,
    /// The models that can be asked.
    pub models: Models,
    /// The limits that sessions work under.
    pub settings: Settings,
    /// The clock.
    pub clock: Clock,
}

/// The loop and all that it carries out.
struct Driver {
    machine: Workspace,
    setup: Setup,
    inbox: mpsc::Receiver<Message>,
    sender: mpsc::Sender<Message>,
    /// What has happened inside the driver and is not yet handled.
    pending: VecDeque<Input>,
    replies: BTreeMap<RequestId, oneshot::Sender<Reply>>,
    requests: u64,
    locks: BTreeMap<SessionId, SessionLock>,
    jobs: Jobs,
    publisher: Publisher,
    flight: Flight,
    outage: Outage,
}

/// Starts the loop on a thread of its own and returns the door to it: whatever the disk does, whoever holds the door can
/// go on.
///
/// Fails if the thread or its runtime cannot be started.
pub fn open(setup: Setup) -> std::io::Result<InProcess> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (door, driver) = new(setup);
    let run = move || runtime.block_on(live(driver));
    std::thread::Builder::new().name("driver".to_owned()).spawn(run)?;
    Ok(door)
}

async fn live(driver: Driver) {
    // By default it ends the process to write more to a file than a limit allows. Being told of it as of a full disk is
    // better, and commands begin with the default whatever is listened to here.
    let _told = unix::signal(SignalKind::from_raw(libc::SIGXFSZ));
    driver.run().await;
}

fn new(setup: Setup) -> (InProcess, Driver) {
    let (sender, inbox) = mpsc::channel(INBOX);
    let machine = Workspace::new(setup.settings.clone());
    let flight = Flight::begin(setup.dir.as_deref(), setup.clock.now(), &machine);
    let driver = Driver {
        machine,
        publisher: Publisher::new(setup.store.log()),
        setup,
        inbox,
        sender: sender.clone(),
        pending: VecDeque::new(),
        replies: BTreeMap::new(),
        requests: 0,
        locks: BTreeMap::new(),
        jobs: Jobs::new(sender.clone()),
        flight,
        outage: Outage::default(),
    };
    (InProcess::new(sender), driver)
}

impl Driver {
    async fn run(mut self) {
        loop {
            let (inputs, close) = self.gather().await;
            if !inputs.is_empty() {
                self.handle(inputs).await;
            }
            if let Some(done) = close {
                self.jobs.stop().await;
                self.locks.clear();
                // Whoever asked may have gone in the meantime.
                let _ = done.send(());
                return;
            }
        }
    }

    /// One batch: decide, commit, note, publish, act.
    async fn handle(&mut self, inputs: Vec<Input>) {
        let now = self.setup.clock.now();
        let mut out = Effects::new();
        for input in &inputs {
            logged::input(input);
            self.machine.handle(now, input.clone(), &mut out);
        }
        let digest = self.flight.digest(&out);
        let (entries, effects) = out.into_parts();
        let (strength, began) = (self.strength(&entries), Instant::now());
        match self.setup.store.commit(&entries, strength) {
            Ok(committed) => {
                logged::committed(&entries, &committed, strength, began.elapsed());
                self.flight.note(now, inputs, digest, &self.machine);
                let resting = at_rest(&entries);
                self.publisher.records(entries, &committed);
                self.snapshot(&resting, &committed);
                effects.into_iter().for_each(|effect| self.start(effect));
                if !resting.is_empty() {
                    self.maintain();
                }
            }
            Err(error) => self.crash(&error).await,
        }
    }

    fn strength(&self, entries: &[Entry]) -> Strength {
        let serving = self.setup.settings.serving;
        let all = entries.iter().map(|entry| entry.record.strength(serving));
        all.max().unwrap_or(Strength::Normal)
    }

    fn start(&mut self, effect: Effect) {
        logged::effect(&effect);
        match effect {
            Effect::OpenSession { session } => self.open_session(session),
            Effect::CancelOpen { session } => self.jobs.forget_open(&session),
            Effect::CloseSession { session } => drop(self.locks.remove(&session)),
            Effect::DeleteSession { session } => {
                let error = self.setup.store.delete(&session).err().map(|error| error.to_string());
                self.pending.push_back(Input::SessionDeleted { session, error });
            }
            Effect::Session(owned) => self.start_for_session(owned),
            Effect::Reply { to, reply } => self.reply(to, *reply),
            Effect::Notify(notice) => self.publisher.notice(notice),
        }
    }

    fn start_for_session(&mut self, Owned { session, effect }: Owned) {
        match effect {
            Ask::Prepare { prompt, terms } => {
                let preparing = self.setup.models.prepare(terms, self.setup.tools.root().to_owned());
                self.jobs.prepare(session, prompt, preparing);
            }
            Ask::CancelPrepare { prompt } => self.jobs.cancel_prepare(session, prompt),
            Ask::CallModel { attempt, model, renew } => match self.machine.model_request(&session) {
                Some(request) => {
                    let model = self.setup.models.get(&model);
                    if renew {
                        model.renew();
                    }
                    self.jobs.call(session, attempt, model, request);
                }
                None => self.pending.push_back(lost(session, attempt)),
            },
            Ask::MakeTitle { model } => {
                // Without a request nobody waits for a title any more.
                if let Some(request) = self.machine.title_request(&session) {
                    self.jobs.title(session, self.setup.models.get(&model), request);
                }
            }
            Ask::CancelTitle => self.jobs.cancel_title(session),
            Ask::CheckAnswer { step } => {
                // Without an answer nobody waits for what is found any more.
                if let Some((schema, answer)) = self.machine.answer_to_check(&session) {
                    self.jobs.check(session, step, schema, answer);
                }
            }
            Ask::CancelCheck { step } => self.jobs.cancel_check(session, step),
            Ask::KeepRules { rules } => self.keep(&rules),
            Ask::CancelCall { attempt } => self.jobs.cancel_call(session, attempt),
            Ask::InspectCall { call, input } => {
                let place = self.setup.tools.of_call(&session, call);
                self.jobs.inspect(session, call, place, *input);
            }
            Ask::RunTool { call, input } => {
                let shut = self.shut(&session, logged::tool(&input));
                let place = self.setup.tools.of_call(&session, call).without(shut);
                self.jobs.run_tool(session, call, place, *input);
            }
            Ask::CancelTool { call } => self.pending.extend(self.jobs.cancel_tool(session, call)),
            Ask::Reply { to, reply } => self.reply(to, *reply),
        }
    }

    fn keep(&mut self, rules: &[Rule]) {
        // Where nothing is kept, what is granted holds for the session.
        let Some(dir) = &self.setup.dir else { return };
        if let Err(error) = rules::keep(dir, rules) {
            let message = format!(
                "What was granted for always could not be kept ({error}); it holds for this session, so grant it again later."
            );
            self.publisher.notice(Notice::RulesNotKept { message });
        }
    }

    fn reply(&mut self, to: RequestId, reply: Reply) {
        if let Some(waiting) = self.replies.remove(&to) {
            // Whoever asked may have gone in the meantime.
            let _ = waiting.send(reply);
        }
    }

    /// The log cannot be written: what is under way is stopped and the machine begins anew.
    async fn crash(&mut self, error: &StoreError) {
        let message = error.to_string();
        logged::crashed(&message);
        self.outage.failed(self.setup.clock.now(), &message);
        self.jobs.stop().await;
        self.pending.clear();
        self.locks.clear();
        for (_, waiting) in std::mem::take(&mut self.replies) {
            let _ = waiting.send(Reply::Refused(Refusal::new(RefusalKind::Storage, message.clone())));
        }
        self.publisher.notice(Notice::StorageFailed { message });
        self.machine = Workspace::new(self.setup.settings.clone());
        self.flight = Flight::begin(self.setup.dir.as_deref(), self.setup.clock.now(), &self.machine);
    }

    fn maintain(&mut self) {
        // A checkpoint is housekeeping: if it fails now, the log only stays longer, and the next one tries again.
        let _ = self.setup.store.maintain();
    }
}

/// The failure of a call for which there is no request.
fn lost(session: SessionId, attempt: AttemptId) -> Input {
    let message = "there is no step that asks for it".to_owned();
    let error = CallError { kind: CallErrorKind::Protocol, message, retry_after: None, should_retry: None };
    Input::Session { session, input: SessionInput::Model { attempt, event: ModelEvent::Failed(error) } }
}

/// The sessions that have come to rest with one of those entries.
fn at_rest(entries: &[Entry]) -> Vec<SessionId> {
    let rests = |entry: &&Entry| entry.record.is_rest();
    entries.iter().filter(rests).map(|entry| entry.session.clone()).collect()
}

/// Shares an event among subscribers.
type Shared = Arc<hostler_core::protocol::Event>;
