//! The lock of a root session: who holds it is the one process that writes to the session and its children.
//!
//! It is an advisory lock of the operating system on a file, so it is given back when its process ends, however that
//! happens. The file says who holds the lock and since when, for people only; the lock itself is the truth. After a crash
//! that note is stale until the next holder overwrites it.
//!
//! **A file for each that is held.** Whoever gives a lock back deletes its file, so that sessions that are at rest have none.
//! Another one may have that file open already and then lock what nobody else finds. So a lock counts only if its file
//! is still the one at its path, and whoever has it otherwise begins anew with the file that is there. Only who holds a lock
//! that counts deletes a file, and it deletes that one. What a process leaves that was killed goes with the next that has the
//! session.
//!
//! **Looking without disturbing.** [`probe`] takes the lock for a moment as one of many readers, which succeeds unless
//! somebody holds it for writing. A try to take it that meets such a moment fails although nobody has the session.
//! Therefore who fails looks in the same way: if that succeeds, only lookers were in the way, and the try is repeated
//! after a pause that is a thousand times longer than a look. Two that try at once may meet each other's looks, which
//! again ends with a pause. So "held" is said only if somebody holds it for writing, or if something was in the way at
//! every one of many tries (such as a process that was stopped in the middle of a look); waiting for it is right then too.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use hostler_core::ids::SessionId;
use hostler_core::protocol::Holder;
use hostler_core::time::Timestamp;
use rustix::fs::OFlags;

use super::error::StoreError;
use super::place;

/// How often a try that met only lookers, or a holder that has not yet said who it is, is repeated.
const TRIES: u32 = 100;

const PAUSE: Duration = Duration::from_millis(1);

/// A root session's lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct SessionLock {
    /// The file and where it is; none if nobody else could have the session.
    file: Option<(File, PathBuf)>,
}

/// What became of a try to take a lock.
#[derive(Debug)]
pub enum Taken {
    /// It was free.
    Mine(SessionLock),
    /// Another one has it, in this process or another.
    Held(Holder),
}

/// Takes the lock of a session's root session if nobody has it. `dir` is the workspace's state directory; `now` is
/// noted as the time since when it is held.
///
/// May pause for some 100 ms if others are looking at the lock. Fails if the lock file cannot be made or locked.
pub fn try_take(dir: &Path, session: &SessionId, now: Timestamp) -> Result<Taken, StoreError> {
    for _ in 0..TRIES {
        let (path, mut file) = open(dir, session)?;
        if locked(file.try_lock(), &path)? {
            if is_at(&file, &path) {
                return Ok(Taken::Mine(SessionLock::note(file, path, now)));
            }
            continue;
        }
        if let Some(holder) = look(&mut file, &path)?.and_then(Looked::holder) {
            return Ok(Taken::Held(holder));
        }
        thread::sleep(PAUSE);
    }
    Ok(Taken::Held(UNKNOWN))
}

/// Waits until the lock of a session's root session is free, and takes it. `now` is asked once it is held.
///
/// Blocks its thread for as long as that takes, and nothing can end the wait: it is for a thread of its own. Whoever no
/// longer wants the lock drops it at once. Fails if the lock file cannot be made or locked.
pub fn wait(
    dir: &Path,
    session: &SessionId,
    now: impl FnOnce() -> Timestamp,
) -> Result<SessionLock, StoreError> {
    loop {
        let (path, file) = open(dir, session)?;
        match file.lock() {
            Ok(()) if is_at(&file, &path) => return Ok(SessionLock::note(file, path, now())),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StoreError::io("lock", &path)(error)),
        }
    }
}

/// Who has the lock of a session's root session; none if it is free. Writes nothing.
///
/// Fails if the lock file is there and cannot be opened.
pub fn probe(dir: &Path, session: &SessionId) -> Result<Option<Holder>, StoreError> {
    let path = path_of(dir, session);
    for _ in 0..TRIES {
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for whoever writes to it.
        let opened = options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&path);
        let mut file = match opened {
            Ok(file) => regular(file, &path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("open the lock file", &path)(error)),
        };
        match look(&mut file, &path)? {
            // It may have been given back and taken again since it was opened, which is with another file then.
            None if is_at(&file, &path) => return Ok(None),
            None => {}
            Some(Looked::Held(holder)) => return Ok(Some(holder)),
            Some(Looked::Unsaid) => thread::sleep(PAUSE),
        }
    }
    Ok(Some(UNKNOWN))
}

impl SessionLock {
    /// A note that cannot be written, as on a full disk, leaves the lock what it is.
    fn note(mut file: File, path: PathBuf, since: Timestamp) -> Self {
        let holder = Holder { pid: std::process::id(), since };
        if let Ok(text) = serde_json::to_string(&holder) {
            let _ =
                file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        }
        Self { file: Some((file, path)) }
    }

    /// The lock of a session that no other process can see.
    pub fn of_nobody_else() -> Self {
        Self { file: None }
    }
}

/// Unlocks rather than only closing the file: a process that was just forked off has it open until it runs its program.
impl Drop for SessionLock {
    fn drop(&mut self) {
        if let Some((file, path)) = &self.file {
            // A file that stays is in nobody's way.
            if is_at(file, path) {
                let _ = fs::remove_file(path);
            }
            let _ = file.set_len(0);
            let _ = file.unlock();
        }
    }
}

/// A holder that has not said who it is.
const UNKNOWN: Holder = Holder { pid: 0, since: Timestamp::from_millis(0) };

/// What a look finds if somebody holds the lock for writing.
enum Looked {
    Held(Holder),
    /// The note is not there yet, or is being written.
    Unsaid,
}

impl Looked {
    fn holder(self) -> Option<Holder> {
        match self {
            Looked::Held(holder) => Some(holder),
            Looked::Unsaid => None,
        }
    }
}

/// None if nobody holds the lock for writing.
fn look(file: &mut File, path: &Path) -> Result<Option<Looked>, StoreError> {
    if locked(file.try_lock_shared(), path)? {
        file.unlock().map_err(StoreError::io("unlock", path))?;
        return Ok(None);
    }
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text));
    let holder = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    Ok(Some(holder.map_or(Looked::Unsaid, Looked::Held)))
}

/// Whether a file is the one that others find at that path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|file| fs::metadata(path).is_ok_and(|there| same(file, there)))
}

fn locked(outcome: Result<(), TryLockError>, path: &Path) -> Result<bool, StoreError> {
    match outcome {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(StoreError::io("lock", path)(error)),
    }
}

fn open(dir: &Path, session: &SessionId) -> Result<(PathBuf, File), StoreError> {
    let path = path_of(dir, session);
    let locks = dir.join(LOCKS);
    place::make_private(&locks).map_err(StoreError::io("make the directory", &locks))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&path).map_err(StoreError::io("open the lock file", &path))?;
    let file = regular(file, &path)?;
    Ok((path, file))
}

/// The file, if it is one: the note in a pipe would be waited for.
fn regular(file: File, path: &Path) -> Result<File, StoreError> {
    let is_file = file.metadata().map_err(StoreError::io("look at", path))?.is_file();
    if is_file { Ok(file) } else { Err(StoreError::NotAFile { path: path.to_owned() }) }
}

const LOCKS: &str = "locks";

/// Where the locks of a workspace lie, whose state is in `dir`.
pub fn directory(dir: &Path) -> PathBuf {
    dir.join(LOCKS)
}

/// Sub-agents share the lock of the session that they belong to. A digest, because an id may be longer than a file's name or differ from another one only in case.
fn path_of(dir: &Path, session: &SessionId) -> PathBuf {
    dir.join(LOCKS).join(format!("{}.lock", place::digest(session.root().as_str().as_bytes(), 16)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::mpsc;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(5);

    fn mine(dir: &Path, session: &str) -> SessionLock {
        match try_take(dir, &SessionId::new(session), NOW).unwrap() {
            Taken::Mine(lock) => lock,
            Taken::Held(holder) => panic!("{session} is held by {holder:?}"),
        }
    }

    /// Whether it is held, as both a looker and a taker see it; by this process, if it is.
    fn is_held(dir: &Path, session: &str) -> bool {
        let session = SessionId::new(session);
        let us = Holder { pid: std::process::id(), since: NOW };
        match (probe(dir, &session).unwrap(), try_take(dir, &session, NOW).unwrap()) {
            (Some(looker), Taken::Held(taker)) => {
                assert_eq!((&looker, &taker), (&us, &us));
                true
            }
            (None, Taken::Mine(_)) => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(probe(temp.path(), &SessionId::new("a")).unwrap(), None);
        let lock = mine(temp.path(), "a");
        assert!(is_held(temp.path(), "a"));
        assert!(!is_held(temp.path(), "b"));
        drop(lock);
        assert!(!is_held(temp.path(), "a"));
    }

    #[test]
    fn children_are_under_the_lock_of_their_root() {
        let cases = [
            ("r", "r"),
            ("a.dotted.id", "a.dotted.id"),
            ("r.2$$t1.s1.c1", "r"),
            ("a.dotted.id.2$$t1.s1.c1", "a.dotted.id"),
            ("r.2$$t1.s1.c1.4$$t1.s2.c3", "r"),
        ];
        for (id, root) in cases {
            assert_eq!(SessionId::new(id).root(), SessionId::new(root));
        }
        let temp = tempfile::tempdir().unwrap();
        let _lock = mine(temp.path(), "r");
        assert!(is_held(temp.path(), "r.2$$t1.s1.c1"));
    }

    #[test]
    fn any_id_names_a_private_file_in_its_place() {
        let temp = tempfile::tempdir().unwrap();
        let long = "x".repeat(5000);
        let ids = ["../../escape", "/absolute", "", "a\0b", long.as_str()];
        let locks = ids.map(|id| mine(temp.path(), id));
        let files = files(temp.path());
        assert_eq!(files.len(), 5);
        for file in files {
            assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        }
        drop(locks);
    }

    fn files(dir: &Path) -> Vec<fs::DirEntry> {
        fs::read_dir(dir.join(LOCKS)).unwrap().map(|file| file.unwrap()).collect()
    }

    #[test]
    fn what_is_given_back_leaves_no_file() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (mine(temp.path(), "a"), mine(temp.path(), "b"));
        drop(one);
        assert!(is_held(temp.path(), "b"));
        drop(other);
        assert!(files(temp.path()).is_empty());
        // What was left by a process that was killed goes with the next that has the session.
        fs::write(path_of(temp.path(), &SessionId::new("a")), "stale").unwrap();
        drop(mine(temp.path(), "a"));
        assert!(files(temp.path()).is_empty());
    }

    #[test]
    fn a_file_that_others_do_not_find_is_no_lock() {
        let temp = tempfile::tempdir().unwrap();
        let session = SessionId::new("a");
        let (path, file) = open(temp.path(), &session).unwrap();
        drop(mine(temp.path(), "a"));
        file.lock().unwrap();
        assert!(!is_at(&file, &path) && !is_held(temp.path(), "a"));
        // And whoever holds a lock whose file somebody took away deletes no other one.
        let lock = mine(temp.path(), "a");
        fs::remove_file(&path).unwrap();
        let other = mine(temp.path(), "a");
        drop(lock);
        assert!(is_held(temp.path(), "a"));
        drop(other);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_lock_is_refused_at_once() {
        use rustix::fs::{CWD, Mode, mkfifoat};
        let temp = tempfile::tempdir().unwrap();
        let session = SessionId::new("a");
        fs::create_dir(temp.path().join(LOCKS)).unwrap();
        mkfifoat(CWD, path_of(temp.path(), &session), Mode::RWXU).unwrap();
        for error in [
            probe(temp.path(), &session).unwrap_err(),
            try_take(temp.path(), &session, NOW).unwrap_err(),
            wait(temp.path(), &session, || NOW).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
        }
    }

    #[test]
    fn whoever_looks_sees_a_session_held_that_goes_from_hand_to_hand() {
        let temp = tempfile::tempdir().unwrap();
        let (over, session) = (AtomicBool::new(false), SessionId::new("a"));
        let mut lock = mine(temp.path(), "a");
        thread::scope(|scope| {
            let looker = scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    assert!(probe(temp.path(), &session).unwrap().is_some());
                }
            });
            let (path, next) = (path_of(temp.path(), &session), temp.path().join("next"));
            for _ in 0..1_000 {
                // The next one has it before the one before lets go of what nobody finds any more.
                let file = File::create_new(&next).unwrap();
                file.lock().unwrap();
                let after = SessionLock::note(file, path.clone(), NOW);
                fs::rename(&next, &path).unwrap();
                lock = after;
            }
            over.store(true, Ordering::SeqCst);
            looker.join().unwrap();
        });
        drop(lock);
    }

    #[test]
    fn a_stale_note_is_not_a_holder() {
        let temp = tempfile::tempdir().unwrap();
        drop(mine(temp.path(), "a"));
        let path = path_of(temp.path(), &SessionId::new("a"));
        fs::write(&path, r#"{"pid":1,"since":1,"and":"more than the next note has"}"#).unwrap();
        assert_eq!(probe(temp.path(), &SessionId::new("a")).unwrap(), None);
        let _lock = mine(temp.path(), "a");
        assert!(is_held(temp.path(), "a"));
    }

    #[test]
    fn a_holder_without_a_note_is_somebody() {
        let temp = tempfile::tempdir().unwrap();
        let _lock = mine(temp.path(), "a");
        let session = SessionId::new("a");
        fs::write(path_of(temp.path(), &session), "").unwrap();
        assert_eq!(probe(temp.path(), &session).unwrap(), Some(UNKNOWN));
        assert!(matches!(try_take(temp.path(), &session, NOW).unwrap(), Taken::Held(UNKNOWN)));
    }

    #[test]
    fn who_waits_gets_it() {
        let temp = tempfile::tempdir().unwrap();
        let lock = mine(temp.path(), "a");
        let (waits, waiting) = mpsc::channel();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                waits.send(()).unwrap();
                wait(temp.path(), &SessionId::new("a"), || NOW).unwrap()
            });
            waiting.recv().unwrap();
            assert!(is_held(temp.path(), "a"));
            drop(lock);
            let lock = waiter.join().unwrap();
            assert!(is_held(temp.path(), "a"));
            drop(lock);
        });
        assert!(!is_held(temp.path(), "a"));
    }

    #[test]
    fn lookers_never_keep_a_taker_out_and_two_never_have_it() {
        let temp = tempfile::tempdir().unwrap();
        let (over, holders) = (AtomicBool::new(false), AtomicU32::new(0));
        let session = SessionId::new("a");
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::SeqCst) {
                        probe(temp.path(), &session).unwrap();
                    }
                });
            }
            for _ in 0..200 {
                drop(mine(temp.path(), "a"));
            }
            let takers: Vec<_> =
                (0..3).map(|_| scope.spawn(|| take_often(temp.path(), &session, &holders))).collect();
            takers.into_iter().for_each(|taker| taker.join().unwrap());
            over.store(true, Ordering::SeqCst);
        });
    }

    fn take_often(dir: &Path, session: &SessionId, holders: &AtomicU32) {
        for _ in 0..100 {
            if let Taken::Mine(lock) = try_take(dir, session, NOW).unwrap() {
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                holders.fetch_sub(1, Ordering::SeqCst);
                drop(lock);
            }
        }
    }
}
