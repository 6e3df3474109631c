//! The map: where each sector was when its map page was written. The pages are on flash; RAM has the directory, which
//! tells where they are, and a few of them.
//!
//! ```text
//!  0       4             10   12                 12 + entries · width
//!  ├───────┼─────────────┼────┼──────────────────┤
//!  │ check │ horizon (48)│ 0  │ places, in order │
//!  └───────┴─────────────┴────┴──────────────────┘
//! ```
//!
//! A place is written in two to four bytes, as the device needs. All ones: the sector is nowhere. One less: what told
//! its place is lost.

use ftl_iface::NandDevice;

use super::address::{Leaf, Mapped, Place, Spot};
use super::door::{Door, Seen, is_map};
use super::numbers;
use super::shape::{AreaShape, LEAF_HEAD, PagedShape};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::{FormatKey, Slot, Stamp};
use crate::probe::{Cause, Probe};
use crate::table::Table;

const HEAD: usize = LEAF_HEAD as usize;
/// No leaf.
const NONE: u32 = u32::MAX;

/// One of the map pages in RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached(usize);

/// The memory of the map.
#[derive(Debug)]
pub struct MapMemory<'ram> {
    /// Where each map page is.
    pub directory: &'ram mut [u8],
    /// Dirty entries by leaf, at most 255.
    pub dirty: &'ram mut [u8],
    /// Which leaves are in RAM.
    pub owners: &'ram mut [u32],
    /// When each of them was used last.
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
    /// Places of the device.
    places: u32,
    turn: u32,
    /// The leaf that the host wrote to last.
    pub written: Leaf,
    /// Whether every map page is known to be whole, so that none is checked again.
    proved: bool,
    /// Whether one was met that is not.
    damaged: bool,
}

impl<'ram> Map<'ram> {
    /// A map of nothing.
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
            written: Leaf::new(0),
            proved: false,
            damaged: false,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.directory.fill(0xFF);
        self.owners.fill(NONE);
        self.dirty.clear();
    }

    /// Every map page is checked when it is loaded, from now on.
    pub const fn begin_proof(&mut self) {
        (self.proved, self.damaged) = (false, false);
    }

    /// Every map page was loaded since the proof began. Where all were whole, none is checked again: those that are
    /// written from now on are acknowledged, and their bits are the device's to correct, as those of sectors are.
    pub const fn end_proof(&mut self) {
        self.proved = !self.damaged;
    }

    /// Where the map page of a leaf is, if it was ever written.
    pub fn spot(&self, leaf: Leaf) -> Option<Spot> {
        let width = self.directory_bytes;
        let number = numbers::get(self.directory, leaf.get() as usize, width);
        if number == numbers::largest(width) { None } else { Some(self.area.spot_of_page(number)) }
    }

    /// Says where the map page of a leaf is. What RAM has of the leaf is not changed.
    pub fn set_spot(&mut self, leaf: Leaf, spot: Spot) {
        let number = self.area.page_number(spot);
        let width = self.directory_bytes;
        numbers::put(self.directory, leaf.get() as usize, width, number);
    }

    /// Counts a dirty entry more of a leaf.
    #[inline]
    pub fn note_dirty(&mut self, leaf: Leaf) {
        self.dirty.set(leaf, self.dirty.get(leaf).saturating_add(1));
    }

    /// Says that no entry of a leaf is dirty.
    pub fn note_clean(&mut self, leaf: Leaf) {
        self.dirty.set(leaf, 0);
    }

    /// Dirty entries of a leaf: 255 stands for more, too.
    #[inline]
    pub fn dirty(&self, leaf: Leaf) -> u8 {
        self.dirty.get(leaf)
    }

    /// What writing a leaf's page wins: two for each dirty entry, and half of that where the host may be about to write
    /// more of them.
    #[inline]
    pub fn won_by(&self, leaf: Leaf) -> u16 {
        let dirty = u16::from(self.dirty.get(leaf));
        if self.written == leaf { dirty } else { 2 * dirty }
    }

    /// The page of a leaf, if RAM has it.
    #[inline]
    pub fn cached(&mut self, leaf: Leaf) -> Option<Cached> {
        let at = self.owners.iter().position(|owner| *owner == leaf.get())?;
        self.turn = self.turn.wrapping_add(1);
        if let Some(used) = self.used.get_mut(at) {
            *used = self.turn;
        }
        Some(Cached(at))
    }

    /// A page that belongs to no leaf, or the one that was not used for longest, but not that one; it belongs to no
    /// leaf from now on.
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

    /// Gives a page in RAM to a leaf, or to none.
    pub fn give(&mut self, page: Cached, leaf: Option<Leaf>) {
        let Some(leaf) = leaf else { return self.set_owner(page, NONE) };
        if let Some(before) = self.owners.iter_mut().find(|owner| **owner == leaf.get()) {
            *before = NONE;
        }
        self.own(page, leaf);
    }

    /// Gives a page in RAM to a leaf that has none.
    fn own(&mut self, page: Cached, leaf: Leaf) {
        self.set_owner(page, leaf.get());
    }

    fn set_owner(&mut self, page: Cached, leaf: u32) {
        self.turn = self.turn.wrapping_add(1);
        if let (Some(owner), Some(used)) = (self.owners.get_mut(page.0), self.used.get_mut(page.0))
        {
            (*owner, *used) = (leaf, self.turn);
        }
    }

    /// The bytes of a page in RAM.
    pub fn bytes(&self, page: Cached) -> &[u8] {
        let start = page.0 * self.page_bytes;
        self.pages.get(start..start + self.page_bytes).unwrap_or(&[])
    }

    /// The bytes of a page in RAM, to be changed.
    pub fn bytes_mut(&mut self, page: Cached) -> &mut [u8] {
        let start = page.0 * self.page_bytes;
        self.pages.get_mut(start..start + self.page_bytes).unwrap_or(&mut [])
    }

    /// The entry of a page in RAM.
    #[inline]
    pub fn get(&self, page: Cached, at: u32) -> Mapped {
        self.entry(self.bytes(page), at)
    }

    /// The entry of a map page.
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

    /// Finds the page of a leaf, if it was ever written: in RAM, or it is loaded into RAM. A page that cannot be read
    /// says of every sector that what told its place is lost.
    #[inline]
    pub fn find<D: NandDevice, P: Probe>(
        &mut self,
        door: &mut Door<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Option<Cached>, Fault<D::Error>> {
        match self.cached(leaf) {
            Some(page) => Ok(Some(page)),
            None => self.fetch(door, leaf, cause),
        }
    }

    #[inline(never)]
    fn fetch<D: NandDevice, P: Probe>(
        &mut self,
        door: &mut Door<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Option<Cached>, Fault<D::Error>> {
        let Some(spot) = self.spot(leaf) else { return Ok(None) };
        let page = self.vacate(None);
        if !self.read_leaf(door, (leaf, spot), page, cause)? {
            self.damaged = true;
            self.fill_lost(page);
        }
        self.own(page, leaf);
        Ok(Some(page))
    }

    /// The same; that of a leaf whose page was never written says of every sector that it is nowhere.
    pub fn load<D: NandDevice, P: Probe>(
        &mut self,
        door: &mut Door<'_, D, P>,
        leaf: Leaf,
        cause: Cause,
    ) -> Result<Cached, Fault<D::Error>> {
        if let Some(page) = self.find(door, leaf, cause)? {
            return Ok(page);
        }
        let page = self.vacate(None);
        self.bytes_mut(page).fill(0xFF);
        self.own(page, leaf);
        Ok(page)
    }

    /// Reads the page of a leaf from there. `false`: it is not to be had.
    pub fn read_leaf<D: NandDevice, P: Probe>(
        &mut self,
        door: &mut Door<'_, D, P>,
        (leaf, spot): (Leaf, Spot),
        page: Cached,
        cause: Cause,
    ) -> Result<bool, Fault<D::Error>> {
        let key = door.key();
        let bytes = self.bytes_mut(page);
        let seen = door.read(spot, 0, bytes, cause)?;
        let fits = matches!(seen, Seen::Page(tag) if is_map(tag.kind))
            && leaf_named(door.slot(0)) == Some(leaf);
        Ok(fits && (self.proved || is_whole(self.bytes(page), key)))
    }

    fn fill_lost(&mut self, page: Cached) {
        for at in 0..self.leaf_sectors {
            self.set(page, at, Mapped::Lost);
        }
    }

    /// The leaves.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf> + use<> {
        (0..self.leaves).map(Leaf::new)
    }
}

/// Writes the head of a map page, or of a page with such a head.
pub fn seal_bytes(bytes: &mut [u8], horizon: Stamp, key: FormatKey) {
    if let Some(field) = bytes.get_mut(4..HEAD) {
        numbers::copy(field, &horizon.get().to_le_bytes());
    }
    let check = check(bytes, key);
    if let Some(field) = bytes.first_chunk_mut() {
        *field = check.to_le_bytes();
    }
}

/// The leaf that a map page's first slot names.
pub const fn leaf_named(slot: Slot) -> Option<Leaf> {
    match slot {
        Slot::Holds(number) => Some(Leaf::new(number.get())),
        _ => None,
    }
}

/// The horizon that a map page tells, if the page is whole.
pub fn horizon(bytes: &[u8], key: FormatKey) -> Option<Stamp> {
    let field: &[u8; 8] = bytes.get(4..HEAD)?.try_into().ok()?;
    is_whole(bytes, key).then(|| Stamp::new(u64::from_le_bytes(*field)))
}

/// Whether a map page holds what was meant to be in it.
pub fn is_whole(bytes: &[u8], key: FormatKey) -> bool {
    let stored = bytes.first_chunk().map(|field| u32::from_le_bytes(*field));
    stored == Some(check(bytes, key)) || planted(Bug::TrustTornMap)
}

/// Thirty-two bits over all but the check's own.
fn check(bytes: &[u8], key: FormatKey) -> u32 {
    let words = bytes.get(4..).unwrap_or(&[]).as_chunks().0;
    words.iter().fold(key.get() ^ 0x4D41_5021, |hash, word| {
        let mixed = (hash ^ u32::from_le_bytes(*word)).wrapping_mul(0x85EB_CA6B);
        mixed ^ mixed >> 13
    })
}
