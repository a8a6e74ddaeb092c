//! Where state lies on disk. Paths and private directories only: what is in them is the business of the other modules.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use sha2::{Digest, Sha256};

use super::error::StoreError;

/// What the environment says about where state goes.
#[derive(Clone, Debug)]
pub struct Env {
    /// Where the user says that state is to go.
    pub data_dir: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub xdg_state_home: Option<OsString>,
    /// `$HOME`.
    pub home: Option<OsString>,
    /// The directory for temporary files.
    pub temp: PathBuf,
    /// The id of the user that this process acts for.
    pub uid: u32,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self {
            data_dir: None,
            xdg_state_home: std::env::var_os("XDG_STATE_HOME"),
            home: std::env::var_os("HOME"),
            temp: std::env::temp_dir(),
            uid: rustix::process::geteuid().as_raw(),
        }
    }
}

/// The directory that all state of a user is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRoot {
    /// The directory; it exists and can be written to.
    pub path: PathBuf,
    /// Why it is not the usual one: a sentence to warn the user with, once.
    pub fallback: Option<String>,
}

/// Finds and makes the directory that state goes to: `$XDG_STATE_HOME/hostler` if that variable is an absolute path,
/// else `$HOME/.local/state/hostler`; if that cannot be written to, a private directory among the temporary files.
///
/// Where the user has said another directory, that is used and no other.
///
/// Fails if the private directory cannot be made or is not the user's alone, or if what the user said cannot be used.
pub fn state_root(env: &Env) -> Result<StateRoot, StoreError> {
    if let Some(path) = &env.data_dir {
        let made = make_private(path).and_then(|()| writable(path)).and_then(|()| path.canonicalize());
        let path = made.map_err(StoreError::io("use the data directory", path))?;
        return Ok(StateRoot { path, fallback: None });
    }
    let reason = match usual_root(env) {
        None => "HOME is not set to an absolute path".to_string(),
        Some(path) => match make_private(&path).and_then(|()| writable(&path)) {
            Ok(()) => return Ok(StateRoot { path, fallback: None }),
            Err(error) => format!("{} cannot be written to ({error})", path.display()),
        },
    };
    let path = env.temp.join(format!("hostler-{}", env.uid));
    claim_private(&path, env.uid)?;
    let before = match read_only_root(env) {
        Some(_) => "; those that are there can be listed and shown, and not gone on with",
        None => "",
    };
    let fallback =
        format!("{reason}, so sessions are kept in {}, which may not last{before}", path.display());
    Ok(StateRoot { path, fallback: Some(fallback) })
}

/// The directory that state would go to if that is there and can be read and not written to. What only reads looks there.
pub fn read_only_root(env: &Env) -> Option<PathBuf> {
    let path = env.data_dir.clone().or_else(|| usual_root(env))?;
    let reads = access(&path, Access::READ_OK | Access::EXEC_OK).is_ok();
    if reads && writable(&path).is_err() { path.canonicalize().ok() } else { None }
}

/// The directory that the state of a workspace goes to. Makes nothing.
///
/// `cwd` is the workspace's directory as the caller has canonicalised it. Its name is the beginning of a digest of the
/// path's bytes: of a fixed length, whatever the path.
pub fn workspace_dir(state_root: &Path, cwd: &Path) -> PathBuf {
    state_root.join("workspaces").join(digest(cwd.as_os_str().as_bytes(), 8))
}

/// The first `bytes` bytes of the SHA-256 of `data` in hexadecimal.
pub(super) fn digest(data: &[u8], bytes: usize) -> String {
    Sha256::digest(data).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a directory and those above it, as far as they are missing, for the user alone.
pub(super) fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn usual_root(env: &Env) -> Option<PathBuf> {
    let absolute =
        |value: &Option<OsString>| value.as_ref().map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute(&env.xdg_state_home).or_else(|| Some(absolute(&env.home)?.join(".local/state")))?;
    Some(state.join("hostler"))
}

fn writable(dir: &Path) -> io::Result<()> {
    Ok(access(dir, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Anybody can make things among the temporary files, so what is there already is looked at without following links.
fn claim_private(dir: &Path, uid: u32) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(StoreError::io("make the directory", dir)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(dir).map_err(StoreError::io("look at", dir))?;
    let private = found.is_dir() && found.uid() == uid && found.mode() & 0o077 == 0;
    if private { Ok(()) } else { Err(StoreError::NotPrivate { path: dir.to_path_buf() }) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn env(temp: &Path, xdg: Option<&str>, home: Option<&Path>) -> Env {
        Env {
            data_dir: None,
            xdg_state_home: xdg.map(OsString::from),
            home: home.map(|path| path.as_os_str().to_os_string()),
            temp: temp.to_path_buf(),
            uid: fs::metadata(temp).unwrap().uid(),
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn state_goes_where_the_environment_says() {
        let temp = tempfile::tempdir().unwrap();
        let (xdg, home) = (temp.path().join("xdg"), temp.path().join("home"));
        let cases = [
            (xdg.to_str(), Some(home.as_path()), xdg.join("hostler")),
            (Some("not/absolute"), Some(home.as_path()), home.join(".local/state/hostler")),
            (Some(""), Some(home.as_path()), home.join(".local/state/hostler")),
            (None, Some(home.as_path()), home.join(".local/state/hostler")),
        ];
        for (xdg, home, expected) in cases {
            let root = state_root(&env(temp.path(), xdg, home)).unwrap();
            assert_eq!(root, StateRoot { path: expected, fallback: None });
            assert_eq!(mode(&root.path), 0o700);
        }
    }

    #[test]
    fn a_directory_that_was_asked_for_is_used_or_refused() {
        let temp = tempfile::tempdir().unwrap();
        let temp = temp.path().canonicalize().unwrap();
        let asked = |name: &str| Env { data_dir: Some(temp.join(name)), ..env(&temp, None, None) };
        let root = state_root(&asked("a/b")).unwrap();
        assert_eq!((root.path.clone(), root.fallback, mode(&root.path)), (temp.join("a/b"), None, 0o700));
        fs::write(temp.join("file"), "").unwrap();
        assert!(state_root(&asked("file")).is_err());
    }

    #[test]
    fn without_a_writable_home_it_goes_to_a_private_temporary_directory() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        for home in [None, Some(Path::new("")), Some(Path::new("relative")), Some(file.as_path())] {
            let env = env(temp.path(), None, home);
            let root = state_root(&env).unwrap();
            assert_eq!(root.path, temp.path().join(format!("hostler-{}", env.uid)));
            assert_eq!(mode(&root.path), 0o700);
            assert!(root.fallback.unwrap().contains("which may not last"));
        }
    }

    #[test]
    fn a_temporary_directory_that_is_not_ours_alone_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let env = env(temp.path(), None, None);
        let path = temp.path().join(format!("hostler-{}", env.uid));
        let refused = |env: &Env| matches!(state_root(env), Err(StoreError::NotPrivate { .. }));

        let elsewhere = temp.path().join("elsewhere");
        make_private(&elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(refused(&env), "a link");
        fs::remove_file(&path).unwrap();

        fs::write(&path, "").unwrap();
        assert!(refused(&env), "a file");
        fs::remove_file(&path).unwrap();

        make_private(&path).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(refused(&env), "a directory open to others");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        assert!(!refused(&env));

        let other = Env { uid: env.uid + 1, ..env.clone() };
        fs::rename(&path, temp.path().join(format!("hostler-{}", other.uid))).unwrap();
        assert!(refused(&other), "somebody else's directory");
    }

    #[test]
    fn a_workspace_is_named_by_its_path() {
        let dir = workspace_dir(Path::new("/state"), Path::new("/"));
        assert_eq!(dir, Path::new("/state/workspaces/8a5edab282632443"));
        assert_ne!(dir, workspace_dir(Path::new("/state"), Path::new("/a")));
    }
}
