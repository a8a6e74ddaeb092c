//! Randomness as a function: a draw is a hash of seed, stream, entity and count, and of nothing that happened before.
//!
//! So two parts of a simulation never disturb each other's luck, and an action that is deleted from a plan leaves the
//! draws of all others as they were. Shrinking depends on that.

/// What a draw is for. Draws of different streams have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Which faults and sizes a seed has at all.
    Options = 1,
    /// What people do.
    Workload = 2,
    /// The order of what is due together.
    Order = 3,
    /// Batches and delays inside a process.
    Driver = 4,
    /// Commits.
    Disk = 5,
    /// Answers of models.
    Provider = 6,
    /// Tools.
    Tool = 7,
    /// Preparations of runs.
    Prepare = 8,
    /// What people do about refusals and silence.
    Person = 9,
}

/// Spreads the bits of a number (the finaliser of splitmix64).
pub const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number for a text, the same in every process.
pub fn name(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The draws of one entity in one stream.
#[derive(Clone, Debug)]
pub struct Roll {
    key: u64,
    count: u64,
}

impl Roll {
    /// The draws of that entity, from the first one on.
    pub fn new(seed: u64, stream: Stream, entity: u64) -> Self {
        Self { key: mix(mix(seed ^ mix(stream as u64)) ^ entity), count: 0 }
    }

    /// The next draw.
    pub fn draw(&mut self) -> u64 {
        self.count += 1;
        mix(self.key ^ mix(self.count))
    }

    /// The next draw as a number below that one; 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        let draw = self.draw();
        if limit == 0 { 0 } else { draw % limit }
    }

    /// The next draw as a number between those two, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether something happens that happens so often in a thousand times.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of them. There must be at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64) as usize;
        from[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, stream: Stream, entity: u64) -> Vec<u64> {
        let mut roll = Roll::new(seed, stream, entity);
        (0..5).map(|_| roll.draw()).collect()
    }

    #[test]
    fn draws_depend_on_seed_stream_entity_and_count_alone() {
        let first = draws(7, Stream::Tool, 3);
        assert_eq!(first, draws(7, Stream::Tool, 3));
        for other in [draws(8, Stream::Tool, 3), draws(7, Stream::Disk, 3), draws(7, Stream::Tool, 4)] {
            assert!(first.iter().all(|draw| !other.contains(draw)));
        }
    }

    #[test]
    fn limits_are_kept_and_reached() {
        let mut roll = Roll::new(1, Stream::Order, 1);
        let drawn: Vec<_> = (0..200).map(|_| roll.between(3, 5)).collect();
        assert!(drawn.iter().all(|draw| (3..=5).contains(draw)));
        assert!([3, 4, 5].iter().all(|wanted| drawn.contains(wanted)));
        assert!((0..100).all(|_| !roll.chance(0)) && (0..100).all(|_| roll.chance(1000)));
    }
}
