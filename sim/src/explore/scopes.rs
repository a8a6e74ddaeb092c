//! The small worlds that are explored. Nothing is delayed in them: every order is tried instead.

use crate::options::Options;
use crate::plan::{Action, Aim, Plan, Submit, What};
use crate::world::trace::Level;
use crate::world::{Watch, World};

/// A small world.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// How many happenings are enough for everything in it to have happened.
    pub depth: usize,
    /// Its options.
    pub options: Options,
    /// What is done in it, in any order.
    pub plan: Plan,
}

impl Scope {
    /// The world in which nothing of it has happened. Batches are as large as that, or as large as they can be with 0.
    pub fn world(&self, batch: u64, level: Level) -> World {
        let options = Options { batch, ..self.options.clone() };
        World::new(1, options, self.plan.clone(), Watch { level, closely: 1 })
    }
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
        ending: 5_000,
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
    let (session, new, delivery, permission, steps, wait) = (0, true, 0, 1, 3, 60_000);
    let (headless, schema, flaw) = (false, false, 0);
    What::Submit(Submit {
        process,
        session,
        new,
        prompt,
        run,
        delivery,
        permission,
        steps,
        wait,
        headless,
        schema,
        flaw,
    })
}

/// A prompt whose calls a person is asked about.
fn watched(prompt: u64) -> What {
    match submit(0, prompt, false) {
        What::Submit(submit) => What::Submit(Submit { permission: 2, ..submit }),
        other => other,
    }
}

fn plan(what: &[What]) -> Plan {
    let action = |(id, what): (usize, &What)| Action { id: id as u64, at: 0, aim: Aim::None, what: *what };
    Plan { actions: what.iter().enumerate().map(action).collect() }
}

fn cancel(process: u64, prompt: Option<u64>) -> What {
    What::Cancel { process, session: 0, prompt }
}

fn scope(name: &'static str, depth: usize, options: &Options, what: &[What], about: &'static str) -> Scope {
    Scope { name, about, depth, options: options.clone(), plan: plan(what) }
}

/// All of them.
pub fn scopes() -> Vec<Scope> {
    let mut all = about_sessions();
    all.extend(about_trouble());
    all
}

fn about_sessions() -> Vec<Scope> {
    let tools = Options { calls: 1000, ..still() };
    let clear = What::Clear { process: 0, session: 0 };
    vec![
        scope(
            "admission",
            60,
            &still(),
            &[submit(0, 0, false), submit(0, 0, false), submit(0, 1, true), cancel(0, None)],
            "a prompt that is submitted twice, another one, and a cancel of everything",
        ),
        scope(
            "cancel",
            60,
            &tools,
            &[submit(0, 0, true), cancel(0, Some(0)), cancel(0, None)],
            "a turn with tools, and a cancel of its run and of everything",
        ),
        scope(
            "queue",
            110,
            &tools,
            &[submit(0, 0, false), submit(0, 1, false)],
            "prompts that join and prompts that wait",
        ),
        scope(
            "cleared queue",
            80,
            &still(),
            &[submit(0, 0, true), submit(0, 1, true), clear],
            "prompts that wait, and a queue that is cleared",
        ),
        scope(
            "hand-off",
            60,
            &still(),
            &[submit(0, 0, true), submit(0, 1, true), cancel(0, Some(0)), cancel(0, Some(1))],
            "two runs, each of which is cancelled at some time",
        ),
        scope(
            "three runs",
            80,
            &still(),
            &[submit(0, 0, true), submit(0, 1, true), submit(0, 2, true)],
            "runs that wait for each other",
        ),
        scope(
            "summarising",
            90,
            &Options { window: 100, short: 2, ..still() },
            &[submit(0, 0, true), submit(0, 1, true), cancel(0, Some(1))],
            "a conversation that is too long before a turn begins, and a cancel",
        ),
        scope(
            "permission",
            110,
            &Options { short: 3, ..tools.clone() },
            &[watched(1), cancel(0, None)],
            "a call about which two people disagree, and a cancel",
        ),
        scope(
            "permission in a crash",
            110,
            &Options { short: 3, ..tools.clone() },
            &[watched(1), What::Kill { process: 0, down: 0 }],
            "a call about which two people disagree in a process that is killed",
        ),
        scope(
            "sub-agents",
            110,
            &Options { short: 4, ..tools.clone() },
            &[submit(0, 0, false), cancel(0, None), What::Kill { process: 0, down: 0 }],
            "a turn that waits for a sub-agent, a cancel and a kill",
        ),
        scope(
            "half a summary",
            110,
            &Options { window: 100, short: 2, ..tools },
            &[submit(0, 0, false), cancel(0, None), What::Kill { process: 0, down: 0 }],
            "a conversation that becomes too long within a turn, a cancel and a kill",
        ),
    ]
}

fn about_trouble() -> Vec<Scope> {
    let tools = Options { calls: 1000, ..still() };
    let kill = What::Kill { process: 0, down: 0 };
    let outage = |how| What::Outage { how, time: 0 };
    vec![
        scope(
            "crash",
            70,
            &Options { split: 1000, ..tools.clone() },
            &[submit(0, 0, false), kill, submit(0, 0, false), kill],
            "a turn with tools in a process that is killed between any two steps, and once more",
        ),
        scope(
            "restart",
            60,
            &Options { serving: 1, ..still() },
            &[submit(0, 0, false), submit(0, 1, true), kill],
            "a server that is killed with prompts in its queue",
        ),
        scope(
            "storage",
            70,
            &tools,
            &[submit(0, 0, false), outage(2), outage(3), submit(0, 0, false)],
            "a disk that fails, and one that lies about it, under a turn",
        ),
        scope(
            "power",
            80,
            &Options { serving: 1, ..still() },
            &[submit(0, 0, false), submit(0, 1, true), What::Power { down: 0, lost: 1000 }],
            "a server whose power goes",
        ),
        scope(
            "two processes",
            70,
            &Options { processes: 2, ..still() },
            &[submit(0, 0, false), submit(1, 1, false), cancel(1, None), kill],
            "a session that two processes want, a cancel by the second, and a kill of the first",
        ),
    ]
}
