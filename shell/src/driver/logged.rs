//! What a driver does, as events for the log files: names, ids, sizes and times. What people, models and tools wrote is not
//! in them at any level.

use std::time::Duration;

use hostler_core::content::ToolOutcome;
use hostler_core::ids::{CallId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::model::{CallErrorKind, ModelEvent};
use hostler_core::protocol::Command;
use hostler_core::record::{Record, ReturnReason, Strength, TurnOutcome};
use hostler_core::session::{Effect as Ask, Input as SessionInput, Owned, Verdict};
use hostler_core::tools::ToolInput;
use hostler_core::workspace::{Effect, Input};
use tracing::{debug, info, trace, warn};

use crate::store::Committed;

/// What happened and is now decided about.
pub(super) fn input(input: &Input) {
    match input {
        Input::Request { id, command, .. } => {
            debug!(request = id.0, command = command_name(command), "a client asks for something");
        }
        Input::SessionDeleted { session, error } => {
            info!(%session, deleted = error.is_none(), "a session is deleted")
        }
        Input::SessionHeld { session, holder } => {
            info!(%session, pid = holder.pid, "another process has a session, which is waited for");
        }
        Input::SessionOpened { session, opened, children, .. } => {
            let failed = matches!(opened, hostler_core::workspace::Opened::Failed(_));
            debug!(%session, failed, unfinished_sub_agents = children.len(), "a session is opened");
        }
        Input::Session { session, input } => session_input(session, input),
        Input::Tick => trace!("time has passed"),
    }
}

fn session_input(session: &SessionId, input: &SessionInput) {
    match input {
        SessionInput::Prepared { prompt, result } => {
            debug!(%session, %prompt, failed = result.is_err(), "a run is prepared");
        }
        SessionInput::Model { attempt, event } => {
            trace!(%session, %attempt, event = event_name(event), "a model says something");
        }
        SessionInput::Title { event } => {
            trace!(%session, event = event_name(event), "a model says something of a title")
        }
        SessionInput::Checked { step, verdict } => {
            let verdict = match verdict {
                Verdict::Satisfied => "satisfied",
                Verdict::Violated(_) => "violated",
                Verdict::Undecided(_) => "undecided",
            };
            info!(%session, %step, verdict, "an answer was held against its schema");
        }
        SessionInput::Inspected { call, .. } => trace!(%session, %call, "a call was looked at"),
        SessionInput::ToolOutput { call, text } => {
            trace!(%session, %call, bytes = text.len(), "a tool shows something")
        }
        SessionInput::ToolFinished { call, outcome } => {
            trace!(%session, %call, bytes = outcome.text.len(), "a tool's outcome has come");
        }
        // These come inside of what the workspace was told.
        SessionInput::Opened
        | SessionInput::Submit { .. }
        | SessionInput::Cancel { .. }
        | SessionInput::ClearQueue { .. }
        | SessionInput::Rename { .. }
        | SessionInput::Fork { .. }
        | SessionInput::Answer { .. }
        | SessionInput::Tick => {}
    }
}

/// What was committed, and how long that took.
pub(super) fn committed(entries: &[Entry], committed: &[Committed], strength: Strength, took: Duration) {
    if let Some(last) = committed.last() {
        let bytes: usize = committed.iter().map(|one| one.body.len()).sum();
        let micros = took.as_micros();
        debug!(records = committed.len(), bytes, seq = last.seq, ?strength, micros, "records are committed");
    }
    entries.iter().for_each(|entry| record(&entry.session, &entry.record));
}

fn record(session: &SessionId, record: &Record) {
    let kind = record.kind();
    match record {
        Record::PromptAccepted { sequence, prompt } => {
            let (id, attachments) = (&prompt.id, prompt.attachments.len());
            info!(%session, prompt = %id, sequence, bytes = prompt.text.len(), attachments, "a prompt is accepted");
        }
        Record::PromptReturned { prompt, reason: ReturnReason::Interrupted, .. } => {
            info!(%session, %prompt, "a prompt goes back to its sender, for its process has ended");
        }
        Record::TurnFinished { turn, outcome: TurnOutcome::Interrupted, .. } => {
            info!(%session, %turn, "a turn is recovered whose process has ended");
        }
        Record::AttemptFailed { attempt, error, too_long, retry_after, .. } => {
            info!(%session, %attempt, why = failure(&error.kind), too_long, retry_after, "an attempt has failed");
        }
        Record::SummaryStarted { turn, budget } => {
            info!(%session, %turn, budget, "the conversation is being summed up")
        }
        Record::StepFinished { step, usage, cost, context, .. } => {
            info!(%session, %step, input = usage.input, output = usage.output, cost, context, "a step is over");
        }
        Record::AnswerRefused { .. } => info!(%session, "an answer does not satisfy its schema"),
        Record::CancelAccepted { watermark, reason, .. } => {
            info!(%session, watermark, ?reason, "a cancel is accepted");
        }
        Record::RunFinished(run) => {
            let (id, status, reason, totals) = (&run.run, run.status, run.reason, &run.totals);
            info!(%session, run = %id, ?status, ?reason, steps = totals.steps, ms = run.duration, "a run is over");
        }
        Record::TextAppended { text, .. }
        | Record::ReasoningAppended { text, .. }
        | Record::ToolOutputAppended { text, .. } => trace!(%session, kind, bytes = text.len(), "recorded"),
        Record::SessionCreated { .. }
        | Record::SessionForked { .. }
        | Record::TitleChanged { .. }
        | Record::PromptQueued { .. }
        | Record::PromptFolded { .. }
        | Record::PromptReturned { .. }
        | Record::Prepared { .. }
        | Record::TurnStarted { .. }
        | Record::SummaryFinished { .. }
        | Record::TurnContinued { .. }
        | Record::StepStarted { .. }
        | Record::AttemptStarted { .. }
        | Record::MessageFinished { .. }
        | Record::PermissionDecided { .. }
        | Record::PermissionAsked { .. }
        | Record::PermissionWithdrawn { .. }
        | Record::ToolCallStarted { .. }
        | Record::ToolCallFinished { .. }
        | Record::SubAgentFinished { .. }
        | Record::TodosChanged { .. }
        | Record::TurnFinished { .. } => debug!(%session, kind, "recorded"),
    }
}

/// What is started now.
pub(super) fn effect(effect: &Effect) {
    match effect {
        Effect::OpenSession { session } => debug!(%session, "a session is wanted"),
        Effect::CancelOpen { session } => debug!(%session, "a session is wanted no more"),
        Effect::CloseSession { session } => debug!(%session, "a session is let go"),
        Effect::DeleteSession { session } => debug!(%session, "a session is to be deleted"),
        Effect::Session(Owned { session, effect }) => session_effect(session, effect),
        Effect::Reply { to, .. } => trace!(request = to.0, "a client is answered"),
        Effect::Notify(_) => trace!("clients are told something"),
    }
}

fn session_effect(session: &SessionId, effect: &Ask) {
    match effect {
        Ask::Prepare { prompt, .. } => debug!(%session, %prompt, "a run is to be prepared"),
        Ask::CancelPrepare { prompt } => debug!(%session, %prompt, "a run is to be prepared no more"),
        Ask::CallModel { attempt, model, renew } => {
            info!(%session, %attempt, %model, renew, "a model is asked")
        }
        Ask::CancelCall { attempt } => info!(%session, %attempt, "a model is asked no more"),
        Ask::InspectCall { call, input } => {
            debug!(%session, %call, tool = tool(input), "a call is looked at")
        }
        Ask::RunTool { call, input } => info!(%session, %call, tool = tool(input), "a tool begins"),
        Ask::CancelTool { call } => info!(%session, %call, "a tool is to stop"),
        Ask::MakeTitle { model } => info!(%session, %model, "a model is asked for a title"),
        Ask::CancelTitle => debug!(%session, "a title is wanted no more"),
        Ask::CheckAnswer { step } => debug!(%session, %step, "an answer is held against its schema"),
        Ask::CancelCheck { step } => debug!(%session, %step, "whether an answer will do matters no more"),
        Ask::KeepRules { rules } => info!(%session, rules = rules.len(), "rules are kept"),
        Ask::Reply { to, .. } => trace!(request = to.0, "a client is answered"),
    }
}

/// How a tool ended, and after what time.
pub(super) fn tool_ended(
    session: &SessionId,
    call: CallId,
    name: &str,
    outcome: &ToolOutcome,
    took: Duration,
) {
    let (status, bytes, ms) = (outcome.status, outcome.text.len(), took.as_millis());
    info!(%session, %call, tool = name, ?status, bytes, ms, "a tool has ended");
}

/// A lock was waited for.
pub(super) fn waited(session: &SessionId, had: bool, took: Duration) {
    info!(%session, had, ms = took.as_millis(), "the wait for a session is over");
}

/// The log cannot be written.
pub(super) fn crashed(why: &str) {
    warn!(why, "what was to be recorded cannot be; the workspace begins anew from its log");
}

/// The name of the tool that is called.
pub(super) fn tool(input: &ToolInput) -> &'static str {
    match input {
        ToolInput::Bash(_) => "bash",
        ToolInput::View(_) => "view",
        ToolInput::Ls(_) => "ls",
        ToolInput::Glob(_) => "glob",
        ToolInput::Grep(_) => "grep",
        ToolInput::Edit(_) => "edit",
        ToolInput::MultiEdit(_) => "multiedit",
        ToolInput::Write(_) => "write",
    }
}

/// Why an attempt failed, without what the provider says about it.
fn failure(kind: &CallErrorKind) -> String {
    match kind {
        CallErrorKind::Transport => "transport".to_owned(),
        CallErrorKind::Truncated => "truncated".to_owned(),
        CallErrorKind::Status { status, .. } => format!("status {status}"),
        CallErrorKind::Stream { .. } => "stream".to_owned(),
        CallErrorKind::Protocol => "protocol".to_owned(),
        CallErrorKind::Credentials => "credentials".to_owned(),
        CallErrorKind::Timeout(which) => format!("timeout {which:?}"),
    }
}

fn event_name(event: &ModelEvent) -> &'static str {
    match event {
        ModelEvent::Connected => "connected",
        ModelEvent::Text { .. } => "text",
        ModelEvent::Reasoning { .. } => "reasoning",
        ModelEvent::Opaque { .. } => "seal",
        ModelEvent::Call { .. } => "call",
        ModelEvent::Input { .. } => "arguments",
        ModelEvent::Usage(_) => "usage",
        ModelEvent::Ending(_) => "ending",
        ModelEvent::Finished(_) => "finished",
        ModelEvent::Failed(_) => "failed",
    }
}

fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Submit { .. } => "submit",
        Command::Cancel { .. } => "cancel",
        Command::Rename { .. } => "rename",
        Command::Fork { .. } => "fork",
        Command::Delete { .. } => "delete",
        Command::Answer { .. } => "answer",
        Command::ClearQueue { .. } => "clear queue",
    }
}
