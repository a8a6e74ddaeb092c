//! What a seed is like: which faults and actions it has at all, how likely they are, and how large everything is.
//!
//! Every seed leaves most things out (swarm testing): what is never mixed with anything else is found by seeds that
//! have little besides. All options are numbers, so that a repro file can list and change them.

use hostler_core::session::Settings;

use crate::dice::{Roll, Stream};

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The options of a simulation. Likelihoods are per mille; times are in milliseconds.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Options {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Options {
            /// All options with their names.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }

            /// Sets the option of that name. Returns whether there is one.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

options! {
    /// The order of what is due together: 0 first in, 1 random, 2 random priorities with a few changes.
    order,
    /// Delays are multiples of this, so that more is due together; 0 means that nothing is delayed.
    grain,
    /// How many processes share the disk.
    processes,
    /// Whether they are servers.
    serving,
    /// How many sessions there are.
    sessions,
    /// How many actions a wave has. There are as many waves as it takes.
    actions,
    /// Over how long they are spread.
    span,
    /// Whether later waves are about other sessions.
    fresh,
    /// With how many prompts that wait in a session nobody submits another one to it; 0 means that nobody minds.
    crowd,
    /// How often an action aims at a moment instead of a time.
    aimed,
    /// The largest batch; 0 means that a batch is always as large as it can be.
    batch,
    /// How often effects of one batch start at separate moments.
    split,
    /// How long streamed text is gathered.
    gather,
    /// How long preparing may take.
    prepare,
    /// How long connecting may take.
    connect,
    /// How long the first event may take.
    first_event,
    /// How long a stream may be silent.
    idle,
    /// How long it may take to end once it has said that it is done.
    ending,
    /// How long a cancelled tool may take.
    settle,
    /// The wait before the second attempt.
    backoff,
    /// How many attempts a step may have.
    attempts,
    /// How old a prompt may be for a server to start it after a restart.
    restart_age,
    /// How many calls may run at once.
    parallel,
    /// How many steps in a row may be denied.
    denied_steps,
    /// How many bytes an answer may have.
    answer_bytes,
    /// How many tokens the model can read and write; 0 if that is not known.
    window,
    /// The most steps that a turn may have.
    steps,
    /// How often a step calls tools.
    calls,
    /// How often a tool is allowed everything.
    yolo,
    /// How often a prompt has a run id.
    run_ids,
    /// How often a prompt's answer must satisfy a schema.
    schemas,
    /// How often a prompt is submitted with terms of delivery of its own.
    deliveries,
    /// Share of cancels among actions.
    cancels,
    /// Share of cleared queues among actions.
    clears,
    /// Share of kills among actions.
    kills,
    /// Share of losses of power among actions.
    power,
    /// Share of stretches of a bad disk among actions.
    outages,
    /// Share of cancels that aim at tools which have just been started.
    lingers,
    /// Share of repeated submissions among actions.
    repeats,
    /// Share of senseless submissions among actions.
    senseless,
    /// Share of suspended processes among actions.
    suspends,
    /// Share of signals to runs among actions.
    signals,
    /// Share of sessions that are renamed among actions.
    names,
    /// Share of sessions that are made from another one among actions.
    forks,
    /// Share of sessions that are forgotten among actions.
    deletes,
    /// How often a prompt comes from a `hostler run`.
    headless,
    /// Whether the prices of models are known.
    priced,
    /// How often a call would touch something outside of the workspace.
    outside,
    /// How often a process that starts finds its clock put back.
    clock_back,
    /// How often people who were refused or left without an answer submit again.
    come_back,
    /// Slow to connect or to begin.
    provider_slow,
    /// Silent for ever, from any point on.
    provider_stall,
    /// Broken off at any point.
    provider_cut,
    /// Refused with a status.
    provider_status,
    /// Not what the protocol says.
    provider_garbage,
    /// Never comes to an end.
    provider_endless,
    /// Goes on after it was cancelled or has ended.
    provider_late,
    /// Comes byte by byte.
    provider_tiny,
    /// Has nothing in it.
    provider_empty,
    /// Ends for another reason than being done.
    provider_finish,
    /// Says that it is done before it ends, and sometimes does not end or goes on.
    provider_open,
    /// Says nothing of its usage.
    usage_missing,
    /// Whether a key that is refused can be found out anew.
    renewable,
    /// Does not know its own seals any more when it is sent them back.
    provider_seals,
    /// Makes the same call over and over.
    provider_circle,
    /// What circles are made of: 0 one call, 1 two that take turns, 2 three, 3 four, 4 others each time, 5 one of ten is
    /// another, 6 five of ten are.
    circle,
    /// How often a call is one of a sub-agent, besides those that chance brings.
    agents,
    /// Calls a tool that there is not.
    call_unknown,
    /// Calls a tool with arguments that do not fit.
    call_broken,
    /// Calls have the same id.
    call_twin,
    /// Fails.
    tool_error,
    /// Ends only when it is cancelled or has used up its time.
    tool_hang,
    /// Does not listen to a cancel.
    tool_deaf,
    /// Takes seconds, and says something now and then.
    tool_long,
    /// Takes its time to end after a cancel.
    tool_slow,
    /// Says much.
    tool_flood,
    /// Ends without a word.
    tool_silent,
    /// Takes long.
    prepare_slow,
    /// Fails.
    prepare_fail,
    /// Never ends.
    prepare_hang,
    /// Commits take long.
    disk_slow,
    /// Commits are refused as busy.
    disk_busy,
    /// Commits fail.
    disk_fail,
    /// Commits are done and said to have failed.
    disk_unsure,
    /// Logs cannot be read.
    disk_unreadable,
    /// A fault of the world itself, to see whether it is noticed: 0 none, 1 the disk forgets cancels, 2 it keeps the locks
    /// of the dead, and from 3 on a machine that decides wrongly (see `world::double`).
    planted,
    /// Whether answers are as short as they can be: 0 no, 1 yes, 2 also if they fill the conversation,
    /// 3 also if their calls need permission, 4 also if they call a sub-agent.
    short,
    /// Whether a script says what happens, and asks of requests afterwards.
    staged,
    /// What stays broken for ever at the end: 0 nothing, 1 provider, 2 tools, 3 disk, 4 preparing.
    broken,
    /// How many events there are in all, about: the storm leaves as many for the end as that needs.
    events,
}

/// Nothing, a provider, tools, the disk or preparing can stay broken to the end.
pub const BROKEN: [&str; 5] = ["nothing", "provider", "tools", "disk", "preparing"];

impl Options {
    /// The options of that seed.
    pub fn of_seed(seed: u64, events: u64) -> Self {
        let mut roll = Roll::new(seed, Stream::Options, 0);
        let mut options = Self::sizes(&mut roll, events);
        options.limits(&mut roll);
        options.people(&mut roll);
        options.providers(&mut roll);
        options.tools_and_disk(&mut roll);
        options.schemas = roll.pick(&[0, 0, 300, 800]);
        options.priced = roll.pick(&[0, 1, 1, 1]);
        options.provider_seals = often(&mut roll) * 2;
        options.circle = roll.below(7);
        if options.provider_circle > 0 {
            options.leave_room();
        } else if roll.chance(120) {
            options.linger();
        } else if roll.chance(200) {
            options.ask_much();
        }
        options
    }

    fn sizes(roll: &mut Roll, events: u64) -> Self {
        Self {
            order: roll.pick(&[0, 1, 1, 2, 2]),
            grain: roll.pick(&[1, 1, 10, 100]),
            processes: roll.pick(&[1, 2, 2]),
            serving: roll.below(2),
            sessions: roll.pick(&[1, 1, 2, 3]),
            actions: roll.between(3, 40) * roll.pick(&[1, 4, 8, 24]),
            span: roll.pick(&[500, 5_000, 60_000, 600_000]),
            fresh: roll.below(2),
            crowd: roll.pick(&[3, 4, 6, 10, 20]),
            aimed: roll.pick(&[0, 300, 700, 900]),
            batch: roll.pick(&[1, 2, 5, 256]),
            split: roll.pick(&[0, 100, 500]),
            steps: roll.pick(&[1, 2, 4, 8]),
            calls: roll.pick(&[0, 300, 600, 900]),
            window: roll.pick(&[0, 0, 600, 1_200, 200_000, 250_000]),
            broken: if roll.chance(500) { roll.between(1, 4) } else { 0 },
            events,
            ..Self::default()
        }
    }

    fn limits(&mut self, roll: &mut Roll) {
        self.gather = roll.pick(&[33, 33, 1, 500]);
        self.prepare = roll.pick(&[30_000, 30_000, 200]);
        self.connect = roll.pick(&[10_000, 10_000, 100]);
        self.first_event = roll.pick(&[300_000, 300_000, 500]);
        self.idle = roll.pick(&[300_000, 300_000, 400]);
        self.ending = roll.pick(&[5_000, 5_000, 50]);
        self.settle = roll.pick(&[3_000, 3_000, 50, 20_000]);
        self.backoff = roll.pick(&[5_000, 5_000, 20]);
        self.attempts = roll.pick(&[4, 4, 2, 1]);
        self.restart_age = roll.pick(&[600_000, 600_000, 1_000]);
        self.parallel = roll.pick(&[5, 5, 2, 1]);
        self.denied_steps = roll.pick(&[3, 3, 1, 2]);
        self.answer_bytes = roll.pick(&[16_384, 1_000, 60]);
    }

    fn people(&mut self, roll: &mut Roll) {
        self.yolo = roll.pick(&[0, 300, 1000]);
        self.outside = roll.pick(&[100, 400, 800]);
        self.run_ids = roll.pick(&[0, 300, 500, 1000]);
        self.deliveries = often(roll);
        self.cancels = roll.pick(&[0, 100, 250, 400]);
        self.clears = roll.pick(&[0, 0, 50, 150]);
        self.kills = roll.pick(&[0, 0, 60, 150]);
        self.power = roll.pick(&[0, 0, 0, 60]);
        self.outages = roll.pick(&[0, 0, 60, 150]);
        self.repeats = roll.pick(&[0, 0, 80, 200]);
        self.senseless = roll.pick(&[0, 0, 60, 150]);
        self.suspends = roll.pick(&[0, 0, 60]);
        self.signals = roll.pick(&[0, 0, 100, 250]);
        self.names = roll.pick(&[0, 0, 40, 150]);
        self.forks = roll.pick(&[0, 0, 0, 60]);
        self.deletes = roll.pick(&[0, 0, 0, 60]);
        // Each run takes in everything that happens in its process, so that many of them leave room for little else.
        self.headless = roll.pick(&[0, 300, 800]) / if self.actions > 40 { 8 } else { 1 };
        self.clock_back = roll.pick(&[0, 0, 500]);
        self.come_back = roll.pick(&[0, 500, 1000]);
    }

    fn providers(&mut self, roll: &mut Roll) {
        self.provider_circle = if roll.chance(120) { 990 } else { 0 };
        if self.provider_circle > 0 {
            self.steps = 20;
            self.window = roll.pick(&[0, 0, 0, self.window]);
        }
        self.renewable = roll.below(2);
        self.agents = roll.pick(&[0, 300, 700]);
        self.provider_slow = often(roll);
        self.provider_stall = often(roll);
        self.provider_cut = often(roll);
        self.provider_status = often(roll);
        self.provider_garbage = often(roll) / 3;
        self.provider_endless = often(roll) / 3;
        self.provider_late = often(roll);
        self.provider_tiny = often(roll);
        self.provider_empty = often(roll);
        self.provider_finish = often(roll) / 2;
        self.provider_open = often(roll);
        self.usage_missing = often(roll);
        self.call_unknown = often(roll);
        self.call_broken = often(roll);
        self.call_twin = often(roll);
    }

    /// Ten steps make a circle. On the way there a turn must not come to another end too often.
    fn leave_room(&mut self) {
        (self.yolo, self.outside) = (1_000, 0);
        for often in [
            &mut self.cancels,
            &mut self.kills,
            &mut self.provider_status,
            &mut self.provider_cut,
            &mut self.provider_stall,
            &mut self.provider_garbage,
            &mut self.provider_endless,
            &mut self.provider_finish,
            &mut self.prepare_fail,
            &mut self.prepare_hang,
        ] {
            *often /= 8;
        }
    }

    /// Tools that do not listen, and cancels that meet them: a turn is then over for long before it ends, and all may come
    /// meanwhile that was on its way to the turns before.
    fn linger(&mut self) {
        (self.settle, self.prepare, self.schemas) = (20_000, 200, 800);
        (self.tool_deaf, self.tool_hang, self.calls, self.yolo, self.outside) = (900, 400, 500, 1_000, 0);
        (self.cancels, self.aimed, self.lingers) = (500, 900, 800);
        (self.actions, self.deliveries) = (self.actions.max(60), 0);
    }

    /// Much is asked, of sub-agents too, looked at for long before that, and called off meanwhile.
    fn ask_much(&mut self) {
        (self.yolo, self.outside, self.calls) = (0, 800, 900);
        (self.agents, self.steps) = (700, self.steps.max(4));
        (self.cancels, self.aimed, self.prepare_slow) = (400, 900, 300);
    }

    fn tools_and_disk(&mut self, roll: &mut Roll) {
        self.tool_error = often(roll);
        self.tool_hang = often(roll);
        self.tool_deaf = often(roll) * 2;
        self.tool_long = often(roll);
        self.tool_slow = often(roll);
        self.tool_flood = often(roll) / 2;
        self.tool_silent = often(roll);
        self.prepare_slow = often(roll);
        self.prepare_fail = often(roll) / 2;
        self.prepare_hang = often(roll) / 2;
        self.disk_slow = often(roll);
        self.disk_busy = often(roll) / 20;
        self.disk_fail = often(roll) / 20;
        self.disk_unsure = often(roll) / 20;
        self.disk_unreadable = often(roll) / 10;
    }

    /// The limits under which sessions work.
    pub fn settings(&self) -> Settings {
        Settings {
            serving: self.serving > 0,
            gather: self.gather,
            prepare: self.prepare,
            connect: self.connect,
            first_event: self.first_event,
            idle: self.idle,
            ending: self.ending,
            // Drawn with others of their kind.
            title: self.prepare,
            inspect: self.prepare,
            check: self.prepare,
            overtime: self.settle,
            settle: self.settle,
            backoff: self.backoff,
            attempts: self.attempts as u32,
            restart_age: self.restart_age,
            parallel: self.parallel as usize,
            denied_steps: self.denied_steps as u32,
            answer_bytes: self.answer_bytes as usize,
        }
    }

    /// The same without any fault that is drawn on the way; what is broken for ever at the end stays.
    pub fn healed(&self) -> Self {
        let mut healed = self.clone();
        for (name, _) in self.list() {
            let fault = ["provider_", "tool_", "prepare_", "disk_", "call_", "usage_", "clock_"];
            if fault.iter().any(|prefix| name.starts_with(prefix)) || name == "come_back" {
                healed.set(name, 0);
            }
        }
        // Nothing is so slow any more that a limit which is kept could pass, and no window too small for one answer.
        healed.grain = healed.grain.min(1);
        healed.window = 0;
        match self.broken {
            1 => healed.provider_stall = 1000,
            2 => healed.tool_hang = 1000,
            3 => healed.disk_fail = 1000,
            4 => healed.prepare_hang = 1000,
            _ => {}
        }
        healed
    }

    /// A little delay: less than that, in steps of the grain; none if there is no grain.
    pub fn delay(&self, roll: &mut Roll, below: u64) -> u64 {
        let delay = roll.below(below);
        delay.checked_div(self.grain).map_or(0, |grains| grains * self.grain)
    }

    /// One line, for people.
    pub fn describe(&self) -> String {
        let list = self.list();
        let shown =
            list.iter().filter(|(_, value)| *value > 0).map(|(name, value)| format!("{name}={value}"));
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// How often a kind of fault happens: in half of the seeds never.
fn often(roll: &mut Roll) -> u64 {
    if roll.chance(500) {
        // The draw is made all the same, so that the options behind it do not depend on this one.
        roll.below(1)
    } else {
        roll.pick(&[20, 60, 150, 400])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_by_the_names_under_which_they_are_listed() {
        let options = Options::of_seed(5, 2_000);
        let mut copy = Options::default();
        for (name, value) in options.list() {
            assert!(copy.set(name, value), "{name}");
        }
        assert_eq!(copy, options);
        assert!(!copy.set("nonsense", 1));
    }

    #[test]
    fn half_of_the_seeds_leave_a_kind_of_fault_out() {
        let without = (0..1000).filter(|seed| Options::of_seed(*seed, 1).provider_cut == 0).count();
        assert!((400..600).contains(&without), "{without}");
    }

    #[test]
    fn what_is_healed_has_no_fault_but_the_one_that_stays() {
        let options = Options { provider_cut: 5, tool_deaf: 7, broken: 1, grain: 10, ..Options::default() };
        let healed = Options { provider_stall: 1000, broken: 1, grain: 1, ..Options::default() };
        assert_eq!(options.healed(), healed);
    }
}
