//! What pages hold: each content once, with a number that cells name.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use ftl_iface::{Bytes, Sector};

use crate::dice::mix;

/// The write that a sector comes from, counted from one in a script; zero is a sector that reads as zeros.
pub(super) type SmallVersion = u8;

/// The number of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentId(pub(super) u32);

/// A page's content.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// Data, then spare area.
    bytes: Box<[u8]>,
    data_bytes: u32,
    /// The same for the same bytes, in every run.
    pub(super) hash: u64,
}

impl Content {
    pub(super) fn data(&self) -> &[u8] {
        &self.bytes[..self.data_bytes as usize]
    }

    pub(super) fn spare(&self) -> &[u8] {
        &self.bytes[self.data_bytes as usize..]
    }

    /// The host's sectors among the data, wherever they are in it.
    pub(super) fn sectors(&self) -> impl Iterator<Item = (Sector, SmallVersion)> + '_ {
        self.data().chunks(SECTOR).filter_map(|sector| match read_back(sector) {
            Deciphered::Written(sector, version) => Some((sector, version)),
            _ => None,
        })
    }
}

/// Every content met so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    all: Vec<Content>,
    ids: HashMap<u64, ContentId, BuildHasherDefault<IdentityHasher>>,
}

impl Contents {
    /// The number of this content.
    ///
    /// Two contents of one hash would be taken for one: with 64 bits, and some thousand contents in a walk, this does
    /// not happen.
    pub(super) fn id(&mut self, data: &[u8], spare: &[u8]) -> ContentId {
        let hash = hashed(hashed(0, data), spare);
        let Self { all, ids } = self;
        *ids.entry(hash).or_insert_with(|| {
            let bytes = [data, spare].concat().into_boxed_slice();
            all.push(Content { bytes, data_bytes: data.len() as u32, hash });
            ContentId(all.len() as u32 - 1)
        })
    }

    pub(super) fn get(&self, id: ContentId) -> &Content {
        &self.all[id.0 as usize]
    }
}

/// A hash of bytes, eight at a time in four lanes.
fn hashed(seed: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = |eight: &[u8]| eight.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut lanes = [seed, seed ^ 1, seed ^ 2, seed ^ 3];
    let mut chunks = bytes.chunks_exact(32);
    for chunk in &mut chunks {
        for (lane, eight) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            let eight: [u8; 8] = eight.try_into().unwrap_or_default();
            *lane = (*lane ^ u64::from_le_bytes(eight)).wrapping_mul(ODD).rotate_left(29);
        }
    }
    for (lane, rest) in lanes.iter_mut().zip(chunks.remainder().chunks(8)) {
        *lane = (*lane ^ word(rest)).wrapping_mul(ODD).rotate_left(29);
    }
    lanes.into_iter().fold(bytes.len() as u64, mix)
}

/// A hasher for what is a hash already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hashed(self.0, bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Bytes of a sector: the smallest that an FTL takes.
pub(super) const SECTOR: usize = 512;

/// The same as a size.
pub(super) const SECTOR_BYTES: Bytes = Bytes::new(SECTOR as u32);

const MAGIC: u64 = 0x7EA0_D07E_57ED_0000;

/// Fills a sector with its number and version, over and over.
pub(super) fn fill(sector: Sector, version: SmallVersion, bytes: &mut [u8]) {
    let word = MAGIC | u64::from(sector.get() as u8) << 8 | u64::from(version);
    for eight in bytes.chunks_exact_mut(8) {
        eight.copy_from_slice(&word.to_le_bytes());
    }
}

/// What a sector reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deciphered {
    /// All zeros.
    Zeros,
    /// This version of this sector.
    Written(Sector, SmallVersion),
    /// Neither.
    Garbage,
}

/// What these bytes are.
pub(super) fn read_back(bytes: &[u8]) -> Deciphered {
    let Some((first, rest)) = bytes.split_first_chunk::<8>() else { return Deciphered::Garbage };
    if rest.chunks_exact(8).any(|eight| eight != first) {
        return Deciphered::Garbage;
    }
    match u64::from_le_bytes(*first) {
        0 => Deciphered::Zeros,
        word if word & !0xFFFF == MAGIC => {
            Deciphered::Written(Sector::new((word >> 8 & 0xFF) as u32), word as u8)
        }
        _ => Deciphered::Garbage,
    }
}
