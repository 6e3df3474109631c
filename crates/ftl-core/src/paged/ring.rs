//! Finding the last anchor: its block in the ring, and its page.

use ftl_iface::{Bytes, NandDevice, PageIndex};

use super::door::Seen;
use super::map;
use super::records::{Head, Site};
use super::store::PageFtl;
use crate::error::Fault;
use crate::layout::{Kind, Stamp};
use crate::probe::{Cause, Probe};

/// The anchor that a mount uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) site: Site,
    pub(super) stamp: Stamp,
    pub(super) head: Head,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Reads the tag of a page of the ring.
    fn ring_tag(&mut self, block: u16, page: u16) -> Result<Seen, Fault<D::Error>> {
        let page = self.ring_block(block).page(PageIndex::new(page));
        self.door.read_page(page, 1, Bytes::ZERO, &mut [], Cause::Mount).map(anchors_alone)
    }

    /// Reads a page of the ring with its data.
    pub(super) fn ring_page(&mut self, block: u16, page: u16) -> Result<Seen, Fault<D::Error>> {
        let page = self.ring_block(block).page(PageIndex::new(page));
        let data = self.anchors.page_mut();
        self.door.read_page(page, 1, Bytes::ZERO, data, Cause::Mount).map(anchors_alone)
    }

    /// Returns the first stamp in a block of the ring.
    fn ring_stamp(&mut self, block: u16) -> Result<Option<Stamp>, Fault<D::Error>> {
        if self.door.is_bad_block(self.ring_block(block))? {
            return Ok(None);
        }
        for page in 0..self.shape.map_area().pages {
            if !self.takes_anchor(page) {
                continue;
            }
            match self.ring_tag(block, page)? {
                Seen::Page(tag) => return Ok(Some(tag.stamp)),
                Seen::Erased => return Ok(None),
                Seen::Unreadable => {}
            }
        }
        Ok(None)
    }

    /// Whether the previous block of the ring begins with an unreadable page. Then that block's first anchor may have
    /// been torn but readable for a while, so that this block was erased next, and the erase was torn, too: the anchors
    /// left in this block may be older than the lost ones.
    pub(super) fn begins_torn_before(&mut self, block: u16) -> Result<bool, Fault<D::Error>> {
        let ring = self.shape.anchors;
        for back in 1..ring {
            let before = if back <= block { block - back } else { block + ring - back };
            if !self.door.is_bad_block(self.ring_block(before))? {
                return Ok(self.ring_tag(before, 0)? == Seen::Unreadable);
            }
        }
        Ok(false)
    }

    /// Returns the last intact anchor.
    pub(super) fn newest_anchor(&mut self) -> Result<Option<Newest>, Fault<D::Error>> {
        let mut below = Stamp::new(u64::MAX);
        for _ in 0..self.shape.anchors {
            let mut last: Option<(Stamp, u16)> = None;
            for block in 0..self.shape.anchors {
                if let Some(stamp) = self.ring_stamp(block)?
                    && stamp < below
                    && last.is_none_or(|(last, _)| stamp > last)
                {
                    last = Some((stamp, block));
                }
            }
            let Some((stamp, block)) = last else { return Ok(None) };
            if let Some(newest) = self.last_of(block)? {
                return Ok(Some(newest));
            }
            below = stamp;
        }
        Ok(None)
    }

    /// Returns the last intact anchor of a block.
    fn last_of(&mut self, block: u16) -> Result<Option<Newest>, Fault<D::Error>> {
        // Pages are programmed in order: all before the first erased one were programmed.
        let (mut from, mut to) = (0, self.shape.map_area().pages);
        while from < to {
            let middle = from.midpoint(to);
            let Some(page) = (middle..to).find(|page| self.takes_anchor(*page)) else {
                to = middle;
                continue;
            };
            match self.ring_tag(block, page)? {
                Seen::Erased => to = middle,
                Seen::Page(_) | Seen::Unreadable => from = page + 1,
            }
        }
        for page in (0..from).rev() {
            if !self.takes_anchor(page) {
                continue;
            }
            let Seen::Page(tag) = self.ring_page(block, page)? else { continue };
            let key = self.door.key();
            self.door.raise_stamp(tag.stamp);
            if map::is_whole(self.anchors.page_mut(), key)
                && let Some(head) = self.anchors.head()
            {
                let site = Site { number: head.number, block, page };
                return Ok(Some(Newest { site, stamp: tag.stamp, head }));
            }
        }
        Ok(None)
    }
}

/// Treats pages other than anchors as unreadable: in the ring only anchors count.
fn anchors_alone(seen: Seen) -> Seen {
    match seen {
        Seen::Page(tag) if tag.kind != Kind::Checkpoint => Seen::Unreadable,
        seen => seen,
    }
}
