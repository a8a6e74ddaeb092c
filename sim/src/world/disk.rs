//! The disk that the processes share: one log, what it amounts to, and the locks of sessions.

use std::collections::{BTreeMap, VecDeque};

use hostler_core::ids::SessionId;
use hostler_core::machine::Entry;
use hostler_core::record::Strength;
use hostler_core::session::Durable;

use crate::dice::Roll;
use crate::options::Options;
use crate::shared::Shared;

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Done,
    /// It was refused, because others kept writing.
    Busy,
    /// It failed.
    Failed,
    /// It is done, and is said to have failed.
    Unsure,
}

impl Verdict {
    /// Whether the records are in the log.
    pub fn is_written(self) -> bool {
        matches!(self, Verdict::Done | Verdict::Unsure)
    }
}

/// A process in one of its lives.
pub type Life = (usize, u32);

/// The disk.
#[derive(Clone, Debug)]
pub struct Disk {
    /// The log, oldest first.
    pub log: Shared<Log>,
    /// The highest place that was ever given.
    pub head: u64,
    /// How much of the log survives a loss of power.
    pub synced: usize,
    /// What the log of each session amounts to.
    pub folds: Shared<BTreeMap<SessionId, Durable>>,
    /// Who has the lock of which session, and since when.
    pub locks: BTreeMap<SessionId, (Life, u64)>,
    /// Who waits for one.
    pub waiting: BTreeMap<SessionId, VecDeque<Life>>,
    /// How bad it is at the moment, and which bad stretch that is.
    pub outage: Option<u64>,
    /// The number of the last bad stretch.
    pub outages: u64,
    /// Where in the log each commit ends.
    commits: Vec<usize>,
    /// What becomes of a commit that a kill interrupts, if that is not left to luck.
    pub survival: Option<bool>,
    roll: Roll,
}

/// Records and their places, oldest first.
pub type Log = Vec<(u64, Shared<Entry>)>;

impl Disk {
    /// An empty one.
    pub fn new(roll: Roll) -> Self {
        Self {
            log: Shared::default(),
            head: 0,
            synced: 0,
            folds: Shared::default(),
            locks: BTreeMap::new(),
            waiting: BTreeMap::new(),
            outage: None,
            outages: 0,
            commits: Vec::new(),
            survival: None,
            roll,
        }
    }

    /// How long the next commit takes, and what becomes of it.
    pub fn judge(&mut self, options: &Options) -> (u64, Verdict) {
        let slow = self.roll.chance(options.disk_slow);
        let soon = options.delay(&mut self.roll, 3);
        let time = if slow { self.roll.between(50, 1_900) } else { soon };
        let busy = self.roll.chance(options.disk_busy);
        let failed = self.roll.chance(options.disk_fail);
        let unsure = self.roll.chance(options.disk_unsure);
        match self.outage {
            Some(0) => return (time + 1_500, Verdict::Done),
            Some(1) => return (2_000, Verdict::Busy),
            Some(2) => return (time, Verdict::Failed),
            Some(_) => return (time, Verdict::Unsure),
            None => {}
        }
        match (busy, failed, unsure) {
            (true, _, _) => (2_000, Verdict::Busy),
            (_, true, _) => (time, Verdict::Failed),
            (_, _, true) => (time, Verdict::Unsure),
            _ => (time, Verdict::Done),
        }
    }

    /// Whether something could be written now.
    pub fn probe(&mut self, options: &Options) -> bool {
        self.judge(options).1 == Verdict::Done
    }

    /// Whether a log can be read now.
    pub fn readable(&mut self, options: &Options) -> bool {
        !self.roll.chance(options.disk_unreadable)
    }

    /// Whether a commit that a kill interrupts is done: by luck, or as is chosen for it.
    pub fn survives(&mut self) -> bool {
        let luck = self.roll.chance(500);
        self.survival.unwrap_or(luck)
    }

    /// Appends the records of a batch. Returns the place of the first.
    pub fn append(&mut self, entries: Vec<Entry>, strength: Strength) -> usize {
        let first = self.log.len();
        for entry in entries {
            self.head += 1;
            fold(&mut self.folds, &entry);
            self.log.push((self.head, entry.into()));
        }
        self.commits.push(self.log.len());
        if strength == Strength::Full {
            self.synced = self.log.len();
        }
        first
    }

    /// The records that a loss of power may take, by commit.
    pub fn unsafe_commits(&self) -> Vec<&[(u64, Shared<Entry>)]> {
        let first = self.commits.partition_point(|end| *end <= self.synced);
        let begins = self.commits[..first].last().copied().unwrap_or(0);
        let mut from = begins;
        let commits =
            self.commits[first..].iter().map(|end| &self.log[std::mem::replace(&mut from, *end)..*end]);
        commits.collect()
    }

    /// Loses so many of the last commits that are not safe; none of them in part. Places that were given are not given
    /// again. Returns how many records are lost.
    pub fn lose(&mut self, per_mille: u64) -> usize {
        let safe = self.commits.partition_point(|end| *end <= self.synced);
        let lost = (self.commits.len() - safe) * per_mille as usize / 1000;
        self.commits.truncate(self.commits.len() - lost);
        let (before, left) = (self.log.len(), self.commits.last().copied().unwrap_or(0));
        self.log.truncate(left);
        self.folds = refold(&self.log).into();
        before - left
    }

    /// Forgets a session and its sub-agents, for good.
    pub fn forget_session(&mut self, session: &SessionId) {
        let goes = |entry: &Entry| entry.session.root() == *session;
        let before = std::mem::take(&mut *self.log);
        let mut kept = Vec::with_capacity(before.len() + 1);
        kept.push(0);
        for (_, entry) in &before {
            kept.push(kept.last().unwrap_or(&0) + usize::from(!goes(entry)));
        }
        self.commits.iter_mut().for_each(|end| *end = kept[*end]);
        self.synced = kept[self.synced];
        self.log = before.into_iter().filter(|(_, entry)| !goes(entry)).collect::<Log>().into();
        self.folds.retain(|id, _| id.root() != *session);
    }

    /// Takes a session's lock if it is free; else says who has it and since when.
    pub fn try_lock(&mut self, session: &SessionId, life: Life, now: u64) -> Result<(), (Life, u64)> {
        match self.locks.get(session) {
            Some(holder) => Err(*holder),
            None => {
                self.locks.insert(session.clone(), (life, now));
                Ok(())
            }
        }
    }

    /// Gives a lock back. Whoever waits longest has it next.
    pub fn unlock(&mut self, session: &SessionId, now: u64) -> Option<Life> {
        self.locks.remove(session)?;
        let next = self.waiting.get_mut(session).and_then(VecDeque::pop_front)?;
        self.locks.insert(session.clone(), (next, now));
        Some(next)
    }

    /// A process is gone: it waits for nothing, and these locks are to be given back.
    pub fn forget(&mut self, process: usize) -> Vec<SessionId> {
        self.waiting.values_mut().for_each(|waiting| waiting.retain(|(other, _)| *other != process));
        let held = self.locks.iter().filter(|(_, ((holder, _), _))| *holder == process);
        held.map(|(session, _)| session.clone()).collect()
    }
}

fn fold(folds: &mut BTreeMap<SessionId, Durable>, entry: &Entry) {
    match folds.get_mut(&entry.session) {
        Some(durable) => durable.evolve(entry.at, &entry.record),
        None => {
            let mut durable = Durable::new(entry.session.clone());
            durable.evolve(entry.at, &entry.record);
            folds.insert(entry.session.clone(), durable);
        }
    }
}

/// What a whole log amounts to.
pub fn refold(log: &Log) -> BTreeMap<SessionId, Durable> {
    let mut folds = BTreeMap::new();
    log.iter().for_each(|(_, entry)| fold(&mut folds, entry));
    folds
}

#[cfg(test)]
mod tests {
    use hostler_core::record::Record;
    use hostler_core::time::Timestamp;

    use super::*;
    use crate::dice::Stream;

    fn entry(title: &str) -> Entry {
        let record = Record::SessionCreated { title: title.to_owned(), parent: None };
        Entry { session: SessionId::new("s"), at: Timestamp::from_millis(1), record }
    }

    #[test]
    fn power_takes_only_what_was_not_synced_and_no_place_is_given_twice() {
        let mut disk = Disk::new(Roll::new(1, Stream::Disk, 0));
        disk.append(vec![entry("a"), entry("b")], Strength::Full);
        disk.append(vec![entry("c"), entry("d")], Strength::Normal);
        assert_eq!(disk.lose(1000), 2);
        assert_eq!(disk.folds[&SessionId::new("s")].title, "b");
        disk.append(vec![entry("e")], Strength::Normal);
        let places: Vec<_> = disk.log.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(places, [1, 2, 5]);
    }

    #[test]
    fn a_session_that_is_forgotten_leaves_the_rest_as_it_was() {
        let mut disk = Disk::new(Roll::new(1, Stream::Disk, 0));
        let other = |title: &str| Entry { session: SessionId::new("t"), ..entry(title) };
        disk.append(vec![entry("a"), other("b")], Strength::Full);
        disk.append(vec![entry("c")], Strength::Normal);
        disk.append(vec![other("d")], Strength::Normal);
        disk.forget_session(&SessionId::new("s"));
        let places: Vec<_> = disk.log.iter().map(|(seq, _)| *seq).collect();
        assert_eq!((places, disk.synced, disk.folds.len()), (vec![2, 4], 1, 1));
        assert_eq!(disk.lose(1000), 1);
        assert_eq!(disk.folds[&SessionId::new("t")].title, "b");
    }

    #[test]
    fn a_lock_goes_to_whoever_waits_longest() {
        let mut disk = Disk::new(Roll::new(1, Stream::Disk, 0));
        let session = SessionId::new("s");
        assert_eq!(disk.try_lock(&session, (0, 1), 5), Ok(()));
        assert_eq!(disk.try_lock(&session, (1, 1), 6), Err(((0, 1), 5)));
        disk.waiting.entry(session.clone()).or_default().push_back((1, 1));
        assert_eq!(disk.unlock(&session, 7), Some((1, 1)));
        assert_eq!(disk.forget(1), [session]);
    }
}
