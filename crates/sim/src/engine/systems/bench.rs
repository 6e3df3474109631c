//! A rival on its machine, as a system.

use std::convert::Infallible;

use ftl_iface::{
    BlockStore, Bytes, Lifetime, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};
use ftl_rivals::Rival;
use nand_model::Done;
use nand_model::part::Nanos;

use super::hardware::Hardware;
use super::meter::{Account, Spent};
use super::sample::ChainWrite;
use super::system::{Books, Session, System};
use crate::base::Failure;

/// The hardware below a rival, shared by the rival and the reader of its meters.
pub(super) trait Rig {
    /// The time at which the caller may continue.
    fn now(&self) -> Nanos;

    /// Lets time pass.
    fn wait_until(&self, moment: Nanos);

    /// Begins a request of the host.
    fn begin(&self, at: Nanos) -> u64;

    /// Ends the issue of the request: all its operations are issued.
    fn end(&self);

    /// The next completed request.
    fn next_done(&self, until: Option<Nanos>) -> Option<Done>;

    /// From now on, time counts to that account.
    fn account(&self, account: Account);

    /// The time spent for an account.
    fn spent(&self, account: Account) -> Spent;

    /// The state of the hardware.
    fn hardware(&self) -> Hardware;
}

/// Prepares, settles and replays a rival, and checks its invariants at the end.
pub(super) fn run<S: Rival<Error = Infallible>>(
    machine: &impl Rig,
    store: S,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let mut bench = Bench { machine, store };
    session.prepare(&mut bench, SectorCount::ZERO)?;
    let settled = bench.store.settle();
    settled.map_err(|error| Failure::Violation(format!("the preparation failed: {error}")))?;
    session.replay(&mut bench)?;
    bench.store.check().map_err(Failure::Violation)
}

struct Bench<'a, M, S> {
    machine: &'a M,
    store: S,
}

impl<M: Rig, S: Rival<Error = Infallible>> BlockStore for Bench<'_, M, S> {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.store.sector_bytes()
    }

    fn capacity(&self) -> SectorCount {
        self.store.capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        self.store.read(first, data)
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        self.store.write(first, data)
    }

    fn write_hinted(
        &mut self,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.store.write_hinted(first, data, lifetime)
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.store.trim(first, count)
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.store.flush()
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        self.store.maintain(budget)
    }
}

impl<M: Rig, S: Rival<Error = Infallible>> System for Bench<'_, M, S> {
    fn now(&self) -> Nanos {
        self.machine.now()
    }

    fn hardware(&self) -> Hardware {
        self.machine.hardware()
    }

    fn wait_until(&mut self, moment: Nanos) {
        self.machine.wait_until(moment);
    }

    fn prefetch(&self, firsts: &[Sector]) {
        self.store.prefetch(firsts);
    }

    fn at_a_time(&self) -> PageCount {
        self.store.at_a_time()
    }

    fn begin(&mut self, at: Nanos) -> u64 {
        self.machine.begin(at)
    }

    fn end(&mut self) {
        self.machine.end();
    }

    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        self.machine.next_done(until)
    }

    fn account(&mut self, account: Account) {
        self.machine.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        self.machine.spent(account)
    }

    /// It has no chains.
    fn sample_writes(&mut self) {}

    fn sampled_writes(&self) -> &[ChainWrite] {
        &[]
    }

    fn ram_bytes(&self) -> u64 {
        self.store.ram_bytes()
    }

    fn books(&self) -> Books {
        Books { figures: self.store.figures(), ..Books::default() }
    }
}
