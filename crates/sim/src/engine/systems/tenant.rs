//! An FTL of ours, with chains or with pages, as a [`System`].

use std::convert::Infallible;

use ftl_core::MountedFtl;
use ftl_iface::{
    BlockStore, Bytes, Lifetime, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};
use nand_model::part::Nanos;
use nand_model::{Done, Timed};

use super::hardware::Hardware;
use super::meter::{Account, Flash, Meter, Metered, Spent, Watcher};
use super::sample::ChainWrite;
use super::system::{Books, System};

/// An FTL of ours on a chip with a meter: what the simulator asks it, beyond what every FTL tells.
pub(super) trait Booked<'m>:
    MountedFtl<Device = Metered<'m, Self::Chip>, Probe = Watcher<'m>>
{
    /// The device below the meter.
    type Chip: Flash;

    /// Whether its throttle keeps writes from the log now.
    fn is_throttling(&self) -> bool {
        false
    }

    /// Figures about its decisions, given its number of writes.
    fn books(&self, asked: WriteCount) -> Books;
}

/// Writes to an FTL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteCount {
    pub(super) writes: u64,
    /// Of those, how many arrived while it was throttling.
    pub(super) throttled: u64,
}

/// The FTL with the state that makes it a [`System`].
pub(super) struct Tenant<'m, F> {
    pub(super) ftl: F,
    meter: &'m Meter,
    ram_bytes: u64,
    asked: WriteCount,
}

impl<'m, F: Booked<'m>> Tenant<'m, F> {
    /// That FTL, with the bytes of its plan.
    pub(super) fn new(ftl: F, plan_bytes: usize, meter: &'m Meter) -> Self {
        let ram_bytes = (plan_bytes + itself_bytes::<F>()) as u64;
        Self { ftl, meter, ram_bytes, asked: WriteCount::default() }
    }
}

/// Bytes of the FTL itself on this machine. Chip and counters belong to the simulator; firmware has a driver instead,
/// and no counters.
pub(super) const fn itself_bytes<'m, F: Booked<'m>>() -> usize {
    size_of::<F>() - size_of::<Metered<'_, F::Chip>>() - size_of::<Watcher<'_>>()
}

/// The error without the device's part, because callers of a system do not know its device.
const fn read_error<E>(error: &StoreReadError<E>) -> StoreReadError<Infallible> {
    match *error {
        StoreReadError::OutOfRange { first, count, capacity } => {
            StoreReadError::OutOfRange { first, count, capacity }
        }
        StoreReadError::WrongLength { bytes, sector_bytes } => {
            StoreReadError::WrongLength { bytes, sector_bytes }
        }
        StoreReadError::Lost(sector) => StoreReadError::Lost(sector),
        StoreReadError::Corrupt => StoreReadError::Corrupt,
        _ => StoreReadError::Device(None),
    }
}

/// The same for writes and trims.
pub(super) const fn write_error<E>(error: &StoreWriteError<E>) -> StoreWriteError<Infallible> {
    match *error {
        StoreWriteError::OutOfRange { first, count, capacity } => {
            StoreWriteError::OutOfRange { first, count, capacity }
        }
        StoreWriteError::WrongLength { bytes, sector_bytes } => {
            StoreWriteError::WrongLength { bytes, sector_bytes }
        }
        StoreWriteError::ReadOnly => StoreWriteError::ReadOnly,
        StoreWriteError::Corrupt => StoreWriteError::Corrupt,
        _ => StoreWriteError::Device(None),
    }
}

impl<'m, F: Booked<'m>> BlockStore for Tenant<'m, F> {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.ftl.sector_bytes()
    }

    fn capacity(&self) -> SectorCount {
        self.ftl.capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        self.ftl.read(first, data).map_err(|error| read_error(&error))
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        self.write_hinted(first, data, Lifetime::Unknown)
    }

    fn write_hinted(
        &mut self,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.asked.writes += 1;
        self.asked.throttled += u64::from(self.ftl.is_throttling());
        self.ftl.write_hinted(first, data, lifetime).map_err(|error| write_error(&error))
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.ftl.trim(first, count).map_err(|error| write_error(&error))
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.ftl.flush().map_err(|error| write_error(&error))
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        self.ftl.maintain(budget).map_err(|error| write_error(&error))
    }
}

impl<'m, F: Booked<'m>> System for Tenant<'m, F> {
    fn now(&self) -> Nanos {
        self.ftl.device().chip.now()
    }

    fn hardware(&self) -> Hardware {
        Hardware::of_chip(self.ftl.device().chip.chip(), |region| {
            self.ftl.probe().operations(region)
        })
    }

    fn wait_until(&mut self, moment: Nanos) {
        self.ftl.device_mut().chip.chip_mut().wait_until(moment);
    }

    fn begin(&mut self, at: Nanos) -> u64 {
        self.ftl.device_mut().chip.chip_mut().begin_request(at)
    }

    fn end(&mut self) {
        self.ftl.device_mut().chip.chip_mut().end_request();
    }

    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        self.ftl.device_mut().chip.chip_mut().next_done(until)
    }

    fn account(&mut self, account: Account) {
        self.meter.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        let chip = self.ftl.device().chip.chip();
        self.meter.spent(account, |label| chip.charged(label))
    }

    fn sample_writes(&mut self) {
        self.ftl.device_mut().sample_writes();
    }

    fn sampled_writes(&self) -> &[ChainWrite] {
        self.ftl.device().writes()
    }

    fn ram_bytes(&self) -> u64 {
        self.ram_bytes
    }

    fn books(&self) -> Books {
        self.ftl.books(self.asked)
    }
}
