//! How hostler comes to be a helper: a program that can be one says so by calling [`supervise`] before anything else.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
pub(super) use linux::{ARGUMENT, helper};

/// Does a helper's work if this process was started as one, and returns its exit code then.
///
/// A program that calls this as the first thing in its `main` gets helpers for its commands on Linux: they are itself,
/// run once more with a first argument that is understood here. For one that does not, as for every program on other
/// systems, commands run in process groups.
pub fn supervise() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    return linux::supervise();
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::path::Path;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::tools::bash::helper;

    /// The first argument of a helper.
    pub(in crate::tools::bash) const ARGUMENT: &str = "__supervise";

    /// The program that is running, also if its file has been replaced or deleted.
    const SELF: &str = "/proc/self/exe";

    /// Whether that program understands the argument.
    static UNDERSTOOD: AtomicBool = AtomicBool::new(false);

    /// The program that can be a helper, if there is one.
    pub(in crate::tools::bash) fn helper() -> Option<&'static Path> {
        UNDERSTOOD.load(Ordering::Relaxed).then_some(Path::new(SELF))
    }

    pub(super) fn supervise() -> Option<ExitCode> {
        UNDERSTOOD.store(true, Ordering::Relaxed);
        let asked = std::env::args_os().nth(1).is_some_and(|argument| argument == OsStr::new(ARGUMENT));
        asked.then(helper::main)
    }
}
