//! A device without a header where an FTL keeps its own may hold the other FTL's: it can be in another region.

use ftl_iface::{Block, Bytes, NandDevice, PageIndex, ReadError, Region};

use crate::layout::{HEADER_BLOCKS, Kind};

/// The first bytes of a header: they name the FTL.
pub(crate) type Magic = [u8; 8];

/// Who has formatted a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The FTL that was looked for.
    ThatFtl,
    /// Nobody, or somebody else.
    Unknown,
}

/// Looks for the headers of an FTL in every region.
pub(crate) fn look_for<D: NandDevice>(device: &mut D, magic: Magic) -> Result<Holder, D::Error> {
    for region in Region::ALL {
        // Without spare bytes there is no tag, and no header.
        let shape = device.geometry().region(region).filter(|shape| shape.spare_bytes.get() > 0);
        let blocks = shape.map_or(0, |shape| shape.blocks.get());
        for index in 0..blocks.min(HEADER_BLOCKS.into()) {
            let block = Block::new(region, index);
            if device.is_bad(block)? {
                continue;
            }
            let page = block.page(PageIndex::new(0));
            let (mut kind, mut start) = ([0], Magic::default());
            // Only of a header are the first bytes known to be its name.
            let read = match device.read(page, Bytes::ZERO, &mut [], &mut kind) {
                Ok(_) if kind == [Kind::Header as u8] => {
                    device.read(page, Bytes::ZERO, &mut start, &mut [])
                }
                other => other,
            };
            match read {
                Ok(_) if start == magic => return Ok(Holder::ThatFtl),
                Ok(_) | Err(ReadError::Uncorrectable) => {}
                Err(ReadError::Driver(error)) => return Err(error),
            }
        }
    }
    Ok(Holder::Unknown)
}
