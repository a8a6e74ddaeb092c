//! What happens when a file reaches the size that this process may write: SIGXFSZ ends a process unless it is ignored, and
//! then writing fails instead, which can be said and survived.

/// The process ends.
pub(crate) fn end_at_limit() {
    set(libc::SIG_DFL);
}

/// Writing fails.
pub(crate) fn fail_at_limit() {
    set(libc::SIG_IGN);
}

#[allow(unsafe_code, reason = "no safe crate in the tree sets a signal's disposition to one of these")]
fn set(disposition: libc::sighandler_t) {
    // SAFETY: neither disposition is code of ours, so nothing runs when the signal comes.
    unsafe { libc::signal(libc::SIGXFSZ, disposition) };
}
