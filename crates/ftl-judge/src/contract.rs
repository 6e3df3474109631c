//! The examination of `ftl-conformance`, over the bus: while power holds, when it is switched, and when it fails.

use ftl_conformance::power::InFlight;
use ftl_conformance::{Breach, Examiner, Location, Observed, Stopped, memory_bytes};
use ftl_iface::{Block, Page, Region};

use crate::blame::Blame;
use crate::cells::Cells;
use crate::clause::JudgeClause;
use crate::log::Log;
use crate::watch::{Ended, Evidence, WatchedDriver};

/// Power cuts that are tried.
const CUTS: u32 = 48;

/// So many erases are tried in which power may fail.
const ERASES: u32 = 100;

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a path names a method for one lifetime, and a step is taken for any"
)]
impl WatchedDriver<'_> {
    /// Blocks from both ends, of both parities: chips of two planes tell these apart.
    fn lent(&self) -> [Block; 3] {
        let last = self.judge.chip().blocks - 1;
        [0, last / 2, last - 1].map(|number| Block::new(Region::Slc, number))
    }

    /// What shows while power holds, and costs no block.
    pub(crate) fn keep_the_contract(&mut self) -> Result<(), Ended> {
        self.examined(&self.lent(), |it| it.examine())
    }

    /// What a mark does, and what losing power does.
    pub(crate) fn survive(&mut self) -> Result<(), Ended> {
        let (lent, last) = (self.lent(), self.judge.chip().blocks - 1);
        self.examined(&lent, |it| it.examine_marks())?;
        let (good, marked) = lent.split_at(2);
        self.examined(good, |it| it.before_power_off())?;
        self.power_again()?;
        self.examined(good, |it| it.after_power_off(marked))?;
        self.lose_power([good[0], good[1], Block::new(Region::Slc, last - 3)])
    }

    fn lose_power(&mut self, lent: [Block; 3]) -> Result<(), Ended> {
        for number in 0..CUTS {
            let what = if number % 3 == 0 { InFlight::Erases } else { InFlight::Programs };
            self.examined(&lent, |it| it.before_power_fails(what))?;
            self.judge.bus().cells().cut_after(u64::from(number) * 7, 21);
            self.examined(&lent, |it| it.until_power_fails(what, ERASES))?;
            self.power_again()?;
            self.examined(&lent, |it| it.after_power_failed(what))?;
        }
        Ok(())
    }

    /// Power goes off, unless it did already, and comes on.
    pub(crate) fn power_again(&mut self) -> Result<(), Ended> {
        self.judge.bus().power_again();
        self.start()
    }

    /// Takes a step of the examination on these blocks.
    fn examined(
        &mut self,
        lent: &[Block],
        step: impl FnOnce(&mut Examiner<'_, &mut Self>) -> Result<(), Stopped<Ended>>,
    ) -> Result<(), Ended> {
        let [page_bytes, spare_bytes] = self.shape();
        let mut memory = vec![0; memory_bytes(page_bytes, spare_bytes)];
        let examiner = Examiner::new(&mut *self, lent, &mut memory);
        let outcome = examiner.and_then(|mut examiner| step(&mut examiner));
        if self.finding.is_some() {
            return Err(Ended::Breach);
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(Stopped::Breach(breach)) => Err(self.report(&breach)),
            Err(Stopped::Driver { error, .. }) => Err(error),
            Err(Stopped::BlockFailed(block)) => {
                Err(self.find_failure(|seen| Evidence::of_block(block, seen)))
            }
            Err(other) => {
                let evidence = Evidence::of_chip(other.to_string());
                Err(self.find(JudgeClause::GeometryIsTheChips, evidence, Log::blame_last))
            }
        }
    }

    /// Adds to a breach what went wrong on the bus.
    fn report(&mut self, breach: &Breach) -> Ended {
        let seen = breach.found.to_string();
        let evidence = match breach.place {
            Location::Page(page) => Evidence::of_page(page, seen),
            Location::Block(block) => Evidence::of_block(block, seen),
            Location::Device => Evidence::of_chip(seen),
        };
        let blame = self.blame(breach);
        self.find(breach.clause, evidence, |_| blame)
    }

    fn blame(&self, breach: &Breach) -> Blame {
        let pages = self.pages_per_block();
        let in_cells = self.is_in_cells(breach);
        let bus = self.judge.bus();
        match (breach.place, in_cells) {
            (Location::Page(page), true) => bus.log.blame_change(self.row(page), pages),
            (Location::Block(block), true) => bus.log.blame_change(block.index() * pages, pages),
            _ if breach.found == Observed::Uncorrectable => bus.log.blame_loss(bus.part()),
            _ => bus.log.blame_read(bus.part()),
        }
    }

    /// Whether what was found is what the cells hold: then it was read well, and something else was at fault.
    fn is_in_cells(&self, breach: &Breach) -> bool {
        let mut bus = self.judge.bus();
        match (breach.place, breach.found) {
            (Location::Page(page), Observed::DataByte { at, found, .. }) => {
                byte(bus.cells(), self.shape(), page, at as usize) == found
            }
            (Location::Page(page), Observed::SpareByte { at, found, .. }) => {
                let [page_bytes, _] = self.shape();
                byte(bus.cells(), self.shape(), page, page_bytes + at as usize) == found
            }
            (Location::Block(block), Observed::Bad) => bus.cells().is_marked(block),
            (Location::Block(block), Observed::NotBad) => !bus.cells().is_marked(block),
            _ => false,
        }
    }

    /// Bytes of a page, and its spare bytes.
    fn shape(&self) -> [usize; 2] {
        let chip = self.judge.chip();
        [chip.page_bytes as usize, chip.free_bytes() as usize]
    }
}

/// A byte of a page, counted through its data and spare bytes.
fn byte(cells: &mut Cells, shape: [usize; 2], page: Page, at: usize) -> u8 {
    let [page_bytes, spare_bytes] = shape;
    let mut all = vec![0; page_bytes + spare_bytes];
    let (data, spare) = all.split_at_mut(page_bytes);
    cells.truth(page, data, spare);
    all.get(at).copied().unwrap_or(0)
}
