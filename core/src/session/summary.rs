//! A conversation that has become too long for its model is summed up, and the run goes on from the summary.
//!
//! The turn that met the limit ends without ending its run. A turn that asks for a summary takes its place, and after
//! that a turn that begins with the run's request, quoted once. Every way through here is bounded: a summary is asked
//! for only if there is something to sum up since the last one, it is shown less of the conversation each time that
//! even this is refused, and after a few refusals the run ends. So it does if summaries do not make the conversation short
//! enough.
//!
//! If the run is over anyway when the limit is met, it ends; only if somebody stays who will go on with the conversation is
//! it summed up then, in a turn that belongs to no run.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::durable::prompt_bytes;
use super::{Decisions, Length, Purpose, Session, retry};
use crate::content::{ErrorClass, ErrorInfo, MessageBody};
use crate::history;
use crate::ids::{StepId, TurnId};
use crate::model::CallError;
use crate::record::{Reason, Record, TurnOutcome};
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

/// How many characters of a run's request are quoted when it goes on, and of what was said while it was worked on.
const QUOTED_CHARS: usize = 20_000;

/// How many summaries in a row may leave the conversation too long.
const CROWDED: u32 = 2;

impl Session {
    /// Whether the next request would leave the model too little room if so many bytes came to it.
    pub(super) fn is_crowded(&self, more: u64) -> bool {
        let Some(window) = self.window() else { return false };
        let reserve = if window > BIG_WINDOW { RESERVE } else { window / SHARE };
        window.saturating_sub(self.tokens(more)) <= reserve
    }

    /// How many tokens the model can read and write, if that is known.
    fn window(&self) -> Option<u64> {
        self.durable.preparation.as_ref()?.context_window.filter(|window| *window > 0)
    }

    /// About how many tokens the next request has if so many bytes come to it.
    pub(super) fn tokens(&self, more: u64) -> u64 {
        let Length { measured, since } = self.durable.length;
        let unmeasured = if measured == 0 { self.prefix_tokens() } else { 0 };
        Length { measured, since: since.saturating_add(more) }.tokens().saturating_add(unmeasured)
    }

    /// About how many tokens stand before the conversation.
    fn prefix_tokens(&self) -> u64 {
        let Some(preparation) = &self.durable.preparation else { return 0 };
        let tools = preparation.tools.iter();
        let tools: usize =
            tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.len()).sum();
        let schema = preparation.answer_schema.as_ref().map_or(0, String::len);
        ((preparation.system.len() + schema + tools) as u64).div_ceil(4)
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
        self.end_turn(now, TurnOutcome::Continued, out);
        self.begin_summary(now, out);
    }

    fn begin_summary(&mut self, now: Timestamp, out: &mut Decisions) {
        let budget = self.budget();
        let turn = self.next_turn();
        self.record(now, Record::SummaryStarted { turn, budget }, out);
        self.ask(now, StepId { turn, step: 1 }, out);
    }

    /// About how many tokens of the conversation a request for a summary shows: well within the window if that is
    /// known, else half of what was too long. Never more than there is to show, so that half of it is less.
    fn budget(&self) -> u64 {
        let (half, shown) = (self.tokens(0) / 2, history::summary_tokens(&self.durable.messages));
        let most = self.window().map_or(half, |window| half.min(window / 10 * 6));
        most.min(shown).max(1)
    }

    /// Whether a conversation that is too long for the next prompt is to be summed up now that a run is over: somebody
    /// is there who will go on with it.
    pub(super) fn sums_up_ahead(&self, outcome: &TurnOutcome) -> bool {
        let stays = self.settings.serving || self.terms().is_some_and(|terms| terms.stays);
        // Nobody goes on with a sub-agent's conversation.
        let goes_on = stays && self.durable.parent.is_none();
        *outcome == TurnOutcome::Completed && goes_on && self.is_crowded(0)
    }

    /// Sums the conversation up for no run, if nothing else is to be done.
    pub(super) fn sum_up_ahead(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.durable.is_idle() && self.can_sum_up() {
            self.begin_summary(now, out);
        }
    }

    /// Whether the turn that is under way belongs to no run.
    pub(super) fn works_for_nobody(&self) -> bool {
        self.durable.turn.as_ref().is_some_and(|turn| turn.prompts.is_empty())
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
            // What is halved to nothing would be the same request again.
            Purpose::Summary { refused, budget } if refused < REFUSALS && budget >> (refused + 1) > 0 => {
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
                "The model was asked to sum the conversation up and wrote nothing; try again, or take another model.",
            );
            return self.finish_turn(now, TurnOutcome::Failed(error), out);
        }
        let Some(turn) = self.durable.turn.as_ref().map(|turn| turn.id) else { return };
        let message = self.next_message();
        self.record(now, Record::SummaryFinished { turn, message, text }, out);
        if self.works_for_nobody() {
            return self.finish_turn(now, TurnOutcome::Completed, out);
        }
        self.end_turn(now, TurnOutcome::Completed, out);
        self.continue_run(now, out);
    }

    fn continue_run(&mut self, now: Timestamp, out: &mut Decisions) {
        let Some(turn) = &self.durable.turn else { return };
        let open = |sequence: &u64| self.durable.open.get(sequence).map(|open| &open.prompt);
        let Some(first) = turn.prompts.first().and_then(open) else { return };
        let joined: Vec<_> =
            turn.prompts.iter().skip(1).filter_map(open).map(|prompt| prompt.text.as_str()).collect();
        let (run, prompt, text) =
            (turn.run.clone(), first.id.clone(), continuation(&first.text, &joined, &self.durable.todos));
        let crowded = self.is_crowded(prompt_bytes(&text, &first.attachments));
        let (turn, message) = (self.next_turn(), self.next_message());
        self.record(now, Record::TurnContinued { turn, run, prompt, message, text, crowded }, out);
        if self.durable.turn.as_ref().is_some_and(|turn| turn.crowded >= CROWDED) {
            let text = "The conversation stays too long for the model however often it is summed up; choose a model with a larger context window.";
            self.close_turn(now, TurnOutcome::Limited(Reason::Context, text.to_string()), out);
        } else {
            self.start_step(now, out);
        }
        self.advance(now, out);
    }
}

/// What begins the turn that goes on after a summary: the run's request, and what was said while it was worked on.
fn continuation(request: &str, joined: &[&str], todos: &[Todo]) -> String {
    let mut text = format!(
        "The conversation so far was summed up above, because it had become too long. This is the request that was being \
         worked on:\n\n<request>\n{}\n</request>\n\n",
        quoted(request)
    );
    if !joined.is_empty() {
        let joined = joined.join("\n\n");
        text.push_str(&format!(
            "This was said while it was being worked on:\n\n<request>\n{}\n</request>\n\n",
            quoted(&joined)
        ));
    }
    if !todos.is_empty() {
        text.push_str(&format!("The list of what is to be done:\n{}\n", todos::listed(todos)));
    }
    text.push_str("Go on from where the summary leaves off, and do not do again what is done.");
    text
}

fn quoted(request: &str) -> String {
    if request.chars().count() <= QUOTED_CHARS {
        return request.to_string();
    }
    let cut: String = request.chars().take(QUOTED_CHARS).collect();
    format!("{cut}\n[The rest of the request is left out here.]")
}
