//! Whoever is refused is told so in a sentence that names what it is about, and for a reason that there is.

use std::collections::BTreeMap;

use hostler_core::ids::{PromptId, RequestId, RunId, SessionId};
use hostler_core::prompt::Prompt;
use hostler_core::protocol::{Command, Refusal, RefusalKind, Reply};
use hostler_core::record::{Reason, Record, RunStatus};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};

/// How many characters a title of a person may have.
const LONGEST: usize = 200;

/// What was asked for, and what the log says about the prompts and runs that there were.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    asked: BTreeMap<(usize, RequestId), Command>,
    texts: BTreeMap<(SessionId, PromptId), String>,
    /// The prompts that have a run, or have had it.
    runs: BTreeMap<RunId, Vec<(SessionId, PromptId)>>,
    ends: BTreeMap<(SessionId, PromptId), (RunStatus, Reason)>,
    created: BTreeMap<SessionId, ()>,
}

/// Whether that is a sentence for people.
pub(super) fn is_sentence(text: &str) -> bool {
    let begins = text.chars().next().is_some_and(|first| first.is_uppercase());
    begins && text.ends_with('.') && text.split_whitespace().count() > 2
}

impl Refusals {
    fn log(&mut self, session: &SessionId, record: &Record) -> Result<(), String> {
        if let Record::SessionCreated { .. } = record {
            self.created.insert(session.clone(), ());
        } else if !self.created.contains_key(session) {
            return Err(format!("{session} was never made, and it has a {}", record.kind()));
        }
        match record {
            Record::PromptAccepted { prompt, .. } => {
                let key = (session.clone(), prompt.id.clone());
                self.texts.insert(key.clone(), prompt.text.clone());
                self.runs.entry(prompt.run_id()).or_default().push(key);
            }
            Record::RunFinished(end) => {
                self.ends.insert((session.clone(), end.prompt.clone()), (end.status, end.reason));
            }
            _ => {}
        }
        Ok(())
    }

    fn answered(&self, command: &Command, reply: &Reply) -> Result<(), String> {
        match (command, reply) {
            (_, Reply::Refused(refusal)) if !is_sentence(&refusal.message) => {
                Err(format!("{:?} is no sentence", refusal.message))
            }
            (Command::Submit { session, prompt }, reply) => self.submitted(session.id(), prompt, reply),
            (Command::Rename { title, .. }, Reply::Renamed) if !is_title(title) => {
                Err(format!("a session may be called {title:?}"))
            }
            (Command::Rename { session, title }, Reply::Refused(refusal)) => match refusal.kind {
                RefusalKind::Invalid if is_title(title) => Err(format!("{title:?} is no title")),
                RefusalKind::NotFound => names(refusal, session.as_str()),
                _ => Ok(()),
            },
            (Command::Fork { from, .. }, Reply::Refused(refusal))
                if refusal.kind == RefusalKind::NotFound =>
            {
                names(refusal, from.as_str())
            }
            (Command::Fork { session, .. }, Reply::Refused(refusal))
                if refusal.kind == RefusalKind::Conflict =>
            {
                is_busy(refusal).then_some(()).map_or_else(|| names(refusal, session.as_str()), Ok)
            }
            (Command::Delete { session }, Reply::Refused(refusal))
                if refusal.kind == RefusalKind::NotFound =>
            {
                names(refusal, session.as_str())
            }
            _ => Ok(()),
        }
    }

    fn submitted(&self, session: &SessionId, prompt: &Prompt, reply: &Reply) -> Result<(), String> {
        let key = (session.clone(), prompt.id.clone());
        match reply {
            Reply::Accepted { prompt: id, ended, .. } => {
                let known = self.texts.get(&key);
                if *id != prompt.id || known.is_some_and(|known| *known != prompt.text) {
                    return Err(format!("{} is taken for a prompt with the text {known:?}", prompt.id));
                }
                let stated = ended.map(|ended| (ended.status, ended.reason));
                if stated.is_some() && stated != self.ends.get(&key).copied() {
                    return Err(format!("{id} is said to have ended with {stated:?}"));
                }
                Ok(())
            }
            Reply::Refused(refusal) => self.refused(&key, prompt, refusal),
            _ => Err(format!("{} is answered with {reply:?}", prompt.id)),
        }
    }

    fn refused(&self, key: &(SessionId, PromptId), prompt: &Prompt, refusal: &Refusal) -> Result<(), String> {
        match refusal.kind {
            RefusalKind::NotFound => names(refusal, key.0.as_str()),
            RefusalKind::Conflict if is_busy(refusal) => Ok(()),
            RefusalKind::Conflict => {
                let other_text = self.texts.get(key).is_some_and(|text| *text != prompt.text);
                let mut owners = self.runs.get(&prompt.run_id()).into_iter().flatten();
                if other_text && names(refusal, prompt.id.as_str()).is_ok() {
                    return Ok(());
                }
                // The prompt that has the run may not be in the log yet, and then nobody has it there.
                let known = self.runs.contains_key(&prompt.run_id());
                if known && !owners.any(|owner| owner != key) {
                    return Err(format!("{} is refused for its own run: {}", prompt.id, refusal.message));
                }
                names(refusal, prompt.run_id().as_str())
            }
            _ => Ok(()),
        }
    }
}

fn is_title(title: &str) -> bool {
    (1..=LONGEST).contains(&title.trim().chars().filter(|letter| !letter.is_control()).count())
}

fn is_busy(refusal: &Refusal) -> bool {
    refusal.message.contains("being deleted") || refusal.message.starts_with("Process ")
}

fn names(refusal: &Refusal, what: &str) -> Result<(), String> {
    let words = refusal.message.split(|letter: char| letter.is_whitespace() || matches!(letter, ';' | ','));
    let named = words.into_iter().any(|word| word.trim_end_matches('.') == what);
    named.then_some(()).ok_or_else(|| format!("{what} is not named: {}", refusal.message))
}

impl Oracle for Refusals {
    fn name(&self) -> &'static str {
        "refusals"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => self.log(&entry.session, &entry.record),
            Seen::Request { process, id, command } => {
                self.asked.insert((*process, *id), (*command).clone());
                Ok(())
            }
            Seen::Start { process, effect: Effect::Reply { to, reply } } => {
                match self.asked.remove(&(*process, *to)) {
                    Some(command) => self.answered(&command, reply),
                    None => Ok(()),
                }
            }
            Seen::Gone { process } => {
                self.asked.retain(|(owner, _), _| owner != process);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.texts.retain(|(id, _), _| id.root() != *session);
        self.ends.retain(|(id, _), _| id.root() != *session);
        self.created.retain(|id, ()| id.root() != *session);
        self.runs.values_mut().for_each(|owners| owners.retain(|(id, _)| id.root() != *session));
        self.runs.retain(|_, owners| !owners.is_empty());
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log and from what waits in the processes.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::protocol::{Ended, SessionChoice};

    use super::super::fixture::{accepted, entry, finished, prompt, session};
    use super::*;

    fn told(log: &[Record], command: Command, reply: Reply) -> Result<(), String> {
        let mut oracle = Refusals::default();
        let made = Record::SessionCreated { title: String::new(), parent: None };
        for record in [&[made][..], log].concat() {
            oracle.see(&Seen::Log { seq: 1, entry: &entry(record) })?;
        }
        oracle.see(&Seen::Request { process: 0, id: RequestId(1), command: &command })?;
        let effect = Effect::Reply { to: RequestId(1), reply: Box::new(reply) };
        oracle.see(&Seen::Start { process: 0, effect: &effect })
    }

    fn refused(kind: RefusalKind, message: &str) -> Reply {
        Reply::Refused(Refusal::new(kind, message))
    }

    fn submit(id: &str, text: &str) -> Command {
        let prompt = Prompt { text: text.to_owned(), ..prompt(id) };
        Command::Submit { session: SessionChoice::New { id: session() }, prompt }
    }

    #[test]
    fn a_refusal_names_what_it_is_about() {
        let gone = |message| {
            let command = Command::Rename { session: session(), title: "a".to_owned() };
            told(&[], command, refused(RefusalKind::NotFound, message))
        };
        assert_eq!(gone("There is no session s; look for others."), Ok(()));
        for wrong in ["", "There is no such session.", "no session s"] {
            assert!(gone(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_conflict_is_one() {
        let log = [accepted(1, "a")];
        let with = |text, message| told(&log, submit("a", text), refused(RefusalKind::Conflict, message));
        assert_eq!(with("Other.", "There is a prompt a already."), Ok(()));
        assert!(with("Do a.", "There is a prompt a already.").is_err());
        assert!(with("Other.", "There is another prompt already.").is_err());
    }

    #[test]
    fn what_is_said_to_be_known_is_what_it_was_and_ended_as_it_did() {
        let log = [accepted(1, "a"), finished("a")];
        let said = |reason| {
            let (id, run) = (PromptId::new("a"), RunId::new("a"));
            let ended = Some(Ended { status: RunStatus::Ok, reason });
            Reply::Accepted { session: session(), prompt: id, run, sequence: 1, ended }
        };
        assert_eq!(told(&log, submit("a", "Do a."), said(Reason::Completed)), Ok(()));
        assert!(told(&log, submit("a", "Do b."), said(Reason::Completed)).is_err());
        assert!(told(&log, submit("a", "Do a."), said(Reason::Provider)).is_err());
    }

    #[test]
    fn a_session_that_was_never_made_has_no_records() {
        let mut oracle = Refusals::default();
        assert!(oracle.see(&Seen::Log { seq: 1, entry: &entry(accepted(1, "a")) }).is_err());
        let rename = |title: &str| Command::Rename { session: session(), title: title.to_owned() };
        assert!(told(&[], rename(&"x".repeat(201)), Reply::Renamed).is_err());
        assert!(told(&[], rename("x"), refused(RefusalKind::Invalid, "It is too long.")).is_err());
    }
}
