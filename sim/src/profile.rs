//! What a campaign looks for: of what a seed draws, some things are left out and others are made likely.

use crate::options::Options;

/// A kind of campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// What each seed draws: most seeds leave most things out.
    #[default]
    Swarm,
    /// No fault at all: people submit, cancel, clear and answer, and everything works.
    Calm,
    /// Processes are killed, power goes and the disk is bad, again and again.
    Crash,
    /// Much is asked for, joined, queued, cancelled and permitted; nobody is killed and the disk is well.
    Lifecycle,
}

/// The names of the profiles.
pub const PROFILES: [(&str, Profile); 4] = [
    ("swarm", Profile::Swarm),
    ("calm", Profile::Calm),
    ("crash", Profile::Crash),
    ("lifecycle", Profile::Lifecycle),
];

impl Profile {
    /// The profile of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        PROFILES.iter().find(|(_, profile)| *profile == self).map_or("swarm", |(name, _)| name)
    }

    /// What becomes of the options of a seed.
    pub fn apply(self, options: Options) -> Options {
        match self {
            Profile::Swarm => options,
            Profile::Calm => calm(options),
            Profile::Crash => Options {
                kills: options.kills.max(120),
                power: options.power.max(40),
                outages: options.outages.max(80),
                suspends: options.suspends.max(40),
                split: options.split.max(300),
                clock_back: options.clock_back.max(300),
                aimed: options.aimed.max(700),
                come_back: options.come_back.max(500),
                ..options
            },
            Profile::Lifecycle => Options {
                kills: 0,
                power: 0,
                outages: 0,
                suspends: 0,
                disk_slow: 0,
                disk_busy: 0,
                disk_fail: 0,
                disk_unsure: 0,
                disk_unreadable: 0,
                cancels: options.cancels.max(200),
                clears: options.clears.max(60),
                repeats: options.repeats.max(80),
                deliveries: options.deliveries.max(150),
                yolo: options.yolo.min(300),
                calls: options.calls.max(600),
                aimed: options.aimed.max(300),
                ..options
            },
        }
    }
}

fn calm(options: Options) -> Options {
    let window = options.window;
    let calm = Options { broken: 0, ..options }.healed();
    Options { kills: 0, power: 0, outages: 0, suspends: 0, signals: 0, senseless: 0, window, ..calm }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_known_by_its_name_and_changes_what_it_says() {
        for (name, profile) in PROFILES {
            assert_eq!(Profile::of_name(name), Some(profile));
            assert_eq!(profile.name(), name);
        }
        assert_eq!(Profile::of_name("storm"), None);
        for seed in 0..50 {
            let options = Options::of_seed(seed, 100);
            assert_eq!(Profile::Swarm.apply(options.clone()), options);
            let calm = Profile::Calm.apply(options.clone());
            assert_eq!((calm.kills, calm.disk_fail, calm.provider_cut, calm.broken), (0, 0, 0, 0));
            assert!(Profile::Crash.apply(options.clone()).kills > 0);
            let lifecycle = Profile::Lifecycle.apply(options);
            assert!(lifecycle.kills == 0 && lifecycle.cancels > 0);
        }
    }
}
