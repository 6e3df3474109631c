//! An area: some blocks of one region. It tracks open and free blocks, and the valid units of each.
//!
//! It holds tables and does no I/O; [`Units`](super::Units) does, and reports it.

use std::collections::VecDeque;
use std::ops::Range;

use ftl_iface::{Block, Geometry, Mode, Region};

use super::lists::Lists;
use super::tournament::Tournament;

mod check;

/// The plan of an area.
#[derive(Clone, Debug)]
pub struct AreaPlan {
    /// The region of its blocks.
    pub region: Region,
    /// The blocks.
    pub blocks: Range<u32>,
    /// The mode of each stream's blocks. Streams do not share blocks.
    pub streams: Vec<Mode>,
    /// Blocks that a stream fills in parallel, so that as many planes and dies work at the same time.
    pub lanes: u32,
}

/// Blocks that a stream fills in parallel, by region: one for each plane that works at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// In the SLC region.
    pub slc: u32,
    /// In the MLC region.
    pub mlc: u32,
}

impl Lanes {
    /// As many in both regions.
    pub const fn alike(lanes: u32) -> Self {
        Self { slc: lanes, mlc: lanes }
    }

    /// In that region.
    pub const fn of(self, region: Region) -> u32 {
        match region {
            Region::Slc => self.slc,
            Region::Mlc => self.mlc,
        }
    }
}

impl AreaPlan {
    /// All blocks of a region, in full mode, with that many streams; no blocks if the device lacks the region.
    pub fn whole(geometry: &Geometry, region: Region, streams: usize, lanes: u32) -> Self {
        let blocks = geometry.region(region).map_or(0, |shape| shape.blocks.get());
        Self { region, blocks: 0..blocks, streams: vec![Mode::Full; streams], lanes }
    }
}

/// A stream of an area: data of one kind, in separate blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The number of the area, in the order of the plans.
    pub area: usize,
    /// The number of the stream, in the order of the area's plan.
    pub number: usize,
}

impl Stream {
    /// That stream of that area.
    pub const fn new(area: usize, number: usize) -> Self {
        Self { area, number }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Full,
    Bad,
}

/// The key of a block that is not full, so that it is never the least valid.
const NOT_FULL: u16 = u16::MAX;

/// The valid share of a block without valid units, where a policy divides by it: worth more than all others.
const NOTHING: f64 = 1e-12;

/// Bits of a unit's number in its block.
const fn place_bits(units: u32) -> u32 {
    units.next_power_of_two().trailing_zeros()
}

/// Blocks per group: about as many as there are groups, on the paper's devices.
const GROUP: usize = 256;

/// Some blocks of one region.
#[derive(Clone, Debug)]
pub struct Area {
    region: Region,
    first: u32,
    lanes: usize,
    /// Units per block, by mode: fewer in SLC mode.
    units: [u32; 2],
    /// A place's number is its block's number shifted left by this much, plus its unit's, so that finding the block
    /// needs no division.
    shift: u32,
    modes: Vec<Mode>,
    states: Vec<State>,
    /// The stream that fills the block, or filled it.
    streams: Vec<u8>,
    valid: Vec<u16>,
    /// The valid units of full blocks, scaled to a block in full mode; [`NOT_FULL`] for all others.
    keys: Vec<u16>,
    /// The least key of each group of [`GROUP`] blocks, so that a search need not visit every block.
    least: Vec<u16>,
    written: Vec<u16>,
    filled_at: Vec<u64>,
    cleanings: Vec<u32>,
    /// The sum of `cleanings`.
    cleaned: u64,
    /// Whether the block was programmed since its erase, and in which mode it was erased.
    used: Vec<bool>,
    failing: Vec<bool>,
    /// One bit per unit: whether it is valid.
    bits: Vec<u64>,
    free: Vec<VecDeque<u32>>,
    free_count: u32,
    /// Free blocks below which room must be made.
    least_free: u32,
    /// By stream and lane: the block being filled.
    open: Vec<Vec<Option<u32>>>,
    turns: Vec<usize>,
    stream_modes: Vec<Mode>,
    /// Units programmed so far: the area's clock.
    now: u64,
    /// Full blocks in the order in which they were filled, one list per mode.
    filled: Lists,
    /// Blocks in each mode that are open or full.
    holding: [u32; 2],
    /// The worth of full blocks as victims, once a policy has asked for it.
    tournament: Option<Tournament>,
}

impl Area {
    /// An area of erased blocks, given the units of a block in full mode and in SLC mode.
    pub(super) fn new(plan: &AreaPlan, units: [u32; 2]) -> Self {
        let blocks = plan.blocks.len();
        let lanes = plan.lanes.max(1) as usize;
        let mut free = vec![VecDeque::new(); lanes];
        for (block, at) in plan.blocks.clone().zip(0..) {
            free[block as usize % lanes].push_back(at);
        }
        Self {
            region: plan.region,
            first: plan.blocks.start,
            lanes,
            units,
            shift: place_bits(units[0]),
            modes: vec![Mode::Full; blocks],
            states: vec![State::Free; blocks],
            streams: vec![0; blocks],
            valid: vec![0; blocks],
            keys: vec![NOT_FULL; blocks],
            least: vec![NOT_FULL; blocks.div_ceil(GROUP)],
            written: vec![0; blocks],
            filled_at: vec![0; blocks],
            cleanings: vec![0; blocks],
            cleaned: 0,
            used: vec![false; blocks],
            failing: vec![false; blocks],
            bits: vec![0; (blocks << place_bits(units[0])).div_ceil(64)],
            free,
            free_count: blocks as u32,
            least_free: (lanes * plan.streams.len()) as u32 + 1,
            open: vec![vec![None; lanes]; plan.streams.len()],
            turns: vec![0; plan.streams.len()],
            stream_modes: plan.streams.clone(),
            now: 0,
            filled: Lists::new(2, blocks as u32),
            holding: [0; 2],
            tournament: None,
        }
    }

    /// The device's name for a block of the area.
    #[inline]
    pub const fn block(&self, block: u32) -> Block {
        Block::new(self.region, self.first + block)
    }

    /// Blocks of the area.
    pub const fn blocks(&self) -> u32 {
        self.states.len() as u32
    }

    /// Blocks that are free.
    #[inline]
    pub const fn free_blocks(&self) -> u32 {
        self.free_count
    }

    /// With fewer free blocks the next write might leave none for the copies of garbage collection.
    #[inline]
    pub const fn least_free(&self) -> u32 {
        self.least_free
    }

    /// Whether room must be made before the next write.
    #[inline]
    pub const fn is_short(&self) -> bool {
        self.free_count < self.least_free
    }

    /// From now on keeps only two blocks free, if one block is filled at a time. A write takes one, if room was made
    /// before it; garbage collection takes one, too, and frees one. If several blocks are filled in parallel,
    /// collection may take one of each before it frees any, and nothing changes.
    pub(crate) const fn keep_two_free(&mut self) {
        if self.lanes == 1 {
            self.least_free = 2;
        }
    }

    /// From now on keeps as many blocks free as a write and its collections may take if copies go to that many streams:
    /// one for the write, and one in each lane for each stream whose open block is nearly full. Collected blocks that
    /// are not wholly valid free the rest.
    pub(crate) const fn keep_free_for(&mut self, copies: u32) {
        self.least_free = self.lanes as u32 * copies + 1;
    }

    /// The most blocks that are open at a time.
    pub(super) const fn most_open(&self) -> u32 {
        (self.lanes * self.open.len()) as u32
    }

    /// Blocks that are not bad.
    pub(super) fn good_blocks(&self) -> u32 {
        self.states.iter().filter(|state| **state != State::Bad).count() as u32
    }

    /// The range of place numbers of the area. If a block's units are no power of two, some numbers are unused.
    pub const fn places(&self) -> u32 {
        self.blocks() << self.shift
    }

    /// The number of the place of a block's unit.
    #[inline]
    pub const fn place(&self, block: u32, unit: u32) -> u32 {
        block << self.shift | unit
    }

    /// The block of a place, and the unit in it.
    #[inline]
    pub const fn spot(&self, place: u32) -> (u32, u32) {
        (place >> self.shift, place & ((1 << self.shift) - 1))
    }

    /// Units per block in full mode.
    #[inline]
    pub const fn units_in_full(&self) -> u32 {
        self.units[0]
    }

    /// The mode in which a block was erased.
    #[inline]
    pub fn mode(&self, block: u32) -> Mode {
        self.modes[block as usize]
    }

    /// The stream that fills the block, or filled it.
    #[inline]
    pub fn stream_of(&self, block: u32) -> usize {
        self.streams[block as usize].into()
    }

    /// Units that the block holds in its mode.
    #[inline]
    pub fn units_of(&self, block: u32) -> u32 {
        self.units[self.modes[block as usize] as usize]
    }

    /// Blocks in that mode that are open or full.
    pub const fn blocks_in(&self, mode: Mode) -> u32 {
        self.holding[mode as usize]
    }

    /// Whether the stream's next unit opens a new block.
    #[inline]
    pub fn is_opening(&self, stream: usize) -> bool {
        self.open[stream][self.turns[stream]].is_none()
    }

    /// Whether every unit of the block was programmed.
    #[inline]
    pub fn is_full(&self, block: u32) -> bool {
        self.states[block as usize] == State::Full
    }

    /// Valid units of a block.
    #[inline]
    pub fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize].into()
    }

    /// Whether collecting the block would free nothing.
    #[inline]
    pub fn is_wholly_valid(&self, block: u32) -> bool {
        self.valid(block) == self.units_of(block)
    }

    /// The area's clock: units programmed so far.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// How often a block of the area was freed, on average.
    #[allow(clippy::cast_precision_loss)] // Wear is compared roughly.
    pub fn mean_cleanings(&self) -> f64 {
        self.cleaned as f64 / self.cleanings.len().max(1) as f64
    }

    /// When the block was filled.
    #[inline]
    pub fn filled_at(&self, block: u32) -> u64 {
        self.filled_at[block as usize]
    }

    /// The full block with the fewest valid units, scaled by mode.
    pub fn least_valid(&self) -> Option<u32> {
        let least = self.least.iter().copied().min().filter(|key| *key != NOT_FULL)?;
        let first = self.least.iter().position(|key| *key == least)? * GROUP;
        let at = self.keys.iter().skip(first).position(|key| *key == least)?;
        Some((first + at) as u32)
    }

    /// The full block that was filled first.
    pub fn oldest(&self) -> Option<u32> {
        let oldest = [Mode::Full, Mode::Slc].into_iter().filter_map(|mode| self.oldest_in(mode));
        oldest.min_by_key(|block| self.filled_at(*block))
    }

    /// The full block in that mode that was filled first.
    pub fn oldest_in(&self, mode: Mode) -> Option<u32> {
        self.filled.oldest(mode as u8)
    }

    /// The full blocks in that mode, in the order in which they were filled.
    pub fn filled_in(&self, mode: Mode) -> impl Iterator<Item = u32> {
        self.filled.from_oldest(mode as u8)
    }

    /// How many blocks in that mode are full.
    pub fn full_in(&self, mode: Mode) -> u32 {
        self.filled.len(mode as u8)
    }

    /// The full block of the highest worth: its age, times a factor that the policy computes from its valid share and
    /// from how often it was freed. An entirely valid block is worth nothing. An area has one such policy.
    pub(super) fn worthiest(&mut self, pace: impl Fn(f64, u32) -> f64) -> Option<u32> {
        let mut tournament =
            self.tournament.take().unwrap_or_else(|| Tournament::new(self.blocks()));
        // With an age of zero all would be equal.
        let best = tournament.best(self.now + 1, |block| {
            self.is_full(block).then(|| {
                let share = f64::from(self.valid(block)) / f64::from(self.units_of(block));
                (pace(share.max(NOTHING), self.cleanings[block as usize]), self.filled_at(block))
            })
        });
        self.tournament = Some(tournament);
        best
    }

    /// The places of the block's valid units.
    pub fn valid_units(&self, block: u32) -> impl Iterator<Item = u32> {
        let places = self.place(block, 0)..self.place(block + 1, 0);
        places.clone().step_by(64).flat_map(move |first| {
            let word = self.bits[first as usize / 64] >> (first % 64);
            let mut left = word & (u64::MAX >> (64 - (places.end - first).min(64)));
            std::iter::from_fn(move || {
                let place = first + left.trailing_zeros();
                (left != 0).then(|| {
                    left &= left - 1;
                    place
                })
            })
        })
    }

    /// Whether the unit at that place is valid.
    #[inline]
    pub fn is_valid(&self, place: u32) -> bool {
        self.bits[place as usize / 64] >> (place % 64) & 1 == 1
    }

    /// Touches the table entries of a place that will be invalid soon.
    #[inline]
    pub(super) fn glance(&self, place: u32) -> u32 {
        u32::from(self.is_valid(place)) + self.valid(place >> self.shift)
    }

    /// Marks a place as valid.
    #[inline]
    pub(super) fn validate(&mut self, place: u32) {
        self.bits[place as usize / 64] |= 1 << (place % 64);
        self.valid[(place >> self.shift) as usize] += 1;
    }

    /// Marks a place as invalid.
    #[inline]
    pub(super) fn invalidate(&mut self, place: u32) {
        let block = (place >> self.shift) as usize;
        self.bits[place as usize / 64] &= !(1 << (place % 64));
        self.valid[block] -= 1;
        if self.states[block] == State::Full {
            self.set_key(block, self.key(block));
        }
    }

    /// The block and unit that the stream programs next; `None` if a new block must be opened.
    #[inline]
    pub(super) fn next(&mut self, stream: usize) -> Option<(u32, u32)> {
        let turn = self.turns[stream];
        let block = self.open[stream][turn]?;
        self.turns[stream] = if turn + 1 == self.lanes { 0 } else { turn + 1 };
        let unit = self.written[block as usize];
        self.written[block as usize] += 1;
        self.now += 1;
        Some((block, unit.into()))
    }

    /// Notes that a unit was programmed to the block, which may be full now.
    #[inline]
    pub(super) fn note_programmed(&mut self, stream: usize, block: u32) {
        if u32::from(self.written[block as usize]) == self.units_of(block) {
            self.close(stream, block);
        }
    }

    /// Ends the filling of the stream's blocks: the rest of each is lost until it is collected.
    pub(crate) fn seal(&mut self, stream: usize) {
        let open: Vec<u32> = self.open[stream].iter().flatten().copied().collect();
        for block in open {
            self.close(stream, block);
        }
    }

    #[cold]
    #[inline(never)]
    fn close(&mut self, stream: usize, block: u32) {
        for open in &mut self.open[stream] {
            *open = open.filter(|other| *other != block);
        }
        let at = block as usize;
        self.states[at] = State::Full;
        self.filled_at[at] = self.now;
        self.filled.touch(self.modes[at] as u8, block);
        self.set_key(at, self.key(at));
    }

    /// Sets a block's key, and updates the minimum of its group.
    #[inline]
    fn set_key(&mut self, block: usize, key: u16) {
        if let Some(tournament) = &mut self.tournament {
            tournament.note(block as u32);
        }
        let before = std::mem::replace(&mut self.keys[block], key);
        let group = block / GROUP;
        if key <= self.least[group] {
            self.least[group] = key;
        } else if before == self.least[group] {
            let keys = self.keys.iter().skip(group * GROUP).take(GROUP);
            self.least[group] = keys.copied().min().unwrap_or(NOT_FULL);
        }
    }

    /// The valid units of the block, scaled to a block in full mode, so that blocks of both modes are compared by
    /// share.
    #[inline]
    fn key(&self, block: usize) -> u16 {
        let valid = self.valid[block];
        match self.modes[block] {
            Mode::Full => valid,
            Mode::Slc => {
                (u32::from(valid) * self.units[0]).div_ceil(self.units[Mode::Slc as usize]) as u16
            }
        }
    }

    /// Notes a failed program: nothing more is programmed to the block, and it is retired once it is empty.
    pub(super) fn fail(&mut self, stream: usize, block: u32) {
        self.failing[block as usize] = true;
        self.close(stream, block);
    }

    /// Takes a free block for the stream. It must be erased next, unless it is new and in full mode.
    pub(super) fn take(&mut self, stream: usize) -> Option<(u32, Mode, bool)> {
        let turn = self.turns[stream];
        let lane = (0..self.lanes).map(|step| (turn + step) % self.lanes);
        let block = lane.into_iter().find_map(|lane| self.free[lane].pop_front())?;
        self.free_count -= 1;
        let (at, mode) = (block as usize, self.stream_modes[stream]);
        let erase = self.used[at] || self.modes[at] != mode;
        (self.states[at], self.modes[at], self.used[at]) = (State::Open, mode, true);
        (self.written[at], self.streams[at]) = (0, stream as u8);
        self.holding[mode as usize] += 1;
        self.open[stream][turn] = Some(block);
        Some((block, mode, erase))
    }

    /// Takes the block out of use for good.
    pub(super) fn retire(&mut self, block: u32) {
        let at = block as usize;
        for open in self.open.iter_mut().flatten() {
            *open = open.filter(|other| *other != block);
        }
        if self.states[at] == State::Free {
            self.free.iter_mut().for_each(|free| free.retain(|other| *other != block));
            self.free_count -= 1;
        }
        self.vacate(block, State::Bad);
    }

    /// Resets the entries of a block that holds nothing any more.
    fn vacate(&mut self, block: u32, now: State) {
        let at = block as usize;
        if let State::Open | State::Full = std::mem::replace(&mut self.states[at], now) {
            self.holding[self.modes[at] as usize] -= 1;
        }
        self.filled.remove(block);
        self.set_key(at, NOT_FULL);
    }

    /// Frees an empty block. `false`: it has failed and is retired instead.
    pub(super) fn release(&mut self, block: u32) -> bool {
        let at = block as usize;
        self.cleanings[at] += 1;
        self.cleaned += 1;
        if self.failing[at] {
            self.retire(block);
            return false;
        }
        self.vacate(block, State::Free);
        let lane = (self.first + block) as usize % self.lanes;
        self.free[lane].push_back(block);
        self.free_count += 1;
        true
    }

    /// RAM of the tables.
    pub(super) fn ram_bytes(&self) -> u64 {
        // Per block: mode and state in a byte, valid and written units, age, cleanings, its place among the free or its
        // neighbours among the full; if a policy asks for its worth, a line and the matches of the tournament.
        let tournament = if self.tournament.is_some() { 16 + 2 * 16 + 4 + 1 } else { 0 };
        let bits = self.states.len() * self.units[0] as usize;
        let per_block = 1 + 2 + 2 + 8 + 4 + 8 + tournament;
        (self.states.len() * per_block + bits.div_ceil(64) * 8) as u64
    }
}
