//! The small worlds that are explored. Nothing is delayed in them: every order is tried instead.

use crate::options::Options;
use crate::plan::{Action, Aim, Plan, Submit, What};

/// A small world.
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Its options.
    pub options: Options,
    /// What is done in it, in any order.
    pub plan: Plan,
}

/// Nothing goes wrong by itself and nothing is delayed.
fn still() -> Options {
    Options {
        processes: 1,
        sessions: 1,
        gather: 33,
        prepare: 30_000,
        connect: 10_000,
        first_event: 300_000,
        idle: 300_000,
        settle: 3_000,
        backoff: 5_000,
        attempts: 2,
        restart_age: 600_000,
        parallel: 5,
        denied_steps: 3,
        answer_bytes: 1_000,
        steps: 2,
        short: 1,
        events: u64::MAX,
        ..Options::default()
    }
}

fn submit(process: u64, prompt: u64, run: bool) -> What {
    let (session, new, delivery, yolo, steps, wait) = (0, true, 0, true, 2, 60_000);
    let (headless, flaw) = (false, 0);
    What::Submit(Submit { process, session, new, prompt, run, delivery, yolo, steps, wait, headless, flaw })
}

fn plan(what: &[What]) -> Plan {
    let action = |(id, what): (usize, &What)| Action { id: id as u64, at: 0, aim: Aim::None, what: *what };
    Plan { actions: what.iter().enumerate().map(action).collect() }
}

fn cancel(process: u64, prompt: Option<u64>) -> What {
    What::Cancel { process, session: 0, prompt }
}

/// All of them.
pub fn scopes() -> Vec<Scope> {
    let (tools, two) = (Options { calls: 1000, ..still() }, Options { processes: 2, ..still() });
    let split = Options { split: 1000, ..tools.clone() };
    let kill = What::Kill { process: 0, down: 0 };
    let clear = What::Clear { process: 0, session: 0 };
    let outage = |how| What::Outage { how, time: 0 };
    let scope = |name, about, options: &Options, what: &[What]| Scope {
        name,
        about,
        options: options.clone(),
        plan: plan(what),
    };
    vec![
        scope(
            "admission",
            "a prompt that is submitted twice, another one, and a cancel of everything",
            &still(),
            &[submit(0, 0, false), submit(0, 0, false), submit(0, 1, true), cancel(0, None)],
        ),
        scope(
            "cancel",
            "a turn with tools, and a cancel of its run and of everything",
            &tools,
            &[submit(0, 0, true), cancel(0, Some(0)), cancel(0, None)],
        ),
        scope(
            "queue",
            "prompts that join and prompts that wait, and a cleared queue",
            &tools,
            &[submit(0, 0, false), submit(0, 1, false), clear],
        ),
        scope(
            "hand-off",
            "three runs, of which the first and the second are cancelled",
            &still(),
            &[
                submit(0, 0, true),
                submit(0, 1, true),
                submit(0, 2, false),
                cancel(0, Some(0)),
                cancel(0, Some(1)),
            ],
        ),
        scope(
            "crash",
            "a turn with tools in a process that is killed between any two steps, and once more",
            &split,
            &[submit(0, 0, false), kill, submit(0, 0, false), kill],
        ),
        scope(
            "restart",
            "a server that is killed with prompts in its queue",
            &Options { serving: 1, ..still() },
            &[submit(0, 0, false), submit(0, 1, true), submit(0, 2, false), kill],
        ),
        scope(
            "storage",
            "a disk that fails, and one that lies about it, under a turn",
            &tools,
            &[submit(0, 0, false), outage(2), outage(3), submit(0, 0, false)],
        ),
        scope(
            "two processes",
            "a session that two processes want, and a cancel by the second",
            &two,
            &[submit(0, 0, false), submit(1, 1, false), cancel(1, None)],
        ),
    ]
}
