//! The content of a log block without a summary, from the tags of its pages.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::hybrid::flash::{Flash, Seen, Spot};
use crate::layout::{Kind, Slot, Tag};
use crate::probe::{Cause, Probe};

/// What the tags of a block's pages record about the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Pages from the first to the last that is programmed.
    pub pages: u16,
    /// The last page that can be read, and its tag.
    pub last: Option<(u16, Tag)>,
    /// The block's erase count, if its first page can be read.
    pub wear: Option<u32>,
}

/// Reads, for a mount, what the slots of a block hold, from the tags of its data pages.
pub(super) fn list_by_tags<D: NandDevice, P: Probe>(
    flash: &mut Flash<'_, D, P>,
    block: LogBlock,
    (data_pages, slots): (u16, u16),
    codes: &mut [u32],
) -> Result<Listed, Fault<D::Error>> {
    codes.fill(Slot::Empty.code());
    let mut listed = Listed::default();
    for page in 0..data_pages {
        let spot = Spot::log(block, page);
        match flash.look(spot, Cause::Mount)? {
            Seen::Erased => break,
            Seen::Page(found) if matches!(found.kind, Kind::Log | Kind::Backup) => {
                let tag = found.tag();
                let start = usize::from(page) * usize::from(slots);
                let codes = codes.iter_mut().skip(start).take(usize::from(slots)).enumerate();
                // A backup is not mapped: its sectors are in their chain.
                for (slot, code) in codes.filter(|_| tag.kind == Kind::Log) {
                    *code = found.slot(slot as u16).code();
                }
                listed.last = Some((page, tag));
                if page == 0 {
                    listed.wear = Some(tag.note);
                }
            }
            Seen::Page(_) | Seen::Unreadable => {}
        }
        listed.pages = page + 1;
    }
    Ok(listed)
}
