//! Between FTL and chip: the cause of all time spent.
//!
//! The FTL reports the cause of each operation to its probe just before the operation. The probe here stores the cause
//! in a [`Meter`], and the device adds the time by which its clock advanced to that cause. If operations overlap, the
//! device labels each operation with what waits for it and with its account, and the chip charges the time. Either way
//! the times add up to the response times exactly, whatever the bus, waiting or overlap.

use std::cell::Cell;

use ftl_core::hybrid::shape::Shape;
use ftl_core::layout::{self, Slot};
use ftl_core::paged::PagedShape;
use ftl_core::probe::{Cause, Counters, Event, Probe, Verb};
use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Mode, ModeError, NandDevice, Operations, Page,
    ProgramError, ReadError, Region, forward_nand,
};
use nand_model::part::Nanos;
use nand_model::{Chip, Label, Order, Time, Timed};

use super::sample::{ChainWrite, Sample};

/// For whom a system works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Account {
    /// No request: it is being prepared, or works while the host is idle.
    #[default]
    Idle,
    /// A read of the host.
    Read,
    /// A write.
    Write,
    /// A trim.
    Trim,
    /// A flush.
    Flush,
}

const ACCOUNTS: usize = 5;

/// Time by cause, for one account. It includes only time of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The pages that the host read or wrote.
    pub host: Nanos,
    /// Reclaiming the log's tail, or blocks of a page map.
    pub reclaim: Nanos,
    /// Folding chains, and erasing the blocks that this frees.
    pub fold: Nanos,
    /// Moving data from the log to the chains.
    pub write_back: Nanos,
    /// Leveling wear.
    pub wear_leveling: Nanos,
    /// Address translation by tags: finding where in a chain sectors are.
    pub scan: Nanos,
    /// Reading and programming pages of a map.
    pub map: Nanos,
    /// Headers, summaries, trims; and telling stale entries of the log from valid ones after a mount.
    pub meta: Nanos,
}

impl Spent {
    /// The time spent since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host: self.host - before.host,
            reclaim: self.reclaim - before.reclaim,
            fold: self.fold - before.fold,
            write_back: self.write_back - before.write_back,
            wear_leveling: self.wear_leveling - before.wear_leveling,
            scan: self.scan - before.scan,
            map: self.map - before.map,
            meta: self.meta - before.meta,
        }
    }
}

/// Time by account, by cause, in the chains and in the log.
type Accounts = [[[Cell<u64>; 2]; Cause::ALL.len()]; ACCOUNTS];

/// The state that probe and device share.
#[derive(Debug)]
pub struct Meter {
    account: Cell<Account>,
    cause: Cell<Cause>,
    nanos: Accounts,
    /// Erases that the FTL asked for and that were left out, by region.
    left_out: [Cell<Operations>; 2],
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Meter {
    /// Nothing is counted yet.
    pub fn new() -> Self {
        Self {
            account: Cell::new(Account::Idle),
            cause: Cell::new(Cause::Host),
            nanos: Accounts::default(),
            left_out: [const { Cell::new(Operations::NONE) }; 2],
        }
    }

    /// From now on, time counts to that account.
    #[inline]
    pub(super) fn account(&self, account: Account) {
        self.account.set(account);
    }

    /// The time of an account: by the advance of the clock, and as charged by the chip.
    pub(super) fn spent(&self, account: Account, charged: impl Fn(Label) -> Nanos) -> Spent {
        let mut spent = Spent::default();
        for cause in Cause::ALL {
            let [chains, log] = [false, true].map(|is_log| {
                let nanos = &self.nanos[account as usize][cause as usize][usize::from(is_log)];
                Nanos::new(nanos.get()) + charged(label(account, cause, is_log))
            });
            match cause {
                Cause::Host => spent.host += chains + log,
                // A chain is folded, a log reclaimed.
                Cause::Gc => {
                    spent.fold += chains;
                    spent.reclaim += log;
                }
                Cause::WriteBack => spent.write_back += chains + log,
                Cause::WearLeveling => spent.wear_leveling += chains + log,
                Cause::Scan => spent.scan += chains + log,
                Cause::Map => spent.map += chains + log,
                Cause::Meta | Cause::Mount | Cause::Backup | Cause::Scrub => {
                    spent.meta += chains + log;
                }
            }
        }
        spent
    }

    /// The cause of the next operations.
    #[inline]
    pub(super) fn cause(&self) -> Cause {
        self.cause.get()
    }

    /// Sets the cause of the next operations.
    #[inline]
    pub(super) fn set_cause(&self, cause: Cause) {
        self.cause.set(cause);
    }

    /// Counts an erase that was left out.
    #[cold]
    fn leave_out(&self, region: Region) {
        let mut left_out = self.left_out(region);
        left_out.count(Verb::Erase, self.cause.get());
        self.left_out[region as usize].set(left_out);
    }

    fn left_out(&self, region: Region) -> Operations {
        self.left_out[region as usize].get()
    }

    #[inline]
    pub(super) fn add(&self, is_log: bool, time: Nanos) {
        let (account, cause) = (self.account.get() as usize, self.cause.get() as usize);
        let nanos = &self.nanos[account][cause][usize::from(is_log)];
        nanos.set(nanos.get() + time.get());
    }
}

/// If operations overlap, the chip charges their time to this label.
const fn label(account: Account, cause: Cause, is_log: bool) -> Label {
    Label(((account as usize * Cause::ALL.len() + cause as usize) * 2 + is_log as usize) as u8)
}

/// What an operation moves over the bus.
#[derive(Clone, Copy)]
enum Moved {
    /// Data, and its tag.
    Data,
    /// A tag at most.
    Tag,
}

/// What waits for an operation, by its cause.
const fn order(account: Account, cause: Cause, verb: Verb, moved: Moved) -> Order {
    match (cause, verb) {
        (Cause::Host, Verb::Read) => match account {
            Account::Read => Order::Free,
            // A write that covers a sector in part first reads it.
            _ => Order::Copied,
        },
        (Cause::Host, _) => Order::Free,
        (Cause::Gc | Cause::WriteBack | Cause::WearLeveling, Verb::Program | Verb::Erase) => {
            Order::Copied
        }
        (
            Cause::Gc | Cause::WriteBack | Cause::WearLeveling | Cause::Backup | Cause::Scrub,
            Verb::Read,
        ) if matches!(moved, Moved::Data) => Order::Copied,
        // Tags and maps decide the next step; backups and records must be programmed first.
        _ => Order::Awaited,
    }
}

/// The probe: counts, and stores the cause in the meter.
#[derive(Debug)]
pub struct Watcher<'m> {
    pub(super) counters: Counters,
    /// Blocks erased by switches.
    pub(super) switch_erases: u64,
    /// Erases left out before it began, by region.
    left_out_before: [Operations; 2],
    meter: &'m Meter,
}

impl<'m> Watcher<'m> {
    /// A probe of that meter, which counts from now on.
    pub fn new(meter: &'m Meter) -> Self {
        let left_out_before = Region::ALL.map(|region| meter.left_out(region));
        Self { counters: Counters::default(), switch_erases: 0, left_out_before, meter }
    }

    /// The operations that the chip did in a region.
    pub(super) fn operations(&self, region: Region) -> Operations {
        let left_out = self.meter.left_out(region).since(&self.left_out_before[region as usize]);
        self.counters.region(region).since(&left_out)
    }
}

impl Probe for Watcher<'_> {
    #[inline]
    fn operation(&mut self, region: Region, verb: Verb, cause: Cause) {
        self.meter.cause.set(cause);
        self.counters.operation(region, verb, cause);
    }

    #[inline]
    fn event(&mut self, event: Event) {
        if let Event::Switched { erased } = event {
            self.switch_erases += u64::from(erased);
        }
        self.counters.event(event);
    }
}

/// The device below a meter: a chip, alone or with faults.
pub trait Flash: NandDevice + Timed {
    /// The chip.
    fn chip(&self) -> &Chip;

    /// The chip, to let time pass on it.
    fn chip_mut(&mut self) -> &mut Chip;
}

impl Flash for Chip {
    fn chip(&self) -> &Chip {
        self
    }

    fn chip_mut(&mut self) -> &mut Chip {
        self
    }
}

impl Flash for &mut Chip {
    fn chip(&self) -> &Chip {
        self
    }

    fn chip_mut(&mut self) -> &mut Chip {
        self
    }
}

/// The blocks that are reclaimed, not folded.
#[derive(Clone, Copy, Debug)]
enum Log {
    /// The log's blocks; none without a log.
    Blocks { region: Region, first: u32, count: u32 },
    /// Every block.
    All,
}

/// The chip with the meter on it.
#[derive(Debug)]
pub struct Metered<'m, D = Chip> {
    /// The chip.
    pub chip: D,
    meter: &'m Meter,
    log: Log,
    sector_bytes: u64,
    slots: usize,
    /// The sample of where the chains are written, if wanted.
    writes: Option<Sample>,
    /// Whether an erase of an erased block costs nothing.
    skips_erased: bool,
    /// Whether blocks outside the log are chains, whose garbage collection is folding.
    has_chains: bool,
}

impl<'m, D: Flash> Metered<'m, D> {
    /// The chip of an FTL of block chains.
    pub fn new(chip: D, shape: &Shape, meter: &'m Meter) -> Self {
        let log = shape.log.map(|part| (part.region, part.first, part.block_count().get()));
        Self::beside(chip, log, (shape.sector_bytes, shape.chain.slots), meter)
    }

    /// The chip of a page store, whose fast area counts as the log.
    pub fn of_pages(chip: D, shape: &PagedShape, meter: &'m Meter) -> Self {
        let fast = shape.fast.map(|part| (part.region, part.first, part.blocks));
        let of_chains = Self::beside(chip, fast, (shape.sector_bytes, shape.main.slots), meter);
        Self { has_chains: false, ..of_chains }
    }

    fn beside(
        chip: D,
        log: Option<(Region, u32, u32)>,
        (sector, slots): (Bytes, u16),
        meter: &'m Meter,
    ) -> Self {
        let (region, first, count) = log.unwrap_or((Region::Slc, 0, 0));
        Self {
            chip,
            meter,
            log: Log::Blocks { region, first, count },
            sector_bytes: sector.get().into(),
            slots: usize::from(slots),
            writes: None,
            skips_erased: false,
            has_chains: true,
        }
    }

    /// An FTL that erases each block as it opens it is charged nothing for those that were never programmed, so that a
    /// fresh device of every system begins with erased blocks.
    pub(super) fn skipping_erased(self) -> Self {
        Self { skips_erased: true, ..self }
    }

    /// The chip of a system without chains: all its garbage collection counts as reclaiming.
    pub(super) const fn without_chains(chip: D, meter: &'m Meter) -> Self {
        Self {
            chip,
            meter,
            log: Log::All,
            sector_bytes: 0,
            slots: 0,
            writes: None,
            skips_erased: false,
            has_chains: false,
        }
    }

    /// From now on, samples where the chains are written, if there are any.
    pub(super) fn sample_writes(&mut self) {
        self.writes = self.has_chains.then(Sample::default);
    }

    /// Where they were written.
    pub(super) fn writes(&self) -> &[ChainWrite] {
        self.writes.as_ref().map_or(&[], |sample| &sample.kept)
    }

    #[inline]
    fn is_log(&self, block: Block) -> bool {
        match self.log {
            Log::Blocks { region, first, count } => {
                block.region() == region && block.index().wrapping_sub(first) < count
            }
            Log::All => true,
        }
    }

    /// Whether garbage collection there is reclaiming, and not folding.
    #[inline]
    fn is_reclaimed(&self, block: Block) -> bool {
        !self.has_chains || self.is_log(block)
    }

    /// Sets what waits for the next operation.
    #[inline]
    fn announce(&mut self, block: Block, verb: Verb, moved: Moved) {
        if self.chip.chip().time() == Time::Overlapped {
            let (account, cause) = (self.meter.account.get(), self.meter.cause.get());
            let label = label(account, cause, self.is_reclaimed(block));
            self.chip.chip_mut().set_order(order(account, cause, verb, moved), label);
        }
    }

    /// Adds the time since `before` to the present account. If operations overlap, the clock does not advance within a
    /// request.
    #[inline]
    fn charge(&self, block: Block, before: Nanos) {
        self.meter.add(self.is_reclaimed(block), self.chip.now() - before);
    }

    #[cold]
    fn sample(&mut self, page: Page, spare: &[u8]) {
        let by_log = match self.meter.cause.get() {
            Cause::Host => false,
            Cause::WriteBack => true,
            _ => return,
        };
        if self.is_log(page.block()) {
            return;
        }
        let first = (0..self.slots).find_map(|slot| match layout::slot(spare, slot) {
            Slot::Holds(sector) => Some(u64::from(sector.get()) * self.sector_bytes),
            _ => None,
        });
        if let (Some(address), Some(sample)) = (first, &mut self.writes) {
            sample.add(address, by_log);
        }
    }
}

impl<D: Flash> NandDevice for Metered<'_, D> {
    type Error = D::Error;

    forward_nand!(self => self.chip; geometry is_bad mark_bad slc_mode_pages);

    #[inline]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<D::Error>> {
        let moved = if data.is_empty() { Moved::Tag } else { Moved::Data };
        self.announce(page.block(), Verb::Read, moved);
        let before = self.chip.now();
        let outcome = self.chip.read(page, at, data, spare);
        self.charge(page.block(), before);
        outcome
    }

    #[inline]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<D::Error>> {
        self.announce(page.block(), Verb::Program, Moved::Data);
        let before = self.chip.now();
        let outcome = self.chip.program(page, data, spare);
        self.charge(page.block(), before);
        if self.writes.is_some() {
            self.sample(page, spare);
        }
        outcome
    }

    #[inline]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<D::Error>> {
        if self.skips_erased && self.chip.chip().next_page(block) == 0 {
            self.meter.leave_out(block.region());
            return Ok(());
        }
        self.announce(block, Verb::Erase, Moved::Tag);
        let before = self.chip.now();
        let outcome = self.chip.erase(block);
        self.charge(block, before);
        outcome
    }

    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<D::Error>> {
        self.announce(block, Verb::Erase, Moved::Tag);
        let before = self.chip.now();
        let outcome = self.chip.erase_into(block, mode);
        self.charge(block, before);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_the_account_and_the_cause_of_the_moment() {
        let meter = Meter::new();
        meter.account(Account::Write);
        meter.cause.set(Cause::Gc);
        meter.add(true, Nanos::new(5));
        meter.add(false, Nanos::new(7));
        meter.account(Account::Read);
        meter.cause.set(Cause::Mount);
        meter.add(true, Nanos::new(11));
        let spent = |account| meter.spent(account, |_| Nanos::ZERO);
        let writes = spent(Account::Write);
        assert_eq!((writes.reclaim, writes.fold), (Nanos::new(5), Nanos::new(7)));
        assert_eq!(spent(Account::Read).meta, Nanos::new(11));
        assert_eq!(spent(Account::Idle), Spent::default());
    }
}
