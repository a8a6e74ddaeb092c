//! One `hostler run`: which events are ours, what goes to standard output, when it is over, and with which code.
//!
//! It prints the terminal line exactly once and nothing after it, whatever happens: the run's own record, a refusal, a
//! lost log, a signal that outlasts its bound, or a reader that went away.

mod events;
mod hints;
mod interface;
mod options;
mod report;
mod silence;
mod start;
mod stop;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::live::Live;
use crate::ids::{CallId, MessageId, PromptId, RunId, SessionId, TurnId};
use crate::machine::{Effects, Machine};
use crate::protocol::EventId;
use crate::record::{Reason, RunFinished, Totals};
use crate::time::{Deadline, Timestamp, earliest};

use hints::Hints;
use silence::Silence;

pub use interface::{Effect, Input, Signal};
pub use options::{Earlier, Format, Gathered, Options, Which};

/// How long a run is given to settle after the first signal, in milliseconds.
const SETTLE: u64 = 4_500;

/// How long after that a reader may take for what is left to be said. Both together are less than the five seconds that are
/// promised by as much as a process may need to end.
const LAST_WORD: u64 = 250;

/// The state of a run as its client sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headless {
    options: Options,
    phase: Phase,
    session: Option<SessionId>,
    began: Timestamp,
    /// Why it is to end, and until when it may settle.
    ending: Option<(Reason, Timestamp)>,
    /// How many lines were printed.
    lines: u64,
    cursor: Option<EventId>,
    turn: Option<TurnId>,
    /// Whether that turn sums the conversation up.
    summing_up: bool,
    /// The texts of the run's messages that have some.
    answer: Option<(MessageId, String)>,
    /// The calls of the step that is under way: name and arguments.
    calls: BTreeMap<CallId, (String, String)>,
    /// Whether the reader of standard output is gone.
    closed: bool,
    /// Whether there is a reader and it cannot be written all the same.
    failed: bool,
    /// Where printing text as it comes stands.
    live: Live,
    /// What there is to say about how the session's next turn was prepared.
    #[serde(default)]
    notices: Vec<String>,
    /// What would have let calls pass that were denied.
    #[serde(default)]
    hints: Hints,
    /// How long the provider says nothing.
    #[serde(default)]
    silence: Silence,
    /// What the run has used, as far as its records have said.
    used: Totals,
    /// How the run ended and when, while its answer is being kept.
    unsaid: Option<(Timestamp, RunFinished)>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Its prompt is being put together.
    Reading,
    /// Its workspace is being opened.
    Opening,
    /// Its session is being looked up.
    Finding,
    /// Its session is being made from another one.
    Forking,
    /// It is submitted and not yet accepted.
    Submitted,
    /// It is accepted.
    Accepted,
    /// It has ended, and its answer is being kept.
    Keeping,
    /// It is over.
    Over,
}

impl Machine for Headless {
    type Input = Input;
    type Effect = Effect;

    fn handle(&mut self, now: Timestamp, input: Input, out: &mut Effects<Effect>) {
        if self.phase == Phase::Over {
            return self.after_the_end(now, &input, out);
        }
        match input {
            Input::Begin => self.begin(now, out),
            Input::Ready(gathered) => self.ready(now, *gathered, out),
            Input::Mistake(message) => self.mistake(now, Reason::Usage, &message, out),
            Input::UnknownModel(message) => self.mistake(now, Reason::UnknownModel, &message, out),
            Input::Opened => self.opened(out),
            Input::Unavailable(refusal) => self.refused(now, &refusal, out),
            Input::Reply(reply) => self.reply(now, *reply, out),
            // The run has ended; what happens to others meanwhile does not matter.
            Input::Event(_) | Input::ServerLost(_) if self.phase == Phase::Keeping => {}
            Input::ServerLost(why) => self.server_lost(now, &why, out),
            Input::Event(event) => self.event(now, *event, out),
            Input::Kept(kept) => self.kept(kept, out),
            Input::Signal(signal) => self.signal(now, signal, out),
            Input::OutputClosed => {
                self.closed = true;
                self.end(now, Reason::OutputClosed, out);
            }
            Input::OutputFailed(why) => {
                self.lost(&why, out);
                self.end(now, Reason::Storage, out);
            }
            Input::Undelivered => {}
            Input::Tick => self.tick(now, out),
        }
    }

    fn deadline(&self) -> Option<(Timestamp, Deadline)> {
        let timeout = self.options.timeout.map(|timeout| (self.began.plus(timeout), Deadline::Run));
        match (self.phase, self.ending) {
            (Phase::Over, _) => None,
            (_, Some((_, until))) => Some((until, Deadline::Exit)),
            (Phase::Keeping, None) => timeout,
            (_, None) => earliest(timeout, self.silence.deadline()),
        }
    }
}

impl Headless {
    /// A run that has not begun.
    pub fn new(options: Options, now: Timestamp) -> Self {
        Self {
            options,
            phase: Phase::Reading,
            session: None,
            began: now,
            ending: None,
            lines: 0,
            cursor: None,
            turn: None,
            summing_up: false,
            answer: None,
            calls: BTreeMap::new(),
            closed: false,
            failed: false,
            live: Live::default(),
            notices: Vec::new(),
            hints: Hints::default(),
            silence: Silence::default(),
            used: Totals::default(),
            unsaid: None,
        }
    }

    /// Whether it has asked the process to end.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether what it prints can still reach somebody, as far as is known.
    pub fn has_reader(&self) -> bool {
        !self.closed
    }

    /// By when the process must have ended, once something asks it to.
    pub fn must_end_by(&self) -> Option<Timestamp> {
        self.ending.map(|(_, until)| until.plus(LAST_WORD))
    }

    fn run(&self) -> RunId {
        self.options.prompt.run_id()
    }

    fn prompt(&self) -> &PromptId {
        &self.options.prompt.id
    }
}
