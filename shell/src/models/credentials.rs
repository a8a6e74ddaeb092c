//! The key to a provider: given, in a file, or printed by a command. Found out when it is first needed.

use std::process::{ExitStatus, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use hostler_core::config::typed::{Key, Secret};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use crate::aside::aside;
use crate::config::files;
use crate::home;

/// How long a command may take to print a key.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many bytes a key may have.
const KEY_BYTES: u64 = 64 << 10;

/// How many keys are remembered, of a command that prints another one each time.
const REMEMBERED: usize = 16;

/// How a command is told of. What it is may be a secret itself.
const BY_COMMAND: &str = "the key_command of the configuration";

/// Where a key is, and the key itself once it is known.
#[derive(Debug)]
pub(super) struct Credential {
    place: Option<Key>,
    known: Mutex<Option<Secret>>,
    /// All keys that were found, also those that were forgotten since: an answer may come late.
    found: std::sync::Mutex<Vec<Secret>>,
}

impl Credential {
    pub(super) fn new(place: Option<Key>) -> Self {
        Self { place, known: Mutex::default(), found: std::sync::Mutex::default() }
    }

    /// The key, if there is one; else why it cannot be had, in a sentence. Who asks while it is being found out waits.
    pub(super) async fn get(&self) -> Result<Option<String>, String> {
        let Some(place) = &self.place else { return Ok(None) };
        let mut known = self.known.lock().await;
        if known.is_none() {
            let began = Instant::now();
            let found = find(place).await;
            let (whence, ms) = (self.place(), began.elapsed().as_millis());
            tracing::info!(whence, found = found.is_ok(), ms, "a key was looked for");
            let key = Secret(found?);
            self.remember(&key);
            *known = Some(key);
        }
        Ok(known.as_ref().map(|Secret(key)| key.clone()))
    }

    /// The keys that nobody may see.
    pub(super) fn found(&self) -> Vec<Secret> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, key: &Secret) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if !found.contains(key) {
            found.push(key.clone());
        }
        let old = found.len().saturating_sub(REMEMBERED);
        found.drain(..old);
    }

    /// Whether the key may be another one when it is asked for again.
    pub(super) fn is_renewable(&self) -> bool {
        matches!(self.place, Some(Key::Command(_) | Key::File(_)))
    }

    /// Has the key found out anew when it is needed next. If that is being done just now, that is as new as it can be.
    pub(super) fn forget(&self) {
        if self.is_renewable()
            && let Ok(mut known) = self.known.try_lock()
        {
            *known = None;
        }
    }

    /// Where the key is, for people.
    pub(super) fn place(&self) -> String {
        match &self.place {
            None => "nowhere".to_owned(),
            Some(Key::Given { by, .. }) => by.clone(),
            Some(Key::Command(_)) => BY_COMMAND.to_owned(),
            Some(Key::File(file)) => format!("the file {file}"),
        }
    }
}

async fn find(place: &Key) -> Result<String, String> {
    let (found, whence) = match place {
        Key::Given { key: Secret(key), by } => (Ok(key.clone()), by.clone()),
        Key::Command(command) => (printed(command).await, BY_COMMAND.to_owned()),
        Key::File(file) => (in_file(file).await, format!("the file {file}")),
    };
    let key = found.map_err(|why| format!("The key cannot be had from {whence}: {why}."))?;
    let key = key.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(format!("What {whence} gives is not a key; put the key there and nothing else."));
    }
    Ok(key.to_owned())
}

/// It may be on a disk that does not answer.
async fn in_file(file: &str) -> Result<String, String> {
    let path = home::path(file);
    let text = aside(move || files::read(&path, KEY_BYTES)).await.map_err(|error| error.to_string())?;
    let text = text.map_err(|error| format!("{error}; name a file that has the key"))?;
    text.ok_or_else(|| "there is no such file; put the key there".to_owned())
}

async fn printed(command: &str) -> Result<String, String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = shell.process_group(0).spawn().map_err(|error| error.to_string())?;
    let mut tree = Tree(child);
    let ended = tokio::time::timeout(PATIENCE, tree.output()).await;
    let seconds = PATIENCE.as_secs();
    let late = |_| format!("it took longer than {seconds} s; run it by hand to see why");
    let (text, status) = ended.map_err(late)?.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it failed ({status}); run it by hand to see why"));
    }
    Ok(text)
}

/// A command and all that it started in its group; what of it is still there when this goes away is killed.
///
/// What has begun a session of its own lives on, unlike with commands of a model: programs that give keys start agents that
/// way, which keep a password for the next time, and the command is the user's own.
struct Tree(Child);

impl Tree {
    async fn output(&mut self) -> std::io::Result<(String, ExitStatus)> {
        let mut bytes = Vec::new();
        if let Some(out) = self.0.stdout.take() {
            out.take(KEY_BYTES).read_to_end(&mut bytes).await?;
        }
        if let Some(leader) = self.leader() {
            let over = move || waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            // Whether it has ended is seen below too; here it only must not be waited for before its group is gone.
            let _ = aside(over).await?;
        }
        self.kill();
        let status = self.0.wait().await?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), status))
    }

    /// The leader's id, which nobody else can have before it was waited for.
    fn leader(&self) -> Option<Pid> {
        self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Kills the whole group. A leader that has ended keeps the status that it has ended with.
    fn kill(&self) {
        if let Some(leader) = self.leader() {
            // Where nothing is left there is nothing to kill.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    async fn key(place: Key) -> Result<Option<String>, String> {
        Credential::new(Some(place)).get().await
    }

    #[tokio::test]
    async fn a_key_comes_from_where_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, " sk-file\n").unwrap();
        let by = "the environment variable X".to_owned();
        let given = Key::Given { key: Secret("sk-given".into()), by };
        assert_eq!(key(given).await, Ok(Some("sk-given".into())));
        assert_eq!(key(Key::File(file.display().to_string())).await, Ok(Some("sk-file".into())));
        assert_eq!(
            key(Key::Command("echo sk-command; echo >&2 noise".into())).await,
            Ok(Some("sk-command".into()))
        );
        assert_eq!(Credential::new(None).get().await, Ok(None));
    }

    #[tokio::test]
    async fn a_command_runs_once_for_all_who_ask() {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("count");
        let credential =
            Credential::new(Some(Key::Command(format!("echo x >> {}; echo k", count.display()))));
        let (one, two) = tokio::join!(credential.get(), credential.get());
        assert_eq!((one, two), (Ok(Some("k".into())), Ok(Some("k".into()))));
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\n");
    }

    #[tokio::test]
    async fn what_is_no_key_is_said_without_showing_it() {
        for (place, says) in [
            (Key::Command("exit 3".into()), "it failed"),
            (Key::Command("true".into()), "is not a key"),
            (Key::Command("echo 'two'; echo 'lines'".into()), "is not a key"),
            (Key::File("/missing/key".into()), "there is no such file"),
            (Key::File("/".into()), "not a regular file"),
        ] {
            let error = key(place).await.unwrap_err();
            assert!(error.contains(says) && !error.contains("lines'\n"), "{error}");
        }
    }
}
