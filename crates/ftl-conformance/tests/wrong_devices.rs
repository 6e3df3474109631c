//! One wrong device for each clause: the examination must name just that clause.

use std::collections::{HashMap, HashSet};

use ftl_conformance::power::InFlight;
use ftl_conformance::{Breach, Clause, Examiner, Stopped, memory_bytes};
use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Corrected, EraseError, Geometry, MarkError, NandDevice, Page,
    PageCount, PageIndex, Pairing, ProgramError, ReadError, Region, RegionGeometry, forward_nand,
};

const PAGE: usize = 512;
const SPARE: usize = 16;
const PAGES: u16 = 8;

const fn geometry(blocks: u32) -> Geometry {
    let slc = RegionGeometry {
        cell: Cell::Slc,
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(PAGES as u32),
        page_bytes: Bytes::new(PAGE as u32),
        spare_bytes: Bytes::new(SPARE as u32),
        pairing: Pairing::None,
    };
    match Geometry::new(Some(slc), None) {
        Ok(geometry) => geometry,
        Err(_) => panic!("the geometry is possible"),
    }
}

static GEOMETRY: Geometry = geometry(4);
static OTHER: Geometry = geometry(5);

/// A chip in RAM that breaks one clause, or none.
struct Wrong {
    breaks: Option<Clause>,
    pages: HashMap<Page, Vec<u8>>,
    bad: HashSet<Block>,
    erases: u32,
    /// Programs or erases left until power fails, once it is to fail.
    until_cut: Option<u32>,
    on: bool,
}

fn block(number: u32) -> Block {
    Block::new(Region::Slc, number)
}

fn page(block: Block, index: u16) -> Page {
    block.page(PageIndex::new(index))
}

impl Wrong {
    fn new(breaks: Option<Clause>) -> Self {
        let (pages, bad) = (HashMap::new(), HashSet::new());
        Self { breaks, pages, bad, erases: 0, until_cut: None, on: true }
    }

    fn breaks(&self, clause: Clause) -> bool {
        self.breaks == Some(clause)
    }

    fn damage(&mut self, page: Page) {
        if let Some(cells) = self.pages.get_mut(&page) {
            cells.fill(0);
        }
    }

    /// Switches power off and on again.
    fn power_cycle(&mut self) {
        self.on = true;
        self.until_cut = None;
        if self.breaks(Clause::StaysWithoutPower) {
            self.pages.remove(&page(block(1), PAGES - 1));
        }
    }

    /// Whether power fails in this operation.
    fn cut(&mut self) -> bool {
        if let Some(left) = &mut self.until_cut {
            self.on = *left > 0;
            *left = left.saturating_sub(1);
        }
        !self.on
    }
}

impl NandDevice for Wrong {
    type Error = &'static str;

    fn geometry(&self) -> &Geometry {
        if self.breaks(Clause::GeometryStays) && self.erases > 3 { &OTHER } else { &GEOMETRY }
    }

    fn read(
        &mut self,
        place: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        if !self.on {
            return Err(ReadError::Driver("no power"));
        }
        if self.breaks(Clause::BadBlocksCanBeRead) && self.bad.contains(&place.block()) {
            return Err(ReadError::Driver("the block is bad"));
        }
        let erased = vec![0xFF; PAGE + SPARE];
        let cells = self.pages.get(&place).unwrap_or(&erased);
        let at = at.as_usize();
        let from = if self.breaks(Clause::PartsReadAlike) { at & !1 } else { at };
        data.copy_from_slice(&cells[from..from + data.len()]);
        if !(data.is_empty() && self.breaks(Clause::SpareReadsAlone)) {
            spare.copy_from_slice(&cells[PAGE..PAGE + spare.len()]);
        }
        if self.breaks(Clause::ReadsChangeNothing) && at > 1 {
            self.damage(page(place.block(), PAGES - 1));
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        place: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        let index = place.index().get();
        let mut cells = [data, spare].concat();
        if self.cut() {
            if self.breaks(Clause::CutProgramLeavesItsPageKnown) {
                cells[PAGE / 2..].fill(0xFF);
                self.pages.insert(place, cells);
            } else if self.breaks(Clause::CutProgramChangesNothingElse) && index > 0 {
                self.pages.insert(place, cells);
                self.damage(page(place.block(), index - 1));
            }
            return Err(ProgramError::Driver("no power"));
        }
        if self.breaks(Clause::DataReadBack) {
            cells[PAGE - 1] &= 0xFE;
        }
        if self.breaks(Clause::SpareReadsBack) {
            cells[PAGE + SPARE - 1] = 0xFF;
        }
        if self.breaks(Clause::PagesMayBeLeftOut) {
            for skipped in 0..index {
                self.pages.entry(page(place.block(), skipped)).or_insert(vec![0; PAGE + SPARE]);
            }
        }
        if self.breaks(Clause::ProgramsChangeTheirPageAlone) && index == 3 {
            self.damage(page(place.block(), 2));
        }
        self.pages.insert(place, cells);
        Ok(())
    }

    fn erase(&mut self, place: Block) -> Result<(), EraseError<Self::Error>> {
        self.erases += 1;
        let cut = self.cut();
        if cut && self.breaks(Clause::CutEraseChangesNothingElse) {
            self.damage(page(block(0), 0));
        }
        if cut {
            return Err(EraseError::Driver("no power"));
        }
        self.pages.retain(|page, _| page.block() != place);
        if self.breaks(Clause::ErasesChangeTheirBlockAlone) {
            self.pages.retain(|page, _| page.block().index() != place.index() ^ 1);
        }
        if self.breaks(Clause::ErasedReadsAsOnes) {
            self.pages.insert(page(place, 1), vec![0xFE; PAGE + SPARE]);
        }
        Ok(())
    }

    fn is_bad(&mut self, place: Block) -> Result<bool, Self::Error> {
        let wrong = self.breaks(Clause::UnmarkedIsNotBad) && place.index() == 1;
        Ok(self.bad.contains(&place) || wrong)
    }

    fn mark_bad(&mut self, place: Block) -> Result<(), MarkError<Self::Error>> {
        if !self.breaks(Clause::MarkedIsBad) {
            self.bad.insert(place);
        }
        if self.breaks(Clause::MarksChangeTheirBlockAlone) {
            self.damage(page(block(place.index() - 2), 0));
        }
        Ok(())
    }
}

/// The whole examination, power cuts and marks included.
fn examination(device: &mut Wrong) -> Result<(), Stopped<&'static str>> {
    let blocks = [block(0), block(1), block(3)];
    let mut memory = [0; memory_bytes(PAGE, SPARE)];
    Examiner::new(&mut *device, &blocks, &mut memory)?.examine()?;
    Examiner::new(&mut *device, &blocks, &mut memory)?.before_power_off()?;
    device.power_cycle();
    Examiner::new(&mut *device, &blocks, &mut memory)?.after_power_off(&[])?;
    for what in [InFlight::Programs, InFlight::Erases] {
        Examiner::new(&mut *device, &blocks, &mut memory)?.before_power_fails(what)?;
        // A block and a half of programs, or some erases.
        device.until_cut = Some(if what == InFlight::Programs { u32::from(PAGES) + 4 } else { 4 });
        Examiner::new(&mut *device, &blocks, &mut memory)?.until_power_fails(what, 9)?;
        assert!(!device.on, "{what:?}: power did not fail");
        device.power_cycle();
        Examiner::new(&mut *device, &blocks, &mut memory)?.after_power_failed(what)?;
    }
    Examiner::new(&mut *device, &blocks, &mut memory)?.examine_marks()?;
    let good = &blocks[..2];
    Examiner::new(&mut *device, good, &mut memory)?.before_power_off()?;
    device.power_cycle();
    Examiner::new(device, good, &mut memory)?.after_power_off(&blocks[2..])
}

#[test]
fn a_device_that_breaks_nothing_passes() {
    assert_eq!(examination(&mut Wrong::new(None)), Ok(()));
}

#[test]
fn each_clause_that_is_broken_is_named() {
    for clause in Clause::ALL {
        let Err(Stopped::Breach(Breach { clause: named, .. })) =
            examination(&mut Wrong::new(Some(clause)))
        else {
            panic!("a device passes for which this is broken: {clause}");
        };
        assert_eq!(named, clause);
    }
}

/// A driver that keeps the page that it read last, and forgets to drop it when a block is erased or a page programmed.
struct Keeps {
    device: Wrong,
    kept: Option<(Page, Vec<u8>)>,
    drops_at: [bool; 2],
}

impl NandDevice for Keeps {
    type Error = &'static str;

    forward_nand!(self => self.device; geometry is_bad mark_bad);

    fn read(
        &mut self,
        place: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        if self.kept.as_ref().is_none_or(|(kept, _)| *kept != place) {
            let mut cells = vec![0; PAGE + SPARE];
            let (all_data, all_spare) = cells.split_at_mut(PAGE);
            self.device.read(place, Bytes::ZERO, all_data, all_spare)?;
            self.kept = Some((place, cells));
        }
        let cells = self.kept.as_ref().map(|(_, cells)| cells).unwrap();
        data.copy_from_slice(&cells[at.as_usize()..at.as_usize() + data.len()]);
        spare.copy_from_slice(&cells[PAGE..PAGE + spare.len()]);
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        place: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        self.kept = self.kept.take().filter(|_| !self.drops_at[0]);
        self.device.program(place, data, spare)
    }

    fn erase(&mut self, place: Block) -> Result<(), EraseError<Self::Error>> {
        self.kept = self.kept.take().filter(|_| !self.drops_at[1]);
        self.device.erase(place)
    }
}

#[test]
fn a_driver_that_keeps_a_page_must_know_when_it_is_stale() {
    let examined = |drops_at| {
        let mut device = Keeps { device: Wrong::new(None), kept: None, drops_at };
        let blocks = [block(0), block(1), block(3)];
        let mut memory = [0; memory_bytes(PAGE, SPARE)];
        let outcome = Examiner::new(&mut device, &blocks, &mut memory).unwrap().examine();
        outcome.map_err(|why| match why {
            Stopped::Breach(breach) => breach.clause,
            why => panic!("{why}"),
        })
    };
    assert_eq!(examined([true, true]), Ok(()));
    assert_eq!(examined([false, true]), Err(Clause::DataReadBack));
    assert_eq!(examined([true, false]), Err(Clause::ErasedReadsAsOnes));
}

#[test]
fn a_breach_is_told_as_a_sentence_with_its_place() {
    let told = examination(&mut Wrong::new(Some(Clause::SpareReadsBack))).unwrap_err().to_string();
    let start =
        "broken: a page's spare bytes read as they were programmed; at SLC block 0, page 0: ";
    assert!(told.starts_with(start), "{told}");
    assert!(told.contains("spare byte 15 reads as 0xFF, expected"), "{told}");
}
