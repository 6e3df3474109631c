//! What a device holds before the replay.

use ftl_iface::SectorCount;
use nand_model::part::Nanos;

use crate::base::{Failure, Stop};
use crate::engine::host::{Host, PREPARED_AT_ONCE};
use crate::engine::systems::System;
use crate::input::device::Fill;
use crate::input::trace::{Op, Request};

/// Brings a device whose first sectors are filled to the state that the fill says: the unfilled part is written in
/// order, which maps every logical block, and pages at random then.
pub(crate) fn prepare(
    system: &mut dyn System,
    host: &mut Host,
    fill: Fill,
    filled: SectorCount,
    stop: &Stop,
) -> Result<(), Failure> {
    let (capacity, sector) = (host.capacity(), u64::from(system.sector_bytes().get()));
    let filled = if fill == Fill::Nothing { capacity } else { u64::from(filled.get()) * sector };
    let in_order = (filled..capacity).step_by(PREPARED_AT_ONCE as usize).map(|offset| {
        let length = u64::from(PREPARED_AT_ONCE).min(capacity - offset);
        Request::new(Nanos::ZERO, Op::Write, offset, length)
    });
    for request in in_order.chain(random_writes(fill, capacity, sector)) {
        if stop.is_requested() {
            let before = "the device was being prepared, and no request was served";
            return Err(Failure::Interrupted(before.into()));
        }
        host.serve(system, &request, &mut [].as_slice())?;
    }
    Ok(())
}

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
        Request::new(Nanos::ZERO, Op::Write, offset, length)
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
