//! Requests on the model, and the longest of each kind.

use std::fmt::{Debug, Display};

use ftl_iface::{BlockStore, Bytes, PageCount, Sector, SectorCount};
use nand_model::part::Nanos;
use sim::Failure;

/// A device of more sectors is not filled before: that takes too long.
const FILLED_MOST: u32 = 1 << 19;

/// Sectors written one by one: enough to fill a log, and for garbage collection on a small device.
const WRITTEN: u32 = 100_000;

/// Requests of each other kind.
const OTHERS: u32 = 1_000;

/// As many sectors as 64 KiB have.
pub(super) fn many(sector: Bytes) -> SectorCount {
    SectorCount::new((65_536 / sector.get()).max(1))
}

/// The longest requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) read: Nanos,
    pub(super) write: Nanos,
    pub(super) write_many: Nanos,
    pub(super) trim: Nanos,
    pub(super) maintain: Nanos,
    /// Whether every sector was written before.
    pub(super) filled: bool,
    /// Writes of a sector.
    pub(super) sectors: u32,
    /// Requests of each other kind.
    pub(super) others: u32,
}

/// What failed, and why.
pub(super) fn failed(what: &'static str) -> impl Fn(&dyn Display) -> Failure {
    move |error| Failure::Violation(format!("the {what} failed: {error}"))
}

/// Sends requests to a store, all over it.
pub(super) fn work<S: BlockStore>(store: &mut S, now: impl Fn(&S) -> Nanos) -> Result<Seen, Failure>
where
    S::Error: Debug,
{
    let filled = store.capacity().get() <= FILLED_MOST;
    let mut seen = Seen { filled, sectors: WRITTEN, others: OTHERS, ..Seen::default() };
    let many = many(store.sector_bytes());
    let data = vec![0; store.sector_bytes().as_usize() * many.as_usize()];
    let mut sector = vec![0; store.sector_bytes().as_usize()];
    let mut places = Places { capacity: store.capacity(), dice: fastrand::Rng::with_seed(1) };
    if filled {
        fill(store, &data)?;
    }
    let took = |store: &mut S, request: &mut dyn FnMut(&mut S) -> Result<(), Failure>| {
        let start = now(store);
        request(store).map(|()| now(store) - start)
    };
    let one = SectorCount::new(1);
    for _ in 0..seen.sectors {
        let (at, data) = (places.take(one), &data[..sector.len()]);
        let mut write =
            |store: &mut S| store.write(at, data).map_err(|error| failed("write")(&error));
        seen.write = seen.write.max(took(store, &mut write)?);
    }
    for _ in 0..seen.others {
        let (at, from, gone) = (places.take(many), places.take(one), places.take(one));
        let mut write =
            |store: &mut S| store.write(at, &data).map_err(|error| failed("write")(&error));
        seen.write_many = seen.write_many.max(took(store, &mut write)?);
        let mut read =
            |store: &mut S| store.read(from, &mut sector).map_err(|error| failed("read")(&error));
        seen.read = seen.read.max(took(store, &mut read)?);
        let mut trim =
            |store: &mut S| store.trim(gone, one).map_err(|error| failed("trim")(&error));
        seen.trim = seen.trim.max(took(store, &mut trim)?);
        let mut idle = |store: &mut S| {
            store.maintain(PageCount::new(1)).map(drop).map_err(|error| failed("idle work")(&error))
        };
        seen.maintain = seen.maintain.max(took(store, &mut idle)?);
    }
    Ok(seen)
}

/// Writes every sector, in order.
fn fill<S: BlockStore>(store: &mut S, data: &[u8]) -> Result<(), Failure>
where
    S::Error: Debug,
{
    let (bytes, mut at) = (store.sector_bytes().as_usize(), Sector::new(0));
    while at.get() < store.capacity().get() {
        let left = (store.capacity().get() - at.get()) as usize;
        let data = &data[..data.len().min(left.saturating_mul(bytes))];
        store.write(at, data).map_err(|error| failed("write")(&error))?;
        at = at + SectorCount::new((data.len() / bytes) as u32);
    }
    Ok(())
}

/// Places all over the device, at random and the same in each run.
struct Places {
    capacity: SectorCount,
    dice: fastrand::Rng,
}

impl Places {
    fn take(&mut self, count: SectorCount) -> Sector {
        Sector::new(self.dice.u32(..=self.capacity.get() - count.get()))
    }
}
