//! One process that has the workspace open: its machine, what waits for it, and how far its batch is.
//!
//! It mirrors the driver of the shell. Deciding, committing and starting effects are separate moments, and anything may
//! happen to the process between two of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hostler_core::ids::{EffectId, RequestId, SessionId};
use hostler_core::machine::{Entry, Machine};
use hostler_core::model::ModelEvent;
use hostler_core::protocol::Command;
use hostler_core::session::{Input as SessionInput, Settings};
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Effect, Input, Workspace};

use super::disk::{Life, Verdict};
use crate::dice::{Roll, Stream};
use crate::shared::Shared;

/// What reaches a process.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// An outcome.
    Input(Input),
    /// The lock of a session has come; it is held from here on.
    Locked(SessionId),
    /// A person asks for something.
    Command(usize, Command),
}

/// How far a process is with its batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// It has none.
    Idle,
    /// Its records are being committed.
    Committing(Shared<Batch>),
    /// Its effects are being started.
    Starting(VecDeque<Effect>),
    /// Its commit has failed, and everything is being stopped.
    Stopping,
}

/// A batch that is decided and not committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// What is committed.
    pub entries: Vec<Entry>,
    /// What is started then.
    pub effects: Vec<Effect>,
    /// What will become of the commit.
    pub verdict: Verdict,
}

/// A log that cannot be written, as far as the process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// How long it is left alone each time.
    pub wait: u64,
    /// When it is tried again.
    pub retry: u64,
}

impl Outage {
    /// After another failure.
    pub fn after(before: Option<Outage>, now: u64) -> Self {
        let wait = before.map_or(1_000, |before| (before.wait * 2).min(30_000));
        Self { wait, retry: now + wait }
    }
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number.
    pub number: usize,
    /// Its how-manieth life this is.
    pub life: u32,
    /// Whether it runs.
    pub alive: bool,
    /// What decides. Copies of a world share it until one of them changes it.
    pub machine: Shared<Workspace>,
    /// What has reached it.
    pub inbox: VecDeque<Message>,
    /// What has happened inside and is not yet handled.
    pub pending: VecDeque<Input>,
    /// How far it is.
    pub stage: Stage,
    /// Which submission or other asking waits for which answer.
    pub askers: BTreeMap<RequestId, usize>,
    /// How many requests it has had.
    pub requests: u64,
    /// The locks that it knows it has.
    pub locks: BTreeSet<SessionId>,
    /// The locks that it waits for.
    pub opening: BTreeSet<SessionId>,
    /// Its jobs.
    pub running: BTreeMap<EffectId, u32>,
    /// Whether its log can be written.
    pub outage: Option<Outage>,
    /// When it looks next, and the number of that look.
    pub look: (u64, u64),
    /// Until when it is suspended.
    pub suspended: u64,
    /// How far its clock is behind in this life of it.
    pub behind: u64,
    /// Its luck.
    pub roll: Roll,
}

/// It does not look by itself.
pub const NEVER: u64 = u64::MAX;

impl Process {
    /// One that has just started.
    pub fn new(seed: u64, number: usize, settings: Settings) -> Self {
        Self {
            number,
            life: 1,
            alive: true,
            machine: Workspace::new(settings).into(),
            inbox: VecDeque::new(),
            pending: VecDeque::new(),
            stage: Stage::Idle,
            askers: BTreeMap::new(),
            requests: 0,
            locks: BTreeSet::new(),
            opening: BTreeSet::new(),
            running: BTreeMap::new(),
            outage: None,
            look: (NEVER, 0),
            suspended: 0,
            behind: 0,
            roll: Roll::new(seed, Stream::Driver, number as u64),
        }
    }

    /// The process in this life of it.
    pub fn id(&self) -> Life {
        (self.number, self.life)
    }

    /// Nothing of what it had is left.
    pub fn die(&mut self) {
        self.alive = false;
        self.life += 1;
        self.inbox.clear();
        self.pending.clear();
        self.stage = Stage::Idle;
        self.askers.clear();
        self.requests = 0;
        self.locks.clear();
        self.opening.clear();
        self.running.clear();
        self.outage = None;
        self.look = (NEVER, self.look.1 + 1);
    }

    /// When its machine wants to be told that time has passed, whatever its clock says.
    pub fn deadline(&self) -> Option<u64> {
        self.machine.deadline().map(|(at, _)| at.as_millis() + self.behind)
    }

    /// Whether a deadline has passed by its clock.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.machine.deadline().is_some_and(|(at, _)| at <= now)
    }

    /// Whether it has nothing to do and nothing to wait for.
    pub fn is_quiet(&self) -> bool {
        self.alive
            && self.stage == Stage::Idle
            && self.inbox.is_empty()
            && self.pending.is_empty()
            && self.machine.is_idle()
    }

    /// Forgets a job that has said how it ended.
    pub fn ended(&mut self, input: &Input) {
        let Input::Session { session, input } = input else { return };
        let id = match input {
            SessionInput::Prepared { prompt, .. } => EffectId::Prepare(session.clone(), prompt.clone()),
            SessionInput::Checked { step, .. } => EffectId::Check(session.clone(), *step),
            SessionInput::Inspected { call, .. } | SessionInput::ToolFinished { call, .. } => {
                EffectId::Call(session.clone(), *call)
            }
            SessionInput::Model { attempt, event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                EffectId::Attempt(session.clone(), *attempt)
            }
            SessionInput::Title { event: ModelEvent::Finished(_) | ModelEvent::Failed(_) } => {
                EffectId::Title(session.clone())
            }
            _ => return,
        };
        self.running.remove(&id);
    }
}

impl Process {
    /// What it is doing with its batch, for people.
    pub fn doing(&self) -> &'static str {
        match &self.stage {
            Stage::Idle => "idle",
            Stage::Committing(_) => "committing",
            Stage::Starting(_) => "starting effects",
            Stage::Stopping => "stopping",
        }
    }

    /// What it is doing, for people.
    pub fn describe(&self) -> String {
        if !self.alive {
            return format!("process {} is not running", self.number);
        }
        let stage = self.doing();
        let machine = super::trace::short(&*self.machine);
        format!(
            "process {} is {stage}, {} wait: {machine}",
            self.number,
            self.inbox.len() + self.pending.len()
        )
    }
}
