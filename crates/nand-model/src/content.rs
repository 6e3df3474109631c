//! What a chip stores of a page: every byte, or a stamp for each sector.
//!
//! A long trace programs terabytes whose bytes nobody looks at; what matters is *which* write a sector came from. In
//! stamp mode a payload sector starts with a [`Stamp`] (4 bytes) and a mark that identifies it (8 bytes), and the chip
//! stores only the 4 bytes. Reading such a sector writes those 12 bytes back and **leaves the rest of the buffer as it
//! was**. All other content is exact in both modes: a sector of zeros or of 0xFF costs no more than a stamp, and a
//! page with any other sector (an FTL's own records) is stored whole beside the others.

use ftl_iface::{Bytes, Page, Region, RegionGeometry};

use crate::preset::Preset;
use crate::stamp::{ERASED, State, fill_rest, is_erased, word_of, write_word};

pub use crate::stamp::Stamp;

/// What a chip keeps of each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Content {
    /// Every data and spare byte.
    Bytes,
    /// A stamp for each sector and the first bytes of the spare area. Programs whose remaining spare bytes are not
    /// 0xFF are breaches. So are reads that are no whole sectors, unless the page is erased or kept whole.
    Stamps {
        /// The size of a sector: a power of two that fits the pages of every region.
        sector: Bytes,
        /// How many spare bytes are kept.
        spare_kept: Bytes,
    },
}

/// How a page of one region lies in its record:
///
/// ```text
/// | state | spare bytes kept | a stamp a sector, or the data |
///    1      spare_kept         4 x sectors, or page_bytes
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    page_bytes: usize,
    spare_bytes: usize,
    spare_kept: usize,
    /// Zero where every byte is kept.
    sector: usize,
    sector_shift: u32,
    record: usize,
}

/// Why a chip cannot keep the pages of a region that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The sector does not fit the page, or could not hold a stamp.
    #[error(
        "sectors of {sector} do not divide the {region} region's pages of {page}: \
         give a power of two from 16 up to the smallest page"
    )]
    Sector {
        /// Whose pages.
        region: Region,
        /// What was asked for.
        sector: Bytes,
        /// What a page holds.
        page: Bytes,
    },
    /// More spare bytes are to be kept than there are.
    #[error(
        "{kept} of spare area are to be kept, but a page of the {region} region has {spare}: keep fewer"
    )]
    Spare {
        /// Whose pages.
        region: Region,
        /// What was asked for.
        kept: Bytes,
        /// What a page has.
        spare: Bytes,
    },
}

impl Format {
    pub(crate) fn new(
        region: Region,
        shape: &RegionGeometry,
        content: Content,
    ) -> Result<Self, ContentError> {
        let page_bytes = shape.page_bytes.as_usize();
        let spare_bytes = shape.spare_bytes.as_usize();
        let Content::Stamps { sector, spare_kept } = content else {
            let record = 1 + spare_bytes + page_bytes;
            let spare_kept = spare_bytes;
            return Ok(Self {
                page_bytes,
                spare_bytes,
                spare_kept,
                sector: 0,
                sector_shift: 0,
                record,
            });
        };
        if !sector.get().is_power_of_two() || sector.get() < 16 || sector > shape.page_bytes {
            return Err(ContentError::Sector { region, sector, page: shape.page_bytes });
        }
        if spare_kept > shape.spare_bytes {
            let spare = shape.spare_bytes;
            return Err(ContentError::Spare { region, kept: spare_kept, spare });
        }
        let spare_kept = spare_kept.as_usize();
        let record = 1 + spare_kept + 4 * (page_bytes / sector.as_usize());
        let sector_shift = sector.get().trailing_zeros();
        let sector = sector.as_usize();
        Ok(Self { page_bytes, spare_bytes, spare_kept, sector, sector_shift, record })
    }

    #[inline]
    pub(crate) const fn record(&self) -> usize {
        self.record
    }

    /// The part of a record that a page kept whole has: state and spare bytes.
    pub(crate) const fn head(&self) -> usize {
        1 + self.spare_kept
    }

    #[inline]
    pub(crate) const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    #[inline]
    pub(crate) const fn spare_bytes(&self) -> usize {
        self.spare_bytes
    }

    pub(crate) const fn spare_kept(&self) -> usize {
        self.spare_kept
    }

    /// Zero where every byte is kept.
    pub(crate) const fn sector_bytes(&self) -> usize {
        self.sector
    }

    /// Whether a read of `length` bytes from `at` on asks for whole sectors, where only those are known.
    #[inline]
    pub(crate) const fn is_readable(&self, at: usize, length: usize) -> bool {
        self.sector == 0 || (at | length) & (self.sector - 1) == 0
    }

    /// Whether the spare bytes that are not kept are all 0xFF.
    #[inline]
    pub(crate) fn spare_fits(&self, spare: &[u8]) -> bool {
        is_erased(&spare[self.spare_kept..])
    }

    /// Writes the page to its record, and returns whether the record holds all of it.
    #[inline]
    pub(crate) fn store(&self, record: &mut [u8], data: &[u8], spare: &[u8]) -> State {
        let (head, payload) = record.split_at_mut(1 + self.spare_kept);
        copy_short(&mut head[1..], &spare[..self.spare_kept]);
        let state = if self.sector == 0 {
            payload.copy_from_slice(data);
            State::Kept
        } else {
            self.store_stamps(payload, data)
        };
        head[0] = state.code();
        state
    }

    #[inline]
    fn store_stamps(&self, payload: &mut [u8], mut data: &[u8]) -> State {
        for slot in payload.as_chunks_mut().0 {
            let (sector, rest) = data.split_at(self.sector);
            let Some(word) = word_of(sector) else {
                return State::Whole;
            };
            *slot = word.to_le_bytes();
            data = rest;
        }
        State::Kept
    }

    /// Reads the spare area from a record.
    #[inline]
    pub(crate) fn load_spare(&self, record: &[u8], spare: &mut [u8]) {
        let known = spare.len().min(self.spare_kept);
        let (known, rest) = spare.split_at_mut(known);
        copy_short(known, &record[1..=known.len()]);
        fill_rest(rest);
    }

    /// Reads data from a record that holds them.
    #[inline]
    pub(crate) fn load_data(&self, record: &[u8], at: usize, mut data: &mut [u8]) {
        let payload = &record[1 + self.spare_kept..];
        if self.sector == 0 {
            data.copy_from_slice(&payload[at..at + data.len()]);
            return;
        }
        for slot in payload[(at >> self.sector_shift) * 4..].as_chunks().0 {
            let Some((sector, rest)) = data.split_at_mut_checked(self.sector) else {
                return;
            };
            write_word(u32::from_le_bytes(*slot), sector);
            data = rest;
        }
    }

    /// Writes to a record what the formula gives for a page.
    pub(crate) fn store_preset(&self, record: &mut [u8], preset: &dyn Preset, page: Page) {
        let (head, payload) = record.split_at_mut(1 + self.spare_kept);
        head[0] = State::Kept.code();
        preset.spare(page, &mut head[1..]);
        for (slot, sector) in payload.as_chunks_mut().0.iter_mut().zip(0..) {
            *slot = preset.stamp(page, sector).get().to_le_bytes();
        }
    }

    /// Reads what the formula gives for a page.
    #[inline]
    pub(crate) fn load_preset(
        &self,
        preset: &dyn Preset,
        page: Page,
        at: usize,
        data: &mut [u8],
        spare: &mut [u8],
    ) {
        let first = (at >> self.sector_shift) as u32;
        if let Some((known, rest)) = spare.split_at_mut_checked(self.spare_kept) {
            preset.page(page, known, first, self.sector, data);
            fill_rest(rest);
        } else {
            let mut known = vec![ERASED; self.spare_kept];
            preset.page(page, &mut known, first, self.sector, data);
            spare.copy_from_slice(&known[..spare.len()]);
        }
    }
}

/// Copies bytes, those of most tags without a call. Behind random programs, whose pages come from memory, a call's
/// instructions would keep the next operation from starting meanwhile.
#[inline]
fn copy_short(to: &mut [u8], from: &[u8]) {
    match to.len() {
        4..=8 => copy_halves::<4>(to, from),
        16..=32 => copy_halves::<16>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Copies as many bytes as two pieces of that size cover, which overlap where they are fewer than that.
#[inline]
fn copy_halves<const HALF: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<HALF>(), from.last_chunk::<HALF>()) {
        if let Some(to) = to.first_chunk_mut::<HALF>() {
            *to = *first;
        }
        if let Some(to) = to.last_chunk_mut::<HALF>() {
            *to = *last;
        }
    }
}
