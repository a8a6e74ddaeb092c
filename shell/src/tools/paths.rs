//! Where a path leads: links and `..` followed one by one, so that neither can lie about where a file lies.
//!
//! What does not exist has a place too, below the deepest directory that does; a link to nothing leads to where its
//! target would be. Tools open the resolved path and never the one they were given.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hostler_core::tools::PathUse;

use super::outcome::Failure;
use super::quote;

/// How many links a path may lead through, as on Linux.
const MAX_LINKS: u32 = 40;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Absolute, without links or `..`.
    pub(super) path: PathBuf,
    /// Whether it is in the workspace.
    pub(super) inside: bool,
}

impl Place {
    /// The place as an intent names it.
    pub(super) fn to_use(&self) -> PathUse {
        PathUse { path: self.path.to_string_lossy().into_owned(), inside: self.inside }
    }
}

/// Finds out where a path leads, seen from `root`, which must be canonical.
pub(super) fn resolve(root: &Path, given: &str) -> Result<Place, Failure> {
    if given.is_empty() {
        return Err(Failure::new("The path is empty; give the path of a file or directory."));
    }
    if given.contains('\0') {
        let name = quote::text(given);
        return Err(Failure::new(format!("{name} has a NUL character in it, which no path can have.")));
    }
    if given == "~" || given.starts_with("~/") {
        return Err(Failure::new(
            "~ is not expanded here; give the path in full, or relative to the workspace.",
        ));
    }
    let path = follow(&root.join(given), given)?;
    let inside = path.starts_with(root);
    Ok(Place { path, inside })
}

/// Where a path leads, seen from `root`, which must be canonical; none if that cannot be found out.
pub(crate) fn leads_to(root: &Path, given: &str) -> Option<PathBuf> {
    resolve(root, given).ok().map(|place| place.path)
}

fn follow(start: &Path, given: &str) -> Result<PathBuf, Failure> {
    let mut at = PathBuf::from("/");
    let mut rest = parts(start);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if let Some(target) = step(&mut at, &part, given)? {
            links += 1;
            if links > MAX_LINKS {
                let name = quote::text(given);
                return Err(Failure::new(format!("{name} leads through too many links; give another path.")));
            }
            rest.extend(parts(&target));
        }
    }
    Ok(at)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Goes one part further; returns the target instead if that is a link.
fn step(at: &mut PathBuf, part: &OsString, given: &str) -> Result<Option<PathBuf>, Failure> {
    if part == "/" {
        *at = PathBuf::from("/");
    } else if part == ".." {
        at.pop();
    } else if part != "." {
        let next = at.join(part);
        match target(&next) {
            Ok(Some(target)) => return Ok(Some(target)),
            Ok(None) => *at = next,
            Err(error) if error.kind() == ErrorKind::NotFound => *at = next,
            Err(error) => return Err(Failure::io("reached", &quote::text(given), &error)),
        }
    }
    Ok(None)
}

fn target(path: &Path) -> std::io::Result<Option<PathBuf>> {
    if path.symlink_metadata()?.is_symlink() { path.read_link().map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn lay(top: &Path) -> std::io::Result<PathBuf> {
        let root = top.join("work");
        fs::create_dir_all(root.join("src"))?;
        fs::create_dir(top.join("other"))?;
        fs::write(root.join("file"), "")?;
        symlink("../other", root.join("out"))?;
        symlink("src", root.join("in"))?;
        symlink(top.join("other/nothing"), root.join("dangling"))?;
        symlink("loop", root.join("loop"))?;
        Ok(root)
    }

    #[track_caller]
    fn check(top: &Path, root: &Path, given: &str, leads_to: Option<&str>) {
        let place = resolve(root, given).ok();
        let expected = leads_to.map(|path| top.join(path));
        assert_eq!(place.as_ref().map(|place| &place.path), expected.as_ref(), "{given}");
        if let Some(place) = place {
            assert_eq!(place.inside, place.path.starts_with(root), "{given}");
        }
    }

    #[test]
    fn neither_links_nor_dots_lie() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let top = directory.path().canonicalize()?;
        let root = lay(&top)?;
        for (given, leads_to) in [
            ("src/a.rs", Some("work/src/a.rs")),
            ("./src//a.rs", Some("work/src/a.rs")),
            ("in/a.rs", Some("work/src/a.rs")),
            ("..", Some("")),
            ("../other/a", Some("other/a")),
            ("out/a", Some("other/a")),
            ("out/../x", Some("x")),
            ("in/../x", Some("work/x")),
            ("missing/deeper/a", Some("work/missing/deeper/a")),
            ("missing/../../other", Some("other")),
            ("missing/../out/a", Some("other/a")),
            ("dangling", Some("other/nothing")),
            ("loop", None),
            ("file/a", None),
            ("", None),
            ("a\0b", None),
            ("~/a", None),
        ] {
            check(&top, &root, given, leads_to);
        }
        Ok(())
    }

    #[test]
    fn a_neighbour_with_a_longer_name_is_not_inside() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let top = directory.path().canonicalize()?;
        let root = lay(&top)?;
        assert!(resolve(&root, "../work-2/a").is_ok_and(|place| !place.inside));
        assert!(resolve(&root, "../work/a").is_ok_and(|place| place.inside));
        Ok(())
    }
}
