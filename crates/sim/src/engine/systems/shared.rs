//! A device that an FTL and the reader of its meters own together: for FTLs that cannot borrow it, such as one written
//! in another language.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ftl_iface::{
    Block, Bytes, Cause, EraseError, Geometry, NandDevice, Operations, Page, ProgramError,
    ReadError, Region, SectorCount, Verb,
};
use ftl_rivals::Rival;
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Content, Done, Timed};

use super::bench::{self, Rig};
use super::hardware::Hardware;
use super::meter::{Account, Meter, Metered, Spent};
use super::own::Memory;
use super::rivals;
use super::system::Session;
use crate::base::Failure;
use crate::input::device::{Setup, Stored};

/// The device with its meter, and what was done to it.
struct Held {
    chip: Chip,
    meter: Meter,
    counts: [Operations; 2],
}

impl Held {
    /// The chip below the meter for an operation of that cause, which is counted.
    fn metered(&mut self, region: Region, verb: Verb, cause: Cause) -> Metered<'_, &mut Chip> {
        self.counts[region as usize].count(verb, cause);
        self.meter.set_cause(cause);
        Metered::without_chains(&mut self.chip, &self.meter)
    }
}

/// The device. Its clones are one and the same.
#[derive(Clone)]
pub struct Shared {
    held: Arc<Mutex<Held>>,
    geometry: Geometry,
}

impl Shared {
    fn new(part: &Part, setup: &Setup) -> Result<Self, Failure> {
        let content = match setup.kept {
            Stored::Stamps => {
                Content::Stamps { sector: part.sector_bytes, spare_kept: Bytes::new(0) }
            }
            Stored::Bytes => Content::Bytes,
        };
        let chip = Chip::new(part, content)?.with_time(setup.time);
        let geometry = *chip.geometry();
        let held = Held { chip, meter: Meter::new(), counts: [Operations::NONE; 2] };
        Ok(Self { held: Arc::new(Mutex::new(held)), geometry })
    }

    /// A rule of the chip that was broken is a panic, after which the device is looked at once more, for its result.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its regions.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Reads a part of a page, from that byte on.
    pub fn read(
        &self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<(), ReadError<Infallible>> {
        let mut held = self.held();
        held.metered(page.region(), Verb::Read, cause).read(page, at, data, &mut []).map(drop)
    }

    /// Programs a page, and nothing into its spare bytes.
    pub fn program(
        &self,
        page: Page,
        data: &[u8],
        cause: Cause,
    ) -> Result<(), ProgramError<Infallible>> {
        let shape = self.geometry.region(page.region());
        let spare = vec![0xFF; shape.map_or(0, |shape| shape.spare_bytes.as_usize())];
        self.held().metered(page.region(), Verb::Program, cause).program(page, data, &spare)
    }

    /// Erases a block.
    pub fn erase(&self, block: Block, cause: Cause) -> Result<(), EraseError<Infallible>> {
        self.held().metered(block.region(), Verb::Erase, cause).erase(block)
    }

    /// Whether the block came bad from the factory, or has failed.
    pub fn is_bad(&self, block: Block) -> bool {
        let Ok(is_bad) = self.held().chip.is_bad(block);
        is_bad
    }

    /// How often the block was erased.
    pub fn erase_count(&self, block: Block) -> u32 {
        self.held().chip.erase_count(block)
    }
}

impl Rig for Shared {
    fn now(&self) -> Nanos {
        self.held().chip.now()
    }

    fn wait_until(&self, moment: Nanos) {
        self.held().chip.wait_until(moment);
    }

    fn begin(&self, at: Nanos) -> u64 {
        self.held().chip.begin_request(at)
    }

    fn end(&self) {
        self.held().chip.end_request();
    }

    fn next_done(&self, until: Option<Nanos>) -> Option<Done> {
        self.held().chip.next_done(until)
    }

    fn account(&self, account: Account) {
        self.held().meter.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        let held = self.held();
        held.meter.spent(account, |label| held.chip.charged(label))
    }

    fn hardware(&self) -> Hardware {
        let held = self.held();
        Hardware::of_chip(&held.chip, |region| held.counts[region as usize])
    }
}

/// The store that a device is to become.
#[derive(Clone, Copy, Debug)]
pub struct StoreShape {
    /// Its sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
}

/// Builds a system on a device of its own with these memories, and runs the session on it.
pub fn on_shared<S: Rival<Error = Infallible>>(
    memory: Memory,
    setup: &Setup,
    session: &mut dyn Session,
    build: impl FnOnce(Shared, StoreShape) -> Result<S, Failure>,
) -> Result<(), Failure> {
    let part = memory.of(setup)?;
    let shared = Shared::new(&part, setup)?;
    let wish = StoreShape { sector: part.sector_bytes, capacity: rivals::capacity(&part) };
    let store = build(shared.clone(), wish)?;
    bench::run(&shared, store, session)
}
