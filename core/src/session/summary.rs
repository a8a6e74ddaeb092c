//! A conversation that has become too long for its model is summed up, and the run goes on from the summary.
//!
//! The turn that met the limit ends without ending its run. A turn that asks for a summary takes its place, and after
//! that a turn that begins with the run's request, quoted once. Every way through here is bounded: a summary is asked
//! for only if there is something to sum up since the last one, it is shown less of the conversation each time that
//! even this is refused, and after a few refusals the run ends.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Decisions, Purpose, Session, retry};
use crate::content::{ErrorClass, ErrorInfo, MessageBody};
use crate::ids::{StepId, TurnId};
use crate::model::CallError;
use crate::record::{Record, TurnOutcome};
use crate::time::Timestamp;
use crate::todos::{self, Todo};

/// From this window on a fixed reserve is enough.
const BIG_WINDOW: u64 = 200_000;

/// The reserve of a big window, in tokens.
const RESERVE: u64 = 20_000;

/// The share of a smaller window that is its reserve: one part in so many.
const SHARE: u64 = 5;

/// How often a request for a summary may be refused as too long.
const REFUSALS: u32 = 3;

/// How many characters of a request are quoted when the run goes on.
const QUOTED_CHARS: usize = 20_000;

impl Session {
    /// Whether the next request would leave the model too little room.
    pub(super) fn is_crowded(&self) -> bool {
        let Some(preparation) = &self.durable.preparation else { return false };
        let Some(window) = preparation.context_window.filter(|window| *window > 0) else { return false };
        let reserve = if window > BIG_WINDOW { RESERVE } else { window / SHARE };
        let length = self.durable.length;
        let unmeasured = if length.measured == 0 { self.prefix_tokens() } else { 0 };
        window.saturating_sub(length.tokens().saturating_add(unmeasured)) <= reserve
    }

    /// About how many tokens stand before the conversation.
    fn prefix_tokens(&self) -> u64 {
        let Some(preparation) = &self.durable.preparation else { return 0 };
        let tools = preparation.tools.iter();
        let tools: usize =
            tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.len()).sum();
        ((preparation.system.len() + tools) as u64).div_ceil(4)
    }

    /// Whether a summary would make the conversation shorter: since the last one something has been answered, or asked
    /// in an earlier turn.
    pub(super) fn can_sum_up(&self) -> bool {
        let current = self.durable.turn.as_ref().map(|turn| turn.id);
        let adds = |body: &MessageBody| match body {
            MessageBody::Assistant(answer) => !answer.blocks.is_empty(),
            MessageBody::User(user) => Some(user.turn) != current,
            MessageBody::Summary(_) => false,
        };
        self.durable.messages.iter().any(|message| adds(&message.body))
    }

    /// Ends the turn without its run and begins the one that sums the conversation up.
    pub(super) fn sum_up(&mut self, now: Timestamp, out: &mut Decisions) {
        let budget = self.budget();
        self.end_turn(now, TurnOutcome::Continued, out);
        let turn = self.next_turn();
        self.record(now, Record::SummaryStarted { turn, budget }, out);
        self.ask(now, StepId { turn, step: 1 }, out);
    }

    /// About how many tokens of the conversation a request for a summary shows: well within the window if that is
    /// known, else half of what was too long.
    fn budget(&self) -> u64 {
        let window = self.durable.preparation.as_ref().and_then(|preparation| preparation.context_window);
        let half = self.durable.length.tokens() / 2;
        window.map_or(half, |window| half.min(window / 10 * 6)).max(1)
    }

    fn next_turn(&self) -> TurnId {
        TurnId(self.durable.last_turn.0 + 1)
    }

    /// The provider says that the conversation is too long. Returns whether that is dealt with.
    pub(super) fn too_long(&mut self, now: Timestamp, error: &CallError, out: &mut Decisions) -> bool {
        let Some(turn) = &self.durable.turn else { return false };
        if !retry::is_too_long(error) || turn.cancelling.is_some() {
            return false;
        }
        match turn.purpose {
            Purpose::Summary { refused, .. } if refused < REFUSALS => {
                self.fail_attempt(now, error.clone(), Some(0), out);
                true
            }
            Purpose::Work if self.can_sum_up() => {
                self.fail_attempt(now, error.clone(), None, out);
                self.sum_up(now, out);
                true
            }
            Purpose::Summary { .. } | Purpose::Work => false,
        }
    }

    /// The summary has been written: it takes the conversation's place, and the run goes on.
    pub(super) fn summed_up(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let text = answer.text();
        self.close_step(now, out);
        if text.trim().is_empty() {
            let error = ErrorInfo::new(
                ErrorClass::Provider,
                "The model was asked to sum the conversation up and wrote nothing",
            );
            return self.finish_turn(now, TurnOutcome::Failed(error), out);
        }
        let Some(turn) = self.durable.turn.as_ref().map(|turn| turn.id) else { return };
        let message = self.next_message();
        self.record(now, Record::SummaryFinished { turn, message, text }, out);
        self.end_turn(now, TurnOutcome::Completed, out);
        self.continue_run(now, out);
    }

    fn continue_run(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(turn) = &self.durable.turn else { return };
        let run = turn.run.clone();
        let Some(open) = turn.prompts.first().and_then(|first| self.durable.open.get(first)) else { return };
        let (prompt, text) = (open.prompt.id.clone(), continuation(&open.prompt.text, &self.durable.todos));
        let (turn, message) = (self.next_turn(), self.next_message());
        self.record(now, Record::TurnContinued { turn, run, prompt, message, text }, out);
        self.start_step(now, out);
        self.advance(now, out);
    }
}

/// What begins the turn that goes on after a summary.
fn continuation(request: &str, todos: &[Todo]) -> String {
    let list = match todos {
        [] => String::new(),
        _ => format!("\n\nThe list of what is to be done:\n{}", todos::listed(todos).trim_end()),
    };
    let quoted = if request.chars().count() <= QUOTED_CHARS {
        request.to_string()
    } else {
        let cut: String = request.chars().take(QUOTED_CHARS).collect();
        format!("{cut}\n[The rest of the request is left out here.]")
    };
    format!(
        "The conversation so far was summed up above, because it had become too long. This is the request that was being \
         worked on:\n\n<request>\n{quoted}\n</request>{list}\n\nGo on from where the summary leaves off, and do not do again what is done."
    )
}
