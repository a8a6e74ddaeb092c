//! Sessions on disk: their locks, their logs folded, their snapshots, and answers to queries.

use std::time::Instant;

use hostler_core::ids::{RunId, SessionId};
use hostler_core::prompt::PermissionMode;
use hostler_core::protocol::{Activity, Command, Query, Refusal, RefusalKind, Reply};
use hostler_core::session::{Durable, FOLD_VERSION, snapshot_is_due};
use hostler_core::tools::Shut;
use hostler_core::workspace::{Input, Opened, RunOwner, TakenRun};

use super::{Driver, Message, logged};
use crate::store::lock::{self, SessionLock, Taken};
use crate::store::{Committed, Loaded, Store, StoreError};

/// A version of the fold that no snapshot has.
const NO_SNAPSHOT: u32 = u32::MAX;

impl Driver {
    /// Takes a session's lock, or has it waited for.
    pub(super) fn open_session(&mut self, session: SessionId) {
        let taken = match &self.setup.dir {
            Some(dir) => lock::try_take(dir, &session, self.setup.clock.now()),
            None => Ok(Taken::Mine(SessionLock::of_nobody_else())),
        };
        match taken {
            Ok(Taken::Mine(lock)) => {
                let input = self.load(session, Ok(lock));
                self.pending.push_back(input);
            }
            Ok(Taken::Held(holder)) => {
                let input = match self.wait_for(session.clone()) {
                    Ok(()) => Input::SessionHeld { session, holder },
                    Err(error) => {
                        let why = format!(
                            "the session is in use, and there is no room to wait for it ({error}); try again"
                        );
                        failed(session, why)
                    }
                };
                self.pending.push_back(input);
            }
            Err(error) => self.pending.push_back(failed(session, error.to_string())),
        }
    }

    /// Waits for a lock on a thread of its own. Nobody can end that wait; a lock that is no longer wanted is given
    /// back as soon as it comes.
    fn wait_for(&mut self, session: SessionId) -> std::io::Result<()> {
        // Where nothing is kept, nobody else has anything.
        let Some(dir) = self.setup.dir.clone() else { return Ok(()) };
        let (clock, sender) = (self.setup.clock, self.sender.clone());
        let expected = session.clone();
        let wait = move || {
            let began = Instant::now();
            let lock = lock::wait(&dir, &session, || clock.now()).map_err(|error| error.to_string());
            logged::waited(&session, lock.is_ok(), began.elapsed());
            // A driver that is gone wants no lock.
            let _ = sender.blocking_send(Message::Locked { session, lock });
        };
        std::thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
        self.jobs.expect_open(expected);
        Ok(())
    }

    /// A lock has come: the session is read, unless nobody wants it any more.
    pub(super) fn locked(&mut self, session: SessionId, lock: Result<SessionLock, String>) -> Option<Input> {
        self.jobs.opened(&session).then(|| self.load(session, lock))
    }

    fn load(&mut self, session: SessionId, lock: Result<SessionLock, String>) -> Input {
        let (opened, children) = match lock {
            Err(why) => (Opened::Failed(why), Vec::new()),
            Ok(lock) => match read_family(&self.setup.store, &session) {
                Err(error) => (Opened::Failed(error.to_string()), Vec::new()),
                Ok((durable, children)) => {
                    self.locks.insert(session.clone(), lock);
                    (Opened::Ready(durable.map(Box::new)), children)
                }
            },
        };
        let taken = self.taken_meanwhile(&session);
        Input::SessionOpened { session, opened, children, taken }
    }

    /// Whose the run id is that a command asks for. A log that cannot be read is noticed when it is written to.
    pub(super) fn taken(&self, command: &Command) -> Option<RunOwner> {
        let Command::Submit { prompt, .. } = command else { return None };
        let (session, prompt) = self.setup.store.run_prompt(prompt.run.as_ref()?).ok()??;
        Some(RunOwner { session, prompt })
    }

    /// Of the runs that wait for a session, those that the log has by now. A log that cannot be read is noticed elsewhere.
    fn taken_meanwhile(&self, session: &SessionId) -> Vec<TakenRun> {
        let owner = |run: RunId| {
            let (session, prompt) = self.setup.store.run_prompt(&run).ok()??;
            Some(TakenRun { run, session, prompt })
        };
        self.machine.waiting_runs(session).into_iter().filter_map(owner).collect()
    }

    /// What the log of the session amounts to that a command wants to fork.
    pub(super) fn source(&self, command: &Command) -> Result<Option<Box<Durable>>, StoreError> {
        let Command::Fork { from, .. } = command else { return Ok(None) };
        Ok(read(&self.setup.store, from)?.map(Box::new))
    }

    /// What a call of the session's turn must not find: its rules are those by which the call was judged.
    pub(super) fn shut(&self, session: &SessionId, tool: &str) -> Shut {
        let root = self.setup.tools.root().to_string_lossy();
        let Some(durable) = self.machine.durable(session) else { return Shut::nothing() };
        let first = durable.turn.as_ref().and_then(|turn| turn.prompts.first());
        let terms = first.and_then(|first| Some(&durable.open.get(first)?.prompt.terms));
        let mode = terms.map_or(PermissionMode::Headless, |terms| terms.permission);
        let rules = terms.into_iter().flat_map(|terms| &terms.rules).chain(&durable.grants);
        Shut::new(tool, &root, mode, rules)
    }

    /// Answers a query from what is committed.
    pub(super) fn query(&self, query: &Query) -> Reply {
        let dir = self.setup.dir.as_deref();
        let activity = |session: &SessionId, unfinished: bool| activity(dir, session, unfinished);
        match self.setup.store.query(query, &activity) {
            Ok(reply) => reply,
            Err(error) => Reply::Refused(Refusal::new(RefusalKind::Storage, error.to_string())),
        }
    }

    /// Saves the state of sessions whose logs have become long, so that opening them stays quick.
    pub(super) fn snapshot(&mut self, sessions: &[SessionId], committed: &[Committed]) {
        let Some(last) = committed.last() else { return };
        for session in sessions {
            // A snapshot only saves time: without it the log is folded from further back.
            let _ = self.save(session, last.seq);
        }
    }

    fn save(&mut self, session: &SessionId, seq: u64) -> Result<(), StoreError> {
        let (tail, before) = self.setup.store.tail_bytes(session, FOLD_VERSION)?;
        if !snapshot_is_due(tail, before) {
            return Ok(());
        }
        let Some(durable) = read(&self.setup.store, session)? else { return Ok(()) };
        let Ok(body) = serde_json::to_string(&durable) else { return Ok(()) };
        self.setup.store.save_snapshot(session, FOLD_VERSION, seq, &body)
    }
}

fn failed(session: SessionId, why: String) -> Input {
    Input::SessionOpened { session, opened: Opened::Failed(why), children: Vec::new(), taken: Vec::new() }
}

/// What a session's log amounts to, and the logs of its sub-agents whose runs have no end.
fn read_family(store: &Store, root: &SessionId) -> Result<(Option<Durable>, Vec<Durable>), StoreError> {
    let durable = read(store, root)?;
    let children = store.unfinished_children(root)?;
    let children: Result<Vec<_>, _> = children.iter().map(|child| read(store, child)).collect();
    Ok((durable, children?.into_iter().flatten().collect()))
}

/// What a session's log amounts to; none if it has none.
pub(super) fn read(store: &Store, session: &SessionId) -> Result<Option<Durable>, StoreError> {
    let Some(loaded) = store.load(session, FOLD_VERSION)? else { return Ok(None) };
    match &loaded.snapshot {
        None => Ok(Some(fold(Durable::new(session.clone()), loaded))),
        Some((_, body)) => match serde_json::from_str(body) {
            Ok(saved) => Ok(Some(fold(saved, loaded))),
            // A snapshot only saves time: the log has everything.
            Err(_) => read_whole(store, session),
        },
    }
}

fn read_whole(store: &Store, session: &SessionId) -> Result<Option<Durable>, StoreError> {
    let loaded = store.load(session, NO_SNAPSHOT)?;
    Ok(loaded.map(|loaded| fold(Durable::new(session.clone()), loaded)))
}

fn fold(mut durable: Durable, loaded: Loaded) -> Durable {
    for (_, entry) in loaded.tail {
        durable.evolve(entry.at, &entry.record);
    }
    durable
}

/// What a session is doing, from who has its lock: an unfinished run under a free lock has lost its process.
fn activity(dir: Option<&std::path::Path>, session: &SessionId, unfinished: bool) -> Activity {
    match dir.map_or(Ok(None), |dir| lock::probe(dir, session)) {
        Ok(Some(holder)) => Activity::Running(holder),
        Ok(None) | Err(_) if unfinished => Activity::Interrupted,
        Ok(None) | Err(_) => Activity::Idle,
    }
}
