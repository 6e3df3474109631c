//! The map: the place of each sector when its map page was written. The pages are on flash; RAM holds the directory
//! with their addresses, and a cache of a few pages.
//!
//! ```text
//!  0       4             10   12                 12 + entries · width
//!  ├───────┼─────────────┼────┼──────────────────┤
//!  │ check │ horizon (48)│ 0  │ places, in order │
//!  └───────┴─────────────┴────┴──────────────────┘
//! ```
//!
//! A place takes up to four bytes, as the device needs. All ones: the sector is not on flash. One less: its place is
//! lost.

use core::ops::Range;

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::layout::{FormatKey, Slot, Stamp};
use crate::paged::flash::{PagedFlash, Seen};
use crate::paged::plan::address::{BlockNumber, Leaf, Mapped, Place, Spot};
use crate::paged::plan::numbers;
use crate::paged::plan::shape::{AreaShape, LEAF_HEAD, PagedShape};
use crate::paged::rules;
use crate::probe::{Cause, Probe};
use crate::table::Table;

const HEAD: usize = LEAF_HEAD as usize;
/// No leaf.
const NONE: u32 = u32::MAX;

/// A map page in RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached(usize);

/// The memory of the map.
#[derive(Debug)]
pub struct MapMemory<'ram> {
    /// The address of each map page.
    pub directory: &'ram mut [u8],
    /// Dirty entries by leaf, at most 255.
    pub dirty: &'ram mut [u8],
    /// The leaves in RAM.
    pub owners: &'ram mut [u32],
    /// When each of them was last used.
    pub used: &'ram mut [u32],
    /// The map pages in RAM.
    pub pages: &'ram mut [u8],
}

/// The map.
#[derive(Debug)]
pub struct Map<'ram> {
    area: AreaShape,
    directory_bytes: u8,
    entry_bytes: u8,
    leaves: u32,
    leaf_sectors: u32,
    directory: &'ram mut [u8],
    dirty: Table<'ram, Leaf, u8>,
    owners: &'ram mut [u32],
    used: &'ram mut [u32],
    pages: &'ram mut [u8],
    page_bytes: usize,
    /// The number of places of the device.
    places: u32,
    turn: u32,
    /// The page in RAM that was used last: the next one is often the same.
    latest: usize,
    /// The leaf that the host wrote to last.
    pub written: Leaf,
    /// If the page programmed last is a map page: the block of the one before it, on which a mount may count.
    pub replaced: Option<BlockNumber>,
    /// The map pages of the leaves before this one are known to be intact, so that none is checked again.
    proved: u32,
    /// Whether a damaged map page was found.
    damaged: bool,
}

impl<'ram> Map<'ram> {
    /// Creates an empty map.
    pub fn new(shape: &PagedShape, memory: MapMemory<'ram>) -> Self {
        let MapMemory { directory, dirty, owners, used, pages } = memory;
        directory.fill(0xFF);
        owners.fill(NONE);
        used.fill(0);
        let page_bytes = shape.map_area().page_bytes.as_usize();
        let dirty = Table::new(dirty);
        Self {
            area: *shape.map_area(),
            directory_bytes: shape.directory_bytes,
            entry_bytes: shape.entry_bytes,
            leaves: shape.leaves,
            leaf_sectors: shape.leaf_sectors,
            directory,
            dirty,
            owners,
            used,
            pages,
            page_bytes,
            places: shape.places(),
            turn: 0,
            latest: 0,
            written: Leaf::new(0),
            replaced: None,
            proved: 0,
            damaged: false,
        }
    }

    /// Clears the map.
    pub fn clear(&mut self) {
        self.directory.fill(0xFF);
        self.owners.fill(NONE);
        self.dirty.clear();
    }

    /// Resets the counts of dirty entries.
    pub fn note_all_clean(&mut self) {
        self.dirty.clear();
    }

    /// Checks every map page that is loaded from now on.
    pub const fn begin_proof(&mut self) {
        (self.proved, self.damaged) = (0, false);
    }

    /// Notes that the map pages of all leaves before this number were loaded. If all were intact, none of them is
    /// checked again: later ones are acknowledged, and correcting their bits is the device's task, as for sectors.
    pub const fn prove(&mut self, end: u32) {
        if !self.damaged {
            self.proved = end;
        }
    }

    /// Returns the address of a leaf's map page, if it was ever written.
    #[inline]
    pub fn spot(&self, leaf: Leaf) -> Option<Spot> {
        self.number(leaf).map(|number| self.area.spot_of_page(number))
    }

    /// Returns the number of a leaf's map page, if it was ever written.
    #[inline]
    pub(crate) fn number(&self, leaf: Leaf) -> Option<u32> {
        let width = self.directory_bytes;
        let number = numbers::get(self.directory, leaf.get() as usize, width);
        (number != numbers::largest(width)).then_some(number)
    }

    /// Sets the address of a leaf's map page. The cached page does not change.
    pub fn set_spot(&mut self, leaf: Leaf, spot: Spot) {
        let number = self.area.page_number(spot);
        let width = self.directory_bytes;
        numbers::put(self.directory, leaf.get() as usize, width, number);
    }

    /// Counts one more dirty entry of a leaf.
    #[inline]
    pub fn note_dirty(&mut self, leaf: Leaf) {
        self.dirty.set(leaf, self.dirty.get(leaf).saturating_add(1));
    }

    /// Resets a leaf's count of dirty entries.
    pub fn note_clean(&mut self, leaf: Leaf) {
        self.dirty.set(leaf, 0);
    }

    /// Returns a leaf's number of dirty entries; 255 also stands for more.
    #[inline]
    pub fn dirty(&self, leaf: Leaf) -> u8 {
        self.dirty.get(leaf)
    }

    /// Returns the value of writing a leaf's page: two for each dirty entry, and half of that if the host may be about
    /// to write more of the leaf.
    #[inline]
    pub fn won_by(&self, leaf: Leaf) -> u16 {
        let dirty = u16::from(self.dirty.get(leaf));
        if self.written == leaf { dirty } else { 2 * dirty }
    }

    /// Returns a leaf's page if it is in RAM.
    #[inline]
    pub fn cached(&mut self, leaf: Leaf) -> Option<Cached> {
        let mut at = self.latest;
        if self.owners.get(at) != Some(&leaf.get()) {
            at = self.owners.iter().position(|owner| *owner == leaf.get())?;
            self.latest = at;
        }
        self.turn = self.turn.wrapping_add(1);
        if let Some(used) = self.used.get_mut(at) {
            *used = self.turn;
        }
        Some(Cached(at))
    }

    /// Frees a page in RAM, except `but`, and returns it: a page of no leaf, or the least recently used one.
    pub fn vacate(&mut self, but: Option<Cached>) -> Cached {
        let mut oldest = Cached(0);
        let mut longest = 0;
        for (at, (owner, used)) in self.owners.iter().zip(&*self.used).enumerate() {
            let unused = if *owner == NONE { u32::MAX } else { self.turn.wrapping_sub(*used) };
            if but != Some(Cached(at)) && unused >= longest {
                (oldest, longest) = (Cached(at), unused);
            }
        }
        self.set_owner(oldest, NONE);
        oldest
    }

    /// Assigns a page in RAM to a leaf, or to none.
    pub fn give(&mut self, page: Cached, leaf: Option<Leaf>) {
        let Some(leaf) = leaf else { return self.set_owner(page, NONE) };
        if let Some(before) = self.owners.iter_mut().find(|owner| **owner == leaf.get()) {
            *before = NONE;
        }
        self.own(page, leaf);
    }

    /// Assigns a page in RAM to a leaf that has none.
    fn own(&mut self, page: Cached, leaf: Leaf) {
        self.set_owner(page, leaf.get());
    }

    fn set_owner(&mut self, page: Cached, leaf: u32) {
        self.turn = self.turn.wrapping_add(1);
        if let (Some(owner), Some(used)) = (self.owners.get_mut(page.0), self.used.get_mut(page.0))
        {
            (*owner, *used) = (leaf, self.turn);
            self.latest = page.0;
        }
    }

    /// Returns the bytes of a page in RAM.
    pub fn bytes(&self, page: Cached) -> &[u8] {
        let start = page.0 * self.page_bytes;
        self.pages.get(start..start + self.page_bytes).unwrap_or(&[])
    }

    /// Returns the bytes of a page in RAM for writing.
    pub fn bytes_mut(&mut self, page: Cached) -> &mut [u8] {
        let start = page.0 * self.page_bytes;
        self.pages.get_mut(start..start + self.page_bytes).unwrap_or(&mut [])
    }

    /// Returns an entry of a page in RAM.
    #[inline]
    pub fn get(&self, page: Cached, at: u32) -> Mapped {
        self.entry(self.bytes(page), at)
    }

    /// Returns an entry of a map page.
    #[inline]
    pub fn entry(&self, bytes: &[u8], at: u32) -> Mapped {
        let width = self.entry_bytes;
        let number = numbers::get(bytes.get(HEAD..).unwrap_or(&[]), at as usize, width);
        if number < self.places {
            Mapped::At(Place::new(number))
        } else if number == numbers::largest(width) {
            Mapped::Nowhere
        } else {
            Mapped::Lost
        }
    }

    /// Iterates over the places in some entries of a page in RAM.
    #[inline]
    pub fn places(&self, page: Cached, entries: Range<u32>) -> impl Iterator<Item = Place> + '_ {
        let bytes = self.bytes(page);
        entries.filter_map(move |at| match self.entry(bytes, at) {
            Mapped::At(place) => Some(place),
            Mapped::Nowhere | Mapped::Lost => None,
        })
    }

    /// Sets an entry of a page in RAM.
    pub fn set(&mut self, page: Cached, at: u32, mapped: Mapped) {
        let width = self.entry_bytes;
        let number = match mapped {
            Mapped::Nowhere => numbers::largest(width),
            Mapped::Lost => numbers::largest(width) - 1,
            Mapped::At(place) => place.get(),
        };
        let entries = self.bytes_mut(page).get_mut(HEAD..).unwrap_or(&mut []);
        numbers::put(entries, at as usize, width, number);
    }

    /// Copies a page in RAM.
    pub fn copy(&mut self, from: Cached, to: Cached) {
        numbers::copy_piece(self.pages, self.page_bytes, from.0, to.0);
    }

    /// Writes the head of a page in RAM: the horizon, and the check over all of it.
    pub fn seal(&mut self, page: Cached, horizon: Stamp, key: FormatKey) {
        seal_bytes(self.bytes_mut(page), horizon, key);
    }

    /// Finds the page of a leaf, if it was ever written, in RAM or by loading it. An unreadable page becomes one in
    /// which the place of every sector is lost.
    #[inline]
    pub fn find<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut PagedFlash<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Option<Cached>, Fault<D::Error>> {
        match self.cached(leaf) {
            Some(page) => Ok(Some(page)),
            None => self.fetch(flash, leaf, cause),
        }
    }

    #[inline(never)]
    fn fetch<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut PagedFlash<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Option<Cached>, Fault<D::Error>> {
        let Some(spot) = self.spot(leaf) else { return Ok(None) };
        let page = self.vacate(None);
        match self.read_leaf(flash, (leaf, spot), page, cause)? {
            LeafPage::Intact => {}
            LeafPage::Lost => {
                self.damaged = true;
                self.fill_lost(page);
            }
        }
        self.own(page, leaf);
        Ok(Some(page))
    }

    /// Does the same. For a leaf whose page was never written, creates a page without addresses.
    pub fn load<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut PagedFlash<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Cached, Fault<D::Error>> {
        if let Some(page) = self.find(flash, leaf, cause)? {
            return Ok(page);
        }
        let page = self.vacate(None);
        self.bytes_mut(page).fill(0xFF);
        self.own(page, leaf);
        Ok(page)
    }

    /// Reads a leaf's page from flash.
    fn read_leaf<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut PagedFlash<'_, D, P>,
        (leaf, spot): (Leaf, Spot),
        page: Cached,
        cause: Cause,
    ) -> Result<LeafPage, Fault<D::Error>> {
        let key = flash.key();
        let seen = flash.read(spot, 0, self.bytes_mut(page), cause)?;
        let named = match seen {
            Seen::Page(page) if page.kind.is_map() => leaf_named(page.slot(0)),
            _ => None,
        };
        let intact =
            named == Some(leaf) && (leaf.get() < self.proved || is_whole(self.bytes(page), key));
        Ok(if intact { LeafPage::Intact } else { LeafPage::Lost })
    }

    fn fill_lost(&mut self, page: Cached) {
        for at in 0..self.leaf_sectors {
            self.set(page, at, Mapped::Lost);
        }
    }

    /// Iterates over the leaves.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf> + use<> {
        (0..self.leaves).map(Leaf::new)
    }
}

/// What was read of a leaf's page.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafPage {
    /// All of it, as it was written.
    Intact,
    /// It is unreadable, damaged or of another leaf.
    Lost,
}

/// Writes the head of a map page, or of another page with the same head.
pub fn seal_bytes(bytes: &mut [u8], horizon: Stamp, key: FormatKey) {
    if let Some(field) = bytes.get_mut(4..HEAD) {
        numbers::copy(field, &horizon.get().to_le_bytes());
    }
    let check = check(bytes, key);
    if let Some(field) = bytes.first_chunk_mut() {
        *field = check.to_le_bytes();
    }
}

/// Returns the leaf named in a map page's first slot.
pub const fn leaf_named(slot: Slot) -> Option<Leaf> {
    match slot {
        Slot::Holds(number) => Some(Leaf::new(number.get())),
        _ => None,
    }
}

/// Returns the horizon in a map page, if the page is intact.
pub fn horizon(bytes: &[u8], key: FormatKey) -> Option<Stamp> {
    let field: &[u8; 8] = bytes.get(4..HEAD)?.try_into().ok()?;
    is_whole(bytes, key).then(|| Stamp::new(u64::from_le_bytes(*field)))
}

/// Whether a map page is intact.
pub fn is_whole(bytes: &[u8], key: FormatKey) -> bool {
    let stored = bytes.first_chunk().map(|field| u32::from_le_bytes(*field));
    rules::is_intact(stored, check(bytes, key))
}

/// Computes the 32-bit check over everything except itself.
fn check(bytes: &[u8], key: FormatKey) -> u32 {
    let words = bytes.get(4..).unwrap_or(&[]).as_chunks().0;
    words.iter().fold(key.get() ^ 0x4D41_5021, |hash, word| {
        let mixed = (hash ^ u32::from_le_bytes(*word)).wrapping_mul(0x85EB_CA6B);
        mixed ^ mixed >> 13
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_with_any_bit_changed_is_not_whole() {
        let (horizon_told, key) = (Stamp::new(77), FormatKey::new(7));
        let mut bytes: [u8; 64] = core::array::from_fn(|at| at as u8);
        seal_bytes(&mut bytes, horizon_told, key);
        assert_eq!(horizon(&bytes, key), Some(horizon_told));
        assert_eq!(horizon(&bytes, FormatKey::new(8)), None, "another format's");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(horizon(&bytes, key), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
