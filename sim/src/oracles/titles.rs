//! Titles: a person's stays until a person gives another one, a model is asked once and counts once, and what a session is
//! called can be shown in a line.

use std::collections::BTreeMap;

use hostler_core::ids::SessionId;
use hostler_core::record::{Record, TitleSource};
use hostler_core::session::{Effect as Ask, Owned};
use hostler_core::workspace::Effect;

use super::{Oracle, Seen};
use crate::sometimes;

/// How many characters a title may have: a person's, and a model's.
const LONGEST: (usize, usize) = (200, 60);

#[derive(Clone, Debug, Default)]
struct Session {
    title: String,
    by: Option<TitleSource>,
    /// Whether a model was asked.
    asked: bool,
    /// Whether it has counted.
    counted: bool,
}

/// What each session is called, and who says so.
#[derive(Clone, Debug, Default)]
pub(super) struct Titles(BTreeMap<SessionId, Session>);

impl Session {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::SessionCreated { title, .. } => self.title.clone_from(title),
            Record::SessionForked { titled_by, .. } => self.by = *titled_by,
            Record::TitleChanged { title, by, usage, .. } => {
                let person = self.by == Some(TitleSource::Person);
                let used = usage.input + usage.output > 0;
                sometimes!("title made by a model", if *by == TitleSource::Model);
                sometimes!("title of a person kept", if person && used);
                if person && (*by != TitleSource::Person || used && *title != self.title) {
                    return Err(format!("a person called it {:?}, and a model {title:?}", self.title));
                }
                let counts = used || *by == TitleSource::Model;
                if counts && std::mem::replace(&mut self.counted, true) {
                    return Err("what a model made of it counts twice".to_owned());
                }
                let longest = if *by == TitleSource::Person { LONGEST.0 } else { LONGEST.1 };
                let fits = *title == self.title || title.chars().count() <= longest;
                if title.trim().is_empty() || title.chars().any(char::is_control) || !fits {
                    return Err(format!("{title:?} is no title"));
                }
                (self.title, self.by) = (title.clone(), Some(*by));
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, effect: &Ask) -> Result<(), String> {
        match effect {
            Ask::MakeTitle { .. } if std::mem::replace(&mut self.asked, true) => {
                Err("a title is asked for twice".to_owned())
            }
            Ask::CancelTitle if !self.asked => Err("a title that nobody makes is cancelled".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Oracle for Titles {
    fn name(&self) -> &'static str {
        "titles"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let (session, judged) = match seen {
            Seen::Log { entry, .. } => {
                let known = self.0.entry(entry.session.clone()).or_default();
                (&entry.session, known.record(&entry.record))
            }
            Seen::Start { effect: Effect::Session(Owned { session, effect }), .. } => {
                (session, self.0.entry(session.clone()).or_default().start(effect))
            }
            _ => return Ok(()),
        };
        judged.map_err(|what| format!("{session}: {what}"))
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        self
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::content::Usage;
    use hostler_core::model::ModelRef;

    use super::super::fixture::{entry, session};
    use super::*;

    fn called(title: &str, by: TitleSource, input: u64) -> Record {
        let usage = Usage { input, ..Usage::default() };
        Record::TitleChanged { title: title.to_owned(), by, usage, cost: None }
    }

    /// A session for whose title a model was asked, and then these records.
    fn judge(records: &[Record]) -> Result<(), String> {
        let mut titles = Titles::default();
        let effect = Ask::MakeTitle { model: ModelRef { provider: "p".into(), model: "m".into() } };
        let effect = Effect::Session(Owned { session: session(), effect });
        titles.see(&Seen::Start { process: 0, effect: &effect })?;
        let seen = |record: &Record| titles.see(&Seen::Log { seq: 1, entry: &entry(record.clone()) });
        records.iter().try_for_each(seen)
    }

    #[test]
    fn a_person_may_change_their_mind_and_a_model_is_counted_all_the_same() {
        let person = |title| called(title, TitleSource::Person, 0);
        assert_eq!(judge(&[person("a"), called("a", TitleSource::Person, 5), person("b")]), Ok(()));
        assert_eq!(judge(&[called("a", TitleSource::Model, 5), person("b")]), Ok(()));
    }

    #[test]
    fn what_a_model_must_not_do_is_noticed() {
        let model = |title| called(title, TitleSource::Model, 5);
        assert!(judge(&[called("a", TitleSource::Person, 0), model("b")]).is_err());
        assert!(judge(&[called("a", TitleSource::Person, 0), called("b", TitleSource::Person, 5)]).is_err());
        assert!(judge(&[model("a"), model("b")]).is_err());
        for title in ["", " ", "a\nb", &"x".repeat(61)] {
            assert!(judge(&[model(title)]).is_err(), "{title:?}");
        }
    }
}
