//! What a turn that is over leaves behind: no open message, no call without outcome, and one terminal a run. Also what
//! a session does with what a process that is gone had under way.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::stream::without_calls;
use super::{Decisions, Effect, Session};
use crate::content::{ErrorClass, ErrorInfo, Finish, ToolOutcome, ToolStatus};
use crate::record::{Reason, Record, ReturnReason, RunStatus, TurnOutcome};
use crate::time::Timestamp;

impl Session {
    /// A process that is gone had this session: its turn is over and never repeated, because its tools may have acted.
    /// What it had accepted and not begun goes back, or is begun by a server if it is young.
    pub(super) fn opened(&mut self, now: Timestamp, out: &mut Decisions) {
        if self.durable.turn.is_some() {
            self.close_turn(now, TurnOutcome::Interrupted, out);
        }
        let waiting: Vec<_> =
            self.durable.open.iter().map(|(sequence, open)| (*sequence, open.accepted)).collect();
        for (sequence, accepted) in waiting {
            if self.settings.serving
                && self.durable.parent.is_none()
                && now.since(accepted) < self.settings.restart_age
            {
                self.prepare_again(now, sequence, out);
            } else {
                self.return_prompt(now, sequence, (ReturnReason::Interrupted, Reason::Interrupted), out);
            }
        }
    }

    fn prepare_again(&mut self, now: Timestamp, sequence: u64, out: &mut Decisions) {
        let Some(open) = self.durable.open.get(&sequence) else { return };
        self.live.preparing.insert(sequence, now.plus(self.settings.prepare));
        let (prompt, terms) = (open.prompt.id.clone(), self.to_prepare(&open.prompt.terms));
        out.effects.push(Effect::Prepare { prompt, terms });
    }

    /// Closes the step that is under way, if there is one: its message, its calls, and whatever is awaited.
    pub(super) fn settle(&mut self, now: Timestamp, outcome: &TurnOutcome, out: &mut Decisions) {
        self.withdraw(now, out);
        self.abandon_check(out);
        self.flush(now, out);
        self.close_message(now, outcome, out);
        self.close_calls(now, outcome, out);
        self.close_step(now, out);
        self.live.tools.clear();
        self.live.settle = None;
    }

    fn close_message(&mut self, now: Timestamp, outcome: &TurnOutcome, out: &mut Decisions) {
        self.abandon_call(out);
        let call = self.live.call.take();
        let Some((message, answer)) = self.durable.current() else { return };
        if answer.finish.is_some() {
            return;
        }
        let (step, finish) = (answer.step, broken_off(outcome));
        let usage = call.as_ref().map(|call| call.assembly.usage).unwrap_or_default();
        let blocks = match call {
            Some(call) => call.assembly.finish(step),
            None => self.durable.turn.iter().flat_map(|turn| turn.streamed.values().cloned()).collect(),
        };
        let blocks = without_calls(blocks);
        self.record(now, Record::MessageFinished { message, blocks, finish, usage }, out);
    }

    fn close_calls(&mut self, now: Timestamp, outcome: &TurnOutcome, out: &mut Decisions) {
        let Some((_, answer)) = self.durable.current() else { return };
        let open: Vec<_> = answer.calls().filter(|call| call.outcome.is_none()).map(|call| call.id).collect();
        for call in open {
            let started = self.live.tools.get(&call).and_then(|tool| tool.started);
            if started.is_some()
                && !matches!(outcome, TurnOutcome::Cancelled(_))
                && !self.stop_sub_agent(call, Reason::Interrupted, out)
            {
                out.effects.push(Effect::CancelTool { call });
            }
            let duration = started.map_or(0, |started| now.since(started));
            self.end_call(now, call, not_ended(outcome), duration, out);
        }
    }
}

/// How the message of a step ends that was not answered to its end.
fn broken_off(outcome: &TurnOutcome) -> Finish {
    match outcome {
        TurnOutcome::Cancelled(_) => Finish::Cancelled,
        TurnOutcome::Failed(error) => Finish::Error(error.clone()),
        TurnOutcome::Limited(_, text) => Finish::Error(ErrorInfo::new(ErrorClass::RateLimit, text.clone())),
        TurnOutcome::Interrupted => Finish::Interrupted,
        TurnOutcome::Refused => Finish::ContentFilter,
        TurnOutcome::Completed
        | TurnOutcome::Denied
        | TurnOutcome::DeniedByPerson
        | TurnOutcome::Continued => Finish::Unknown,
    }
}

/// What the model is told of a call that has no outcome when its turn is over.
fn not_ended(outcome: &TurnOutcome) -> ToolOutcome {
    match outcome {
        TurnOutcome::Cancelled(_) => ToolOutcome::text(
            ToolStatus::Cancelled,
            "The user cancelled this while it ran, and it did not end in time; it may have had some effect.",
        ),
        TurnOutcome::Interrupted => ToolOutcome::text(
            ToolStatus::Interrupted,
            "The program stopped while this was due or running; it may or may not have had an effect. Check before you repeat it.",
        ),
        TurnOutcome::Completed
        | TurnOutcome::Continued
        | TurnOutcome::Failed(_)
        | TurnOutcome::Limited(_, _)
        | TurnOutcome::Denied
        | TurnOutcome::DeniedByPerson
        | TurnOutcome::Refused => ToolOutcome::text(
            ToolStatus::NotReached,
            "The turn ended before this was started; nothing was done.",
        ),
    }
}

/// The status, reason and sentence of a run that ends with a turn that ended so.
pub(super) fn terminal(outcome: &TurnOutcome) -> (RunStatus, Reason, String) {
    match outcome {
        TurnOutcome::Completed | TurnOutcome::Continued => (RunStatus::Ok, Reason::Completed, String::new()),
        TurnOutcome::Cancelled(reason @ Reason::Timeout) => {
            let text = "The run took as long as it may; allow more with --timeout.".to_string();
            (RunStatus::Limit, *reason, text)
        }
        TurnOutcome::Cancelled(reason @ Reason::Storage) => {
            let text = "What the run had to say could not be written, so it was cancelled; see whether there is room where it goes.".to_string();
            (RunStatus::Error, *reason, text)
        }
        TurnOutcome::Cancelled(reason) => {
            (RunStatus::Cancelled, *reason, "The run was cancelled.".to_string())
        }
        TurnOutcome::Interrupted => {
            let text =
                "The program stopped during the run, and what its tools had done is not undone; look at that before you go on.".to_string();
            (RunStatus::Error, Reason::Interrupted, text)
        }
        TurnOutcome::Limited(reason, text) => (RunStatus::Limit, *reason, text.clone()),
        TurnOutcome::Denied => {
            let text = "Every tool call of the last three steps was denied; allow what the task needs (--allow, --yolo), or change the rules that forbid it.";
            (RunStatus::Denied, Reason::Denied, text.to_string())
        }
        TurnOutcome::DeniedByPerson => {
            let text = "A tool call was denied, which ended the turn; say what should be done instead.";
            (RunStatus::Denied, Reason::Denied, text.to_string())
        }
        TurnOutcome::Refused => {
            let text = "The provider withheld the answer; word the request differently.".to_string();
            (RunStatus::Error, Reason::Refusal, text)
        }
        TurnOutcome::Failed(error) if error.class == ErrorClass::Context => {
            (RunStatus::Limit, Reason::Context, error.sentence())
        }
        TurnOutcome::Failed(error) => (RunStatus::Error, reason_of(error.class), error.sentence()),
    }
}

fn reason_of(class: ErrorClass) -> Reason {
    match class {
        ErrorClass::Provider
        | ErrorClass::Transport
        | ErrorClass::Timeout
        | ErrorClass::RateLimit
        | ErrorClass::Quota => Reason::Provider,
        ErrorClass::Credentials => Reason::Credentials,
        ErrorClass::NoProvider => Reason::NoProvider,
        ErrorClass::UnknownModel => Reason::UnknownModel,
        ErrorClass::Usage => Reason::Usage,
        ErrorClass::Context => Reason::Context,
        ErrorClass::Storage => Reason::Storage,
        ErrorClass::Internal => Reason::Internal,
        ErrorClass::Schema => Reason::Schema,
    }
}
