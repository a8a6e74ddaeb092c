//! Makes a plan from a seed.

use super::{AIMS, Action, Aim, Plan, Submit, What};
use crate::dice::{Roll, Stream};
use crate::options::Options;

/// Of so many events there is at least one action: no seed runs out of them before its time.
const EVENTS_AN_ACTION: u64 = 1;

/// In how many groups of sessions, one after the other, what happens takes place.
const GROUPS: u64 = 3;

/// The plan of a seed with those options: waves of actions, one behind the other, more of them than there is time for. Some
/// waves find everything at rest and others come into what the ones before have left.
pub fn generate(seed: u64, options: &Options) -> Plan {
    let mut submitted = Vec::new();
    let mut actions = Vec::new();
    let waves = (options.events / EVENTS_AN_ACTION).div_ceil(options.actions.max(1)).max(1);
    let mut begins = 0;
    for wave in 0..waves {
        let group = if options.fresh > 0 { wave * GROUPS / waves } else { 0 };
        let ids = wave * options.actions..(wave + 1) * options.actions;
        // Somebody always wants something.
        let wanted = submitted.len();
        for id in ids.clone() {
            let last = id + 1 == ids.end && submitted.len() == wanted;
            let next = action(seed, id, begins, (group, last), options, &mut submitted);
            actions.push(beside(actions.last(), next));
        }
        let mut roll = Roll::new(seed, Stream::Workload, u64::MAX - wave);
        begins += options.span + roll.pick(&[0, 0, options.span / 2, 130_000]);
    }
    Plan { actions }
}

/// Half of those who want a run id that another prompt has want it at the same time as that.
fn beside(before: Option<&Action>, action: Action) -> Action {
    match (before.map(|before| (before.what, before.at)), action.what) {
        (Some((What::Submit(first), at)), What::Submit(second))
            if second.flaw == 3 && second.prompt % 2 == 0 =>
        {
            let second = Submit { process: first.process, ..second };
            Action { at, aim: Aim::None, what: What::Submit(second), ..action }
        }
        _ => action,
    }
}

fn action(
    seed: u64,
    id: u64,
    begins: u64,
    (group, wants): (u64, bool),
    options: &Options,
    submitted: &mut Vec<Submit>,
) -> Action {
    let mut roll = Roll::new(seed, Stream::Workload, id);
    let at = begins + at(options, &mut roll);
    let mut what = what(id, wants, options, submitted, &mut roll);
    let again = matches!(what, What::Submit(submit) if submit.prompt != id);
    if !again {
        what.shift(group * (options.sessions + forked(options)));
        if let What::Submit(submit) = what {
            submitted.push(submit);
        }
    }
    let aim = aim(options, &what, &mut roll);
    Action { id, at, aim, what }
}

/// How many sessions there may be that others are made into.
fn forked(options: &Options) -> u64 {
    if options.forks > 0 { 2 } else { 0 }
}

/// Bunched: half of the actions share a few moments.
fn at(options: &Options, roll: &mut Roll) -> u64 {
    let at = roll.below(options.span);
    let bunch = options.span / 4;
    if roll.chance(500) && bunch > 0 { at / bunch * bunch + roll.below(3) } else { at }
}

/// Records behind which there is much that a cancel can meet.
const BEHIND: [&str; 11] = [
    "ToolCallStarted",
    "ToolCallStarted",
    "ToolCallStarted",
    "ToolCallStarted",
    "ToolCallStarted",
    "AttemptFailed",
    "SummaryStarted",
    "MessageFinished",
    "PromptFolded",
    "PermissionAsked",
    "SubAgentFinished",
];

fn aim(options: &Options, what: &What, roll: &mut Roll) -> Aim {
    if !roll.chance(options.aimed) {
        return Aim::None;
    }
    if matches!(what, What::Cancel { .. }) && roll.chance(options.lingers) {
        return Aim::Committed("ToolCallStarted");
    }
    if matches!(what, What::Cancel { .. }) && roll.chance(400) {
        return Aim::Committed(roll.pick(&BEHIND));
    }
    if matches!(what, What::Stop { .. }) && roll.chance(700) {
        return Aim::Committed("PermissionAsked");
    }
    // A model is asked for a title beside a session's first turn.
    if matches!(what, What::Rename { .. }) && roll.chance(700) {
        return Aim::Committed("TurnStarted");
    }
    match roll.below(3) {
        0 => Aim::Deadline(roll.between(0, 2) as i64 - 1),
        1 => Aim::Decided(roll.pick(&AIMS)),
        _ => Aim::Committed(roll.pick(&AIMS)),
    }
}

fn what(id: u64, wants: bool, options: &Options, submitted: &[Submit], roll: &mut Roll) -> What {
    let shares = [
        options.cancels,
        options.clears,
        options.kills,
        options.power,
        options.outages,
        options.repeats,
        options.suspends,
        options.signals,
        options.names,
        options.forks,
        options.deletes,
    ];
    let drawn = roll.below(1000.max(shares.iter().sum()));
    let mut end = 0;
    let kind = shares.iter().position(|share| {
        end += share;
        drawn < end && !wants
    });
    let process = roll.below(options.processes);
    let session = roll.below(options.sessions);
    match (kind, submitted.is_empty()) {
        (Some(0), false) if roll.chance(STOPS) => What::Stop { process, session },
        (Some(0), false) => What::Cancel { process, session, prompt: covered(submitted, roll) },
        (Some(1), false) => What::Clear { process, session },
        (Some(2), _) => What::Kill { process, down: roll.pick(&[0, 1, 100, 20_000]) },
        (Some(3), _) => What::Power { down: roll.pick(&[10, 20_000]), lost: roll.pick(&[0, 500, 1000]) },
        (Some(4), _) => What::Outage { how: roll.below(4), time: roll.pick(&[10, 3_000, 40_000]) },
        // A `hostler run` names its prompts anew each time.
        (Some(5), _) if recent_plain(submitted).next().is_some() => {
            What::Submit(repeat(submitted, process, options, roll))
        }
        (Some(7), false) => What::Signal { prompt: recent(submitted, roll).prompt, how: roll.below(4) },
        (Some(8), _) => What::Rename { process, session, name: roll.below(5) },
        (Some(9), _) => {
            // Half of them go to a session of their own, to which prompts may come later.
            let new = roll.between(options.sessions, options.sessions + 1);
            let old = roll.below(options.sessions);
            What::Fork { process, from: session, session: roll.pick(&[new, old]) }
        }
        (Some(10), false) => What::Delete { process, session },
        (Some(6), _) => What::Suspend { process, time: roll.pick(&[5, 1_000, 100_000]) },
        _ => What::Submit(submit(id, options, roll)),
    }
}

/// Mostly one of the last, which may be under way; seldom any.
fn recent(submitted: &[Submit], roll: &mut Roll) -> Submit {
    let last = submitted.len().saturating_sub(if roll.chance(800) { RECENT } else { usize::MAX });
    roll.pick(&submitted[last..])
}

/// How many of a thousand cancels are for a sub-agent by itself.
const STOPS: u64 = 200;

/// The last prompts that come from no `hostler run`.
fn recent_plain(submitted: &[Submit]) -> impl Iterator<Item = Submit> {
    submitted.iter().rev().filter(|before| !before.headless).take(2 * RECENT).copied()
}

/// How many prompts are recent.
const RECENT: usize = 8;

/// Half of the cancels are for a run.
fn covered(submitted: &[Submit], roll: &mut Roll) -> Option<u64> {
    let prompt = recent(submitted, roll).prompt;
    roll.chance(500).then_some(prompt)
}

fn repeat(submitted: &[Submit], process: u64, options: &Options, roll: &mut Roll) -> Submit {
    let plain: Vec<_> = recent_plain(submitted).collect();
    let before = roll.pick(&plain);
    let flaw = if roll.chance(options.senseless * 4) { 2 } else { before.flaw };
    Submit { process, flaw, ..before }
}

fn submit(prompt: u64, options: &Options, roll: &mut Roll) -> Submit {
    let headless = roll.chance(options.headless);
    Submit {
        process: roll.below(options.processes),
        session: roll.below(options.sessions + forked(options)),
        new: roll.chance(900),
        prompt,
        run: roll.chance(options.run_ids) || headless,
        headless,
        delivery: if roll.chance(options.deliveries) { roll.between(1, 2) } else { 0 },
        permission: match (roll.chance(options.yolo), prompt % 3) {
            (true, _) => 1,
            (false, 0) => 0,
            (false, _) => 2,
        },
        steps: roll.between(1, options.steps),
        wait: roll.pick(&[60_000, 60_000, 100]),
        flaw: if roll.chance(options.senseless) { roll.pick(&[1, 3]) } else { 0 },
        schema: roll.chance(options.schemas),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_follows_from_its_seed_and_always_submits() {
        for seed in 0..200 {
            let options = Options::of_seed(seed, 100);
            let plan = generate(seed, &options);
            assert_eq!(plan, generate(seed, &options));
            assert!(plan.actions.iter().any(|action| matches!(action.what, What::Submit(_))), "{seed}");
            assert!(plan.actions.len() as u64 >= 100 / EVENTS_AN_ACTION, "{seed}");
            let ids: std::collections::BTreeSet<_> = plan.actions.iter().map(|action| action.id).collect();
            assert_eq!(ids.len(), plan.actions.len(), "{seed}");
        }
    }
}
