//! The tags of `ftl-core` in readable form, and forged ones.

use std::fmt::Debug;

use ftl_core::layout::{self, FormatKey, Slot, Tag, TagKind};
use ftl_iface::Bytes;

/// The tag of a page with that much data, in sectors of that size.
pub(crate) fn read<K: TagKind>(
    data: &[u8],
    sector: Bytes,
    spare: &[u8],
    key: u32,
) -> Option<Tag<K>> {
    let slots = data.len() / sector.as_usize();
    layout::tag_with(spare.get(..layout::tag_bytes(slots as u16))?, FormatKey::new(key))
}

/// The content of a page's spare bytes.
pub(crate) fn explain<K: TagKind + Debug>(spare: &[u8], key: u32) -> String {
    let lengths = [1, 2, 4, 8, 16].map(layout::tag_bytes);
    let tags = lengths.into_iter().filter_map(|length| spare.get(..length));
    let tag = tags.rev().find_map(|spare| layout::tag_with::<K>(spare, FormatKey::new(key)));
    match tag {
        Some(tag) => {
            let slots = (0..4).map(|slot| layout::slot(spare, slot));
            let slots: Vec<Slot> = slots.take_while(|slot| *slot != Slot::Empty).collect();
            format!("{tag:?} {slots:?}")
        }
        None if spare.iter().all(|byte| *byte == 0xFF) => "erased".into(),
        None => "no tag".into(),
    }
}

/// Changes the spare bytes of a page by the numbers, and gives them a valid checksum. The page may become one of those
/// kinds.
pub(crate) fn forge<K: TagKind>(
    spare: &mut [u8],
    key: u32,
    kinds: &[K],
    below: &mut dyn FnMut(u32) -> u32,
) {
    let key = FormatKey::new(key);
    let lengths = (1..=8).map(layout::tag_bytes).filter(|length| *length <= spare.len());
    let told = |length: &usize| layout::tag_with::<K>(&spare[..*length], key).is_some();
    let Some(length) = lengths.rev().find(told) else { return };
    let Some(mut tag) = layout::tag_with::<K>(&spare[..length], key) else { return };
    match below(4) {
        0 => tag.stamp = layout::Stamp::new(u64::from(below(256)) << below(41)),
        1 => tag.note = below(256) << below(17),
        2 => {
            let code = [0; 4].map(|_: u8| below(256) as u8);
            let slot = Slot::from_code(u32::from_le_bytes(code));
            layout::put_slot(&mut spare[..length], below(4) as usize, slot);
        }
        _ => tag.kind = kinds[below(kinds.len() as u32) as usize],
    }
    layout::put_tag(&mut spare[..length], &tag, key);
}
