//! Notes what a simulation has come across, from its inputs and records, for the marks that a campaign must reach.

use std::collections::BTreeSet;

use hostler_core::content::{Block, ErrorClass, ToolStatus};
use hostler_core::ids::{PromptId, TurnId};
use hostler_core::machine::Entry;
use hostler_core::model::{CallErrorKind, ModelEvent};
use hostler_core::protocol::Command;
use hostler_core::record::{CancelScope, Reason, Record, ReturnReason, RunStatus, TurnOutcome};
use hostler_core::session::Input as SessionInput;
use hostler_core::workspace::Input;

use crate::coverage::Phase;
use crate::oracles::refused::refuses_key;
use crate::sometimes;

/// What is remembered for that.
#[derive(Clone, Debug, Default)]
pub(super) struct Sightings {
    queued: BTreeSet<PromptId>,
    /// The turn that sums a conversation up, and what came before it.
    summing: Option<TurnId>,
    before: Option<ErrorClass>,
}

/// Whether an input is a cancel.
pub(super) fn is_cancel(input: &Input) -> bool {
    matches!(input, Input::Request { command: Command::Cancel { .. }, .. })
}

/// A batch is about to be decided.
pub(super) fn batch(inputs: &[Input]) {
    let answer = |input: &Input| matches!(input, Input::Session { input: SessionInput::Model { .. }, .. });
    let both = inputs.len() > 1 && inputs.iter().any(is_cancel) && inputs.iter().any(answer);
    sometimes!("cancel and its answer in one batch", if both);
    let said = |input: &Input| matches!(input, Input::Request { command: Command::Answer { .. }, .. });
    sometimes!("answer and cancel in one batch", if inputs.iter().any(is_cancel) && inputs.iter().any(said));
}

/// An input was handled: in that phase, and with or without any consequence.
pub(super) fn handled(cancel: bool, outcome: bool, phase: Phase, nothing: bool) {
    sometimes!("outcome that nobody awaited", if outcome && nothing);
    if cancel {
        sometimes!("cancel while the model was asked", if matches!(phase, Phase::Asking | Phase::Streaming));
        sometimes!("cancel while tools ran", if phase == Phase::Tools);
        sometimes!("cancel during a summary", if phase == Phase::Summing);
        sometimes!("cancel while an answer was looked at", if phase == Phase::Checking);
        sometimes!("cancel during the wait before a retry", if phase == Phase::Pausing);
    }
}

/// Whether an input says how an effect ended.
pub(super) fn is_outcome(input: &Input) -> bool {
    let Input::Session { input, .. } = input else { return false };
    matches!(
        input,
        SessionInput::Prepared { .. }
            | SessionInput::ToolFinished { .. }
            | SessionInput::Model { event: ModelEvent::Finished(_) | ModelEvent::Failed(_), .. }
    )
}

impl Sightings {
    /// Records were decided.
    pub(super) fn entries(&mut self, entries: &[Entry]) {
        let mut cancel: Option<&CancelScope> = None;
        for entry in entries {
            if let Record::CancelAccepted { scope, .. } = &entry.record {
                cancel = Some(scope);
            }
            self.prompt(&entry.record, cancel);
            self.summary(&entry.record);
            turn(&entry.record);
            permission(entry);
            answer(&entry.record);
            schema(&entry.record);
        }
    }

    fn summary(&mut self, record: &Record) {
        match record {
            Record::SummaryStarted { turn, .. } => {
                self.summing = Some(*turn);
                sometimes!("conversation summed up before a step", if self.before.is_none());
            }
            Record::SummaryFinished { .. } => sometimes!("conversation summed up"),
            Record::AttemptFailed { attempt, error, .. } => {
                let too_long = matches!(error.kind, CallErrorKind::Status { status: 400, .. });
                self.before = too_long.then_some(ErrorClass::Context);
                let refused = too_long && self.summing == Some(attempt.step.turn);
                sometimes!("summary refused as too long", if refused);
            }
            Record::StepFinished { .. } => self.before = None,
            Record::TurnFinished { turn, outcome, .. } if self.summing == Some(*turn) => {
                sometimes!("crash during a summary", if *outcome == TurnOutcome::Interrupted);
                let empty =
                    matches!(outcome, TurnOutcome::Failed(error) if error.message.contains("wrote nothing"));
                sometimes!("summary empty", if empty);
            }
            _ => {}
        }
    }

    fn prompt(&mut self, record: &Record, cancel: Option<&CancelScope>) {
        match record {
            Record::PromptQueued { prompt } => {
                sometimes!("prompt queued");
                self.queued.insert(prompt.clone());
            }
            Record::PromptFolded { .. } => sometimes!("prompt joined a turn"),
            Record::TurnStarted { prompt, .. } => {
                sometimes!("cancel before the preparation ended", if cancel.is_some());
                sometimes!("prompt of its own begun from the queue", if self.queued.remove(prompt));
            }
            Record::PromptReturned { reason, .. } => match reason {
                ReturnReason::Cleared => sometimes!("prompt given back by a cleared queue"),
                ReturnReason::Interrupted => sometimes!("prompt given back after a crash"),
                ReturnReason::Cancelled => {
                    sometimes!("prompt given back by a cancel");
                    sometimes!("cancel of a run in the queue", if matches!(cancel, Some(CancelScope::Run(_))));
                }
            },
            _ => {}
        }
    }
}

fn turn(record: &Record) {
    let Record::TurnFinished { outcome, .. } = record else { return };
    match outcome {
        TurnOutcome::Limited(Reason::OutputLimit, _) => sometimes!("answer cut by its limit"),
        TurnOutcome::Limited(Reason::MaxWait, _) => sometimes!("wait asked for was too long"),
        TurnOutcome::Limited(Reason::MaxSteps, _) => sometimes!("turn ended by its steps"),
        TurnOutcome::Limited(Reason::Repetition, _) => sometimes!("turn ended by repetition"),
        TurnOutcome::Refused => sometimes!("answer withheld"),
        TurnOutcome::Denied => sometimes!("turn ended by denials"),
        TurnOutcome::DeniedByPerson => sometimes!("turn ended by a person's no"),
        TurnOutcome::Interrupted => sometimes!("turn interrupted by a crash"),
        TurnOutcome::Failed(error) => match error.class {
            ErrorClass::NoProvider => sometimes!("preparation failed"),
            ErrorClass::Timeout => {
                sometimes!("preparation took too long", if error.message.starts_with("Preparing"));
            }
            _ => {}
        },
        _ => {}
    }
}

fn permission(entry: &Entry) {
    match &entry.record {
        Record::PermissionAsked { session, .. } => {
            sometimes!("permission asked for a sub-agent", if *session != entry.session);
        }
        Record::PermissionWithdrawn { session, .. } => {
            sometimes!("permission withdrawn");
            sometimes!("question of a sub-agent withdrawn", if *session != entry.session);
        }
        Record::PermissionDecided { by, allowed: true, grants, .. } => {
            sometimes!("permission given by an earlier grant", if by == "grant");
            let directory = grants.iter().any(|rule| rule.to_string().contains("/**)"));
            sometimes!("directory permitted", if directory);
        }
        Record::SubAgentFinished { status, .. } => {
            sometimes!("sub-agent done", if *status == RunStatus::Ok);
            sometimes!("sub-agent failed", if matches!(status, RunStatus::Error | RunStatus::Limit));
            sometimes!("sub-agent stopped", if *status == RunStatus::Cancelled);
        }
        Record::RunFinished(finished) if entry.session.is_child() => {
            sometimes!("sub-agent interrupted by a crash", if finished.reason == Reason::Interrupted);
            sometimes!("sub-agent stopped by a person's no", if finished.reason == Reason::Denied && finished.status == RunStatus::Cancelled);
        }
        Record::TodosChanged { .. } => sometimes!("list of what is to be done changed"),
        _ => {}
    }
}

fn schema(record: &Record) {
    match record {
        Record::AnswerRefused { answer, .. } => {
            sometimes!("answer refused");
            sometimes!("answer without words refused", if answer.is_none());
        }
        Record::TurnFinished { outcome: TurnOutcome::Failed(error), .. } => {
            let often = error.class == ErrorClass::Schema && error.message.contains("times more");
            sometimes!("answer refused as often as it may be", if often);
        }
        _ => {}
    }
}

fn answer(record: &Record) {
    match record {
        Record::AttemptFailed { error, retry_after, .. } => {
            sometimes!("attempt failed and was repeated", if retry_after.is_some());
            sometimes!("attempt failed for good", if retry_after.is_none());
            sometimes!("key found out anew", if refuses_key(error) && retry_after.is_some());
            let too_long = error.kind == CallErrorKind::Protocol && error.message.contains("longer than");
            sometimes!("answer too long", if too_long);
        }
        Record::MessageFinished { blocks, .. } => {
            sometimes!("answer empty", if blocks.is_empty());
            let mut names = BTreeSet::new();
            let twins = blocks.iter().any(|block| match block {
                Block::Call(call) => !names.insert(&call.provider_id),
                _ => false,
            });
            sometimes!("call with the id of another", if twins);
        }
        Record::ToolCallFinished { outcome, .. } => {
            sometimes!("call denied", if outcome.status == ToolStatus::Denied);
            let senseless = outcome.text.contains("There is no tool") || outcome.text.contains("do not fit");
            sometimes!("call that made no sense", if senseless);
        }
        _ => {}
    }
}
