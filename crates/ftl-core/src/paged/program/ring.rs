//! Finding the last anchor: its block in the ring, and its page; and whether a later one may have stood there.
//!
//! An anchor that has become unreadable still does not read as erased, and the state of the one before must not be
//! taken for the newest. A later one than the newest intact anchor stood behind it in its block, or in a block without
//! an intact anchor: a block that has one was filled before.

use ftl_iface::{Block, NandDevice, PageIndex};

use crate::error::Fault;
use crate::flash::Erasure;
use crate::layout::Stamp;
use crate::paged::flash::{PagedKind, Seen};
use crate::paged::plan::shape::{HEADERS, RING_MIN};
use crate::paged::tables::map;
use crate::paged::tables::records::{Head, Site, Walk, key_if_untold};
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

/// The anchor that a mount uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub(crate) site: Site,
    pub(crate) stamp: Stamp,
    pub(crate) head: Head,
    /// A block in which a later anchor may have stood.
    pub(crate) hidden: Option<u16>,
}

/// What a page of the ring holds.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingPage {
    /// An anchor with this stamp; intact, if its data was read.
    Anchor(Stamp),
    /// Nothing: it reads as erased.
    Erased,
    /// Something that is no intact anchor.
    Damaged,
}

/// Whether anchors are written.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingUse {
    /// They are, in one block of the ring after the other.
    Turns,
    /// Too few blocks are good.
    GivenUp,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns a block of the ring.
    pub(crate) fn ring_block(&self, number: u16) -> Block {
        Block::new(self.shape.map_area().region, u32::from(HEADERS + number))
    }

    /// Whether a page of a ring block may take an anchor: if torn, it must not corrupt another page.
    pub(crate) fn takes_anchor(&self, page: u16) -> bool {
        let map = self.shape.map_area();
        !self.guards() || map.pairing.is_first(PageIndex::new(page), map.page_count())
    }

    /// Erases a block of the ring, with the base or the walk that begins in it.
    pub(crate) fn erase_ring_block(&mut self, block: u16) -> Result<Erasure, Fault<D::Error>> {
        let ends = |site: Option<Site>| site.is_some_and(|site| site.block == block);
        if ends(self.anchors.base) {
            self.anchors.base = None;
        }
        if ends(self.anchors.walk.begun) {
            self.anchors.walk = Walk::default();
        }
        let physical = self.ring_block(block);
        self.flash.erase_or_mark(physical)
    }

    /// Reads the tag of a page of the ring.
    fn ring_tag(&mut self, block: u16, page: u16) -> Result<RingPage, Fault<D::Error>> {
        let page = self.ring_block(block).page(PageIndex::new(page));
        self.flash.read_aside(page, &mut []).map(ring_page)
    }

    /// Reads a page of the ring with its data.
    pub(crate) fn ring_page(&mut self, block: u16, page: u16) -> Result<RingPage, Fault<D::Error>> {
        let page = self.ring_block(block).page(PageIndex::new(page));
        let key = self.flash.key();
        let data = self.anchors.page_mut();
        let read = self.flash.read_aside(page, data).map(ring_page)?;
        let page = self.anchors.page_mut();
        let whole = map::is_whole(page, key) || map::is_whole(page, key_if_untold(key));
        Ok(if matches!(read, RingPage::Anchor(_)) && !whole { RingPage::Damaged } else { read })
    }

    /// Returns the first anchor in a block of the ring, `Erased` if its first page is, and else `Damaged`.
    fn ring_block_begin(&mut self, block: u16) -> Result<RingPage, Fault<D::Error>> {
        let mut begin = RingPage::Erased;
        for page in 0..self.shape.map_area().pages {
            if !self.takes_anchor(page) {
                continue;
            }
            match self.ring_tag(block, page)? {
                RingPage::Erased => break,
                RingPage::Damaged => begin = RingPage::Damaged,
                anchor @ RingPage::Anchor(_) => return Ok(anchor),
            }
        }
        Ok(begin)
    }

    pub(crate) fn ring_block_is_bad(&mut self, block: u16) -> Result<bool, Fault<D::Error>> {
        self.flash.door.is_bad(self.ring_block(block))
    }

    /// Returns the last intact anchor.
    pub(crate) fn newest_anchor(&mut self) -> Result<Option<Newest>, Fault<D::Error>> {
        let (mut below, mut hidden) = (Stamp::new(u64::MAX), None);
        for _ in 0..self.shape.anchor_blocks() {
            let mut last: Option<(Stamp, u16)> = None;
            for block in 0..self.shape.anchor_blocks() {
                if self.ring_block_is_bad(block)? {
                    continue;
                }
                match self.ring_block_begin(block)? {
                    RingPage::Anchor(stamp)
                        if stamp < below && last.is_none_or(|(last, _)| stamp > last) =>
                    {
                        last = Some((stamp, block));
                    }
                    RingPage::Damaged => hidden = Some(block),
                    RingPage::Anchor(_) | RingPage::Erased => {}
                }
            }
            let Some((stamp, block)) = last else { return Ok(None) };
            if let Some(newest) = self.last_of(block, hidden)? {
                return Ok(Some(newest));
            }
            (below, hidden) = (stamp, Some(block));
        }
        Ok(None)
    }

    /// Returns the last intact anchor of a block.
    fn last_of(
        &mut self,
        block: u16,
        hidden: Option<u16>,
    ) -> Result<Option<Newest>, Fault<D::Error>> {
        let end = self.ring_block_end(block)?;
        for page in (0..end).rev() {
            if !self.takes_anchor(page) {
                continue;
            }
            let RingPage::Anchor(stamp) = self.ring_page(block, page)? else { continue };
            self.flash.raise_stamp(stamp);
            if let Some(head) = self.anchors.head() {
                let site = Site { number: head.number, block, page };
                let behind = (page + 1 < end).then_some(block);
                return Ok(Some(Newest { site, stamp, head, hidden: hidden.or(behind) }));
            }
        }
        Ok(None)
    }

    /// Returns the page after the last programmed one of a block: pages are programmed in order.
    fn ring_block_end(&mut self, block: u16) -> Result<u16, Fault<D::Error>> {
        let (mut from, mut to) = (0, self.shape.map_area().pages);
        while from < to {
            let middle = from.midpoint(to);
            let Some(page) = (middle..to).find(|page| self.takes_anchor(*page)) else {
                to = middle;
                continue;
            };
            match self.ring_tag(block, page)? {
                RingPage::Erased => to = middle,
                RingPage::Anchor(_) | RingPage::Damaged => from = page + 1,
            }
        }
        Ok(from)
    }

    /// Whether so many blocks of the ring are good that one is erased while an anchor stands in another. With fewer the
    /// last anchor may be out of date.
    pub(crate) fn ring_turns(&mut self) -> Result<RingUse, Fault<D::Error>> {
        let mut good = 0;
        for block in 0..self.shape.anchor_blocks() {
            good += u16::from(!self.ring_block_is_bad(block)?);
            if good == RING_MIN {
                return Ok(RingUse::Turns);
            }
        }
        Ok(RingUse::GivenUp)
    }

    /// Returns the block of the ring with this number, counted on beyond the last one.
    pub(crate) const fn ring_number(&self, number: u16) -> u16 {
        if number < self.shape.anchor_blocks() {
            number
        } else {
            number - self.shape.anchor_blocks()
        }
    }
}

/// Treats pages other than anchors as damaged: in the ring only anchors count.
fn ring_page(seen: Seen<'_>) -> RingPage {
    match seen {
        Seen::Page(page) if page.kind == PagedKind::Anchor => RingPage::Anchor(page.tag().stamp),
        Seen::Page(_) | Seen::Unreadable => RingPage::Damaged,
        Seen::Erased => RingPage::Erased,
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, Sector};
    use nand_model::faults::When;
    use nand_model::{FaultInjector, Fork};

    use super::*;
    use crate::PairedPages;
    use crate::paged::PagedConfig;
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};

    /// A version that knows of no untold pages must not overlook a block of the ring, or the next version that does
    /// might go by an anchor that is out of date.
    #[test]
    fn the_first_anchor_of_a_block_leaves_nothing_untold_and_others_may() {
        let config = PagedConfig { paired_pages: PairedPages::Guard, ..config(48) };
        let chip = chip("tiny-mlc");
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        let mut untold = [0; 2];
        for turn in 0..2000_u32 {
            let sector = (turn.wrapping_mul(2_654_435_761) >> 16) % 48;
            ftl.write(Sector::new(sector), &[turn as u8; 1024]).expect("written");
            let (Some(block), Some(next)) = (ftl.anchors.block, ftl.anchors.next) else { continue };
            let told = ftl.anchors.page_mut().to_vec();
            let RingPage::Anchor(_) = ftl.ring_page(block, next - 1).expect("read") else {
                panic!("the last anchor is intact")
            };
            let key = ftl.flash.key();
            let is_told = map::is_whole(ftl.anchors.page_mut(), key);
            untold[usize::from(next > 1)] += u32::from(!is_told);
            ftl.anchors.page_mut().copy_from_slice(&told);
        }
        assert!(untold[0] == 0 && untold[1] > 100, "{untold:?}");
    }

    /// The program of an anchor fails where pairs are guarded, the one that takes its place becomes the base and dies,
    /// and the first can still be read. Returns whether all this came about.
    fn loses_base(seed: u64) -> bool {
        let (guard, small) = (PairedPages::Guard, config(48));
        let config = PagedConfig { paired_pages: guard, anchor_blocks: 3, ..small };
        let chip = chip("tiny-mlc");
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(FaultInjector::new(chip, seed), &config, &mut ram);
        let (mut written, mut failed, mut dead) = ([0; 48], None, None);
        for turn in 1..2000_u32 {
            let sector = ((turn + seed as u32).wrapping_mul(2_654_435_761) >> 16) % 48;
            ftl.write(Sector::new(sector), &[turn as u8; 1024]).expect("written");
            written[sector as usize] = turn as u8;
            let (block, next) = (ftl.anchors.block.expect("an anchor"), ftl.anchors.next);
            let page = |number: u16| ftl.ring_block(block).page(PageIndex::new(number));
            match (failed, next) {
                (None, Some(next))
                    if turn > 200 + 5 * seed as u32 && next > 1 && ftl.takes_anchor(next) =>
                {
                    failed = Some((block, next));
                    let page = page(next);
                    ftl.device_mut().fail_program(page, When::Nth(1));
                }
                (Some((before, _)), Some(2..)) if block != before => {
                    let base = ftl.anchors.base.filter(|base| base.block == block);
                    dead = base.filter(|base| base.page == 0).map(|_| page(0));
                }
                _ => {}
            }
            if dead.is_some() {
                break;
            }
        }
        let (Some((block, next)), Some(page)) = (failed, dead) else { return false };
        ftl.device_mut().lose(page);
        let is_there = matches!(ftl.ring_page(block, next), Ok(RingPage::Anchor(_)));
        let device = ftl.device_mut().fork();
        let mut ftl = mounted(device, &config, &mut ram);
        for (sector, newest) in (0..).zip(written) {
            let mut page = [0; 1024];
            ftl.read(Sector::new(sector), &mut page).expect("read");
            assert_eq!(page[0], newest, "seed {seed}, sector {sector}");
        }
        is_there
    }

    #[test]
    fn an_anchor_that_failed_is_not_taken_for_a_base_that_died() {
        let tried = (0..64).filter(|seed| loses_base(*seed)).count();
        assert!(tried > 8, "{tried}");
    }
}
