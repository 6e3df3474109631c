//! What the layout promises: everything comes back as it was put, damage is told from content as far as the checks
//! reach, and no buffer is too short to be looked at.

use ftl_iface::{Bytes, PageCount, Sector, SectorCount};
use proptest::prelude::*;

use super::*;
use crate::hybrid::shape::SLOTS_MAX;
use crate::table::BlockNumber;

const KEY: FormatKey = FormatKey::new(0x00C0_FFEE);

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn slots() -> impl Strategy<Value = Slot> {
    (0..SECTORS_MAX, 0..4_u8).prop_map(|(sector, what)| match what {
        0 => Slot::Holds(Sector::new(sector)),
        1 => Slot::Hole(Sector::new(sector)),
        2 => Slot::Elsewhere(Sector::new(sector)),
        _ => Slot::Empty,
    })
}

/// A tag as on flash.
fn written(tag: &Tag, holds: &[Slot], key: FormatKey) -> Vec<u8> {
    let mut spare = vec![0xFF; tag_bytes(holds.len() as u16)];
    for (at, slot) in holds.iter().enumerate() {
        put_slot(&mut spare, at, *slot);
    }
    put_tag(&mut spare, tag, key);
    spare
}

/// Numbers without a pattern, the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 32) as u32
    }

    /// A tag of `slots` slots, with what a device in use would have there.
    fn tag(&mut self, slots: usize) -> Vec<u8> {
        let kind = Kind::ALL[self.next() as usize % Kind::ALL.len()];
        let tag = Tag { kind, stamp: Stamp::new(u64::from(self.next())), note: self.next() >> 16 };
        let holds: Vec<Slot> =
            (0..slots).map(|_| Slot::Holds(Sector::new(self.next() >> 8))).collect();
        written(&tag, &holds, KEY)
    }
}

proptest! {
    #[test]
    fn a_tag_comes_back_as_it_was_put(
        kind in kinds(),
        stamp in 0..1_u64 << 48,
        note in 0..1_u32 << 24,
        holds in prop::collection::vec(slots(), 1..=SLOTS_MAX),
        key: u32,
    ) {
        let key = FormatKey::new(key);
        let put = Tag { kind, stamp: Stamp::new(stamp), note };
        let spare = written(&put, &holds, key);
        prop_assert_eq!(tag(&spare, key), Some(put));
        let found: Vec<Slot> = (0..holds.len()).map(|at| slot(&spare, at)).collect();
        prop_assert_eq!(&found, &holds);
        prop_assert_eq!(slot(&spare, holds.len()), Slot::Empty);
        prop_assert!(!is_erased(&spare));
    }

    #[test]
    fn any_code_of_a_slot_means_one_thing_and_what_it_means_has_one_code(code: u32, put in slots()) {
        prop_assert_eq!(Slot::from_code(put.code()), put);
        let read = Slot::from_code(code);
        // All codes above the last hole of another kind are empty slots; the one that is written is all ones.
        let same = if read == Slot::Empty { u32::MAX } else { code };
        prop_assert_eq!(read.code(), same);
    }

    #[test]
    fn a_header_comes_back_as_it_was_put(
        key: u32, sector in 9..15_u32, capacity: u32,
        [meta_blocks, log_blocks] in prop::array::uniform2(any::<u16>()),
        chain_blocks: BlockNumber,
        numbers in prop::array::uniform9(any::<u32>()),
        optional: u16,
    ) {
        let [bytes, pages, pairing, other_bytes, other_pages, other_pairing, entries, probes, probing] =
            numbers;
        let of = |bytes, pages, pairing| PagesOf {
            page_bytes: Bytes::new(bytes),
            pages: PageCount::new(pages),
            pairing,
        };
        let put = Header {
            meta_blocks,
            key: FormatKey::new(key),
            sector_bytes: Bytes::new(1 << sector),
            capacity: SectorCount::new(capacity),
            log_blocks,
            chain_blocks,
            first: of(bytes, pages, pairing),
            chains: of(other_bytes, other_pages, other_pairing),
            table: TableOf { entries, probes, probing },
            optional,
        };
        let mut page = vec![0xFF; 512];
        put.put(&mut page);
        prop_assert_eq!(Header::parse(&page), Ok(put));
    }

    #[test]
    fn a_trim_comes_back_as_it_was_put(first: u32, count: u32, key: u32) {
        let put = Trim { first: Sector::new(first), count: SectorCount::new(count) };
        let mut page = vec![0xFF; 512];
        put.put(&mut page, FormatKey::new(key));
        prop_assert_eq!(Trim::parse(&page, FormatKey::new(key)), Some(put));
        prop_assert_eq!(Trim::parse(&page, FormatKey::new(key ^ 1)), None);
    }

    #[test]
    fn a_seal_comes_back_as_it_was_put_and_no_flipped_bit_goes_unnoticed(
        [turn, length, fingerprint, image_check, key] in prop::array::uniform5(any::<u32>()),
        bit in 0..Seal::BYTES * 8,
    ) {
        let put = Seal { turn, length, fingerprint, image_check };
        let mut page = vec![0xFF; 512];
        put.put(&mut page, FormatKey::new(key));
        prop_assert_eq!(Seal::parse(&page, FormatKey::new(key)), Some(put));
        prop_assert_eq!(Seal::parse(&page, FormatKey::new(key ^ 1)), None);
        page[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Seal::parse(&page, FormatKey::new(key)), None);
    }

    /// A log block's list, cut into pages as the flash room cuts it.
    #[test]
    fn a_summary_of_several_pages_comes_back_and_takes_no_page_too_many(
        pages in 2..1024_u16,
        slots in prop::sample::select(vec![1_u16, 2, 4, 8, 16, 32]),
        sector in prop::sample::select(vec![512_u32, 1024]),
        key: u32,
    ) {
        let page_bytes = Bytes::new(u32::from(slots) * sector);
        let key = FormatKey::new(key);
        let summary_count = summary_pages(pages, slots, page_bytes);
        let listed = |summary: u16| u32::from(summary) * summary_sectors(page_bytes);
        let places = |summary: u16| u32::from(pages - summary) * u32::from(slots);
        prop_assert!(places(summary_count) <= listed(summary_count));
        prop_assert!(summary_count == 1 || places(summary_count - 1) > listed(summary_count - 1));

        let codes: Vec<u32> = (0..places(summary_count)).map(|at| at * 0x9E37).collect();
        let chunk = summary_sectors(page_bytes) as usize;
        let mut found = vec![0; codes.len()];
        for (codes, found) in codes.chunks(chunk).zip(found.chunks_mut(chunk)) {
            let mut page = vec![0; page_bytes.as_usize()];
            put_summary(&mut page, codes, key);
            prop_assert_eq!(summary(&page, found, key), Some(()));
        }
        prop_assert_eq!(found, codes);
    }

    #[test]
    fn no_buffer_is_too_short_to_be_looked_at(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        key: u32,
        count in 0..60_usize,
    ) {
        let key = FormatKey::new(key);
        let _ = (tag(&bytes, key), is_erased(&bytes), slot(&bytes, count));
        let _ = (Header::parse(&bytes), Trim::parse(&bytes, key), Seal::parse(&bytes, key));
        let _ = summary(&bytes, &mut vec![0; count], key);
    }
}

const HEADER: Header = Header {
    meta_blocks: 12,
    key: KEY,
    sector_bytes: Bytes::new(2048),
    capacity: SectorCount::new(1000),
    log_blocks: 5,
    chain_blocks: 9,
    first: PagesOf { page_bytes: Bytes::new(2048), pages: PageCount::new(64), pairing: 1 },
    chains: PagesOf { page_bytes: Bytes::new(4096), pages: PageCount::new(128), pairing: 2 },
    table: TableOf { entries: 32_768, probes: 8, probing: 0 },
    optional: 0,
};

#[test]
fn what_was_put_into_a_buffer_that_is_too_short_is_not_believed() {
    let header = HEADER;
    let trim = Trim { first: Sector::new(3), count: SectorCount::new(4) };
    let stamp = Tag { kind: Kind::Log, stamp: Stamp::new(9), note: 1 };
    for length in 0..Header::BYTES {
        let mut short = vec![0xFF; length];
        header.put(&mut short);
        assert!(Header::parse(&short).is_err(), "{length} bytes");
    }
    for length in 0..Trim::BYTES {
        let mut short = vec![0xFF; length];
        trim.put(&mut short, KEY);
        assert_eq!(Trim::parse(&short, KEY), None, "{length} bytes");
    }
    for length in 0..tag_bytes(0) {
        let mut short = vec![0xFF; length];
        put_slot(&mut short, 0, Slot::Holds(Sector::new(1)));
        put_tag(&mut short, &stamp, KEY);
        assert_eq!(tag(&short, KEY), None, "{length} bytes");
    }
    for length in 0..8 + 4 * 3 {
        let mut short = vec![0xFF; length];
        put_summary(&mut short, &[1, 2, 3], KEY);
        assert_eq!(summary(&short, &mut [0; 3], KEY), None, "{length} bytes");
    }
}

#[test]
fn kinds_differ_in_four_bits_and_so_do_they_from_erased_and_from_zeroed_bytes() {
    let codes: Vec<u8> = Kind::ALL.map(Kind::code).to_vec();
    for (at, code) in codes.iter().enumerate() {
        for other in codes[..at].iter().chain(&[0x00, 0xFF]) {
            assert!((code ^ other).count_ones() >= 4, "{code:#04x} and {other:#04x}");
        }
    }
    for kind in Kind::ALL {
        assert_eq!(Kind::from_code(kind.code()), Some(kind));
    }
    let known = (0..=u8::MAX).filter(|code| Kind::from_code(*code).is_some()).count();
    assert_eq!(known, codes.len());
}

#[test]
fn an_erased_page_is_no_tag_under_any_key() {
    let erased = vec![0xFF; tag_bytes(4)];
    assert!(is_erased(&erased));
    for key in (0..=u32::MAX).step_by(65_521) {
        assert_eq!(tag(&erased, FormatKey::new(key)), None);
    }
    for at in 0..erased.len() * 8 {
        let mut nearly = erased.clone();
        nearly[at / 8] ^= 1 << (at % 8);
        assert!(!is_erased(&nearly));
        assert_eq!(tag(&nearly, KEY), None, "bit {at}");
    }
}

/// Sixteen bits of check miss what is wrong once in 65,536 times. They are there to tell pages of an earlier life of
/// the device from pages of this one, and a page from rubbish; damaged bits are the device's to find, whose error
/// correction covers the spare area as well. What they can promise is held here: damage to the kind or to the check
/// itself is always noticed, other single bits as often as sixteen bits can.
#[test]
fn a_flipped_bit_of_a_tag_is_noticed_but_once_in_some_65536_times() {
    let mut noise = Noise(1);
    let (mut tried, mut missed) = (0_u64, 0_u64);
    for round in 0..40_000 {
        let good = noise.tag(1 + round % 4);
        for bit in 0..good.len() * 8 {
            let mut damaged = good.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let believed = tag(&damaged, KEY).is_some();
            assert!(!believed || !matches!(bit / 8, 0 | 10 | 11), "kind or check, bit {bit}");
            tried += 1;
            missed += u64::from(believed);
        }
    }
    let expected = tried / 65_536;
    assert!(expected > 100, "{expected} misses are too few to judge by");
    assert!((expected / 2..expected * 2).contains(&missed), "{missed} missed, {expected} expected");
}

#[test]
fn pages_of_another_key_are_foreign_but_one_in_some_65536() {
    let mut noise = Noise(2);
    let tries = 10_000_000_u64;
    let spare = noise.tag(1);
    let believed =
        (0..tries).filter(|_| tag(&spare, FormatKey::new(noise.next())).is_some()).count() as u64;
    let expected = tries / 65_536;
    assert!((expected / 2..expected * 2).contains(&believed), "{believed}, {expected} expected");
}

/// Each step of a check is one-to-one in the word that it takes, so that damage within one word always shows in the
/// thirty-two bits of a payload's check.
#[test]
fn every_flipped_bit_of_a_header_a_trim_and_a_summary_is_noticed() {
    let header = HEADER;
    let mut page = vec![0xFF; 512];
    header.put(&mut page);
    for bit in 0..Header::BYTES * 8 {
        let mut damaged = page.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = Header::parse(&damaged).expect_err("a damaged header");
        match bit / 8 {
            0..8 => assert_eq!(error, HeaderError::Foreign, "bit {bit}"),
            8..10 => {
                let other = OtherFormat::by_version(FORMAT ^ 1 << (bit - 64)).expect("another");
                assert_eq!(error, HeaderError::Version(other), "bit {bit}");
            }
            _ => assert_eq!(error, HeaderError::Damaged, "bit {bit}"),
        }
    }

    let trim = Trim { first: Sector::new(4096), count: SectorCount::new(128) };
    trim.put(&mut page, KEY);
    for bit in 0..Trim::BYTES * 8 {
        let mut damaged = page.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Trim::parse(&damaged, KEY), None, "bit {bit}");
    }

    let codes: Vec<u32> = (100..163).collect();
    put_summary(&mut page, &codes, KEY);
    let mut found = vec![0; codes.len()];
    for bit in 0..(SUMMARY_BYTES_BEFORE + 4 * codes.len()) * 8 {
        let mut damaged = page.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(summary(&damaged, &mut found, KEY), None, "bit {bit}");
    }
}

/// Count and check.
const SUMMARY_BYTES_BEFORE: usize = 8;

#[test]
fn a_page_that_holds_no_header_is_foreign_whatever_else_it_holds() {
    assert_eq!(Header::parse(&[0xFF; 512]), Err(HeaderError::Foreign));
    assert_eq!(Header::parse(&[0; 512]), Err(HeaderError::Foreign));
    assert_eq!(Header::parse(b"TANDEM"), Err(HeaderError::Foreign));
}

#[test]
fn a_summary_of_another_length_or_key_is_not_believed() {
    let mut page = vec![0; 512];
    put_summary(&mut page, &[5, 6, 7], KEY);
    assert_eq!(summary(&page, &mut [0; 2], KEY), None);
    assert_eq!(summary(&page, &mut [0; 4], KEY), None);
    assert_eq!(summary(&page, &mut [0; 3], FormatKey::new(1)), None);
    let mut found = [0; 3];
    assert_eq!((summary(&page, &mut found, KEY), found), (Some(()), [5, 6, 7]));
}

#[test]
fn a_tag_of_one_sector_fits_the_bytes_that_small_parts_protect() {
    // A W25N01GV protects 16 bytes of each page's spare area beside its data.
    assert_eq!(tag_bytes(1), 16);
    assert_eq!(tag_bytes(SLOTS_MAX as u16), 140);
}

#[test]
fn stamps_count_in_48_bits_and_order_by_age() {
    let last = Stamp::new(u64::MAX);
    assert_eq!(last.get(), (1 << 48) - 1);
    assert!(Stamp::ZERO < Stamp::ZERO.next() && Stamp::new(41).next() == Stamp::new(42));
}
