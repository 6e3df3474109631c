//! Keeps `docs/FORMAT.md` up to date: each example in it is computed from the layout and compared with the text.
//!
//! To renew the examples after a change of the format (which asks for a new version):
//! `UPDATE_EXPECT=1 cargo test -p ftl-core format_doc::`, and read what changed.

use std::fmt::Write;

use expect_test::{ExpectFile, expect_file};
use ftl_core::hybrid::shape::{CHECKPOINT_AREAS, HEADER_BLOCKS};
use ftl_core::hybrid::slc::index::IndexShape;
use ftl_core::layout::{
    FormatKey, Header, Kind, PagesOf, Seal, Slot, Stamp, TableOf, Tag, Trim, pairing_check,
    put_slot, put_summary, put_tag, summary_pages, summary_sectors, tag_bytes,
};
use ftl_iface::{Bytes, PageCount, Pairing, Sector, SectorCount};

const KEY: FormatKey = FormatKey::new(0x00C0_FFEE);

fn document() -> ExpectFile {
    expect_file!["../../../docs/FORMAT.md"]
}

/// Prints bytes as the document does: sixteen per line, after the number of the first.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, line) in bytes.chunks(16).enumerate() {
        let _ = write!(text, "{:02}  ", at * 16);
        for four in line.chunks(4) {
            let words: Vec<String> = four.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(text, "  {}", words.join(" "));
        }
        text.push('\n');
    }
    text
}

fn tag(kind: Kind, stamp: u64, note: u32, slots: &[Slot]) -> Vec<u8> {
    let mut spare = vec![0xFF; tag_bytes(slots.len() as u16)];
    for (at, slot) in slots.iter().enumerate() {
        put_slot(&mut spare, at, *slot);
    }
    put_tag(&mut spare, &Tag { kind, stamp: Stamp::new(stamp), note }, KEY);
    spare
}

fn log_page() -> Vec<u8> {
    tag(Kind::Log, 123_456_789, 3, &[Slot::Holds(Sector::new(1_000))])
}

/// Computes the check of a tag as the document describes it, not as the layout does.
fn check_steps(tag: &[u8]) -> String {
    let word = |at: usize| u32::from_le_bytes([tag[at], tag[at + 1], tag[at + 2], tag[at + 3]]);
    let wear_end = u32::from(tag[8]) | u32::from(tag[9]) << 8;
    let mut hash = KEY.get();
    let mut text = format!("                     hash {hash:08x}\n");
    for (name, word) in [
        ("bytes 0-3", word(0)),
        ("bytes 4-7", word(4)),
        ("bytes 8-9", wear_end),
        ("slot 0", word(12)),
    ] {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B1);
        hash ^= hash >> 15;
        let _ = writeln!(text, "{name:<9}  {word:08x}  hash {hash:08x}");
    }
    let check = (hash ^ hash >> 16) as u16;
    assert_eq!(tag[10..12], check.to_le_bytes(), "the document's check is not the layout's");
    let _ = writeln!(text, "check                {check:04x}");
    text
}

/// Makes the header of a device with wide block numbers from that of another, as the document describes it, and
/// compares it with the layout's own, if the layout writes such headers.
fn wide_header(header: &[u8]) -> Vec<u8> {
    let mut wide = header.to_vec();
    for (at, number) in [(8, 44 << 16 | 0x100), (24, 1), (32, 2_004), (36, 172_032_u32)] {
        wide[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    wide.truncate(Header::BYTES - 4);
    let words = wide.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four")));
    let check = words.fold(FormatKey::HEADER.get(), |hash, word| {
        let hash = (hash ^ word).wrapping_mul(0x85EB_CA6B);
        hash ^ hash >> 13
    });
    wide.extend(check.to_le_bytes());
    #[cfg(feature = "wide")]
    {
        let mut page = vec![0xFF; 512];
        let put = Header::parse(&wide).expect("a whole header");
        assert_eq!(put.chain_blocks, 172_032);
        put.put(&mut page);
        assert_eq!(page[..Header::BYTES], wide[..]);
    }
    wide
}

fn pages(bytes: u32, count: u32, pairing: Pairing) -> PagesOf {
    let pages = PageCount::new(count);
    PagesOf { page_bytes: Bytes::new(bytes), pages, pairing: pairing_check(pairing, pages) }
}

fn examples() -> Vec<(&'static str, String)> {
    let sector = Sector::new;
    let (holds, hole, elsewhere) = (Slot::Holds, Slot::Hole, Slot::Elsewhere);
    let data = [holds(sector(40)), hole(sector(41)), elsewhere(sector(42)), holds(sector(43))];
    let header = Header {
        meta_blocks: 12,
        key: KEY,
        sector_bytes: Bytes::new(2_048),
        capacity: SectorCount::new(10_485_760),
        log_blocks: 2_036,
        chain_blocks: 43_008,
        first: pages(2_048, 64, Pairing::None),
        chains: pages(4_096, 128, Pairing::Distance3),
        table: TableOf { entries: 65_159, probes: 8, probing: 0 },
        optional: 0,
    };
    let mut page = vec![0xFF; 512];
    header.put(&mut page);
    let wide_header = hex(&wide_header(&page[..Header::BYTES]));
    let header = hex(&page[..Header::BYTES]);

    let codes = [holds(sector(5)).code(), holds(sector(6)).code(), Slot::Empty.code()];
    put_summary(&mut page, &codes, KEY);
    let summary = hex(&page[..8 + 4 * codes.len()]);

    Trim { first: sector(4_096), count: SectorCount::new(128) }.put(&mut page, KEY);
    let trim = hex(&page[..Trim::BYTES]);

    let seal = Seal { turn: 3, length: 14_722, fingerprint: 0x1234_5678, image_check: 0x9ABC_DEF0 };
    seal.put(&mut page, KEY);
    let seal = hex(&page[..Seal::BYTES]);

    vec![
        ("log page", hex(&log_page())),
        ("check", check_steps(&log_page())),
        ("chain page", hex(&tag(Kind::Chain, 70_000, 12, &[Slot::Empty, holds(sector(7))]))),
        ("data page", hex(&tag(Kind::Data, (1 << 48) - 1, 1, &data))),
        ("trim tag", hex(&tag(Kind::Trim, 70_001, 12, &[hole(sector(4_096))]))),
        ("header", header),
        ("wide header", wide_header),
        ("summary", summary),
        ("trim", trim),
        ("seal", seal),
    ]
}

/// Returns the document with each example's block replaced.
fn with_examples(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, block) in examples() {
        let mark = format!("<!-- example: {name} -->\n```text\n");
        let start = text.find(&mark).unwrap_or_else(|| panic!("no example `{name}`")) + mark.len();
        let length = text[start..].find("```").expect("the end of the example");
        text.replace_range(start..start + length, &block);
    }
    text
}

#[test]
fn every_example_of_the_document_is_what_the_layout_writes() {
    let text = document().data();
    assert_eq!(text.matches("<!-- example: ").count(), examples().len());
    document().assert_eq(&with_examples(&text));
}

/// Compares figures and tables of the document with the constants of the code.
#[test]
fn the_documents_figures_are_the_codes() {
    let text = document().data().replace('\n', " ");
    let says = |sentence: &str| assert!(text.contains(sentence), "it does not say: {sentence}");
    says(&format!("Version is {:#06x}, format 1", Header::VERSION));
    says(&format!("feature {}, [wide block numbers]", Header::WIDE_NUMBERS.trailing_zeros()));
    says(&format!("at most {}", ftl_core::hybrid::shape::SLOTS_MAX));
    says("two blocks that carry the header, two *rescue blocks*, and two *places* of checkpoints");
    assert_eq!((HEADER_BLOCKS, CHECKPOINT_AREAS), (2, 2));
    says(&format!("Version is that of the image, {}.", Seal::VERSION));
    says("at most 1,048,576, five bytes each");
    assert_eq!(IndexShape::MOST_ENTRIES, 1_048_576);
    says(&format!("the fixed key {:#010X}", FormatKey::HEADER.get()).replace("0X", "0x"));
    says(&format!("A tag of one slot takes {} bytes", tag_bytes(1)));
    says("chain blocks up to 65,533");
    assert_eq!(ftl_core::table::SHORT_LAST, 65_534, "blocks, of which the first is 0");
    let slots = [Slot::Holds, Slot::Hole, Slot::Elsewhere].map(|slot| slot(Sector::new(9)).code());
    assert_eq!(slots, [9, 9 | 1 << 30, 9 | 2 << 30]);
    assert_eq!(Slot::Empty.code(), 0xFFFF_FFFF);
    let rows = [
        (
            Kind::Header,
            "header",
            "page 0 of a header block, and once more after the list of bad blocks",
        ),
        (Kind::Log, "log", "log, before the summary"),
        (Kind::Summary, "summary", "the last pages of a log block"),
        (Kind::Data, "data", "chain block"),
        (Kind::Chain, "chain", "chain block"),
        (Kind::ChainInPlace, "chain in place", "chain block"),
        (Kind::Trim, "trim", "chain block"),
        (Kind::Checkpoint, "checkpoint", "place of checkpoints"),
    ];
    for (kind, name, place) in rows {
        let code = tag(kind, 1, 1, &[Slot::Empty])[0];
        says(&format!("| `0x{code:02X}` | {name} | {place} |"));
    }
}

#[test]
fn a_summary_takes_the_pages_that_the_document_says() {
    for (pages, slots, page_bytes) in
        [(64_u32, 1_u32, 2_048_u32), (160, 1, 512), (1_024, 4, 2_048), (2, 1, 512)]
    {
        let codes = (page_bytes - 8) / 4;
        let taken = (1..=pages)
            .find(|summary| (pages - summary) * slots <= summary * codes)
            .expect("a number of pages");
        let page_bytes = Bytes::new(page_bytes);
        assert_eq!(summary_sectors(page_bytes), codes);
        assert_eq!(u32::from(summary_pages(pages as u16, slots as u16, page_bytes)), taken);
    }
}
