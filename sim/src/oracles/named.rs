//! What a session is called is what was said: the first line of its first prompt, as far as that fits; then what a model made
//! of it, without what models put around a title.

use std::collections::BTreeMap;

use hostler_core::content::Usage;
use hostler_core::ids::SessionId;
use hostler_core::machine::Entry;
use hostler_core::model::{FinishReason, ModelEvent};
use hostler_core::record::{Record, TitleSource};
use hostler_core::session::{Effect as Ask, Input as SessionInput, Owned};
use hostler_core::workspace::{Effect, Input};

use super::{Oracle, Seen};

/// How many characters the beginning of a prompt, or a model's title, may have.
const LONGEST: usize = 60;

/// How much a model may say.
const ENOUGH: usize = 4_000;

/// What a model that makes a title has said so far.
#[derive(Clone, Debug, Default)]
struct Making {
    text: String,
    usage: Usage,
    /// Whether it may have been waited for too long earlier in the same batch.
    doubtful: bool,
}

type Called = (String, Option<TitleSource>);

/// The titles that are being made, and what sessions are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    made: BTreeMap<(usize, SessionId), Making>,
    /// What each session is called, and by whom: as was decided, and as the log says.
    called: BTreeMap<SessionId, Called>,
    logged: BTreeMap<SessionId, Called>,
    created: BTreeMap<SessionId, String>,
}

fn printable(line: &str) -> String {
    let kept: String = line.chars().filter(|letter| !letter.is_control()).collect();
    kept.trim().to_owned()
}

/// Whether a session whose first prompt says that may be called so.
fn fits(title: &str, text: &str) -> bool {
    let first = text.lines().map(printable).find(|line| !line.is_empty());
    match first {
        None => !title.is_empty(),
        Some(line) if line.chars().count() <= LONGEST => title == line,
        Some(line) => {
            let beginning = title.strip_suffix('…').unwrap_or("");
            let next = line.strip_prefix(beginning).and_then(|rest| rest.chars().next());
            let full = title.chars().count() == LONGEST || next.is_some_and(char::is_whitespace);
            line.starts_with(beginning) && !beginning.is_empty() && title.chars().count() <= LONGEST && full
        }
    }
}

/// What is left of what a model said.
fn tidied(said: &str) -> Option<String> {
    let aloud = said.rfind("</think>").map_or(said, |at| &said[at + "</think>".len()..]);
    let line = aloud.lines().map(str::trim).find(|line| !line.is_empty())?;
    let around = |letter: char| "\"'`*#.".contains(letter) || letter.is_whitespace();
    let kept: String =
        line.trim_matches(around).chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    let title = kept.trim();
    (!title.is_empty() && !title.starts_with("<think>")).then(|| title.to_owned())
}

impl Named {
    fn handled(&mut self, process: usize, input: &Input, entries: &[Entry]) -> Result<(), String> {
        let changes = |session: &SessionId| {
            entries.iter().rev().find_map(|entry| match &entry.record {
                Record::TitleChanged { title, by, usage, .. } if entry.session == *session => {
                    Some((title.clone(), *by, *usage))
                }
                _ => None,
            })
        };
        if let Input::Session { session, input: SessionInput::Title { event } } = input
            && let Some(making) = self.made.get_mut(&(process, session.clone()))
        {
            let result = match event {
                ModelEvent::Text { text, .. } => {
                    if making.text.len() < ENOUGH {
                        making.text.push_str(text);
                    }
                    None
                }
                ModelEvent::Usage(usage) => {
                    making.usage = *usage;
                    None
                }
                ModelEvent::Finished(FinishReason::Length) | ModelEvent::Failed(_) => Some(None),
                ModelEvent::Finished(_) => Some(tidied(&making.text)),
                _ => None,
            };
            if let Some(title) = result {
                let (usage, doubtful) = (making.usage, making.doubtful);
                self.made.remove(&(process, session.clone()));
                let changed = changes(session);
                if doubtful && changed.is_none() {
                    return Ok(());
                }
                return self.ends(session, title, usage, changed);
            }
        }
        if matches!(input, Input::Tick) {
            let own = self.made.iter_mut().filter(|((owner, _), _)| *owner == process);
            own.for_each(|(_, making)| making.doubtful = true);
            // A model that takes too long is not heard any more; what it used counts.
            for entry in entries {
                if matches!(entry.record, Record::TitleChanged { .. }) {
                    self.made.remove(&(process, entry.session.clone()));
                }
            }
        }
        Ok(())
    }

    /// A model has said all that it will say about a title.
    fn ends(
        &self,
        session: &SessionId,
        title: Option<String>,
        usage: Usage,
        changed: Option<(String, TitleSource, Usage)>,
    ) -> Result<(), String> {
        let (called, by) = self.called.get(session).cloned().unwrap_or_default();
        let heeded = title.filter(|_| by != Some(TitleSource::Person));
        let expected = match heeded {
            None if usage == Usage::default() => None,
            None => Some((called, by.unwrap_or(TitleSource::Model), usage)),
            Some(title) => Some((title, TitleSource::Model, usage)),
        };
        (changed == expected)
            .then_some(())
            .ok_or(format!("a title is to be {expected:?}, and is {changed:?}"))
    }

    /// That was decided about what sessions are called, or stands in the log.
    fn note(called: &mut BTreeMap<SessionId, Called>, entries: &[Entry]) {
        for Entry { session, record, .. } in entries {
            match record {
                Record::SessionCreated { title, .. } => {
                    called.insert(session.clone(), (title.clone(), None));
                }
                Record::SessionForked { titled_by, .. } => {
                    called.entry(session.clone()).or_default().1 = *titled_by;
                }
                Record::TitleChanged { title, by, .. } => {
                    called.insert(session.clone(), (title.clone(), Some(*by)));
                }
                _ => {}
            }
        }
    }

    fn log(&mut self, entry: &Entry) -> Result<(), String> {
        match &entry.record {
            Record::SessionCreated { title, .. } => {
                self.created.insert(entry.session.clone(), title.clone());
            }
            Record::SessionForked { .. } => drop(self.created.remove(&entry.session)),
            Record::PromptAccepted { prompt, .. } => {
                let title = self.created.remove(&entry.session);
                if let Some(title) = title.filter(|title| !fits(title, &prompt.text)) {
                    return Err(format!("it is called {title:?} after {:?}", prompt.text));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Oracle for Named {
    fn name(&self) -> &'static str {
        "names"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                let entries = std::slice::from_ref(*entry);
                Self::note(&mut self.called, entries);
                Self::note(&mut self.logged, entries);
                self.log(entry).map_err(|what| format!("{}: {what}", entry.session))
            }
            Seen::Handled { process, input, entries, .. } => {
                let judged = self.handled(*process, input, entries);
                Self::note(&mut self.called, entries);
                judged
            }
            Seen::Start { process, effect: Effect::Session(Owned { session, effect }) } => {
                match effect {
                    Ask::MakeTitle { .. } => {
                        self.made.insert((*process, session.clone()), Making::default());
                    }
                    Ask::CancelTitle => drop(self.made.remove(&(*process, session.clone()))),
                    _ => {}
                }
                Ok(())
            }
            Seen::Decided { process, .. } => {
                let own = self.made.iter_mut().filter(|((owner, _), _)| owner == process);
                own.for_each(|(_, making)| making.doubtful = false);
                Ok(())
            }
            Seen::Gone { process } => {
                self.made.retain(|(owner, _), _| owner != process);
                // What it had decided and not committed has never happened.
                self.called.clone_from(&self.logged);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.made.retain(|(_, id), _| id.root() != *session);
        self.called.retain(|id, _| id.root() != *session);
        self.logged.retain(|id, _| id.root() != *session);
        self.created.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log and from what the machines await.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::model::ModelRef;

    use super::super::fixture::{accepted, asks, entry, machine, session};
    use super::*;

    #[test]
    fn a_session_is_called_by_the_first_line_that_says_something() {
        assert!(fits("Do a.", "\n \u{7}\n\tDo a.\nThen b."));
        assert!(!fits("", "Do a.") && !fits("Do a", "Do a.") && !fits("Then b.", "Do a.\nThen b."));
        let long = "x".repeat(61);
        assert!(fits(&format!("{}…", &long[..59]), &long));
        assert!(!fits(&format!("{}…", &long[..58]), &long) && !fits(&long[..60], &long));
        let mut oracle = Named::default();
        for (record, fine) in [
            (Record::SessionCreated { title: "Do b.".to_owned(), parent: None }, true),
            (accepted(1, "a"), false),
        ] {
            assert_eq!(oracle.see(&Seen::Log { seq: 1, entry: &entry(record) }).is_ok(), fine);
        }
    }

    /// A model has said that, and this is what the session is called then.
    fn made(said: &str, title: Option<&str>) -> Result<(), String> {
        let mut oracle = Named::default();
        let effect = asks(Ask::MakeTitle { model: ModelRef { provider: "p".into(), model: "m".into() } });
        oracle.see(&Seen::Start { process: 0, effect: &effect })?;
        let changed = title.map(|title| Record::TitleChanged {
            title: title.to_owned(),
            by: TitleSource::Model,
            usage: Usage::default(),
            cost: None,
        });
        let text = ModelEvent::Text { block: 0, text: said.to_owned() };
        let entries: Vec<_> = changed.into_iter().map(entry).collect();
        for (event, entries) in [(text, &[][..]), (ModelEvent::Finished(FinishReason::Stop), &entries[..])] {
            let input = Input::Session { session: session(), input: SessionInput::Title { event } };
            let (machine, at) = (machine(), hostler_core::time::Timestamp::default());
            oracle.see(&Seen::Handled { process: 0, at, input: &input, entries, machine: &machine })?;
        }
        Ok(())
    }

    #[test]
    fn a_model_s_title_is_what_it_said_and_nothing_else() {
        assert_eq!(made("**A title.**\nmore", Some("A title")), Ok(()));
        assert_eq!(made("<think>hm</think>\n A", Some("A")), Ok(()));
        assert_eq!(made(" \n", None), Ok(()));
        assert!(made("A title", None).is_err());
        assert!(made("A title", Some("Another")).is_err());
        assert!(made("<think>hm", Some("<think>hm")).is_err());
    }
}
