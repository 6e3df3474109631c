//! What a device holds before the replay.

use nand_model::part::Nanos;

use crate::input::device::Fill;
use crate::input::trace::{Op, Request};

/// Bytes of a random write: a page of today's hosts.
const PAGE: u64 = 4096;

/// How often the whole capacity is written at random.
const TIMES: u64 = 2;

/// The seed of the random writes, the same for all systems.
const SEED: u64 = 0x0F11;

/// The writes that follow those in order: none, or twice the capacity at random.
pub(super) fn random_writes(
    fill: Fill,
    capacity: u64,
    sector: u64,
) -> impl Iterator<Item = Request> {
    let length = PAGE.max(sector).min(capacity);
    let pages = capacity / length;
    let count = if fill == Fill::Random { TIMES * pages } else { 0 };
    let mut dice = fastrand::Rng::with_seed(SEED);
    (0..count).map(move |_| {
        let offset = dice.u64(..pages) * length;
        Request { time: Nanos::ZERO, op: Op::Write, offset, length }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_fill_writes_the_capacity_twice_in_whole_sectors_of_the_device() {
        let all: Vec<Request> = random_writes(Fill::Random, 1 << 20, 2048).collect();
        assert_eq!(all.iter().map(|request| request.length).sum::<u64>(), 2 << 20);
        assert!(all.iter().all(|request| request.end() <= 1 << 20 && request.offset % 4096 == 0));
        assert!(all.windows(2).any(|pair| pair[1].offset < pair[0].offset));
        assert_eq!(random_writes(Fill::Random, 1 << 20, 16 << 10).count(), 128);
        assert_eq!(random_writes(Fill::InOrder, 1 << 20, 2048).count(), 0);
    }
}
