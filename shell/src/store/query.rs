//! Answers to the questions of the protocol, from what is committed.

use std::ops::ControlFlow;

use hostler_core::ids::SessionId;
use hostler_core::protocol::{AskId, Query, Refusal, RefusalKind, Reply, RunInfo, SessionInfo, Transcript};
use hostler_core::quote::quoted;
use hostler_core::session::Asked;
use rusqlite::Connection;

use super::error::Fault;
use super::find::{self, Found, Kind};
use super::info::{self, Judge, SessionRow};
use super::load::each;
use super::project::from_json;
use super::{Store, StoreError, transcript};

impl Store {
    /// Answers a query from one committed state of the log.
    ///
    /// `activity` says what a session is doing, from its id and whether it has a run that has no end; it is called
    /// after the reading, and may be called twice for a session.
    ///
    /// What is not there, or is not one, is a [`Reply::Refused`]; an error is a log that cannot be read.
    pub fn query(&self, query: &Query, activity: Judge<'_>) -> Result<Reply, StoreError> {
        match query {
            Query::Sessions { limit } => self.sessions(*limit, activity),
            Query::LatestSession => self.latest_session(activity),
            Query::FindSession { prefix } => self.find_session(prefix, activity),
            Query::Session { session } => self.transcript(session, activity),
            Query::Runs { session } => self.runs(session, activity),
            Query::LatestRuns { limit } => self.latest_runs(*limit, activity),
            Query::Asks { session } => self.asks(session),
            Query::FindRun { prefix } => self.find_run(prefix, activity),
        }
    }

    fn sessions(&self, limit: u32, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| newest(read, limit))?;
        let infos = found.into_iter().map(|row| self.judged(row, activity));
        Ok(Reply::Sessions(infos.collect::<Result<Vec<SessionInfo>, _>>()?))
    }

    fn latest_session(&self, activity: Judge<'_>) -> Result<Reply, StoreError> {
        match self.reading(|read| newest(read, 1))?.pop() {
            Some(row) => Ok(Reply::Session(self.judged(row, activity)?)),
            None => Ok(refused(RefusalKind::NotFound, "there is no session here yet; start one")),
        }
    }

    fn find_session(&self, prefix: &str, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| match find::find(read, Kind::Session, prefix)? {
            Found::One(key) => Ok(Ok(info::sessions(read, "WHERE key = ?1", [key])?.pop())),
            Found::Not(refusal) => Ok(Err(refusal)),
        })?;
        match found {
            Ok(Some(row)) => Ok(Reply::Session(self.judged(row, activity)?)),
            Ok(None) => Ok(no_session(prefix)),
            Err(refusal) => Ok(Reply::Refused(refusal)),
        }
    }

    fn transcript(&self, id: &SessionId, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| {
            let Some(row) = info::session_by_id(read, id)? else { return Ok(None) };
            let messages = transcript::messages(read, row.key)?;
            Ok(Some((row, messages)))
        })?;
        let Some((row, messages)) = found else { return Ok(no_session(id.as_str())) };
        Ok(Reply::Transcript(Transcript { session: self.judged(row, activity)?, messages }))
    }

    fn runs(&self, id: &SessionId, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| {
            let Some(row) = info::session_by_id(read, id)? else { return Ok(None) };
            let runs = info::runs(read, "WHERE runs.session = ?1 ORDER BY sequence, runs.rowid", [row.key])?;
            Ok(Some((row, runs)))
        })?;
        let Some((row, runs)) = found else { return Ok(no_session(id.as_str())) };
        self.judged_runs(&row, runs, activity)
    }

    fn latest_runs(&self, limit: u32, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| {
            let newest = "WHERE parent IS NULL ORDER BY accepted DESC, runs.rowid DESC LIMIT ?1";
            let runs = info::runs(read, newest, [limit])?;
            let with_session = |run: RunInfo| -> Result<_, Fault> {
                Ok(info::session_by_id(read, &run.session)?.map(|row| (row, run)))
            };
            runs.into_iter().map(with_session).collect::<Result<Vec<_>, Fault>>()
        })?;
        let mut runs = Vec::new();
        for (row, mut run) in found.into_iter().flatten() {
            // Only what has no end depends on who is at work.
            if run.finished.is_none() {
                run.activity = self.activity(&row, activity)?;
            }
            runs.push(run);
        }
        Ok(Reply::Runs(runs))
    }

    fn asks(&self, id: &SessionId) -> Result<Reply, StoreError> {
        let sql = "SELECT asker, call, at, body FROM asks
            WHERE session = (SELECT key FROM sessions WHERE id = ?1) ORDER BY rowid";
        let mut asks = Vec::new();
        self.reading(|read| {
            each(read, sql, [id.as_str()], |row| {
                let call: String = row.get(1)?;
                let session = SessionId::new(row.get::<_, String>(0)?);
                // A row that cannot be read is none that could be answered.
                if let Ok(call) = call.parse() {
                    let what = from_json("ask", &row.get::<_, String>(3)?)?;
                    asks.push(Asked { id: AskId { session, call }, at: info::time(row.get(2)?), what });
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        Ok(Reply::Asks(asks))
    }

    fn find_run(&self, prefix: &str, activity: Judge<'_>) -> Result<Reply, StoreError> {
        let found = self.reading(|read| match find::find(read, Kind::Run, prefix)? {
            Found::One(rowid) => Ok(Ok(run_with_session(read, rowid)?)),
            Found::Not(refusal) => Ok(Err(refusal)),
        })?;
        match found {
            Ok(Some((row, run))) => self.judged_runs(&row, vec![run], activity),
            Ok(None) => {
                Ok(refused(RefusalKind::NotFound, format!("there is no run {} here", quoted(prefix))))
            }
            Err(refusal) => Ok(Reply::Refused(refusal)),
        }
    }

    fn judged_runs(
        &self,
        session: &SessionRow,
        mut runs: Vec<RunInfo>,
        activity: Judge<'_>,
    ) -> Result<Reply, StoreError> {
        let activity = self.activity(session, activity)?;
        for run in &mut runs {
            run.activity = activity.clone();
        }
        Ok(Reply::Runs(runs))
    }
}

fn newest(read: &Connection, limit: u32) -> Result<Vec<SessionRow>, Fault> {
    info::sessions(read, "WHERE parent IS NULL ORDER BY changed DESC LIMIT ?1", [limit])
}

fn run_with_session(read: &Connection, rowid: i64) -> Result<Option<(SessionRow, RunInfo)>, Fault> {
    let Some(run) = info::runs(read, "WHERE runs.rowid = ?1", [rowid])?.pop() else { return Ok(None) };
    Ok(info::session_by_id(read, &run.session)?.map(|row| (row, run)))
}

fn refused(kind: RefusalKind, message: impl Into<String>) -> Reply {
    Reply::Refused(Refusal::new(kind, message))
}

fn no_session(id: &str) -> Reply {
    refused(
        RefusalKind::NotFound,
        format!("there is no session {} here; list those that there are", quoted(id)),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use hostler_core::content::Usage;
    use hostler_core::ids::{MessageId, RunId};
    use hostler_core::machine::Entry;
    use hostler_core::protocol::{Activity, Holder};
    use hostler_core::record::{Record, Strength, TitleSource};
    use hostler_core::time::Timestamp;
    use hostler_core::tools::Ask;

    use super::super::fixture;
    use super::*;

    /// As if every lock were free.
    fn free(_: &SessionId, unfinished: bool) -> Activity {
        if unfinished { Activity::Interrupted } else { Activity::Idle }
    }

    fn store(entries: &[Entry]) -> (tempfile::TempDir, Store) {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.commit(entries, Strength::Normal).unwrap();
        (temp, store)
    }

    fn refusal(store: &Store, query: &Query) -> Refusal {
        match store.query(query, &free).unwrap() {
            Reply::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    fn found(store: &Store, prefix: &str) -> Result<String, RefusalKind> {
        match store.query(&Query::FindSession { prefix: prefix.to_string() }, &free).unwrap() {
            Reply::Session(info) => Ok(info.id.to_string()),
            Reply::Refused(refusal) => Err(refusal.kind),
            other => panic!("{other:?}"),
        }
    }

    fn runs(store: &Store, query: &Query) -> Result<Vec<RunInfo>, RefusalKind> {
        match store.query(query, &free).unwrap() {
            Reply::Runs(runs) => Ok(runs),
            Reply::Refused(refusal) => Err(refusal.kind),
            other => panic!("{other:?}"),
        }
    }

    fn found_runs(store: &Store, prefix: &str) -> Result<Vec<String>, RefusalKind> {
        let found = runs(store, &Query::FindRun { prefix: prefix.to_string() })?;
        Ok(found.iter().map(|run| run.run.to_string()).collect())
    }

    fn listed(store: &Store, limit: u32) -> Vec<SessionInfo> {
        match store.query(&Query::Sessions { limit }, &free).unwrap() {
            Reply::Sessions(infos) => infos,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sessions_are_listed_with_what_their_records_add_up_to() {
        let mut entries = vec![fixture::created("a", 10), fixture::created("b", 20)];
        entries.extend(fixture::run("b", "one", 1));
        entries.extend(fixture::run("b", "two", 2));
        entries.push(fixture::child_of("b").1);
        entries.push(fixture::at(30, fixture::accepted("a", "p", 1)));
        let (_temp, store) = store(&entries);

        let all = listed(&store, 10);
        assert_eq!(all.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(listed(&store, 1).len(), 1);
        let [a, b] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((a.title.as_str(), a.runs, a.messages, &a.model), ("title of a", 1, 0, &None));
        assert_eq!((a.created, a.updated), (Timestamp::from_millis(10), Timestamp::from_millis(30)));
        assert_eq!(a.activity, Activity::Interrupted);
        assert_eq!((b.runs, b.messages, b.model.as_ref()), (2, 4, Some(&fixture::model())));
        assert_eq!((b.totals.usage.input, b.totals.steps, b.totals.cost), (20, 2, None));
        assert_eq!(b.activity, Activity::Idle);
    }

    #[test]
    fn the_latest_session_is_the_root_session_that_changed_last() {
        let latest = |store: &Store| match store.query(&Query::LatestSession, &free).unwrap() {
            Reply::Session(info) => Some(info.id.to_string()),
            _ => None,
        };
        let (_temp, mut store) = store(&[]);
        assert_eq!(refusal(&store, &Query::LatestSession).kind, RefusalKind::NotFound);
        for (entry, expected) in [
            (fixture::created("a", 1), "a"),
            (fixture::created("b", 1), "b"),
            (fixture::accepted("a", "p", 1), "a"),
            (fixture::child_of("b").1, "a"),
        ] {
            store.commit(&[entry], Strength::Normal).unwrap();
            assert_eq!(latest(&store).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_session_is_found_by_the_beginning_of_its_id() {
        let (child, opened) = fixture::child_of("abc");
        let ids = ["abc", "abd", "x_y", "xzy", "p%q", "ä1", "whole", "wholesale"];
        let mut entries: Vec<_> = ids.map(|id| fixture::created(id, 1)).to_vec();
        entries.push(opened);
        let (_temp, store) = store(&entries);
        let cases = [
            ("abc", Ok("abc")),
            ("abd", Ok("abd")),
            ("ab", Err(RefusalKind::Ambiguous)),
            ("x_", Ok("x_y")),
            ("xz", Ok("xzy")),
            ("p%", Ok("p%q")),
            ("%", Err(RefusalKind::NotFound)),
            ("_", Err(RefusalKind::NotFound)),
            ("ABC", Err(RefusalKind::NotFound)),
            ("ä", Ok("ä1")),
            ("whole", Ok("whole")),
            ("whol", Err(RefusalKind::Ambiguous)),
            ("abc.", Err(RefusalKind::NotFound)),
            (child.as_str(), Ok(child.as_str())),
            ("", Err(RefusalKind::Invalid)),
        ];
        for (prefix, expected) in cases {
            assert_eq!(found(&store, prefix), expected.map(str::to_string), "{prefix:?}");
        }
    }

    #[test]
    fn who_fits_is_named_up_to_five() {
        let entries: Vec<_> = (1..=7).map(|n| fixture::created(&format!("s{n}"), 1)).collect();
        let (_temp, store) = store(&entries);
        let refusal = refusal(&store, &Query::FindSession { prefix: "s".to_string() });
        assert_eq!(
            refusal.message,
            "more than one session begins with \"s\": s1, s2, s3, s4, s5, others; give more of its id"
        );
    }

    #[test]
    fn runs_are_listed_in_the_order_of_acceptance() {
        let returned = Record::PromptReturned {
            prompt: hostler_core::ids::PromptId::new("back"),
            client: hostler_core::ids::ClientId::new("c"),
            text: String::new(),
            reason: hostler_core::record::ReturnReason::Cleared,
        };
        let mut entries = fixture::run("s", "one", 1);
        entries.push(fixture::accepted("s", "back", 2));
        entries.push(fixture::entry("s", returned));
        let (_temp, mut store) = store(&entries);
        let query = Query::Runs { session: SessionId::new("s") };
        let listed = runs(&store, &query).unwrap();
        let [one, back] = listed.as_slice() else { panic!("{listed:?}") };
        assert_eq!(
            (one.run.as_str(), one.text.as_str(), one.message),
            ("one", "say one", Some(MessageId(1)))
        );
        assert_eq!((&one.finished, &one.activity), (&Some(fixture::end("one")), &Activity::Idle));
        assert_eq!((back.message, &back.finished), (None, &None));

        store.commit(&[fixture::accepted("s", "open", 3)], Strength::Normal).unwrap();
        let listed = runs(&store, &query).unwrap();
        assert_eq!(
            listed.last().map(|run| (&run.finished, &run.activity)),
            Some((&None, &Activity::Interrupted))
        );
        let nobody = Query::Runs { session: SessionId::new("nobody") };
        assert_eq!(runs(&store, &nobody), Err(RefusalKind::NotFound));
    }

    #[test]
    fn a_run_is_found_by_the_beginning_of_its_id() {
        let (child, opened) = fixture::child_of("s");
        let mut entries = vec![fixture::created("s", 1), opened];
        for (session, run) in [("s", "r1"), ("s", "r12"), ("t", "q1"), ("s", "same"), ("t", "same")] {
            entries.push(fixture::accepted(session, run, 1));
        }
        entries.push(fixture::accepted(child.as_str(), "q1.child", 1));
        let (_temp, store) = store(&entries);
        let cases = [
            ("r1", Ok("r1")),
            ("r12", Ok("r12")),
            ("r", Err(RefusalKind::Ambiguous)),
            ("q", Ok("q1")),
            ("q1.child", Ok("q1.child")),
            ("q1.c", Err(RefusalKind::NotFound)),
            ("same", Err(RefusalKind::Ambiguous)),
            ("%", Err(RefusalKind::NotFound)),
        ];
        for (prefix, expected) in cases {
            assert_eq!(found_runs(&store, prefix), expected.map(|run| vec![run.to_string()]), "{prefix:?}");
        }
        let ambiguous = refusal(&store, &Query::FindRun { prefix: "same".to_string() });
        assert!(ambiguous.message.contains("same of session s, same of session t"), "{ambiguous}");
    }

    #[test]
    fn who_ended_while_being_looked_at_was_not_interrupted() {
        let (temp, store) = store(&[fixture::accepted("s", "r", 1)]);
        let ends = |_: &SessionId, unfinished: bool| {
            let mut other = Store::open(temp.path()).unwrap();
            other.commit(&[fixture::run_finished("s", "r")], Strength::Normal).unwrap();
            free(&SessionId::new("s"), unfinished)
        };
        let Reply::Session(info) = store.query(&Query::LatestSession, &ends).unwrap() else {
            panic!("no session")
        };
        assert_eq!(info.activity, Activity::Idle);
    }

    #[test]
    fn what_a_session_is_doing_is_said_by_the_caller() {
        let (_temp, store) = store(&[fixture::accepted("s", "r", 1)]);
        let running = Activity::Running(Holder { pid: 7, since: Timestamp::from_millis(3) });
        let found =
            store.query(&Query::FindRun { prefix: "r".to_string() }, &|_, _| running.clone()).unwrap();
        let Reply::Runs(runs) = found else { panic!("{found:?}") };
        assert_eq!(runs.first().map(|run| (&run.run, &run.activity)), Some((&RunId::new("r"), &running)));
    }

    #[test]
    fn what_waits_for_permission_is_listed_until_it_is_answered() {
        let id = |call| AskId { session: SessionId::new("s"), call };
        let ask = || Ask { tool: "view".into(), parts: vec![], grants: vec![], whole: false };
        let (first, second) = (fixture::call_id(1, 1), fixture::call_id(1, 2));
        let asked = |call| Record::PermissionAsked { session: SessionId::new("s"), call, ask: ask() };
        let entries =
            [fixture::created("s", 1), fixture::entry("s", asked(first)), fixture::entry("s", asked(second))];
        let (_temp, mut store) = store(&entries);
        let listed = |store: &Store| match store
            .query(&Query::Asks { session: SessionId::new("s") }, &free)
            .unwrap()
        {
            Reply::Asks(asks) => asks.into_iter().map(|asked| asked.id).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(listed(&store), [id(first), id(second)]);
        let (by, grants) = ("me".into(), Vec::new());
        let decided =
            Record::PermissionDecided { call: first, allowed: true, by, session: None, person: true, grants };
        store.commit(&[fixture::entry("s", decided)], Strength::Normal).unwrap();
        assert_eq!(listed(&store), [id(second)]);
        let withdrawn = Record::PermissionWithdrawn { session: SessionId::new("s"), call: second };
        store.commit(&[fixture::entry("s", withdrawn)], Strength::Normal).unwrap();
        assert_eq!(listed(&store), []);
    }

    #[test]
    fn a_session_is_listed_by_its_last_title_with_what_that_cost() {
        let usage = Usage { input: 3, ..Usage::default() };
        let (title, by, cost) = ("Mine".to_string(), TitleSource::Person, Some(5));
        let changed = Record::TitleChanged { title, by, usage, cost };
        let (_temp, store) = store(&[fixture::created("s", 1), fixture::entry("s", changed)]);
        let Reply::Session(info) = store.query(&Query::LatestSession, &free).unwrap() else { panic!() };
        assert_eq!((info.title.as_str(), info.totals.usage.input, info.totals.cost), ("Mine", 3, Some(5)));
    }

    #[test]
    fn sub_agents_whose_runs_have_no_end_are_found_by_the_session_that_they_belong_to() {
        let (child, created) = fixture::child_of("s");
        let accepted = fixture::accepted(child.as_str(), child.as_str(), 1);
        let entries = [fixture::created("s", 1), created, accepted, fixture::created("s2", 1)];
        let (_temp, mut store) = store(&entries);
        assert_eq!(store.unfinished_children(&SessionId::new("s")).unwrap(), std::slice::from_ref(&child));
        assert_eq!(store.unfinished_children(&SessionId::new("s2")).unwrap(), []);
        store.commit(&[fixture::run_finished(child.as_str(), child.as_str())], Strength::Normal).unwrap();
        assert_eq!(store.unfinished_children(&SessionId::new("s")).unwrap(), []);
    }
}
