//! A request is made of what was prepared for it: its system prompt, with the schema where there is one, and the tools that are
//! on offer. A sub-agent is told that it is one, and its tools only read.

use std::collections::{BTreeMap, BTreeSet};

use hostler_core::ids::SessionId;
use hostler_core::model::{ModelRequest, Preparation};
use hostler_core::record::Record;
use hostler_core::session::{Durable, Purpose};

use super::{Oracle, Seen};

const READERS: [&str; 4] = ["glob", "grep", "ls", "view"];

/// What was prepared last in each session.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests(BTreeMap<SessionId, Preparation>);

fn names(request: &ModelRequest) -> BTreeSet<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

impl Requests {
    fn check(&self, session: &SessionId, request: &ModelRequest, durable: &Durable) -> Result<(), String> {
        let (Some(own), Some(root)) = (self.0.get(session), self.0.get(&session.root())) else {
            return Err("nothing was prepared".to_owned());
        };
        if request.model != own.model {
            return Err(format!("{} is asked", request.model));
        }
        if durable.turn.as_ref().is_some_and(|turn| turn.purpose != Purpose::Work) {
            return request.tools.is_empty().then_some(()).ok_or("a summary has tools".to_owned());
        }
        let schema = durable.turn.as_ref().and_then(|turn| {
            let terms = &durable.open.get(turn.prompts.first()?)?.prompt.terms;
            terms.answer_schema.clone()
        });
        let system = &request.system;
        let told = schema.as_ref().is_none_or(|schema| system.contains(schema.as_str()));
        let longer = system.len() > root.system.len();
        if !system.starts_with(&root.system) || !told || longer != (schema.is_some() || session.is_child()) {
            return Err(format!("with the schema {schema:?} the system prompt is {system:?}"));
        }
        let offered: BTreeSet<_> = root.tools.iter().map(|tool| tool.name.as_str()).collect();
        let readers = || offered.iter().copied().filter(|name| READERS.contains(name)).collect();
        let expected: BTreeSet<_> = if session.is_child() { readers() } else { offered.clone() };
        if names(request) != expected {
            return Err(format!("its tools are {:?}, and not {expected:?}", names(request)));
        }
        Ok(())
    }
}

impl Oracle for Requests {
    fn name(&self) -> &'static str {
        "requests"
    }

    fn see(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        match seen {
            Seen::Log { entry, .. } => {
                if let Record::Prepared { preparation } = &entry.record {
                    self.0.insert(entry.session.clone(), preparation.clone());
                }
                Ok(())
            }
            Seen::Asks { session, attempt, request, durable } => {
                self.check(session, request, durable).map_err(|what| format!("{session} {attempt}: {what}"))
            }
            _ => Ok(()),
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.retain(|id, _| id.root() != *session);
    }

    fn fork(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn memory(&self) -> &dyn std::fmt::Debug {
        // All of it follows from the log.
        &()
    }
}

#[cfg(test)]
mod tests {
    use hostler_core::ids::MessageId;
    use hostler_core::model::{ModelRef, ToolSpec};

    use super::super::fixture::{ATTEMPT, CALL, entry, session};
    use super::*;

    fn tools(names: &[&str]) -> Vec<ToolSpec> {
        let one = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            schema: String::new(),
        };
        names.iter().map(one).collect()
    }

    fn check(session: &SessionId, system: &str, offered: &[&str]) -> Result<(), String> {
        let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
        let preparation = Preparation {
            model: model.clone(),
            system: "Be brief.".to_owned(),
            answer_schema: None,
            tools: tools(&["agent", "ls", "write"]),
            context_window: None,
            prices: None,
            notices: Vec::new(),
            small: None,
            renewable: false,
        };
        let mut oracle = Requests::default();
        for id in [session.root(), session.clone()] {
            let record = Record::Prepared { preparation: preparation.clone() };
            let prepared = hostler_core::machine::Entry { session: id, ..entry(record) };
            oracle.see(&Seen::Log { seq: 1, entry: &prepared })?;
        }
        let request =
            ModelRequest { model, system: system.to_owned(), tools: tools(offered), items: Vec::new() };
        let durable = Durable::new(session.clone());
        oracle.see(&Seen::Asks { session, attempt: ATTEMPT, request: &request, durable: &durable })
    }

    #[test]
    fn a_request_has_what_was_prepared() {
        assert_eq!(check(&session(), "Be brief.", &["agent", "ls", "write"]), Ok(()));
        assert!(check(&session(), "Be brief. Help.", &["agent", "ls", "write"]).is_err());
        assert!(check(&session(), "Be long.", &["agent", "ls", "write"]).is_err());
        assert!(check(&session(), "Be brief.", &["ls"]).is_err());
    }

    #[test]
    fn a_sub_agent_is_told_what_it_is_and_only_reads() {
        let agent = SessionId::child(&session(), MessageId(1), CALL);
        assert_eq!(check(&agent, "Be brief. Help.", &["ls"]), Ok(()));
        assert!(check(&agent, "Be brief.", &["ls"]).is_err());
        assert!(check(&agent, "Be brief. Help.", &["agent", "ls"]).is_err());
        assert!(check(&agent, "Be brief. Help.", &["agent", "ls", "write"]).is_err());
    }
}
