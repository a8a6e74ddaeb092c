//! The reference: a second, small and naive account of what becomes of prompts.
//!
//! It is fed what the machines are fed and says who is accepted, who begins, who joins whom, and how everybody ends. It
//! knows no records, messages, chunks or effects, it keeps lists where the core keeps maps, and it shares no code with
//! the core beyond the words. After every input, what it says must be what the core recorded.

mod answers;
mod calls;
mod family;
mod past;
mod story;
mod tools;

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, RunId, SessionId};
use hostler_core::machine::Entry;
use hostler_core::prompt::Prompt;
use hostler_core::protocol::{Command, SessionChoice};
use hostler_core::record::{CancelScope, Reason, Record, RunStatus, TurnOutcome};
use hostler_core::session::Settings;
use hostler_core::time::Timestamp;
use hostler_core::workspace::{Input, Opened, RunOwner, TakenRun};

use crate::world::disk::Log;

use family::Name;
use past::Past;
use story::{Read, Story};

/// What becomes of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is accepted.
    Accepted(PromptId),
    /// It begins a turn.
    Begins(PromptId),
    /// It joins the turn that is under way.
    Joins(PromptId),
    /// It ends, after it had begun.
    Ends(PromptId, RunStatus),
    /// It is given back.
    Returns(PromptId),
    /// A person is asked about a call.
    Asks(Name),
    /// It was decided whether a call may run about which a person was asked.
    Decides(Name, bool),
    /// Nobody needs to answer any more.
    Withdraws(Name),
}

/// Where a session is in a process.
#[derive(Clone, Debug)]
enum Place {
    /// Its lock is asked for, and something waits for that.
    Opening(Opening),
    /// It is open.
    Open(Box<Story>),
    /// The disk is to forget it.
    Going,
}

/// What waits for a session's lock.
#[derive(Clone, Debug, Default)]
struct Opening {
    prompts: Vec<(bool, Prompt)>,
    /// What is to be done with the session itself.
    errands: Vec<Errand>,
    /// Whether another process has it.
    held: bool,
}

#[derive(Clone, Debug)]
enum Errand {
    Rename(String),
    Fork,
    Delete,
}

/// The second account.
#[derive(Clone, Debug)]
pub struct Reference {
    settings: Settings,
    past: BTreeMap<SessionId, Past>,
    places: BTreeMap<(usize, SessionId), Place>,
    fates: Vec<Fate>,
    /// What is read from the records of each session, just now.
    read: BTreeMap<SessionId, Read>,
    /// What a session that was made from another one took over, just now.
    forked: Vec<Record>,
}

impl Reference {
    /// One that knows nothing.
    pub fn new(settings: &Settings) -> Self {
        let settings = settings.clone();
        Self {
            settings,
            past: BTreeMap::new(),
            places: BTreeMap::new(),
            fates: Vec::new(),
            read: BTreeMap::new(),
            forked: Vec::new(),
        }
    }

    /// That stands in the log.
    pub fn log(&mut self, entry: &Entry) {
        let session = family::plain(&entry.session);
        self.past.entry(session).or_default().record(&entry.session, entry.at, &entry.record);
    }

    /// This is all that stands in the log.
    pub fn rewind(&mut self, log: &Log) {
        self.past.clear();
        log.iter().for_each(|(_, entry)| self.log(entry));
    }

    /// The disk has forgotten a session and its sub-agents.
    pub fn forget(&mut self, session: &SessionId) {
        self.past.retain(|id, _| id.root() != *session);
    }

    /// A process is gone.
    pub fn gone(&mut self, process: usize) {
        self.places.retain(|(owner, _), _| *owner != process);
    }

    /// A process has handled that and recorded this. Fails if other things should have become of prompts.
    ///
    /// What a session takes over from another one is taken from the records as well: it is copied as it is.
    ///
    /// That a conversation is long enough to be summed up is taken from the records, that a turn goes round in circles, that a
    /// run has cost as much as it may, that a request had seals, and which calls were waited for too long: these are matters
    /// of counting bytes and money, of comparing results and requests and of each call's own clock, and other oracles judge
    /// them.
    pub fn input(
        &mut self,
        process: usize,
        now: Timestamp,
        input: &Input,
        records: &[Entry],
    ) -> Result<(), String> {
        self.read(matches!(input, Input::Tick), records);
        self.follow(process, now, input);
        self.compare(records)
    }

    /// When something is due in a process, as far as it is known here.
    pub fn deadline(&self, process: usize) -> Option<Timestamp> {
        let open = self.places.iter().filter(|((owner, _), _)| *owner == process);
        let due = open.filter_map(|(_, place)| match place {
            Place::Open(story) => story.deadline(),
            Place::Opening(_) | Place::Going => None,
        });
        due.min()
    }

    fn read(&mut self, tick: bool, records: &[Entry]) {
        self.read.clear();
        let forks = |record: &&Record| matches!(record, Record::SessionForked { .. });
        self.forked = records.iter().map(|entry| &entry.record).filter(forks).cloned().collect();
        for entry in records {
            let read = self.read.entry(family::plain(&entry.session)).or_default();
            match &entry.record {
                Record::SummaryStarted { .. } => read.crowded += 1,
                Record::TurnContinued { crowded, .. } => read.still_crowded |= *crowded,
                Record::AttemptFailed { too_long: true, retry_after: None, .. } => read.spent = true,
                Record::AttemptFailed { seals: true, .. } => read.seals = true,
                Record::ToolCallFinished { call, .. } if tick => read.late.push(*call),
                Record::TurnFinished { outcome: TurnOutcome::Limited(Reason::Repetition, _), .. } => {
                    read.circles = true;
                }
                Record::TurnFinished { outcome: TurnOutcome::Limited(Reason::MaxCost, _), .. } => {
                    read.costly = true;
                }
                _ => {}
            }
        }
    }

    fn follow(&mut self, process: usize, now: Timestamp, input: &Input) {
        match input {
            Input::Request { command: Command::Submit { session, prompt }, taken, .. } => {
                if !self.conflicts(process, session, prompt, taken.as_deref()) {
                    self.submit(process, now, session, prompt);
                }
            }
            Input::Request { command: Command::Cancel { session, scope, reason }, .. } => {
                self.cancel(process, now, session, scope, *reason);
            }
            Input::Request { command: Command::ClearQueue { session }, .. } => {
                self.tell(process, now, session, |story, fates| story.clear(now, fates));
            }
            Input::SessionOpened { session, opened, children, taken } => {
                let children = children.iter().map(|child| family::plain(&child.id)).collect();
                self.opened(process, now, session, opened, (children, taken));
            }
            Input::Session { session, input } => {
                let session = family::plain(session);
                self.tell(process, now, &session, |story, fates| story.hear(now, input, fates));
            }
            Input::Request { command: Command::Answer { session, ask, answer, .. }, .. } => {
                let name = Name::of(&ask.session, ask.call);
                self.tell(process, now, session, |story, fates| story.answer(now, &name, *answer, fates));
            }
            Input::Tick => self.tick(process, now),
            Input::Request { command: Command::Rename { session, title }, .. } => {
                if matches!(self.places.get(&(process, session.clone())), Some(Place::Open(_))) {
                    self.tell(process, now, session, |story, _| story.rename(title));
                } else {
                    self.errand(process, session, Errand::Rename(title.clone()));
                }
            }
            Input::Request { command: Command::Fork { from, session }, source, .. } => {
                let there = source.as_ref().is_some_and(|source| source.created && source.id == *from);
                if there && !from.is_child() && !session.is_child() {
                    self.errand(process, session, Errand::Fork);
                }
            }
            Input::Request { command: Command::Delete { session }, .. } if !session.is_child() => {
                self.errand(process, session, Errand::Delete);
            }
            Input::Request { command: Command::Delete { .. }, .. } => {}
            Input::SessionHeld { session, .. } => {
                let key = (process, session.clone());
                if let Some(Place::Opening(opening)) = self.places.get_mut(&key) {
                    // Nobody waits for another process only to say what a session is called.
                    opening.errands.clear();
                    opening.held = true;
                }
                self.forget_if_unwanted(&key);
            }
            Input::SessionDeleted { session, .. } => {
                let key = (process, session.clone());
                if matches!(self.places.get(&key), Some(Place::Going)) {
                    self.places.remove(&key);
                }
            }
        }
    }

    /// Compares what became of prompts with what the core has recorded about the same input.
    fn compare(&mut self, records: &[Entry]) -> Result<(), String> {
        let expected = std::mem::take(&mut self.fates);
        let mut recorded: Vec<Fate> = Vec::new();
        let plain = family::plain_prompt;
        for entry in records {
            match &entry.record {
                Record::PermissionAsked { session, call, .. } => {
                    recorded.push(Fate::Asks(Name::of(session, *call)));
                }
                Record::PermissionWithdrawn { session, call } => {
                    recorded.push(Fate::Withdraws(Name::of(session, *call)));
                }
                // A sub-agent's own account says the same once more; a rule's no is no decision of anybody's.
                Record::PermissionDecided { call, allowed, session, by, .. }
                    if !entry.session.is_child() && by != "policy" =>
                {
                    let whose = session.as_ref().unwrap_or(&entry.session);
                    recorded.push(Fate::Decides(Name::of(whose, *call), *allowed));
                }
                Record::PromptAccepted { prompt, .. } => recorded.push(Fate::Accepted(plain(&prompt.id))),
                Record::TurnStarted { prompt, .. } => recorded.push(Fate::Begins(plain(prompt))),
                Record::PromptFolded { prompt, .. } => recorded.push(Fate::Joins(prompt.clone())),
                Record::PromptReturned { prompt, .. } => recorded.push(Fate::Returns(prompt.clone())),
                Record::RunFinished(finished) => {
                    let prompt = plain(&finished.prompt);
                    let returned = Fate::Returns(prompt.clone());
                    if !recorded.contains(&returned) {
                        recorded.push(Fate::Ends(prompt, finished.status));
                    }
                }
                _ => {}
            }
        }
        if expected == recorded {
            Ok(())
        } else {
            Err(format!("expected {expected:?}, and recorded is {recorded:?}"))
        }
    }

    /// Whether another prompt is known to have the run id that a prompt asks for.
    fn conflicts(
        &self,
        process: usize,
        choice: &SessionChoice,
        prompt: &Prompt,
        taken: Option<&RunOwner>,
    ) -> bool {
        let Some(run) = &prompt.run else { return false };
        let logged = taken.is_some_and(|owner| owner.session != *choice.id() || owner.prompt != prompt.id);
        let open = self.places.iter().any(|((owner, session), place)| match place {
            Place::Open(story) => *owner == process && session != choice.id() && story.has_run(run),
            Place::Opening(opening) => opening.prompts.iter().any(|(_, other)| {
                let same = session == choice.id() && other.id == prompt.id;
                *owner == process && !same && other.run_id() == *run
            }),
            Place::Going => false,
        });
        logged || open
    }

    fn submit(&mut self, process: usize, now: Timestamp, choice: &SessionChoice, prompt: &Prompt) {
        let new = matches!(choice, SessionChoice::New { .. });
        let key = (process, choice.id().clone());
        match self.places.get_mut(&key) {
            Some(Place::Opening(opening)) => opening.prompts.push((new, prompt.clone())),
            Some(Place::Going) => {}
            Some(Place::Open(_)) => {
                self.tell_one(process, now, choice.id(), |story, fates| story.submit(now, prompt, fates));
            }
            None => {
                let prompts = vec![(new, prompt.clone())];
                self.places.insert(key, Place::Opening(Opening { prompts, ..Opening::default() }));
            }
        }
        self.let_go(process, choice.id());
    }

    /// Something is to be done with a session that is not open, or is so only by another process.
    fn errand(&mut self, process: usize, session: &SessionId, errand: Errand) {
        let place = self.places.entry((process, session.clone()));
        match place.or_insert_with(|| Place::Opening(Opening::default())) {
            Place::Opening(opening) if !opening.held => opening.errands.push(errand),
            Place::Opening(_) | Place::Open(_) | Place::Going => {}
        }
    }

    fn forget_if_unwanted(&mut self, key: &(usize, SessionId)) {
        if let Some(Place::Opening(opening)) = self.places.get(key)
            && opening.prompts.is_empty()
            && opening.errands.is_empty()
        {
            self.places.remove(key);
        }
    }

    fn cancel(
        &mut self,
        process: usize,
        now: Timestamp,
        session: &SessionId,
        scope: &CancelScope,
        reason: Reason,
    ) {
        let key = (process, session.clone());
        if let Some(Place::Opening(opening)) = self.places.get_mut(&key) {
            opening.prompts.retain(|(_, prompt)| match scope {
                CancelScope::Session => false,
                CancelScope::Run(run) => prompt.run_id() != *run,
            });
            return self.forget_if_unwanted(&key);
        }
        let run: Option<&RunId> = match scope {
            CancelScope::Session => None,
            CancelScope::Run(run) => Some(run),
        };
        let session = family::plain(session);
        self.tell(process, now, &session, |story, fates| story.cancel(now, run, reason, fates));
    }

    fn opened(
        &mut self,
        process: usize,
        now: Timestamp,
        session: &SessionId,
        opened: &Opened,
        (children, taken): (Vec<SessionId>, &[TakenRun]),
    ) {
        let key = (process, session.clone());
        let Some(Place::Opening(opening)) = self.places.get(&key).cloned() else { return };
        self.places.remove(&key);
        if matches!(opened, Opened::Failed(_)) {
            return;
        }
        // Sub-agents end before the session that opened them.
        let mut past = self.past.get(session).cloned().unwrap_or_default();
        for child in children {
            let mut story =
                Story::new(self.past.get(&child).cloned().unwrap_or_default(), self.settings.clone());
            story.is_agent = true;
            story.recover(now, &mut self.fates);
            let agent = child.as_str().split_once("$$").and_then(|(_, call)| call.parse().ok());
            let (theirs, rest): (Vec<_>, Vec<_>) =
                past.asked.drain(..).partition(|(name, _)| agent.is_some() && name.agent == agent);
            past.asked = rest;
            self.fates.extend(theirs.into_iter().map(|(name, _)| Fate::Withdraws(name)));
        }
        let read = self.read.get(session).cloned().unwrap_or_default();
        let mut exists = past.exists();
        let mut story = Story::new(past, self.settings.clone());
        story.read = read;
        story.recover(now, &mut self.fates);
        let mut goes = false;
        for errand in opening.errands {
            match errand {
                Errand::Rename(title) if exists => story.rename(&title),
                Errand::Fork if !exists => {
                    exists = true;
                    self.forked.iter().for_each(|record| story.past.record(session, now, record));
                }
                Errand::Delete => goes |= exists,
                Errand::Rename(_) | Errand::Fork => {}
            }
        }
        for (new, prompt) in opening.prompts {
            let others = |taken: &TakenRun| {
                prompt.run.as_ref() == Some(&taken.run)
                    && (taken.session != *session || taken.prompt != prompt.id)
            };
            // Where there is nothing that could be gone on from, that is said first.
            if (exists || new) && taken.iter().any(others) {
                continue;
            }
            exists = exists || new;
            if exists {
                story.submit(now, &prompt, &mut self.fates);
            }
        }
        let place = if goes && story.is_over() { Place::Going } else { Place::Open(Box::new(story)) };
        self.places.insert(key, place);
        self.let_go(process, session);
    }

    fn tick(&mut self, process: usize, now: Timestamp) {
        let sessions = self.places.keys().filter(|(owner, _)| *owner == process);
        let mut sessions: Vec<_> = sessions.map(|(_, session)| session.clone()).collect();
        sessions.sort_by_key(|session| !session.is_child());
        for session in sessions {
            self.tell(process, now, &session, |story, fates| story.tick(now, fates));
        }
    }

    fn tell(
        &mut self,
        process: usize,
        now: Timestamp,
        session: &SessionId,
        what: impl FnOnce(&mut Story, &mut Vec<Fate>),
    ) {
        self.tell_one(process, now, session, what);
        if let Some((root, _)) = session.as_str().split_once("$$") {
            self.let_go(process, &SessionId::new(root));
        } else {
            self.let_go(process, session);
        }
    }

    /// The same, with the session that opened this one kept: more may be going on there.
    fn tell_one(
        &mut self,
        process: usize,
        now: Timestamp,
        session: &SessionId,
        what: impl FnOnce(&mut Story, &mut Vec<Fate>),
    ) {
        if let Some(Place::Open(story)) = self.places.get_mut(&(process, session.clone())) {
            story.read = self.read.get(session).cloned().unwrap_or_default();
            what(story, &mut self.fates);
        }
        self.carry(process, now, session);
        if session.is_child() {
            self.let_go(process, session);
        }
    }

    fn let_go(&mut self, process: usize, session: &SessionId) {
        let key = (process, session.clone());
        if matches!(self.places.get(&key), Some(Place::Open(story)) if story.is_over()) {
            self.places.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::ids::RequestId;
    use hostler_core::machine::{Effects, Machine};
    use hostler_core::workspace::Workspace;

    use super::*;
    use crate::plan::Submit;
    use crate::world::submission;

    #[test]
    fn it_agrees_with_the_core_and_notices_when_it_does_not() {
        let (settings, now) = (Settings::default(), Timestamp::from_millis(5));
        let (mut reference, mut machine) = (Reference::new(&settings), Workspace::new(settings));
        let submit = Submit {
            process: 0,
            session: 0,
            new: true,
            prompt: 1,
            run: false,
            delivery: 0,
            permission: 1,
            steps: 3,
            wait: 1,
            headless: false,
            schema: false,
            flaw: 0,
        };
        let command = submission(&submit);
        let Command::Submit { session, .. } = &command else { panic!("not a submission") };
        let session = session.id().clone();
        let opened = Input::SessionOpened {
            session,
            opened: Opened::Ready(None),
            children: Vec::new(),
            taken: Vec::new(),
        };
        let request = Input::Request { id: RequestId(1), command, taken: None, source: None };
        let mut out = Effects::new();
        assert_eq!(reference.input(0, now, &request, &[]), Ok(()));
        machine.handle(now, request, &mut out);
        machine.handle(now, opened.clone(), &mut out);
        assert_eq!(reference.clone().input(0, now, &opened, out.records()), Ok(()));
        assert!(reference.input(0, now, &opened, &[]).is_err());
    }
}
