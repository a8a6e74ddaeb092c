//! Whether this process was begun without a standard output. The language's own start puts the null device in the place of
//! one that is closed, so that nothing written later would ever fail; what was there is to be seen only before that.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began, so that nobody reads what is printed.
pub(super) fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Run by the system's loader before `main`.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[allow(unsafe_code, reason = "there is no safe way to be run before the language's own start")]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[allow(unsafe_code, reason = "a number that may be no open file is nothing that a safe crate takes")]
extern "C" fn look() {
    // SAFETY: it only asks about a number and touches no memory.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1 {
        CLOSED.store(true, Ordering::Relaxed);
    }
}
