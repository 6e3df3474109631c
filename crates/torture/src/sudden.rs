//! Pages that were good and become unreadable by themselves, while the device lies unused.

use ftl_iface::{Block, Bytes, Geometry, NandDevice, Page, PageIndex, Region};

use crate::dice::Dice;
use crate::on_flash::{LostProgram, OnFlash, PageContent, Purpose};
use crate::played::Play;
use crate::test_device::TestDevice;

/// A page with its content.
struct GoodPage {
    page: Page,
    data: Vec<u8>,
    spare: Vec<u8>,
}

impl TestDevice {
    /// Some pages become unreadable: of host data, of the map, an anchor, one of two good headers.
    pub(crate) fn lose_by_itself(&mut self, seed: u64) {
        let mut dice = Dice::new(seed);
        let chances = [(PageContent::Data, 50), (PageContent::Map, 30), (PageContent::Nothing, 10)];
        for (kept, chance) in chances {
            if dice.percent(chance) {
                self.lose_a_page_of(kept, &mut dice);
            }
        }
        if dice.percent(50) {
            self.lose_an_anchor(&mut dice);
        }
        if dice.percent(10) {
            self.lose_a_header(&mut dice);
        }
    }

    /// Returns the content of a page, if it was programmed and is good.
    fn intact(&mut self, page: Page) -> Option<GoodPage> {
        let chip = self.chip_mut();
        if !chip.is_intact(page) {
            return None;
        }
        let shape = *chip.geometry().region(page.region())?;
        let mut data = vec![0; shape.page_bytes.as_usize()];
        let mut spare = vec![0; shape.spare_bytes.as_usize()];
        let Ok(_) = chip.inner_mut().read(page, Bytes::ZERO, &mut data, &mut spare) else {
            return None;
        };
        Some(GoodPage { page, data, spare })
    }

    fn lose(&mut self, page: Page, lost: Play) {
        self.chip_mut().lose(page);
        self.play(lost);
        self.say(|| format!("{page} becomes unreadable by itself: {lost}"));
    }

    /// Draws pages until one holds that.
    fn lose_a_page_of(&mut self, wanted: PageContent, dice: &mut Dice) {
        const TRIALS: u32 = 40;
        let lost = match wanted {
            PageContent::Data => Play::DataLost,
            PageContent::Map => Play::MapLost,
            PageContent::Nothing => Play::NothingLost,
        };
        let (subject, key) = (self.subject(), self.key());
        for _ in 0..TRIALS {
            let page = any_page(self.chip_mut().geometry(), dice);
            if subject.purpose(page.block()) != Purpose::Store {
                continue;
            }
            let Some(found) = self.intact(page) else { continue };
            let GoodPage { data, spare, .. } = &found;
            if subject.kept(data, spare, key) != Some(wanted) {
                continue;
            }
            if self.note_loss(&found, &*subject) {
                self.lose(page, lost);
                return;
            }
        }
    }

    /// Notes what may be lost with a page. Returns whether the FTL need bear its loss.
    fn note_loss(&mut self, found: &GoodPage, subject: &dyn OnFlash) -> bool {
        let GoodPage { page, data, spare } = found;
        let (page, key) = (*page, self.key());
        if let Some(sectors) = subject.range(data, spare, key) {
            self.unreadable_pages_mut().note_range(sectors);
            return true;
        }
        if subject.kept(data, spare, key) == Some(PageContent::Nothing) {
            return true;
        }
        let lost = LostProgram { chip: self.chip_mut().inner(), page, data, spare, key };
        let Some(page) = subject.unreadable_page(&lost) else { return false };
        self.unreadable_pages_mut().note(page);
        true
    }

    /// An anchor: half of the time the newest one.
    fn lose_an_anchor(&mut self, dice: &mut Dice) {
        let (subject, key) = (self.subject(), self.key());
        let mut anchors = Vec::new();
        for page in self.pages_for(Purpose::Anchors) {
            let Some(found) = self.intact(page) else { continue };
            let stamp = subject.stamp(&found.data, &found.spare, key);
            anchors.extend(stamp.map(|stamp| (stamp, page)));
        }
        anchors.sort_unstable();
        let lost = if dice.percent(50) {
            anchors.last().copied()
        } else {
            (!anchors.is_empty()).then(|| dice.pick(&anchors))
        };
        if let Some((_, page)) = lost {
            self.lose(page, Play::AnchorLost);
        }
    }

    /// A page of a header, if the first pages of both blocks are good.
    fn lose_a_header(&mut self, dice: &mut Dice) {
        let (subject, key) = (self.subject(), self.key());
        let mut headers = Vec::new();
        for page in self.pages_for(Purpose::Headers) {
            let Some(found) = self.intact(page) else { continue };
            if subject.is_header(&found.data, &found.spare, key) {
                headers.push(page);
            }
        }
        let firsts = headers.iter().filter(|page| page.index().get() == 0).count();
        let bad = headers.iter().any(|page| self.chip_mut().is_bad(page.block()) != Ok(false));
        if firsts == 2 && !bad {
            let page = dice.pick(&headers);
            self.lose(page, Play::HeaderLost);
        }
    }

    /// Shows every good page that is neither of a header nor an anchor.
    pub(crate) fn of_store(&mut self, mut see: impl FnMut(&dyn OnFlash, &[u8], &[u8])) {
        let subject = self.subject();
        for page in self.pages_for(Purpose::Store) {
            if let Some(GoodPage { data, spare, .. }) = self.intact(page) {
                see(&*subject, &data, &spare);
            }
        }
    }

    /// Programs every page of every good block with what is filled in, past all faults.
    pub(crate) fn program_all(&mut self, mut fill: impl FnMut(&mut [u8], &mut [u8])) {
        let geometry = *self.chip_mut().geometry();
        for region in Region::ALL {
            let Some(shape) = geometry.region(region) else { continue };
            let mut data = vec![0; shape.page_bytes.as_usize()];
            let mut spare = vec![0xFF; shape.spare_bytes.as_usize()];
            for block in (0..shape.blocks.get()).map(|at| Block::new(region, at)) {
                for page in 0..shape.pages_per_block.get() as u16 {
                    fill(&mut data, &mut spare);
                    let page = block.page(PageIndex::new(page));
                    let Ok(()) = self.chip_mut().inner_mut().program(page, &data, &spare) else {
                        return;
                    };
                }
            }
        }
    }

    fn pages_for(&mut self, purpose: Purpose) -> Vec<Page> {
        let subject = self.subject();
        let geometry = *self.chip_mut().geometry();
        let mut pages = Vec::new();
        for region in Region::ALL {
            let Some(shape) = geometry.region(region) else { continue };
            let blocks = (0..shape.blocks.get()).map(|at| Block::new(region, at));
            for block in blocks.filter(|block| subject.purpose(*block) == purpose) {
                let end = self.chip_mut().inner().next_page(block);
                pages.extend((0..end).map(|at| block.page(PageIndex::new(at))));
            }
        }
        pages
    }
}

fn any_page(geometry: &Geometry, dice: &mut Dice) -> Page {
    let regions: Vec<Region> =
        Region::ALL.into_iter().filter(|region| geometry.region(*region).is_some()).collect();
    let region = dice.pick(&regions);
    let (blocks, pages) = geometry
        .region(region)
        .map_or((1, 1), |shape| (shape.blocks.get(), shape.pages_per_block.get()));
    let block = Block::new(region, dice.below(blocks));
    block.page(PageIndex::new(dice.below(pages) as u16))
}
