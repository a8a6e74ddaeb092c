//! The program while it is running, and what came of it.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ExitStatus};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::collected::Collected;
use super::command::{Hostler, Input};
use super::lines::Lines;
use super::signals::Signal;
use super::{LOOK, PATIENCE, check, processes};

/// A program that was started. Dropping it kills it.
#[derive(Debug)]
pub struct Running<'a> {
    pub(super) command: Hostler<'a>,
    child: Child,
    /// Standard input, where it is to stay open.
    input: Option<ChildStdin>,
    out: Collected,
    err: Collected,
}

/// What a program came to.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it printed on standard output.
    pub out: String,
    /// What it printed on standard error.
    pub err: String,
}

impl<'a> Running<'a> {
    pub(super) fn new(mut command: Hostler<'a>, mut child: Child) -> Self {
        let input = child.stdin.take();
        let input = match std::mem::replace(&mut command.input, Input::Empty) {
            Input::Bytes(bytes) => {
                feed(input, bytes);
                None
            }
            Input::Silent => input,
            Input::Empty | Input::From(_) => None,
        };
        let out = match child.stdout.take() {
            Some(out) if command.sleeps => Collected::later(out),
            Some(out) => Collected::from(out, command.most),
            None => Collected::nothing(),
        };
        let err = child.stderr.take().map_or_else(Collected::nothing, |err| Collected::from(err, None));
        Self { command, child, input, out, err }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        signal.send(self.id());
    }

    /// Writes to the standard input that was open and silent.
    pub fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("standard input is open");
        input.write_all(text.as_bytes()).expect("the program reads it");
    }

    /// Closes the standard input that was open and silent.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The reader of standard output, who slept, begins to read.
    pub fn reader_wakes(&mut self) {
        self.out.wake();
    }

    /// The reader of standard output goes away, and with it what it has not yet read.
    pub fn reader_leaves(&mut self) {
        self.out.leave();
        self.command.left = true;
    }

    /// Waits until it has printed so many bytes, or will print no more.
    pub fn wait_for_bytes(&self, bytes: usize) {
        self.out.wait_or_end(|out| out.len() >= bytes);
    }

    /// Waits until it has printed that text on standard output.
    pub fn wait_for_text(&self, text: &str) {
        self.out.wait(&format!("{text:?}"), |out| String::from_utf8_lossy(out).contains(text));
    }

    /// Waits until it has printed that text on standard error.
    pub fn wait_for_error(&self, text: &str) {
        self.err.wait(&format!("{text:?}"), |err| String::from_utf8_lossy(err).contains(text));
    }

    /// Waits for a line of that type and returns the first.
    pub fn wait_for_line(&self, kind: &str) -> Value {
        let find = |out: &[u8]| Lines::whole(&String::from_utf8_lossy(out)).first(kind).cloned();
        let out = self.out.wait(&format!("a line {kind}"), |out| find(out).is_some());
        find(&out).unwrap()
    }

    /// What it has printed on standard output so far.
    pub fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.out.so_far()).into_owned()
    }

    /// Waits for its end and checks what every run must keep to.
    ///
    /// # Panics
    ///
    /// When it does not end, or does not keep to the contract.
    pub fn finish(mut self) -> Finished {
        let finished = self.wait();
        check::ended(&self.command, &finished);
        finished
    }

    /// Waits for its end when nobody has read what it printed, so that its last line may not have found room.
    pub fn finish_unread(mut self) -> Finished {
        let finished = self.wait();
        check::unread(&self.command, &finished);
        finished
    }

    /// Kills it in the middle of what it is doing, and checks what holds all the same.
    pub fn kill(mut self) -> Finished {
        // It may have ended by itself; it was not waited for, so its id is still its own.
        self.signal(Signal::Kill);
        let finished = self.wait();
        check::killed(&self.command, &finished);
        finished
    }

    fn wait(&mut self) -> Finished {
        let status = self.status();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
        let (out, err) = (text(self.out.all()), text(self.err.all()));
        Finished { code: status.code(), signal: status.signal(), out, err }
    }

    fn status(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if start.elapsed() > PATIENCE {
                let err = String::from_utf8_lossy(&self.err.so_far()).into_owned();
                panic!("{:?} does not end; it printed:\n{}\n{err}", self.command.words, self.so_far());
            }
            thread::sleep(LOOK);
        }
    }
}

/// Writes to standard input on a thread: the program may not read it.
fn feed(input: Option<ChildStdin>, bytes: Vec<u8>) {
    let mut input = input.unwrap();
    thread::spawn(move || {
        // A program that ends without reading has no use for it.
        let _ = input.write_all(&bytes);
    });
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A program that was waited for is not signalled again.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            processes::kill(&self.command.mark);
        }
    }
}

impl Finished {
    /// The lines that it printed.
    pub fn lines(&self) -> Lines {
        Lines::whole(&self.out)
    }

    /// The last line: how the run ended.
    pub fn last(&self) -> Value {
        self.lines().finished().clone()
    }

    /// Fails the test unless it ended with that code.
    ///
    /// # Panics
    ///
    /// When it ended otherwise; the message shows what it printed.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "printed was:\n{}\nand on standard error:\n{}", self.out, self.err);
        self
    }
}
