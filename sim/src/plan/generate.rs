//! Makes a plan from a seed.

use super::{AIMS, Action, Aim, Plan, Submit, What};
use crate::dice::{Roll, Stream};
use crate::options::Options;

/// The plan of a seed with those options.
pub fn generate(seed: u64, options: &Options) -> Plan {
    let mut submitted = Vec::new();
    let mut actions: Vec<_> =
        (0..options.actions).map(|id| action(seed, id, options, &mut submitted)).collect();
    // Somebody always wants something.
    if submitted.is_empty() {
        let mut roll = Roll::new(seed, Stream::Workload, u64::MAX);
        let what = What::Submit(submit(options.actions, options, &mut roll));
        actions.push(Action { id: options.actions, at: 0, aim: Aim::None, what });
    }
    Plan { actions }
}

fn action(seed: u64, id: u64, options: &Options, submitted: &mut Vec<Submit>) -> Action {
    let mut roll = Roll::new(seed, Stream::Workload, id);
    let at = at(options, &mut roll);
    let what = what(id, options, submitted, &mut roll);
    let aim = aim(options, &what, &mut roll);
    Action { id, at, aim, what }
}

/// Bunched: half of the actions share a few moments.
fn at(options: &Options, roll: &mut Roll) -> u64 {
    let at = roll.below(options.span);
    let bunch = options.span / 4;
    if roll.chance(500) && bunch > 0 { at / bunch * bunch + roll.below(3) } else { at }
}

/// Records behind which there is much that a cancel can meet.
const BEHIND: [&str; 5] =
    ["ToolCallStarted", "ToolCallStarted", "AttemptFailed", "SummaryStarted", "MessageFinished"];

fn aim(options: &Options, what: &What, roll: &mut Roll) -> Aim {
    if !roll.chance(options.aimed) {
        return Aim::None;
    }
    if matches!(what, What::Cancel { .. }) && roll.chance(400) {
        return Aim::Committed(roll.pick(&BEHIND));
    }
    match roll.below(3) {
        0 => Aim::Deadline(roll.between(0, 2) as i64 - 1),
        1 => Aim::Decided(roll.pick(&AIMS)),
        _ => Aim::Committed(roll.pick(&AIMS)),
    }
}

fn what(id: u64, options: &Options, submitted: &mut Vec<Submit>, roll: &mut Roll) -> What {
    let shares = [
        options.cancels,
        options.clears,
        options.kills,
        options.power,
        options.outages,
        options.repeats,
        options.suspends,
        options.signals,
    ];
    let drawn = roll.below(1000.max(shares.iter().sum()));
    let mut end = 0;
    let kind = shares.iter().position(|share| {
        end += share;
        drawn < end
    });
    let process = roll.below(options.processes);
    let session = roll.below(options.sessions);
    match (kind, submitted.is_empty()) {
        (Some(0), false) => What::Cancel { process, session, prompt: covered(submitted, roll) },
        (Some(1), false) => What::Clear { process, session },
        (Some(2), _) => What::Kill { process, down: roll.pick(&[0, 1, 100, 20_000]) },
        (Some(3), _) => What::Power { down: roll.pick(&[10, 20_000]), lost: roll.pick(&[0, 500, 1000]) },
        (Some(4), _) => What::Outage { how: roll.below(4), time: roll.pick(&[10, 3_000, 40_000]) },
        // A `hostler run` names its prompts anew each time.
        (Some(5), _) if submitted.iter().any(|before| !before.headless) => {
            What::Submit(repeat(submitted, process, options, roll))
        }
        (Some(7), false) => What::Signal { prompt: roll.pick(submitted).prompt, how: roll.below(4) },
        (Some(6), _) => What::Suspend { process, time: roll.pick(&[5, 1_000, 100_000]) },
        _ => {
            let submit = submit(id, options, roll);
            submitted.push(submit);
            What::Submit(submit)
        }
    }
}

/// Half of the cancels are for a run.
fn covered(submitted: &[Submit], roll: &mut Roll) -> Option<u64> {
    let prompt = roll.pick(submitted).prompt;
    roll.chance(500).then_some(prompt)
}

fn repeat(submitted: &[Submit], process: u64, options: &Options, roll: &mut Roll) -> Submit {
    let plain: Vec<_> = submitted.iter().filter(|before| !before.headless).copied().collect();
    let before = roll.pick(&plain);
    let flaw = if roll.chance(options.senseless * 4) { 2 } else { before.flaw };
    Submit { process, flaw, ..before }
}

fn submit(prompt: u64, options: &Options, roll: &mut Roll) -> Submit {
    let headless = roll.chance(options.headless);
    Submit {
        process: roll.below(options.processes),
        session: roll.below(options.sessions),
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
        }
    }
}
