//! A ring that is given up, because too few of its blocks are good: what shows a mount that the last anchor is out of
//! date.

use ftl_iface::NandDevice;

use super::ring::RingUse;
use crate::error::Fault;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::Spot;
use crate::paged::plan::anchor_page::Listed;
use crate::paged::tables::records::{Trace, Walk};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Open, Stream};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Goes on without anchors. A mount must not take the last one for the newest state: the next page, which is
    /// programmed to a block that this anchor names, has a stamp beyond those that it covers.
    pub(super) fn give_up_ring(&mut self, listed: Listed) -> Result<(), Fault<D::Error>> {
        (self.anchors.due, self.anchors.void) = (false, false);
        self.anchors.forget_records();
        self.anchors.next = None;
        (self.anchors.base, self.anchors.walk) = (None, Walk::default());
        self.anchors.listed = listed;
        // An anchor whose program failed may be readable.
        self.pass_stamps_after(self.flash.stamp());
        if self.anchors.trace == Trace::NotNeeded && self.anchors.block.is_some() {
            // Where blocks are marked bad, a mount sees that the ring was given up.
            let marked = self.ring_turns()? == RingUse::GivenUp;
            self.anchors.trace = if marked { Trace::Left } else { Trace::Missing };
        }
        self.anchors.set_last(self.flash.stamp());
        if self.anchors.trace == Trace::Missing { Ok(()) } else { self.list_blocks() }
    }

    /// Shows that the last anchor is out of date, before a block is opened that it does not list: programs an empty
    /// page to an open block. The page that is about to be programmed keeps its slots and its data.
    pub(super) fn show_anchor_is_old(&mut self) -> Result<(), Fault<D::Error>> {
        if self.suspect.is_some() || self.failing.is_some() {
            return Err(Fault::ReadOnly);
        }
        self.flash.keep_held(&mut self.kept);
        self.flash.hold_nothing();
        for stream in Stream::ALL {
            let Some(open) = self.opens[stream as usize] else { continue };
            let Some(page) = self.safe_page(stream, open) else { continue };
            let spot = Spot { block: open.block, page };
            let wear = u32::from(self.blocks.wear(spot.block));
            let bytes = self.shape_of(stream).page_bytes.as_usize();
            // Its data does not count.
            let data = self.buffer.get(..bytes).unwrap_or(&[]);
            match self.flash.program(spot, PagedKind::Proof, wear, data, Cause::Meta) {
                Ok(()) => {
                    self.opens[stream as usize] = Some(Open { next: page + 1, ..open });
                    self.anchors.leave_trace();
                    break;
                }
                Err(Fault::BlockFailed) => self.give_up_block(stream, spot.block),
                Err(fault) => return Err(fault),
            }
        }
        self.flash.hold_kept(&self.kept);
        if self.anchors.trace == Trace::Missing { Err(Fault::ReadOnly) } else { Ok(()) }
    }

    /// Marks the block of the last anchor as bad, where no page can show that it is out of date: right after a mount no
    /// block is open. With too few good blocks, a mount goes by no anchor. If the mark does not hold, the device takes
    /// no write: without that anchor, or with a part of its block after a cut in an erase, a mount might go by an older
    /// one.
    pub(super) fn mark_last_anchor(&mut self) -> Result<(), Fault<D::Error>> {
        if let Some(block) = self.anchors.block {
            let block = self.ring_block(block);
            self.flash.mark(block)?;
        }
        if self.ring_turns()? == RingUse::Turns {
            return Err(Fault::ReadOnly);
        }
        self.anchors.trace = Trace::Left;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, Sector};
    use nand_model::faults::When;
    use nand_model::{FaultInjector, Fork};

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::plan::anchor_page::LISTED;
    use crate::paged::program::ring::RingPage;
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};

    /// A block of the ring is not erased, and keeps older anchors; that of the last anchor is full; and right after a
    /// mount no page can show that it is old. So many of both take no mark. Returns whether the device takes a write.
    fn writes_without_a_ring(unmarked: usize) -> bool {
        let (chip, config) = (chip("tiny-slc"), PagedConfig { anchor_blocks: 2, ..config(24) });
        let mut ram = memory(&chip, &config);
        let device = FaultInjector::new(chip, 7);
        let mut ftl = formatted(device, &config, &mut ram);
        let mut written = [0; 24];
        let mut write = |ftl: &mut PageFtl<'_, _>, turn: u32| {
            let sector = turn % 24;
            let done = ftl.write(Sector::new(sector), &[turn as u8; 1024]);
            if done.is_ok() {
                written[sector as usize] = turn as u8;
            }
            (done.is_ok(), written)
        };
        let mut turn = 1;
        write(&mut ftl, turn);
        let older = ftl.anchors.block.expect("an anchor");
        while ftl.anchors.block == Some(older) {
            turn += 1;
            assert!(write(&mut ftl, turn).0);
        }
        let device = ftl.device_mut().fork();
        let mut ftl = mounted(device, &config, &mut ram);
        assert!(matches!(ftl.ring_page(older, 0), Ok(RingPage::Anchor(_))));
        let last = ftl.anchors.block.expect("an anchor");
        let [older, last] = [older, last].map(|block| ftl.ring_block(block));
        ftl.device_mut().fail_erase(older, When::Always);
        for block in [older, last].into_iter().take(unmarked) {
            ftl.device_mut().fail_mark(block);
        }
        (ftl.anchors.next, ftl.anchors.listed) = (None, [[None; LISTED]; 2]);
        let (writes, written) = write(&mut ftl, turn + 1);
        let device = ftl.device_mut().fork();
        let mut ftl = mounted(device, &config, &mut ram);
        for (sector, newest) in (0..).zip(written) {
            let mut page = [0; 1024];
            ftl.read(Sector::new(sector), &mut page).expect("read");
            assert_eq!(page[0], newest, "sector {sector}");
        }
        ftl.write(Sector::new(0), &[0; 1024]).expect("an anchor lists blocks, or none counts");
        writes
    }

    #[test]
    fn a_mount_never_goes_by_an_anchor_older_than_the_last() {
        assert!(writes_without_a_ring(1));
        assert!(!writes_without_a_ring(2));
    }
}
