//! What happens in words for somebody who has never seen the code, and in which lane it is told.

use hostler_core::machine::Entry;
use hostler_core::model::ModelEvent;
use hostler_core::protocol::{Command, Reply};
use hostler_core::record::{CancelScope, Record};
use hostler_core::session::{Effect as Ask, Input as Said, Owned};
use hostler_core::workspace::{Effect, Input, Opened};

use crate::plan;
use crate::world::disk::Verdict;
use crate::world::told::What;
use crate::world::trace::short;

/// Where something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// People and programs that ask.
    People,
    /// A process of the program.
    Process(usize),
    /// What is decided about sessions.
    Session,
    /// The model's provider.
    Provider,
    /// Tools.
    Tools,
    /// The disk with the log and the locks.
    Disk,
}

/// What is said of something that happened.
pub(super) struct Words {
    pub(super) lane: Lane,
    /// A word for how it is shown.
    pub(super) kind: &'static str,
    /// In a few words.
    pub(super) title: String,
    /// All of it, as it is in the code; empty if the title says it all.
    pub(super) detail: String,
}

fn words(lane: Lane, kind: &'static str, title: impl Into<String>) -> Words {
    Words { lane, kind, title: title.into(), detail: String::new() }
}

impl Words {
    fn with(self, detail: &impl std::fmt::Debug) -> Self {
        Self { detail: short(detail), ..self }
    }
}

/// Tells what happened; none for what is told elsewhere.
pub(super) fn tell(what: &What) -> Option<Words> {
    Some(match what {
        What::Acts(action) => acts(action),
        What::Hears { process, input } => hears(*process, input),
        What::Decides { entry, .. } => decides(entry),
        What::Commits { process, records, verdict } => commits(*process, *records, *verdict),
        What::Starts { process, effect } => return starts(*process, effect),
        What::Answered { command, reply } => answered(command, reply),
        What::Exits { prompt, code } => {
            words(Lane::People, "says", format!("the run of {prompt} exits with {code}"))
        }
        What::Dies { process } => {
            words(Lane::Process(*process), "bad", "the process is gone: all it had in memory is lost")
        }
        What::Boots { process } => {
            words(Lane::Process(*process), "does", "the process starts, with nothing in memory")
        }
        What::Calms => {
            words(Lane::People, "does", "from here on no new trouble is made; everything must come to an end")
        }
    })
}

/// An action of the plan, as a sentence without its time.
pub(crate) fn action(what: &plan::What) -> String {
    match *what {
        plan::What::Submit(submit) => {
            let (prompt, session) = (submit.prompt, submit.session);
            let how = if submit.headless { "a `hostler run` submits" } else { "somebody submits" };
            let flaw = match submit.flaw {
                1 => ", which is empty",
                2 => " again with another text",
                3 => " with the run id of another",
                _ => "",
            };
            format!("{how} prompt p{prompt}{flaw} to session s{session}")
        }
        plan::What::Cancel { session, prompt: None, .. } => {
            format!("somebody cancels everything in session s{session}")
        }
        plan::What::Cancel { session, prompt: Some(prompt), .. } => {
            format!("somebody cancels the run of prompt p{prompt} in session s{session}")
        }
        plan::What::Stop { session, .. } => {
            format!("somebody cancels a sub-agent of session s{session}, and only that")
        }
        plan::What::Clear { session, .. } => format!("somebody clears the queue of session s{session}"),
        plan::What::Rename { session, name, .. } => {
            format!("somebody calls session s{session} {:?}", crate::world::title(name))
        }
        plan::What::Fork { from, session, .. } => {
            format!("somebody makes session s{session} from session s{from}")
        }
        plan::What::Delete { session, .. } => format!("somebody deletes session s{session}"),
        plan::What::Signal { prompt, how } => {
            let how = ["SIGHUP", "SIGINT", "SIGTERM"].get(how as usize);
            match how {
                Some(signal) => format!("the `hostler run` of prompt p{prompt} gets {signal}"),
                None => format!("the reader of the `hostler run` of prompt p{prompt} goes away"),
            }
        }
        plan::What::Kill { process, .. } => format!("process {process} is killed without warning"),
        plan::What::Suspend { process, time } => format!("process {process} is suspended for {time} ms"),
        plan::What::Power { .. } => "the power goes".to_owned(),
        plan::What::Outage { how, time } => {
            let how = ["is slow", "is busy", "fails", "fails and does what it says it did not do"]
                .get(how as usize)
                .unwrap_or(&"is bad");
            format!("the disk {how} for {time} ms")
        }
    }
}

fn acts(what: &plan::What) -> Words {
    let lane = match what {
        plan::What::Kill { process, .. } | plan::What::Suspend { process, .. } => {
            Lane::Process(*process as usize)
        }
        plan::What::Power { .. } | plan::What::Outage { .. } => Lane::Disk,
        plan::What::Submit(_)
        | plan::What::Cancel { .. }
        | plan::What::Stop { .. }
        | plan::What::Clear { .. }
        | plan::What::Rename { .. }
        | plan::What::Fork { .. }
        | plan::What::Delete { .. }
        | plan::What::Signal { .. } => Lane::People,
    };
    let kind = if lane == Lane::People { "acts" } else { "bad" };
    words(lane, kind, action(what))
}

fn hears(process: usize, input: &Input) -> Words {
    let own = Lane::Process(process);
    match input {
        Input::Request { command, .. } => {
            words(own, "hears", format!("takes in: {}", asked(command))).with(input)
        }
        Input::SessionHeld { session, .. } => {
            words(Lane::Disk, "says", format!("session {session} is locked by another process")).with(input)
        }
        Input::SessionOpened { session, opened: Opened::Ready(_), .. } => {
            words(Lane::Disk, "says", format!("the lock of session {session} is taken and its log read"))
                .with(input)
        }
        Input::SessionOpened { session, opened: Opened::Failed(why), .. } => {
            words(Lane::Disk, "bad", format!("session {session} cannot be opened: {why}"))
        }
        Input::SessionDeleted { session, error: None } => {
            words(Lane::Disk, "says", format!("session {session} is forgotten")).with(input)
        }
        Input::SessionDeleted { session, error: Some(why) } => {
            words(Lane::Disk, "bad", format!("session {session} cannot be forgotten: {why}"))
        }
        Input::Session { session, input } => {
            let words = said(own, input);
            let title = format!("{session}: {}", words.title);
            if matches!(words.lane, Lane::Provider | Lane::Tools) { Words { title, ..words } } else { words }
        }
        Input::Tick => words(own, "hears", "a deadline has passed"),
    }
}

/// What a machine is handed, in a few words.
pub(crate) fn heard(input: &Input) -> String {
    match input {
        Input::Request { command, .. } => format!("somebody asks to {}", asked(command)),
        Input::SessionHeld { .. }
        | Input::SessionOpened { .. }
        | Input::SessionDeleted { .. }
        | Input::Session { .. }
        | Input::Tick => hears(0, input).title,
    }
}

/// What a provider or a tool reports, in a few words.
pub(crate) fn reported(input: &Said) -> String {
    said(Lane::Provider, input).title
}

fn said(own: Lane, input: &Said) -> Words {
    let (lane, kind, title) = match input {
        Said::Prepared { prompt, result } => match **result {
            Ok(_) => (Lane::Provider, "says", format!("what {prompt} needs is prepared")),
            Err(_) => (Lane::Provider, "bad", format!("what {prompt} needs could not be prepared")),
        },
        Said::Model { attempt, event } => model(&attempt.to_string(), event),
        Said::Inspected { call, .. } => (Lane::Tools, "says", format!("call {call} was looked at")),
        Said::ToolOutput { call, .. } => (Lane::Tools, "says", format!("call {call} prints something")),
        Said::ToolFinished { call, outcome } => {
            (Lane::Tools, "says", format!("call {call} has ended: {:?}", outcome.status))
        }
        Said::Opened => (own, "hears", "the session is open".to_owned()),
        Said::Submit { .. } => (own, "hears", "a prompt reaches the session".to_owned()),
        Said::Cancel { .. } => (own, "hears", "a cancel reaches the session".to_owned()),
        Said::ClearQueue { .. } => (own, "hears", "clearing the queue reaches the session".to_owned()),
        Said::Answer { .. } => (own, "hears", "an answer about a call reaches the session".to_owned()),
        Said::Rename { .. } => (own, "hears", "a title reaches the session".to_owned()),
        Said::Fork { .. } => (own, "hears", "what to go on from reaches the session".to_owned()),
        Said::Title { event } => model("the title", event),
        Said::Checked { step, verdict } => {
            (Lane::Tools, "says", format!("the answer of {step} was looked at: {}", variant(verdict)))
        }
        Said::Tick => (own, "hears", "a deadline has passed".to_owned()),
    };
    words(lane, kind, title).with(input)
}

fn model(attempt: &str, event: &ModelEvent) -> (Lane, &'static str, String) {
    let said = match event {
        ModelEvent::Connected => "has been heard".to_owned(),
        ModelEvent::Text { .. } => "brings some text".to_owned(),
        ModelEvent::Reasoning { .. } => "brings some of what the model thinks".to_owned(),
        ModelEvent::Opaque { .. } => "brings a seal on what the model thought".to_owned(),
        ModelEvent::Call { name, .. } => format!("brings a call of the tool {name}"),
        ModelEvent::Input { .. } => "brings some of a call's arguments".to_owned(),
        ModelEvent::Usage(_) => "says what it used".to_owned(),
        ModelEvent::Ending(reason) => format!("says that it is done ({reason:?})"),
        ModelEvent::Finished(reason) => format!("is answered to the end ({reason:?})"),
        ModelEvent::Failed(error) => {
            return (Lane::Provider, "bad", format!("request {attempt} fails: {:?}", error.kind));
        }
    };
    (Lane::Provider, "says", format!("request {attempt} {said}"))
}

/// What somebody asks for, in a few words.
pub(crate) fn asked(command: &Command) -> String {
    match command {
        Command::Submit { session, prompt } => format!("submit {} to {}", prompt.id, session.id()),
        Command::Cancel { session, scope: CancelScope::Session, .. } => {
            format!("cancel everything in {session}")
        }
        Command::Cancel { session, scope: CancelScope::Run(run), .. } => {
            format!("cancel run {run} in {session}")
        }
        Command::ClearQueue { session } => format!("clear the queue of {session}"),
        Command::Rename { session, title } => format!("call {session} {title:?}"),
        Command::Fork { from, session } => format!("make {session} from {from}"),
        Command::Delete { session } => format!("forget {session}"),
        Command::Answer { ask, answer, .. } => {
            format!("answer {answer:?} about call {} of {}", ask.call, ask.session)
        }
    }
}

fn decides(entry: &Entry) -> Words {
    let session = &entry.session;
    let title = match &entry.record {
        Record::SessionForked { from, .. } => format!("it goes on from what {from} had come to"),
        Record::SessionCreated { .. } if session.is_child() => "it is opened".to_owned(),
        Record::SessionCreated { .. } => "the session exists".to_owned(),
        Record::PromptAccepted { .. } if session.is_child() => "it has its task".to_owned(),
        Record::TurnStarted { turn, .. } if session.is_child() => format!("turn {turn} begins with its task"),
        Record::RunFinished(end) if session.is_child() => format!("it ends: {:?}", end.status),
        Record::PromptAccepted { sequence, prompt } => {
            format!("prompt {} is accepted as number {sequence}", prompt.id)
        }
        Record::PromptQueued { prompt } => format!("prompt {prompt} waits in the queue"),
        Record::PromptFolded { prompt, turn, .. } => format!("prompt {prompt} joins turn {turn}"),
        Record::PromptReturned { prompt, reason, .. } => {
            format!("prompt {prompt} goes back to its sender ({reason:?})")
        }
        Record::Prepared { .. } => "what requests are made of has changed".to_owned(),
        Record::TurnStarted { turn, run, prompt, .. } => {
            format!("turn {turn} begins with prompt {prompt}, for run {run}")
        }
        Record::SummaryStarted { turn, .. } => format!("turn {turn} begins: the conversation is summed up"),
        Record::SummaryFinished { .. } => "the conversation has been summed up".to_owned(),
        Record::TurnContinued { turn, run, .. } => format!("run {run} goes on with turn {turn}"),
        Record::AnswerRefused { .. } => {
            "the answer does not satisfy its schema and is asked for again".to_owned()
        }
        Record::StepStarted { step, .. } => format!("step {step} begins"),
        Record::AttemptStarted { attempt } => format!("request {attempt} is about to be made"),
        Record::TextAppended { .. } => "more text of the answer".to_owned(),
        Record::ReasoningAppended { .. } => "more of what the model thought".to_owned(),
        Record::AttemptFailed { attempt, retry_after: Some(wait), .. } => {
            format!("request {attempt} failed; the next one is made in {wait} ms")
        }
        Record::AttemptFailed { attempt, retry_after: None, .. } => {
            format!("request {attempt} failed for good")
        }
        Record::MessageFinished { message, finish, .. } => {
            format!("answer {message} is complete: {}", variant(finish))
        }
        Record::PermissionDecided { call, allowed, .. } => {
            format!("call {call} is {}", if *allowed { "allowed" } else { "denied" })
        }
        Record::ToolCallStarted { call, .. } => format!("call {call} is about to run"),
        Record::ToolOutputAppended { call, .. } => format!("call {call} said something"),
        Record::ToolCallFinished { call, outcome, .. } => {
            format!("call {call} has ended: {:?}", outcome.status)
        }
        Record::StepFinished { step, .. } => format!("step {step} is over"),
        Record::CancelAccepted { scope: CancelScope::Session, .. } => {
            "everything in the session is cancelled".to_owned()
        }
        Record::CancelAccepted { scope: CancelScope::Run(run), .. } => format!("run {run} is cancelled"),
        Record::TitleChanged { title, .. } => format!("it is called {title:?}"),
        Record::PermissionAsked { session, call, .. } => {
            format!("people are asked whether call {call} of {session} may run")
        }
        Record::PermissionWithdrawn { session, call } => {
            format!("nobody needs to answer about call {call} of {session} any more")
        }
        Record::SubAgentFinished { call, status, .. } => {
            format!("the sub-agent of call {call} has ended: {status:?}")
        }
        Record::TodosChanged { todos } => format!("{} things are to be done", todos.len()),
        Record::TurnFinished { turn, outcome, .. } => format!("turn {turn} is over: {}", variant(outcome)),
        Record::RunFinished(end) => {
            format!("run {} of prompt {} ends: {:?}", end.run, end.prompt, end.status)
        }
    };
    words(Lane::Session, "decides", format!("{session}: {title}")).with(&entry.record)
}

/// The name of a variant.
fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let end = text.find(['(', '{', ' ']).unwrap_or(text.len());
    text[..end].to_owned()
}

fn commits(process: usize, records: usize, verdict: Verdict) -> Words {
    let records = if records == 1 { "1 record".to_owned() } else { format!("{records} records") };
    match verdict {
        Verdict::Done => words(Lane::Disk, "commit", format!("{records} of process {process} are on disk")),
        Verdict::Busy => {
            words(Lane::Disk, "bad", format!("{records} of process {process} are refused: the disk is busy"))
        }
        Verdict::Failed => {
            words(Lane::Disk, "bad", format!("{records} of process {process} could not be written"))
        }
        Verdict::Unsure => words(
            Lane::Disk,
            "bad",
            format!("{records} of process {process} are on disk, but the process is told that they are not"),
        ),
    }
}

fn starts(process: usize, effect: &Effect) -> Option<Words> {
    let words = match effect {
        Effect::OpenSession { session } => {
            words(Lane::Disk, "does", format!("process {process} asks for the lock of {session}"))
        }
        Effect::CancelOpen { session } => words(
            Lane::Disk,
            "does",
            format!("process {process} does not want the lock of {session} any more"),
        ),
        Effect::CloseSession { session } => {
            words(Lane::Disk, "does", format!("process {process} gives back the lock of {session}"))
        }
        Effect::DeleteSession { session } => {
            words(Lane::Disk, "does", format!("process {process} forgets {session}"))
        }
        Effect::Session(owned) => return starts_for(owned),
        // Answers are told where they arrive.
        Effect::Reply { .. } => return None,
        Effect::Notify(notice) => {
            words(Lane::People, "says", "everyone who watches is told something").with(notice)
        }
    };
    Some(words)
}

fn starts_for(Owned { session, effect }: &Owned) -> Option<Words> {
    let (lane, title) = match effect {
        Ask::Prepare { prompt, .. } => (Lane::Provider, format!("what {prompt} needs is looked for")),
        Ask::CancelPrepare { prompt } => {
            (Lane::Provider, format!("what {prompt} needs is not looked for any more"))
        }
        Ask::CallModel { attempt, .. } => (Lane::Provider, format!("the model is asked ({attempt})")),
        Ask::CancelCall { attempt } => (Lane::Provider, format!("the model is told to stop ({attempt})")),
        Ask::InspectCall { call, .. } => (Lane::Tools, format!("call {call} is going to be looked at")),
        Ask::RunTool { call, .. } => (Lane::Tools, format!("call {call} starts running")),
        Ask::CancelTool { call } => (Lane::Tools, format!("call {call} is told to stop")),
        Ask::MakeTitle { .. } => (Lane::Provider, "the model is asked for a title".to_owned()),
        Ask::CancelTitle => (Lane::Provider, "the model is told to stop (title)".to_owned()),
        Ask::CheckAnswer { step } => {
            (Lane::Tools, format!("the answer of {step} is held against its schema"))
        }
        Ask::CancelCheck { step } => {
            (Lane::Tools, format!("the answer of {step} need not be looked at any more"))
        }
        Ask::KeepRules { .. } => (Lane::Disk, "what was granted for always is kept".to_owned()),
        Ask::Reply { .. } => return None,
    };
    Some(words(lane, "does", format!("{session}: {title}")).with(effect))
}

fn answered(command: &Command, reply: &Reply) -> Words {
    let asked = asked(command);
    let told = match reply {
        Reply::Accepted { run, .. } => format!("accepted as run {run}"),
        Reply::Cancelled { runs } if runs.is_empty() => "there was nothing to cancel".to_owned(),
        Reply::Cancelled { runs } => format!("{} runs are cancelled", runs.len()),
        Reply::Cleared { prompts } => format!("{} prompts go back", prompts.len()),
        Reply::Refused(refusal) => format!("refused: {}", refusal.message),
        Reply::Answered { resolved: true } => "that answer counts".to_owned(),
        Reply::Answered { resolved: false } => "somebody else has answered, or nobody needs to".to_owned(),
        Reply::Renamed => "it is called so".to_owned(),
        Reply::Forked { session } => format!("{session} is there"),
        Reply::Deleted => "it is forgotten".to_owned(),
        Reply::Sessions(_) | Reply::Session(_) | Reply::Transcript(_) | Reply::Runs(_) | Reply::Asks(_) => {
            "what there is".to_owned()
        }
    };
    words(Lane::People, "says", format!("is told about \u{201c}{asked}\u{201d}: {told}"))
}
