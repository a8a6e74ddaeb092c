//! Where tools that block do so: on a thread of their own, one for each call.
//!
//! A call that only reads is given up when it is cancelled: its thread looks at a flag and ends soon after. A call that
//! writes is not given up once it has begun, because what it did must be told.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use hostler_core::content::ToolOutcome;
use tokio::sync::oneshot;

use super::control::Cancelled;
use super::outcome::{Failure, Outcome, cancelled, settle};

/// A flag that tells a thread to give up.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether to give up.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when it goes, so that a call whose future is dropped gives up as well.
struct SetOnDrop(Stop);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs what only reads; gives it up when it is cancelled.
pub(super) async fn reading(
    cancel: &mut Cancelled,
    job: impl FnOnce(&Stop) -> Outcome + Send + 'static,
) -> ToolOutcome {
    let stop = Stop::default();
    let guard = SetOnDrop(stop.clone());
    let outcome = tokio::select! {
        biased;
        () = cancel.wait() => cancelled(),
        outcome = on_thread(move || job(&stop)) => outcome,
    };
    drop(guard);
    outcome
}

/// Runs what writes, unless it is cancelled before it has begun.
pub(super) async fn writing(
    cancel: &mut Cancelled,
    job: impl FnOnce() -> Outcome + Send + 'static,
) -> ToolOutcome {
    if cancel.is_cancelled() { cancelled() } else { on_thread(job).await }
}

async fn on_thread(job: impl FnOnce() -> Outcome + Send + 'static) -> ToolOutcome {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        // Nobody receives it when the call was given up.
        let _ = sender.send(job());
    };
    let started = thread::Builder::new().name("hostler-tool".to_owned()).spawn(body);
    let outcome = match started {
        Ok(_) => receiver.await.unwrap_or_else(|_| {
            Err(Failure::new("The tool broke down while it ran; look at what it did before you try again."))
        }),
        Err(error) => Err(Failure::new(format!("The tool could not be started ({error}); try again later."))),
    };
    settle(outcome)
}

/// A reader that gives up when it is told to or when its time is over.
pub(super) struct Watched<R> {
    /// What is read.
    pub(super) source: R,
    /// Tells to give up.
    pub(super) stop: Stop,
    /// When to give up; never if none.
    pub(super) deadline: Option<Instant>,
}

impl<R> Watched<R> {
    /// Whether it is time to give up.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_set() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over() { Err(io::ErrorKind::TimedOut.into()) } else { self.source.read(buffer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::control::{Control, Progress};
    use hostler_core::content::ToolStatus;

    fn done() -> Outcome {
        Ok(ToolOutcome::text(ToolStatus::Ok, "done"))
    }

    #[tokio::test]
    async fn a_job_ends_with_its_outcome() {
        let mut control = Control::alone();
        assert_eq!(reading(&mut control.cancelled, |_| done()).await.text, "done");
        let outcome = writing(&mut control.cancelled, || Err(Failure::new("Broken."))).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (ToolStatus::Error, "Broken."));
    }

    #[tokio::test]
    async fn a_cancelled_reader_is_told_to_stop() {
        let (canceller, mut control) = Control::new(Progress::nowhere());
        let (sender, receiver) = std::sync::mpsc::channel();
        let job = move |stop: &Stop| {
            canceller.cancel();
            while !stop.is_set() {
                thread::yield_now();
            }
            let _ = sender.send(());
            done()
        };
        assert_eq!(reading(&mut control.cancelled, job).await.status, ToolStatus::Cancelled);
        assert_eq!(receiver.recv(), Ok(()));
    }

    #[tokio::test]
    async fn a_cancelled_writer_does_not_begin() {
        let (canceller, mut control) = Control::new(Progress::nowhere());
        canceller.cancel();
        assert_eq!(writing(&mut control.cancelled, done).await.status, ToolStatus::Cancelled);
    }

    #[tokio::test]
    async fn a_job_that_breaks_down_is_an_error() {
        let mut control = Control::alone();
        let outcome = writing(&mut control.cancelled, || std::panic::resume_unwind(Box::new(()))).await;
        assert_eq!(outcome.status, ToolStatus::Error);
    }
}
