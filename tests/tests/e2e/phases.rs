//! What a run may be doing when something happens to it, each brought about without a sleep: the run is there when
//! [`Stage::begin`] returns, and goes on to a good end once [`Stage::go_on`] lets it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hostler_tests::harness::{Home, Hostler, Running, wait_until};
use hostler_tests::strict::{Answer, Gate, Script, StrictProvider};
use serde_json::json;

use crate::agents::is_sub_agent;
use crate::{PATIENCE, home};

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It reads its prompt.
    Reading,
    /// It waits for another process to give its session back.
    Locked,
    /// It is accepted and what it needs is looked up.
    Preparing,
    /// It has asked and waits for the first event.
    Asking,
    /// An answer comes.
    Answering,
    /// A command runs, with a process that has left its group.
    Working,
    /// It waits before it asks again.
    Backoff,
    /// Its conversation is summed up.
    Summing,
    /// Its sub-agent is being answered.
    Delegating,
}

impl Phase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Reading,
        Self::Locked,
        Self::Preparing,
        Self::Asking,
        Self::Answering,
        Self::Working,
        Self::Backoff,
        Self::Summing,
        Self::Delegating,
    ];

    /// Whether its prompt is in a session by then.
    pub(crate) fn is_accepted(self) -> bool {
        !matches!(self, Self::Reading | Self::Locked)
    }
}

/// Where a run is brought to a phase.
pub(crate) struct Stage {
    pub(crate) phase: Phase,
    pub(crate) home: Home,
    provider: StrictProvider,
    gate: Gate,
}

/// A run in its phase, with the process that holds its session, if that is what it waits for.
pub(crate) struct Begun<'a> {
    pub(crate) run: Running<'a>,
    holder: Option<Running<'a>>,
}

/// Waits for a file; what it has started beside itself lives on until the call ends.
const COMMAND: &str = "sleep 1000 & setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo x > begun; \
                       while [ ! -e go ]; do sleep 0.02; done";

impl Stage {
    /// A stage for that phase. A wait before another request takes so long.
    pub(crate) fn new(phase: Phase, wait: Duration) -> Self {
        let gate = Gate::new();
        let provider = StrictProvider::start(script(phase, &gate, wait));
        let home = home();
        if phase == Phase::Preparing {
            assert!(Command::new("mkfifo").arg(home.root().join("scenario")).status().unwrap().success());
        }
        Self { phase, home, provider, gate }
    }

    fn scenario(&self) -> PathBuf {
        self.home.root().join("scenario")
    }

    /// Starts a run with more words and all that `with` adds, and waits until it is in its phase.
    pub(crate) fn begin<'a>(
        &'a self,
        words: &[&str],
        with: impl Fn(Hostler<'a>) -> Hostler<'a>,
    ) -> Begun<'a> {
        let holder = (self.phase == Phase::Locked).then(|| {
            let holder = self.home.run(&self.provider, ["Hold it."]).start();
            assert!(self.gate.wait_reached(PATIENCE));
            holder
        });
        let run = with(self.command().words(words.iter().copied())).start();
        self.wait(&run);
        Begun { run, holder }
    }

    fn command(&self) -> Hostler<'_> {
        let usual = || self.home.run(&self.provider, ["--yolo"]);
        match self.phase {
            Phase::Reading => usual().words(["--stdin"]).silent_input(),
            Phase::Locked => usual().words(["--continue", "Hi"]),
            Phase::Preparing => {
                let model = format!("rehearsal:{}", self.scenario().display());
                self.home.hostler(["run", "--yolo", "--format", "jsonl", "--model", &model, "Hi"])
            }
            Phase::Asking
            | Phase::Answering
            | Phase::Working
            | Phase::Backoff
            | Phase::Summing
            | Phase::Delegating => usual().words(["Hi"]),
        }
    }

    fn wait(&self, run: &Running<'_>) {
        match self.phase {
            Phase::Reading => drop(run.wait_for_line("run.started")),
            Phase::Locked => drop(run.wait_for_line("prompt.queued")),
            Phase::Preparing => wait_until("the prompt is accepted", || {
                let listed = self.home.hostler(["sessions", "list", "--json"]).finish().out;
                listed.lines().count() == 1
            }),
            Phase::Asking | Phase::Delegating => assert!(self.gate.wait_reached(PATIENCE)),
            Phase::Answering => drop(run.wait_for_line("text.delta")),
            Phase::Working => self.home.wait_for_file("begun"),
            Phase::Backoff => drop(run.wait_for_line("retry")),
            Phase::Summing => {
                run.wait_for_line("summary.started");
                assert!(self.gate.wait_reached(PATIENCE));
            }
        }
    }

    /// Lets what the run is doing come to its end.
    pub(crate) fn go_on(&self, begun: &mut Begun<'_>) {
        match self.phase {
            Phase::Reading => {
                begun.run.write("Hi");
                begun.run.close_input();
            }
            Phase::Preparing => {
                let scenario = json!({"steps": [{"say": [{"text": "Done."}]}]});
                fs::write(self.scenario(), scenario.to_string()).unwrap();
            }
            Phase::Working => self.home.write("go", ""),
            Phase::Locked
            | Phase::Asking
            | Phase::Answering
            | Phase::Backoff
            | Phase::Summing
            | Phase::Delegating => self.gate.open(),
        }
    }

    /// Whoever else had the session gives it back, and the next run of it is well.
    pub(crate) fn continues(&self, holder: Option<Running<'_>>) {
        self.gate.open();
        if let Some(holder) = holder {
            holder.finish().expect_code(0);
        }
        let provider = StrictProvider::start(Answer::say("Still here."));
        let run = self.home.run(&provider, ["--continue", "Are you there?"]).finish().expect_code(0);
        assert_eq!(run.last()["answer"], "Still here.");
    }
}

impl<'a> Begun<'a> {
    pub(crate) fn into_parts(self) -> (Running<'a>, Option<Running<'a>>) {
        (self.run, self.holder)
    }
}

fn script(phase: Phase, gate: &Gate, wait: Duration) -> Script {
    let done = || Answer::say("Done.");
    match phase {
        Phase::Reading | Phase::Preparing => done().into(),
        Phase::Locked => [Answer::say("Held.").gate(gate), done()].into(),
        Phase::Asking => done().gate_headers(gate).into(),
        Phase::Answering => Answer::say("Once upon").gate(gate).text(" a time.").into(),
        Phase::Working => [Answer::calling("c1", "bash", json!({"command": COMMAND})), done()].into(),
        Phase::Backoff => {
            let wait = wait.as_millis().to_string();
            [Answer::rate_limited("60").header("retry-after-ms", &wait), done()].into()
        }
        Phase::Summing => {
            let looks = Answer::say("I look.").call("c1", "ls", json!({}));
            [looks, Answer::context_exceeded(), Answer::say("So far").gate(gate).text(" so good."), done()]
                .into()
        }
        Phase::Delegating => {
            let (gate, mut asked) = (gate.clone(), false);
            Script::each(move |request| {
                if is_sub_agent(request) {
                    Answer::say("Half").gate(&gate).text(" of it.")
                } else if std::mem::replace(&mut asked, true) {
                    Answer::say("Done.")
                } else {
                    Answer::calling("c1", "agent", json!({"prompt": "Look around."}))
                }
            })
        }
    }
}
