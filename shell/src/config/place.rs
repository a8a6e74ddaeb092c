//! Where configuration lies: the user's file, and the project's from the working directory up to the root of its
//! repository.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file of a project, below its directory.
pub(super) const PROJECT: &str = ".hostler/config.json";

/// Where to look.
#[derive(Clone, Debug)]
pub struct Places {
    /// The working directory, links resolved.
    pub cwd: PathBuf,
    /// The user's directory for configuration, `$XDG_CONFIG_HOME/hostler`; none without a home.
    pub user: Option<PathBuf>,
    /// The directory that all state of the user is in.
    pub state: PathBuf,
}

impl Places {
    /// Where to look for what concerns `cwd`, which must be canonical.
    pub fn new(cwd: &Path, state: &Path, xdg_config_home: Option<OsString>, home: Option<OsString>) -> Self {
        let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        let config = absolute(xdg_config_home).or_else(|| Some(absolute(home)?.join(".config")));
        let user = config.map(|config| config.join("hostler"));
        Self { cwd: cwd.to_owned(), user, state: state.to_owned() }
    }

    /// Where this process looks.
    pub fn of_process(cwd: &Path, state: &Path) -> Self {
        Self::new(cwd, state, std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME"))
    }

    /// The user's file, which need not exist; none without a home.
    pub fn user_file(&self) -> Result<Option<PathBuf>, Vec<String>> {
        let Some(user) = &self.user else { return Ok(None) };
        let usual = user.join("config.json");
        Ok(Some(one_of(&usual)?.unwrap_or(usual)))
    }

    /// The project's directory and file: the nearest from the working directory up to the root of the repository;
    /// outside of one, only the working directory's.
    pub fn project(&self) -> Result<Option<(PathBuf, PathBuf)>, Vec<String>> {
        let root = repository_root(&self.cwd).unwrap_or(&self.cwd);
        for directory in self.cwd.ancestors().take_while(|directory| directory.starts_with(root)) {
            if let Some(file) = one_of(&directory.join(PROJECT))? {
                return Ok(Some((directory.to_owned(), file)));
            }
        }
        Ok(None)
    }
}

/// Whether there is a project's file in that directory.
pub fn has_project_file(directory: &Path) -> bool {
    // Two are one too many to be read, and enough to be trusted or not.
    !matches!(one_of(&directory.join(PROJECT)), Ok(None))
}

/// The file of that name, or of the name with a `c` at its end, if there is one; both are one too many.
fn one_of(json: &Path) -> Result<Option<PathBuf>, Vec<String>> {
    let jsonc = json.with_extension("jsonc");
    let there = |path: &Path| path.symlink_metadata().is_ok();
    match (there(json), there(&jsonc)) {
        (true, true) => {
            Err(vec![format!("There are both {} and {}; keep one.", json.display(), jsonc.display())])
        }
        (true, false) => Ok(Some(json.to_owned())),
        (false, true) => Ok(Some(jsonc)),
        (false, false) => Ok(None),
    }
}

/// The root of the repository that a directory is in. What somebody else has put above the directory, where many may write,
/// makes no repository of it.
pub fn repository_root(directory: &Path) -> Option<&Path> {
    let us = rustix::process::geteuid().as_raw();
    let here = directory.metadata().map_or(us, |found| found.uid());
    let is_root = |directory: &&Path| {
        directory.join(".git").symlink_metadata().is_ok_and(|found| belongs(found.uid(), here, us))
    };
    directory.ancestors().find(is_root)
}

/// Whether what has that owner belongs to a directory of `here`, for a process of `us`.
fn belongs(owner: u32, here: u32, us: u32) -> bool {
    owner == here || owner == us
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_stranger_makes_no_repository() {
        for (owner, here, us, expected) in
            [(1, 1, 1, true), (1, 1, 0, true), (1, 2, 1, true), (3, 1, 1, false), (0, 1, 1, false)]
        {
            assert_eq!(belongs(owner, here, us), expected);
        }
    }

    #[test]
    fn the_directory_for_configuration_is_where_the_environment_says() {
        let user = |xdg: Option<&str>, home: Option<&str>| {
            let (cwd, state) = (Path::new("/w"), Path::new("/s"));
            Places::new(cwd, state, xdg.map(OsString::from), home.map(OsString::from)).user
        };
        assert_eq!(user(Some("/x"), Some("/h")), Some(PathBuf::from("/x/hostler")));
        assert_eq!(user(Some("relative"), Some("/h")), Some(PathBuf::from("/h/.config/hostler")));
        assert_eq!(user(None, Some("")), None);
    }
}
