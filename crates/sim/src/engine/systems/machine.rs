//! The hardware of a rival, shared by the rival and the reader of its meters.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use ftl_iface::{
    Block, Bytes, Cause, Corrected, EraseError, Geometry, MarkError, Mode, ModeError, NandDevice,
    Operations, Page, PageCount, Probe, ProgramError, ReadError, Region, Verb,
};
use ftl_rivals::kit::{Backing, Unit};
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Content, Done, Stamp, Timed};

use super::bench::Rig;
use super::disk::{DiskPart, SpinningDisk};
use super::hardware::{DISK, Hardware, PartState, SLC_MODE, filled, part_name, programmed};
use super::meter::{Account, Meter, Metered, Spent};
use super::prices::Prices;
use crate::base::Failure;
use crate::input::device::{Setup, Stored};

/// The operations of a part, by verb and cause.
type Counts = [[Cell<u64>; Cause::ALL.len()]; Verb::ALL.len()];

/// A chip, and its operations by cause: in its regions, and in blocks in SLC mode.
pub(super) struct Machine<'m> {
    chip: RefCell<Metered<'m>>,
    /// The disk behind the chip, if there is one.
    disk: Option<RefCell<SpinningDisk>>,
    meter: &'m Meter,
    counts: [Counts; 3],
}

/// Where operations on blocks in SLC mode are counted.
const IN_SLC_MODE: usize = 2;

impl<'m> Machine<'m> {
    /// A machine with that chip, with or without overlap as in the setup.
    pub(super) fn new(part: &Part, setup: &Setup, meter: &'m Meter) -> Result<Self, Failure> {
        let spare_kept = Bytes::new(ftl_rivals::kit::flash::TAG_BYTES as u32);
        let content = match setup.kept {
            Stored::Stamps => Content::Stamps { sector: part.sector_bytes, spare_kept },
            Stored::Bytes => Content::Bytes,
        };
        let chip = Chip::new(part, content)?.with_time(setup.time);
        let chip = RefCell::new(Metered::without_chains(chip, meter));
        Ok(Self { chip, disk: None, meter, counts: Default::default() })
    }

    /// A machine with that chip and a disk of that kind and size behind it. The chip waits while the disk serves.
    pub(super) fn before(self, disk: DiskPart, bytes: u64) -> Self {
        let chip = self.chip.borrow();
        let kept = match chip.chip.content() {
            Content::Stamps { sector, .. } => Some((sector.as_usize(), Stamp::BYTES.as_usize())),
            Content::Bytes => None,
        };
        drop(chip);
        Self { disk: Some(RefCell::new(SpinningDisk::new(disk, bytes, kept))), ..self }
    }

    /// The disk, for the rival.
    pub(super) const fn backing(&self) -> MachineDisk<'_, 'm> {
        MachineDisk(self)
    }

    /// Lets the disk serve, if there is one. The chip waits, and the time counts to that cause.
    fn served(&self, cause: Cause, serve: impl FnOnce(&mut SpinningDisk, Nanos) -> Nanos) {
        let Some(disk) = &self.disk else { return };
        let now = self.now();
        let done = serve(&mut disk.borrow_mut(), now);
        self.wait_until(done);
        self.meter.set_cause(cause);
        self.meter.add(false, done.since(now));
    }

    /// The chip, for the rival.
    pub(super) fn nand(&self) -> MachineNand<'_, 'm> {
        let geometry = *self.chip.borrow().geometry();
        MachineNand { machine: self, geometry }
    }

    /// The probe to which the rival reports the cause of its operations.
    pub(super) const fn probe(&self) -> MeterProbe<'_> {
        MeterProbe(self.meter)
    }

    fn operations(&self, at: usize) -> Operations {
        let mut operations = Operations::NONE;
        for verb in Verb::ALL {
            for cause in Cause::ALL {
                let count = self.counts[at][verb as usize][cause as usize].get();
                operations.count_many(verb, cause, count);
            }
        }
        operations
    }

    #[inline]
    fn count(&self, mode: Mode, region: Region, verb: Verb) {
        let at = if mode == Mode::Slc { IN_SLC_MODE } else { region as usize };
        let count = &self.counts[at][verb as usize][self.meter.cause() as usize];
        count.set(count.get() + 1);
    }
}

impl Rig for Machine<'_> {
    fn now(&self) -> Nanos {
        self.chip.borrow().chip.now()
    }

    fn wait_until(&self, moment: Nanos) {
        self.chip.borrow_mut().chip.wait_until(moment);
    }

    fn begin(&self, at: Nanos) -> u64 {
        self.chip.borrow_mut().chip.begin_request(at)
    }

    fn end(&self) {
        self.chip.borrow_mut().chip.end_request();
    }

    fn next_done(&self, until: Option<Nanos>) -> Option<Done> {
        self.chip.borrow_mut().chip.next_done(until)
    }

    fn spent(&self, account: Account) -> Spent {
        let chip = &self.chip.borrow().chip;
        self.meter.spent(account, |label| chip.charged(label))
    }

    fn hardware(&self) -> Hardware {
        let chip = &self.chip.borrow().chip;
        let (part, stats) = (chip.part(), chip.stats());
        let mut parts = Vec::new();
        for region in Region::ALL {
            let Some(shape) = part.geometry.region(region) else { continue };
            let figures = part.region(region);
            let state = |name, wear: Vec<u32>, counts: usize, mode| {
                let filled = filled(chip, region, mode);
                PartState {
                    name,
                    bytes: shape.capacity_bytes(),
                    page_bytes: shape.page_bytes.get().into(),
                    wear,
                    endurance: figures.map(|figures| figures.endurance),
                    operations: self.operations(counts),
                    programmed: programmed(&filled, shape.page_bytes),
                    filled,
                }
            };
            let in_slc_mode: Vec<u32> = chip.slc_mode_erase_counts(region).collect();
            let all = chip.erase_counts(region).zip(&in_slc_mode);
            parts.push(state(
                part_name(region),
                all.map(|(all, slc)| all - slc).collect(),
                region as usize,
                Mode::Full,
            ));
            if let Some(pages) = chip.slc_mode_pages(region) {
                let held = u64::from(shape.blocks.get()) * u64::from(pages.get());
                let bytes = held * u64::from(shape.page_bytes.get());
                let slc_mode = state(SLC_MODE, in_slc_mode, IN_SLC_MODE, Mode::Slc);
                let mode = figures.and_then(|figures| figures.slc_mode);
                let endurance = mode.map(|mode| mode.endurance);
                parts.push(PartState { bytes, endurance, ..slc_mode });
            }
        }
        let mut hardware = Hardware {
            device: part.name.clone(),
            time: chip.time(),
            at_rest: stats.elapsed,
            energy: stats.energy(),
            dollars: part.cost_dollars(),
            prices: Prices::of(part),
            parts,
        };
        if let Some(disk) = &self.disk {
            let disk = disk.borrow();
            hardware.energy += disk.energy(chip.now());
            hardware.dollars += disk.part.dollars;
            hardware.prices = hardware.prices.with_disk();
            hardware.parts.push(disk_state(&disk));
        }
        hardware
    }

    fn account(&self, account: Account) {
        self.meter.account(account);
    }
}

/// The state of the disk, which does not wear.
fn disk_state(disk: &SpinningDisk) -> PartState {
    let mut operations = Operations::NONE;
    operations.count_many(Verb::Read, Cause::Host, disk.work.reads);
    operations.count_many(Verb::Program, Cause::Host, disk.work.writes);
    let (bytes, page_bytes, wear, programmed) = (disk.bytes, 0, Vec::new(), 0);
    let (endurance, filled) = (None, Vec::new());
    PartState { name: DISK, bytes, page_bytes, wear, endurance, operations, programmed, filled }
}

/// A machine's disk as a rival sees it.
pub(super) struct MachineDisk<'a, 'm>(&'a Machine<'m>);

impl Backing for MachineDisk<'_, '_> {
    fn read(&mut self, unit: Unit, data: &mut [u8], cause: Cause) {
        self.0.served(cause, |disk, now| disk.read(now, unit, data));
    }

    fn write(&mut self, unit: Unit, data: &[u8], cause: Cause) {
        self.0.served(cause, |disk, now| disk.write(now, unit, data));
    }

    fn forget(&mut self, unit: Unit) {
        if let Some(disk) = &self.0.disk {
            disk.borrow_mut().forget(unit);
        }
    }

    fn is_ready(&self) -> bool {
        let now = self.0.now();
        self.0.disk.as_ref().is_none_or(|disk| disk.borrow().is_spinning(now))
    }
}

/// Passes the cause of the operations to the meter. They are counted where they are done.
pub(super) struct MeterProbe<'m>(&'m Meter);

impl Probe for MeterProbe<'_> {
    #[inline]
    fn operation(&mut self, _: Region, _: Verb, cause: Cause) {
        self.0.set_cause(cause);
    }
}

/// A machine's chip as a rival sees it.
pub(super) struct MachineNand<'a, 'm> {
    machine: &'a Machine<'m>,
    geometry: Geometry,
}

impl NandDevice for MachineNand<'_, '_> {
    type Error = Infallible;

    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        let mut chip = self.machine.chip.borrow_mut();
        self.machine.count(chip.chip.mode(page.block()), page.region(), Verb::Read);
        chip.read(page, at, data, spare)
    }

    #[inline]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        let mut chip = self.machine.chip.borrow_mut();
        self.machine.count(chip.chip.mode(page.block()), page.region(), Verb::Program);
        chip.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.machine.count(Mode::Full, block.region(), Verb::Erase);
        self.machine.chip.borrow_mut().erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        self.machine.chip.borrow_mut().is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.machine.chip.borrow_mut().mark_bad(block)
    }

    fn slc_mode_pages(&self, region: Region) -> Option<PageCount> {
        self.machine.chip.borrow().slc_mode_pages(region)
    }

    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<Infallible>> {
        self.machine.count(mode, block.region(), Verb::Erase);
        self.machine.chip.borrow_mut().erase_into(block, mode)
    }
}
