//! A system that loses a write, and one that breaks the chip's rules, to test that they are detected.

use std::convert::Infallible;

use ftl_iface::{
    BlockStore, Bytes, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};
use nand_model::Done;
use nand_model::part::Nanos;

use super::hardware::Hardware;
use super::meter::{Account, Spent};
use super::ours;
use super::registry::{Entry, PowerLoss};
use super::sample::ChainWrite;
use super::system::{Books, Session, System};
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{self, Parameter, Values};

/// Its entry for the registry.
pub(super) const ENTRY: Entry = Entry {
    name: "broken",
    title: "loses a write, for tests",
    parameters: &PARAMETERS,
    uses_slc: false,
    power: PowerLoss::Survived,
    run,
};

/// Whether it breaks rules instead of losing a write.
const PARAMETERS: [Parameter; 1] =
    [Parameter { name: "breach", default: "off", title: "break a rule instead" }];

/// The write that is lost, counted from 1 on: not one of the preparation, whose writes are longer.
const LOST: u32 = 3;

fn run(setup: &Setup, values: &Values, session: &mut dyn Session) -> Result<(), Failure> {
    let breaks_rules = values.is_on("breach").map_err(Failure::Arguments)?;
    let mut broken = BrokenSession { session, breaks_rules };
    let plain = spec::parse("conventional", &ours::CONVENTIONAL).map_err(Failure::Arguments)?;
    ours::conventional(setup, &plain, &mut broken)
}

struct BrokenSession<'a> {
    session: &'a mut dyn Session,
    breaks_rules: bool,
}

impl Session for BrokenSession<'_> {
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure> {
        self.session.prepare(system, filled)
    }

    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure> {
        let breaks_rules = self.breaks_rules;
        self.session.replay(&mut BrokenSystem { system, writes: 0, breaks_rules })
    }
}

struct BrokenSystem<'a> {
    system: &'a mut dyn System,
    writes: u32,
    breaks_rules: bool,
}

impl BlockStore for BrokenSystem<'_> {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.system.sector_bytes()
    }

    fn capacity(&self) -> SectorCount {
        self.system.capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        self.system.read(first, data)
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        self.writes += 1;
        assert!(!(self.breaks_rules && self.writes == LOST), "breach: as the test asked for");
        if self.writes == LOST { Ok(()) } else { self.system.write(first, data) }
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.system.trim(first, count)
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.system.flush()
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        self.system.maintain(budget)
    }
}

impl System for BrokenSystem<'_> {
    fn now(&self) -> Nanos {
        self.system.now()
    }

    fn hardware(&self) -> Hardware {
        self.system.hardware()
    }

    fn wait_until(&mut self, moment: Nanos) {
        self.system.wait_until(moment);
    }

    fn begin(&mut self, at: Nanos) -> u64 {
        self.system.begin(at)
    }

    fn end(&mut self) {
        self.system.end();
    }

    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        self.system.next_done(until)
    }

    fn account(&mut self, account: Account) {
        self.system.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        self.system.spent(account)
    }

    fn sample_writes(&mut self) {
        self.system.sample_writes();
    }

    fn sampled_writes(&self) -> &[ChainWrite] {
        self.system.sampled_writes()
    }

    fn ram_bytes(&self) -> u64 {
        self.system.ram_bytes()
    }

    fn books(&self) -> Books {
        self.system.books()
    }
}
