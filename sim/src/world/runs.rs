//! `hostler run`s: clients inside a process that submit one prompt, watch what is published, obey signals, and end with a
//! code. Each is the machine that the real program runs.

use std::collections::VecDeque;

use hostler_core::client::{
    Earlier, Effect, Format, Gathered, Headless, Input, Options, Signal, Which, exit_code,
};
use hostler_core::ids::{PromptId, SessionId};
use hostler_core::machine::{Effects, Entry, Machine};
use hostler_core::protocol::{Command, Event, EventId, Notice, Reply, Request};
use hostler_core::record::{Record, RunFinished};

use super::World;
use super::agenda::Happening;
use super::people::{Ask, submission};
use crate::failure::Class;
use crate::plan::Submit;
use crate::sometimes;

/// A `hostler run`.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) process: usize,
    life: u32,
    prompt: PromptId,
    session: SessionId,
    machine: Headless,
    inbox: VecDeque<Input>,
    /// Whether somebody asked it to end before it was done.
    disturbed: bool,
    /// Whether its session was deleted, so that the log says nothing of it.
    forgotten: bool,
    /// Whether it has said how it ended.
    said: bool,
    code: Option<u8>,
    look: u64,
}

impl Run {
    /// Whether nothing has reached it that it has not taken in.
    pub(super) fn is_deaf(&self) -> bool {
        self.inbox.is_empty()
    }

    /// Whether that alarm of it is its last one.
    pub(super) fn awaits(&self, look: u64) -> bool {
        self.look == look
    }

    /// With what code it has ended.
    pub(super) fn code(&self) -> Option<u8> {
        self.code
    }

    /// The prompt that it is about.
    pub(super) fn prompt(&self) -> &PromptId {
        &self.prompt
    }

    /// All that what comes of it depends on.
    pub(super) fn outlook(&self) -> impl std::fmt::Debug {
        (&self.machine, &self.inbox, &self.prompt, self.process, (self.said, self.disturbed, self.code))
    }
}

impl World {
    /// Somebody starts a `hostler run`.
    pub(super) fn begin_run(&mut self, submit: &Submit) {
        let process = submit.process as usize % self.processes.len();
        let Command::Submit { session, prompt } = submission(submit) else { return };
        if !self.processes[process].alive {
            return;
        }
        let (life, id, text) = (self.processes[process].life, prompt.id.clone(), prompt.text.clone());
        let options = Options {
            prompt,
            session: Which::New(session.id().clone()),
            fork: None,
            earlier: Earlier::Reachable,
            keeps: false,
            format: Format::Jsonl,
            live: false,
            terminal: false,
            quiet: true,
            fail_on_tool_error: false,
            timeout: (submit.wait < 1_000).then_some(self.options.span / 4 + 1),
            version: "0".to_owned(),
            cwd: "/".to_owned(),
            warnings: Vec::new(),
        };
        let machine = Headless::new(options, self.time(process));
        let gathered = Gathered { text, ..Gathered::default() };
        let inbox = VecDeque::from([Input::Begin, Input::Ready(Box::new(gathered))]);
        let (disturbed, said) = (submit.wait < 1_000, false);
        self.runs.push(Run {
            process,
            life,
            prompt: id,
            session: session.id().clone(),
            machine,
            inbox,
            disturbed,
            forgotten: false,
            said,
            code: None,
            look: 0,
        });
        let run = self.runs.len() - 1;
        (0..2).for_each(|_| self.agenda.push(self.now, Happening::Hear(run)));
    }

    /// Something reaches a run, if its process is the one that it began in.
    fn tell_run(&mut self, number: usize, input: Input) {
        let run = &mut self.runs[number];
        if run.life == self.processes[run.process].life {
            run.inbox.push_back(input);
            self.agenda.push(self.now, Happening::Hear(number));
        }
    }

    /// A request of a run is answered.
    pub(super) fn answer_run(&mut self, run: usize, reply: &Reply) {
        self.tell_run(run, Input::Reply(Box::new(reply.clone())));
    }

    /// A signal comes to the run of a prompt, or its reader goes away.
    pub(super) fn signal(&mut self, prompt: u64, how: u64) {
        let id = PromptId::new(format!("p{prompt}"));
        let Some(number) = self.runs.iter().rposition(|run| run.prompt == id) else { return };
        let input = match how {
            0 => Input::Signal(Signal::Hangup),
            1 => Input::Signal(Signal::Interrupt),
            2 => Input::Signal(Signal::Terminate),
            _ => Input::OutputClosed,
        };
        self.runs[number].disturbed = true;
        self.tell_run(number, input);
    }

    /// The runs in a process are told of records that are committed.
    pub(super) fn publish(&mut self, process: usize, first: usize) {
        for number in 0..self.runs.len() {
            if self.runs[number].process != process || self.runs[number].machine.is_over() {
                continue;
            }
            for at in first..self.disk.log.len() {
                let (seq, entry) = (self.disk.log[at].0, Entry::clone(&self.disk.log[at].1));
                let id = EventId { log: "sim".to_owned(), seq };
                self.tell_run(number, Input::Event(Box::new(Event::Record { id, entry })));
            }
        }
    }

    /// The runs in a process are told something that is not history.
    pub(super) fn notify(&mut self, process: usize, notice: &Notice) {
        for number in 0..self.runs.len() {
            if self.runs[number].process == process && !self.runs[number].machine.is_over() {
                self.tell_run(number, Input::Event(Box::new(Event::Notice(notice.clone()))));
            }
        }
    }

    /// A run takes in the next thing that has reached it.
    pub(super) fn hear(&mut self, number: usize) {
        let run = &mut self.runs[number];
        if run.life == self.processes[run.process].life
            && let Some(input) = run.inbox.pop_front()
        {
            self.feed_run(number, input);
        }
    }

    /// A deadline of a run has passed.
    pub(super) fn alarm(&mut self, number: usize, look: u64) {
        let run = &self.runs[number];
        if run.look == look && run.life == self.processes[run.process].life {
            self.feed_run(number, Input::Tick);
        }
    }

    fn feed_run(&mut self, number: usize, input: Input) {
        let now = self.time(self.runs[number].process);
        self.trace.say(self.now, || format!("run {number} <- {}", super::trace::short(&input)));
        let mut out = Effects::new();
        self.runs[number].machine.handle(now, input, &mut out);
        for effect in out.into_parts().1 {
            self.trace.deep(&effect);
            match effect {
                Effect::Open => self.feed_run(number, Input::Opened),
                Effect::Request(request) => {
                    if let Request::Command(command) = *request {
                        self.ask_for_run(number, command);
                    }
                }
                Effect::Out(line) => self.check_line(number, &line),
                Effect::Keep(_) | Effect::Err(_) => {}
                Effect::Exit(code) => self.exit_run(number, code),
            }
        }
        if let Some((at, _)) = self.runs[number].machine.deadline() {
            self.runs[number].look += 1;
            let at = at.as_millis() + self.processes[self.runs[number].process].behind;
            self.agenda.push(at, Happening::Alarm(number, self.runs[number].look));
        }
    }

    fn ask_for_run(&mut self, number: usize, command: Command) {
        let process = self.runs[number].process;
        self.people.asks.push(Ask { process, command, tries: 0, answered: false, run: Some(number) });
        self.try_ask(self.people.asks.len() - 1);
    }

    /// Nothing is printed behind the line that says how the run ended.
    fn check_line(&mut self, number: usize, line: &str) {
        let ends = line.contains("\"run.finished\"");
        let run = &mut self.runs[number];
        if run.said {
            let what = format!("the run of {} says more after its end: {line}", run.prompt);
            return self.fail(Class::Safety, "one last line", what);
        }
        run.said = ends;
    }

    /// A run ends once, after it has said so, and with the code that its record calls for.
    fn exit_run(&mut self, number: usize, code: u8) {
        self.trace.say(self.now, || format!("run {number} exits with {code}"));
        let prompt = self.runs[number].prompt.clone();
        self.tell(|| super::told::What::Exits { prompt, code });
        let run = &mut self.runs[number];
        let before = run.code.replace(code);
        let (prompt, said, disturbed) = (run.prompt.clone(), run.said, run.disturbed);
        // A reader that goes away after the end changes the code, and only that.
        if before.is_some() && code != 141 {
            return self.fail(
                Class::Safety,
                "one exit",
                format!("the run of {prompt} exits again with {code}"),
            );
        }
        if !said && code != 141 {
            return self.fail(
                Class::Safety,
                "one last line",
                format!("the run of {prompt} exits without a word"),
            );
        }
        let finished = self.finished(&prompt).cloned();
        note_exit(code, disturbed);
        match finished {
            Some(finished) if !disturbed && !self.was_down(number) => {
                let expected = exit_code(finished.status, finished.reason);
                if code != expected {
                    let what =
                        format!("the run of {prompt} exits with {code}, and its record calls for {expected}");
                    self.fail(Class::Safety, "exit code", what);
                }
            }
            None if code == 0 && !self.runs[number].forgotten => {
                let what = format!("the run of {prompt} exits with 0, and its record says nothing of that");
                self.fail(Class::Safety, "exit code", what);
            }
            _ => {}
        }
    }

    /// The log cannot tell any more how the runs of a session ended.
    pub(super) fn disturb_runs(&mut self, session: &SessionId) {
        for run in self.runs.iter_mut() {
            let its = run.session == *session;
            (run.disturbed, run.forgotten) = (run.disturbed || its, run.forgotten || its);
        }
    }

    /// Whether a run was told that the log could not be written: then it ends before its record does.
    fn was_down(&self, number: usize) -> bool {
        self.runs[number].code == Some(1) && self.disk_was_down
    }

    /// The terminal record of a prompt.
    pub(super) fn finished(&self, prompt: &PromptId) -> Option<&RunFinished> {
        self.disk.log.iter().rev().find_map(|(_, entry)| match &entry.record {
            Record::RunFinished(finished) if finished.prompt == *prompt => Some(finished),
            _ => None,
        })
    }

    /// Every run whose process lives has ended.
    pub(super) fn check_runs(&mut self) {
        let open =
            self.runs.iter().find(|run| run.life == self.processes[run.process].life && run.code.is_none());
        if let Some(run) = open {
            let what = format!("nothing is under way, and the run of {} has not ended", run.prompt);
            self.fail(Class::Liveness, "runs end", what);
        }
    }
}

fn note_exit(code: u8, disturbed: bool) {
    sometimes!("run exits with 0", if code == 0);
    sometimes!("run ended by a signal", if matches!(code, 129 | 130 | 143));
    sometimes!("run whose reader went away", if code == 141);
    sometimes!("run out of time", if code == 4 && disturbed);
    sometimes!("run that was refused", if code == 2);
}
