//! Whatever happens, in whatever order: the rig's laws hold after every batch, and in the end every accepted prompt has
//! exactly one end. And all of it does happen, in every situation, often enough.
//!
//! A failure prints the shortest story that still fails. Set `PROPTEST_RNG_SEED` and `PROPTEST_CASES` for others.

#[cfg(test)]
#[path = "../src/rig/mod.rs"]
mod rig;
#[cfg(test)]
mod stories;

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::test_runner::{Config, RngSeed, TestRunner};

    use crate::stories::{Census, Stage, Story};

    /// How many stories each test tells.
    const CASES: u32 = 250;

    fn check(serving: bool, seed: u64) {
        tell(seed, CASES, |story| Stage::new(serving).play(story));
    }

    fn tell(seed: u64, cases: u32, play: impl Fn(&Story) -> Census) {
        let mut config = Config { failure_persistence: None, ..Config::default() };
        if std::env::var_os("PROPTEST_CASES").is_none() {
            config.cases = cases;
        }
        if config.rng_seed == RngSeed::Random {
            config.rng_seed = RngSeed::Fixed(seed);
        }
        let enough = config.cases >= CASES;
        let census = RefCell::new(Census::default());
        let told = TestRunner::new(config).run(&Story::any(), |story| {
            census.borrow_mut().add(&play(&story));
            Ok(())
        });
        if let Err(failed) = told {
            panic!("{failed}");
        }
        if enough {
            census.into_inner().is_worth_its_while();
        }
    }

    #[test]
    fn the_laws_hold_in_every_story_of_one_process() {
        check(false, 1);
    }

    #[test]
    fn the_laws_hold_in_every_story_of_a_server() {
        check(true, 2);
    }

    #[test]
    fn every_story_is_decided_again_when_its_texts_are_hidden() {
        tell(3, CASES / 5, |story| Stage::new(false).play_for_others(story));
    }
}
