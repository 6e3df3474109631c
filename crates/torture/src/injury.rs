//! Pages of host data that a fault has made unreadable, and what the FTL cannot know of them.

use ftl_core::layout::{self, FormatKey, Kind, Slot};
use ftl_iface::{Block, NandDevice, Page, PageCount, PageIndex, Sector};
use nand_model::{Chip, Stamp};

use crate::truth::Truth;

/// A page that was programmed and cannot be read back.
#[derive(Clone, Debug)]
struct Injury {
    /// Where, until its block is erased.
    page: Option<Page>,
    kind: Kind,
    contents: Vec<Stamp>,
    /// Of a data block, whose pages hold places: all of them, for nobody knows any more which were holes.
    places: Vec<Sector>,
    /// Whether it was met while nothing else told what it held.
    untold: bool,
}

/// All of them so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injuries(Vec<Injury>);

impl Injuries {
    pub(crate) const NONE: Self = Self(Vec::new());

    /// Whether a page may be injured by itself. The last page of a fold, and what it would ruin if it were torn, tell
    /// that the fold was ended: with power failing while older blocks are erased, it would be two faults at a time.
    pub(crate) fn may_strike(chip: &Chip, page: Page, spare: &[u8], key: FormatKey) -> bool {
        layout::tag(spare, key).is_some_and(|tag| {
            let last = last_page(chip, page);
            tag.kind != Kind::Data || page.index() != last && !is_endangered(chip, page, last)
        })
    }

    /// Notes that a page is made unreadable.
    pub(crate) fn note(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        sector_bytes: usize,
        key: FormatKey,
    ) {
        let Some(tag) = layout::tag(spare, key) else {
            return;
        };
        let slots = 0..data.len() / sector_bytes;
        let places = slots.filter_map(|slot| match layout::slot(spare, slot) {
            Slot::Hole(sector) | Slot::Elsewhere(sector) if tag.kind == Kind::Data => Some(sector),
            _ => None,
        });
        self.0.push(Injury {
            page: Some(page),
            kind: tag.kind,
            contents: data.chunks(sector_bytes).filter_map(Stamp::read_from).collect(),
            places: places.collect(),
            untold: false,
        });
    }

    /// Notes that the FTL was told that a page cannot be read. If nothing was programmed to its block since, but for
    /// what may have ruined it, or if its block of the log has no summary, nothing tells what it held.
    pub(crate) fn meet(&mut self, chip: &Chip, page: Page) {
        for injury in self.0.iter_mut().filter(|injury| injury.page == Some(page)) {
            let next = chip.next_page(page.block());
            let last = PageIndex::new(next.saturating_sub(1));
            injury.untold |= match injury.kind {
                Kind::Log => last < last_page(chip, page),
                Kind::Chain | Kind::ChainInPlace => {
                    last == page.index()
                        || (last.get()..=last_page(chip, page).get())
                            .any(|later| is_endangered(chip, page, PageIndex::new(later)))
                }
                _ => false,
            };
        }
    }

    /// Forgets where pages were whose block is erased.
    pub(crate) fn erased(&mut self, block: Block) {
        for injury in &mut self.0 {
            injury.page = injury.page.filter(|page| page.block() != block);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells the truth what may be found because of them.
    pub(crate) fn tell(&self, truth: &mut Truth) {
        let contents = |wanted: fn(&&Injury) -> bool| -> Vec<Stamp> {
            let injuries = self.0.iter().filter(wanted);
            injuries.flat_map(|injury| injury.contents.iter().copied()).collect()
        };
        let places: Vec<Sector> =
            self.0.iter().flat_map(|injury| injury.places.iter().copied()).collect();
        truth.injure(&contents(|_| true), &contents(|injury| injury.untold), &places);
    }
}

fn last_page(chip: &Chip, page: Page) -> PageIndex {
    let pages = pages(chip, page).get();
    PageIndex::new((pages - 1) as u16)
}

fn pages(chip: &Chip, page: Page) -> PageCount {
    chip.geometry().region(page.region()).map_or(PageCount::new(1), |shape| shape.pages_per_block)
}

/// Whether a torn program of a later page of its block would ruin it.
fn is_endangered(chip: &Chip, page: Page, later: PageIndex) -> bool {
    chip.geometry().region(page.region()).is_some_and(|shape| {
        shape.pairing.endangered(later, shape.pages_per_block).any(|index| index == page.index())
    })
}
