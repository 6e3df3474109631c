//! Every byte that the FTL puts on flash; writing and reading are side by side. `docs/FORMAT.md` describes it in prose.
//!
//! The *tag* is at the start of each page's spare area:
//!
//! ```text
//!  0      1                          7             10      12                  12 + 4 · slots
//!  ├──────┼──────────────────────────┼─────────────┼───────┼───────────────────┤
//!  │ kind │ stamp (48 bits)          │ note (24)   │ check │ sectors (32 each) │
//!  └──────┴──────────────────────────┴─────────────┴───────┴───────────────────┘
//! ```
//!
//! Numbers are little-endian. With one sector per page the tag takes 16 bytes, which is what a W25N01GV protects.

mod checkpoint;
mod format;
mod header;
mod page_note;
mod payload;

pub use checkpoint::{Seal, fingerprint, image_check};
pub use format::{FORMAT, OtherFormat};
pub(crate) use format::{HEADER_BYTES, optional_features, put_features};
pub use header::{HEADER_BLOCKS, Header, HeaderError, PagesOf, TableOf, pairing_check};
pub use page_note::PageNote;
pub use payload::{Trim, put_summary, summary, summary_pages, summary_sectors};

use ftl_iface::Sector;

const SECTORS: usize = 12;
pub(crate) const NOTE_BITS: u32 = 24;
const SECTOR_BYTES: usize = 4;

/// Bytes of a tag on a page of that many slots.
pub const fn tag_bytes(slots: u16) -> usize {
    SECTORS + SECTOR_BYTES * slots as usize
}

/// What a page is. Each FTL has kinds of its own, with codes of one book: any two differ in at least four bits, so that
/// no single damaged bit turns one into another.
pub trait TagKind: Copy {
    /// The code that says so on flash.
    fn code(self) -> u8;

    /// The kind of a code on flash.
    fn from_code(code: u8) -> Option<Self>;
}

/// The kinds of the hybrid FTL, and those codes of the page store that it does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The header of the device, in a meta block.
    Header = 0x0F,
    /// Sectors in the log.
    Log = 0x33,
    /// The list of a log block's sectors, at its end.
    Summary = 0x3C,
    /// Sectors of a logical block in their places, written by a fold. The block counts when its last page is there.
    Data = 0x55,
    /// Sectors of a logical block as they came.
    Chain = 0x5A,
    /// Sectors of a logical block as they came, which with all pages before it in this block are in their places.
    ChainInPlace = 0x66,
    /// A run of sectors forgotten; the payload says which.
    Trim = 0x69,
    /// Part of a checkpoint, in the meta area. The payload of its last page is the seal.
    Checkpoint = 0x96,
    /// A copy of sectors that a power cut may have touched, in a rescue block.
    Rescue = 0xA5,
    /// What makes the pages before it in a rescue block count.
    Commit = 0xAA,
    /// A copy in the log of sectors whose page in a chain the next program endangers.
    Backup = 0xC3,
    /// Names a block that is bad and takes no mark.
    Bad = 0xCC,
    /// A page of the page store's map.
    Map = 0x99,
    /// Sectors of the page store.
    Sectors = 0xF0,
}

impl Kind {
    /// All kinds.
    #[cfg(test)]
    const ALL: [Self; 14] = [
        Self::Header,
        Self::Log,
        Self::Summary,
        Self::Data,
        Self::Chain,
        Self::ChainInPlace,
        Self::Trim,
        Self::Checkpoint,
        Self::Rescue,
        Self::Commit,
        Self::Backup,
        Self::Bad,
        Self::Map,
        Self::Sectors,
    ];

    /// Whether such a page may hold the only copy of what the host has written or trimmed, as soon as it is programmed.
    pub const fn is_content(self) -> bool {
        matches!(self, Self::Log | Self::Chain | Self::ChainInPlace | Self::Trim)
    }
}

impl TagKind for Kind {
    #[inline]
    fn code(self) -> u8 {
        self as u8
    }

    #[inline]
    fn from_code(code: u8) -> Option<Self> {
        // Spelled out, and so looked up in a table: a search would take longer than the rest of a tag.
        Some(match code {
            0x0F => Self::Header,
            0x33 => Self::Log,
            0x3C => Self::Summary,
            0x55 => Self::Data,
            0x5A => Self::Chain,
            0x66 => Self::ChainInPlace,
            0x69 => Self::Trim,
            0x96 => Self::Checkpoint,
            0xA5 => Self::Rescue,
            0xAA => Self::Commit,
            0xC3 => Self::Backup,
            0xCC => Self::Bad,
            0x99 => Self::Map,
            0xF0 => Self::Sectors,
            _ => return None,
        })
    }
}

/// The order in which pages were programmed: each program takes the next stamp. 48 bits do not run out: 65,534 blocks
/// of 1,024 pages, each erased 100,000 times, take a fortieth of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Stamp {
    /// The stamp before the first.
    pub const ZERO: Self = Self(0);
    const MASK: u64 = (1 << 48) - 1;

    /// The stamp with this number.
    pub const fn new(number: u64) -> Self {
        Self(number & Self::MASK)
    }

    /// The last that a device of that many pages gives in its life: no page is programmed sixteen million times.
    pub const fn last_of(pages: u64) -> Self {
        let last = pages.saturating_mul(1 << 24);
        Self(if last < Self::MASK { last } else { Self::MASK })
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The stamp after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::new(self.0 + 1)
    }

    /// Its low bits: enough to tell how far it is from one that is not far.
    #[inline]
    pub const fn low(self) -> u32 {
        self.0 as u32
    }

    /// How far the next stamp is from one with those low bits, as a note tells it: zero, where that is too far.
    #[inline]
    pub const fn distance_to_next(self, low: u32) -> u32 {
        let distance = self.next().low().wrapping_sub(low);
        if distance >> NOTE_BITS == 0 { distance } else { 0 }
    }

    /// The stamp that many before this one.
    #[must_use]
    pub const fn before(self, distance: u32) -> Self {
        Self::new(self.0.saturating_sub(distance as u64))
    }
}

/// What a slot of a page holds. The upper two bits of its code say which, the lower thirty name the sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This sector.
    Holds(Sector),
    /// The place of this sector, which was never written, or was trimmed.
    Hole(Sector),
    /// The place of this sector, whose newest copy was in the log or in a younger log block when a fold came by.
    Elsewhere(Sector),
    /// This sector, whose newest copy could not be read any more: reading it is an error until it is written again.
    Lost(Sector),
    /// Nothing.
    Empty,
}

/// The most slots that a page may have: 16-KiB pages of 512-byte sectors.
pub const SLOTS_MAX: usize = 32;

/// How many sectors can be named. The last number of thirty bits is left out: a slot of all ones is empty.
pub const SECTORS_MAX: u32 = (1 << 30) - 1;
const SECTOR_MASK: u32 = (1 << 30) - 1;

impl Slot {
    /// The code of the slot on flash.
    #[inline]
    pub const fn code(self) -> u32 {
        match self {
            Self::Holds(sector) => sector.get() & SECTOR_MASK,
            Self::Hole(sector) => sector.get() & SECTOR_MASK | 1 << 30,
            Self::Elsewhere(sector) => sector.get() & SECTOR_MASK | 2 << 30,
            Self::Lost(sector) => sector.get() & SECTOR_MASK | 3 << 30,
            Self::Empty => u32::MAX,
        }
    }

    /// The slot of a code on flash.
    #[inline]
    pub const fn from_code(code: u32) -> Self {
        let sector = Sector::new(code & SECTOR_MASK);
        match code >> 30 {
            0 => Self::Holds(sector),
            1 => Self::Hole(sector),
            2 => Self::Elsewhere(sector),
            _ if code == u32::MAX => Self::Empty,
            _ => Self::Lost(sector),
        }
    }

    /// The sector whose place it is, whatever it holds.
    pub const fn place_of(self) -> Option<Sector> {
        match self {
            Self::Holds(sector)
            | Self::Hole(sector)
            | Self::Elsewhere(sector)
            | Self::Lost(sector) => Some(sector),
            Self::Empty => None,
        }
    }

    /// The sector of which this is a copy, if only one that says that the content is lost.
    #[inline]
    pub const fn copy_of(self) -> Option<Sector> {
        match self {
            Self::Holds(sector) | Self::Lost(sector) => Some(sector),
            _ => None,
        }
    }
}

/// What the slots of a page to program hold.
#[derive(Clone, Copy, Debug)]
pub enum Slots<'a> {
    /// Neighbouring sectors of a request of the host's, from a slot on; nothing before and after them.
    Run {
        /// The first of them.
        first: Sector,
        /// Its slot.
        at: u16,
        /// How many.
        count: u16,
    },
    /// These, and nothing beyond.
    Listed(&'a [Slot]),
}

impl Slots<'_> {
    /// What is in the tag already, slot by slot. A run of nothing says so, and not a case of its own, with which
    /// each of these would be larger.
    pub const HELD: Self = Self::Run { first: Sector::new(0), at: 0, count: 0 };

    /// What that slot holds, unless only the tag itself tells it.
    #[inline]
    pub fn get(self, slot: u16) -> Slot {
        match self {
            Self::Run { first, at, count } => {
                // A slot before the run wraps around to more than any count.
                let ahead = slot.wrapping_sub(at);
                if ahead >= count {
                    return Slot::Empty;
                }
                Slot::Holds(Sector::new(first.get().wrapping_add(u32::from(ahead))))
            }
            Self::Listed(slots) => slots.get(usize::from(slot)).copied().unwrap_or(Slot::Empty),
        }
    }
}

/// What the tag of a page has beside its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<K = Kind> {
    /// What the page is.
    pub kind: K,
    /// When it was programmed.
    pub stamp: Stamp,
    /// How often its block had been erased by then. Of a checkpoint's page its number in its place, of a commit how
    /// many pages it makes count. Of a page of the log, unless it is the block's first or its summary, how many stamps
    /// it comes after the page before it. Of a chain's page as sectors came, unless it is the block's first, what the
    /// page before it says ([`PageNote`]).
    pub note: u32,
}

/// What a page is to say of itself when it is programmed: its tag, but for the stamp that the device's counter gives.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// What the page is.
    pub kind: Kind,
    /// The note of its [`Tag`].
    pub note: u32,
    /// What its slots hold.
    pub slots: Slots<'a>,
}

/// The key under which a device's checks are computed: drawn at format, so that pages of an earlier life are foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatKey(u32);

impl FormatKey {
    /// The key that the header itself is checked under, before the device's own is known.
    pub const HEADER: Self = Self(0x5441_4E44);

    /// The key with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The tag before its slots, as three words of 32 bits, little-endian: that is how a processor moves and mixes it.
///
/// ```text
///  word 0: kind, stamp (low 24 bits)    word 1: stamp (high 24), note (low 8)    word 2: note (high 16), check
/// ```
type Head = [u32; 3];

const STAMP_HIGH: u32 = (1 << 24) - 1;
const NOTE_HIGH: u32 = (1 << CHECK_SHIFT) - 1;
const CHECK_SHIFT: u32 = 16;

/// Writes a tag, except its slots' sectors, which [`put_slots`] or [`put_slot`] wrote before: the check covers them.
#[inline]
pub fn put_tag<K: TagKind>(spare: &mut [u8], tag: &Tag<K>, key: FormatKey) {
    let Some((field, slots)) = spare.split_first_chunk_mut::<SECTORS>() else { return };
    let stamp = tag.stamp.get();
    let first = u32::from(tag.kind.code()) | (stamp as u32) << 8;
    let second = (stamp >> 24) as u32 & STAMP_HIGH | tag.note << 24;
    let third = tag.note >> 8 & NOTE_HIGH;
    let check = u32::from(check([first, second, third], slots, key));
    let head: Head = [first, second, third | check << CHECK_SHIFT];
    for (bytes, word) in field.as_chunks_mut().0.iter_mut().zip(head) {
        *bytes = word.to_le_bytes();
    }
}

/// Writes what the slots of a page hold.
#[inline]
pub fn put_slots(spare: &mut [u8], slots: Slots<'_>) {
    let Some((_, fields)) = spare.split_first_chunk_mut::<SECTORS>() else { return };
    let fields = fields.as_chunks_mut().0.iter_mut();
    match slots {
        Slots::Run { count: 0, .. } => {}
        Slots::Run { .. } => {
            fields.zip(0..).for_each(|(field, slot)| *field = slots.get(slot).code().to_le_bytes());
        }
        Slots::Listed(listed) => {
            let codes = listed.iter().map(|slot| slot.code()).chain(core::iter::repeat(u32::MAX));
            fields.zip(codes).for_each(|(field, code)| *field = code.to_le_bytes());
        }
    }
}

/// Copies slots that hold neighbouring sectors, from that one on. `false`: they hold something else.
#[inline]
pub fn copy_slots(to: &mut [u8], from: &[u8], first: Sector) -> bool {
    let fields = to.as_chunks_mut().0.iter_mut().zip(from.as_chunks::<SECTOR_BYTES>().0);
    fields.zip(first.get()..).all(|((to, from), sector)| {
        *to = *from;
        u32::from_le_bytes(*from) == Slot::Holds(Sector::new(sector)).code()
    })
}

/// Writes what a slot holds.
#[inline]
pub fn put_slot(spare: &mut [u8], slot: usize, holds: Slot) {
    let at = SECTORS + slot * SECTOR_BYTES;
    if let Some(field) = spare.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *field = holds.code().to_le_bytes();
    }
}

/// Reads a tag of either FTL. `None` where there is none: the page is erased, or was not written by these formats.
#[inline(always)]
pub fn tag(spare: &[u8], key: FormatKey) -> Option<Tag> {
    tag_with(spare, key)
}

/// Reads a tag with a kind of that FTL.
#[inline(always)]
pub fn tag_with<K: TagKind>(spare: &[u8], key: FormatKey) -> Option<Tag<K>> {
    kind(spare, key).map(|kind| tag_of(kind, spare))
}

/// Reads the kind in a tag. `None` where there is no tag.
#[inline(always)]
pub fn kind<K: TagKind>(spare: &[u8], key: FormatKey) -> Option<K> {
    let (field, slots) = spare.split_first_chunk::<SECTORS>()?;
    let [first, second, third] = head(field);
    let kind = K::from_code(first as u8)?;
    let right =
        third >> CHECK_SHIFT == check([first, second, third & NOTE_HIGH], slots, key).into();
    right.then_some(kind)
}

/// Reads the rest of a tag of that kind.
#[inline(always)]
pub fn tag_of<K: TagKind>(kind: K, spare: &[u8]) -> Tag<K> {
    let [first, second, third] = spare.first_chunk().map_or([0; 3], head);
    let stamp = u64::from(first >> 8) | u64::from(second & STAMP_HIGH) << 24;
    let note = second >> 24 | (third & NOTE_HIGH) << 8;
    Tag { kind, stamp: Stamp::new(stamp), note }
}

#[inline]
fn head(field: &[u8; SECTORS]) -> Head {
    let mut head = [0; 3];
    for (word, bytes) in head.iter_mut().zip(field.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    head
}

/// Reads what a slot holds. A slot beyond the tag is empty.
#[inline]
pub fn slot(spare: &[u8], slot: usize) -> Slot {
    let at = SECTORS + slot * SECTOR_BYTES;
    let field = spare.get(at..).and_then(<[u8]>::first_chunk);
    field.map_or(Slot::Empty, |bytes| Slot::from_code(u32::from_le_bytes(*bytes)))
}

/// Reads what each slot of a tag holds.
pub fn slots(tag: &[u8]) -> impl Iterator<Item = Slot> {
    let (slots, _) = tag.get(SECTORS..).unwrap_or(&[]).as_chunks();
    slots.iter().map(|bytes| Slot::from_code(u32::from_le_bytes(*bytes)))
}

/// Whether a spare area is erased: all ones.
pub fn is_erased(spare: &[u8]) -> bool {
    let (words, rest) = spare.as_chunks();
    words.iter().all(|word| u32::from_le_bytes(*word) == u32::MAX)
        && rest.iter().all(|byte| *byte == 0xFF)
}

/// Sixteen bits over every byte of the tag but the check's own, whose place in the last word is zero here. It tells
/// foreign pages from ours; damage is the ECC's to find.
#[inline]
fn check(head: Head, slots: &[u8], key: FormatKey) -> u16 {
    let mut hash = key.get();
    let mut mix = |word: u32| {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B1);
        hash ^= hash >> 15;
    };
    head.into_iter().for_each(&mut mix);
    match slots.as_chunks().0 {
        // One and two sectors a page are usual enough to be spared the loop.
        [only] => mix(u32::from_le_bytes(*only)),
        [first, second] => {
            mix(u32::from_le_bytes(*first));
            mix(u32::from_le_bytes(*second));
        }
        slots => slots.iter().for_each(|bytes| mix(u32::from_le_bytes(*bytes))),
    }
    (hash ^ hash >> 16) as u16
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

fn low_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn copy_low_bytes(field: Option<&mut [u8]>, number: u64) {
    if let Some(field) = field {
        for (byte, low) in field.iter_mut().zip(number.to_le_bytes()) {
            *byte = low;
        }
    }
}

#[cfg(test)]
mod tests;
