//! Any bytes as what stands on flash: whatever is read from them can be written again and reads the same.

#![no_main]

use ftl_core::layout::{
    self, FormatKey, Header, Kind, PagesOf, Seal, Slot, Stamp, TableOf, Tag, Trim,
};
use libfuzzer_sys::fuzz_target;

/// Slots of the pages tried: one sector a page, and several.
const SLOTS: [u16; 4] = [1, 2, 8, 32];

fuzz_target!(|bytes: &[u8]| {
    let (key, bytes) = match bytes.split_first_chunk::<4>() {
        Some((key, rest)) => (FormatKey::new(u32::from_le_bytes(*key)), rest),
        None => (FormatKey::HEADER, bytes),
    };
    for slots in SLOTS {
        tag(bytes, slots, key);
    }
    header(bytes);
    trim(bytes, key);
    summary(bytes, key);
    seal(bytes, key);
});

/// A tag as it stands, and one with a check that fits.
fn tag(bytes: &[u8], slots: u16, key: FormatKey) {
    let length = layout::tag_bytes(slots);
    let Some(bytes) = bytes.get(..length) else {
        let _ = layout::tag(bytes, key);
        return;
    };
    let mut spare = bytes.to_vec();
    for slot in 0..usize::from(slots) {
        let holds = layout::slot(&spare, slot);
        layout::put_slot(&mut spare, slot, holds);
        assert_eq!(layout::slot(&spare, slot), holds);
        assert!(Slot::from_code(holds.code()) == holds);
    }
    if let Some(tag) = layout::tag(&spare, key) {
        let before = spare.clone();
        layout::put_tag(&mut spare, &tag, key);
        assert_eq!(spare, before, "a tag that was read is written as it was");
    }
    // What any bytes say is found again with the check that fits, and with no other.
    let kinds = [
        Kind::Header,
        Kind::Log,
        Kind::Summary,
        Kind::Data,
        Kind::Chain,
        Kind::ChainInPlace,
        Kind::Trim,
        Kind::Checkpoint,
        Kind::Rescue,
        Kind::Commit,
        Kind::Backup,
    ];
    let kind = kinds[usize::from(bytes[0]) % kinds.len()];
    let stamp = bytes[1..7].iter().fold(0, |stamp, byte| stamp << 8 | u64::from(*byte));
    let note = bytes[7..10].iter().fold(0, |note, byte| note << 8 | u32::from(*byte));
    let tag = Tag { kind, stamp: Stamp::new(stamp), note };
    layout::put_tag(&mut spare, &tag, key);
    assert_eq!(layout::tag(&spare, key), Some(tag));
    for bit in 0..8 {
        let mut damaged = spare.clone();
        damaged[0] ^= 1 << bit;
        assert_eq!(layout::tag(&damaged, key), None, "a kind with a wrong bit is no kind");
    }
    spare[10] ^= 1;
    assert_eq!(layout::tag(&spare, key), None, "a wrong check is refused");
}

fn header(bytes: &[u8]) {
    if let Ok(header) = Header::parse(bytes) {
        let mut page = vec![0; Header::BYTES];
        header.put(&mut page);
        assert_eq!(Header::parse(&page), Ok(header));
    }
    // What any fields become, they are found again.
    let mut page = bytes.to_vec();
    page.resize(Header::BYTES.max(bytes.len()), 0);
    page[..8].copy_from_slice(b"TANDEMFT");
    page[8..10].copy_from_slice(&Header::VERSION.to_le_bytes());
    let field =
        |at: usize| u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
    let pages = |at| PagesOf {
        page_bytes: ftl_iface::Bytes::new(field(at)),
        pages: ftl_iface::PageCount::new(field(at + 4)),
        pairing: field(at + 8),
    };
    let header = Header {
        meta_blocks: (field(8) >> 16) as u16,
        key: FormatKey::new(field(12)),
        sector_bytes: ftl_iface::Bytes::new(field(16)),
        capacity: ftl_iface::SectorCount::new(field(20)),
        log_blocks: field(32) as u16,
        chain_blocks: field(36),
        first: pages(40),
        chains: pages(52),
        table: TableOf { entries: field(64), probes: field(68), probing: field(72) },
        optional: field(28) as u16,
    };
    header.put(&mut page);
    assert_eq!(Header::parse(&page), Ok(header));
}

fn trim(bytes: &[u8], key: FormatKey) {
    if let Some(trim) = Trim::parse(bytes, key) {
        let mut page = vec![0; Trim::BYTES];
        trim.put(&mut page, key);
        assert_eq!(page, bytes[..Trim::BYTES]);
    }
    if let Some((first, rest)) = bytes.split_first_chunk::<4>() {
        let count = rest.first_chunk::<4>().map_or(0, |count| u32::from_le_bytes(*count));
        let trim = Trim {
            first: ftl_iface::Sector::new(u32::from_le_bytes(*first)),
            count: ftl_iface::SectorCount::new(count),
        };
        let mut page = vec![0xFF; 64];
        trim.put(&mut page, key);
        assert_eq!(Trim::parse(&page, key), Some(trim));
    }
}

fn seal(bytes: &[u8], key: FormatKey) {
    let _ = Seal::parse(bytes, key);
    let Some(fields) = bytes.first_chunk::<16>() else { return };
    let field = |at: usize| {
        u32::from_le_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
    };
    let seal =
        Seal { turn: field(0), length: field(4), fingerprint: field(8), image_check: field(12) };
    let mut page = vec![0xFF; 64];
    seal.put(&mut page, key);
    assert_eq!(Seal::parse(&page, key), Some(seal));
}

fn summary(bytes: &[u8], key: FormatKey) {
    let words =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    let codes: Vec<u32> = words.collect();
    let mut found = vec![0; codes.len()];
    let mut page = vec![0; 8 + 4 * codes.len() + 3];
    layout::put_summary(&mut page, &codes, key);
    assert_eq!(layout::summary(&page, &mut found, key), Some(()));
    assert_eq!(found, codes);
    // Foreign bytes, and another number of codes than was asked for.
    let _ = layout::summary(bytes, &mut found, key);
    found.push(0);
    assert_eq!(layout::summary(&page, &mut found, key), None);
}
