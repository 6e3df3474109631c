//! An area: some blocks of one region, those that are being filled, those that are free, and what is valid in each.
//!
//! It holds tables and does no I/O; [`Units`](super::Units) does, and tells it.

use std::collections::VecDeque;
use std::ops::Range;

use ftl_iface::{Block, Geometry, Mode, Region};

use super::lists::Lists;
use super::race::Race;

mod check;

/// What an area is made of.
#[derive(Clone, Debug)]
pub struct AreaPlan {
    /// The region whose blocks it has.
    pub region: Region,
    /// Which of them.
    pub blocks: Range<u32>,
    /// The streams that fill blocks of its own each, by the mode of these blocks.
    pub streams: Vec<Mode>,
    /// Blocks that a stream fills in turn, so that as many planes and dies work at the same time.
    pub lanes: u32,
}

/// Blocks that a stream fills in turn, by region: as many as planes work at the same time there.
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
    /// All blocks of a region, in full mode, under that many streams; none where the device lacks it.
    pub fn whole(geometry: &Geometry, region: Region, streams: usize, lanes: u32) -> Self {
        let blocks = geometry.region(region).map_or(0, |shape| shape.blocks.get());
        Self { region, blocks: 0..blocks, streams: vec![Mode::Full; streams], lanes }
    }
}

/// A stream of an area: data of one kind, which fill blocks of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The area, in the order of the plans.
    pub area: usize,
    /// The stream, in the order of the area's plan.
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

/// Stands for a block that is not full, so that it is never the least valid.
const NOT_FULL: u16 = u16::MAX;

/// The share of a block of which nothing is valid, where a share divides: it is worth more than all others.
const NOTHING: f64 = 1e-12;

/// Bits of the number of a unit in its block.
const fn place_bits(units: u32) -> u32 {
    units.next_power_of_two().trailing_zeros()
}

/// Blocks of a group: as many groups as blocks of one, about, on the paper's devices.
const GROUP: usize = 256;

/// Some blocks of one region.
#[derive(Clone, Debug)]
pub struct Area {
    region: Region,
    first: u32,
    lanes: usize,
    /// Units of a block by its mode: a block has fewer in SLC mode.
    units: [u32; 2],
    /// A place's number is that of its block, turned left by so much, and that of its unit: to find a block costs no
    /// division.
    shift: u32,
    modes: Vec<Mode>,
    states: Vec<State>,
    valid: Vec<u16>,
    /// How many are valid in full blocks, in units of a block in full mode; [`NOT_FULL`] in all others.
    keys: Vec<u16>,
    /// The least key of each group of [`GROUP`] blocks, so that a search need not look at every block.
    least: Vec<u16>,
    written: Vec<u16>,
    filled_at: Vec<u64>,
    cleanings: Vec<u32>,
    /// Their sum.
    cleaned: u64,
    /// Whether the block was programmed since its erase, and in which mode it was erased.
    used: Vec<bool>,
    failing: Vec<bool>,
    /// A bit a unit.
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
    /// Full blocks in the order in which they were filled, a list for each mode.
    filled: Lists,
    /// Blocks in each mode that are being filled or full.
    holding: [u32; 2],
    /// What full blocks are worth as victims, where a policy has asked for it.
    race: Option<Race>,
}

impl Area {
    /// An area of erased blocks, where a block has that many units in full mode and that many in SLC mode.
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
            race: None,
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

    /// Free blocks below which the next write may find none left for the copies that collecting needs.
    #[inline]
    pub const fn least_free(&self) -> u32 {
        self.least_free
    }

    /// Whether room must be made before the next write.
    #[inline]
    pub const fn is_short(&self) -> bool {
        self.free_count < self.least_free
    }

    /// From now on keeps two blocks free, where one is filled at a time. A write takes one, if room was made before it;
    /// collecting takes one, too, and gives one back. Where several are filled in turn, collecting may take one of each
    /// before it gives any back, and nothing changes.
    pub(crate) const fn keep_two_free(&mut self) {
        if self.lanes == 1 {
            self.least_free = 2;
        }
    }

    /// Blocks that its streams fill at a time, at most.
    pub(super) const fn most_open(&self) -> u32 {
        (self.lanes * self.open.len()) as u32
    }

    /// Blocks that are not bad.
    pub(super) fn good_blocks(&self) -> u32 {
        self.states.iter().filter(|state| **state != State::Bad).count() as u32
    }

    /// Numbers of places of the area. Where a block's units are no power of two, some are no place's.
    pub const fn places(&self) -> u32 {
        self.blocks() << self.shift
    }

    /// The number of the place of a block's unit.
    #[inline]
    pub const fn place(&self, block: u32, unit: u32) -> u32 {
        block << self.shift | unit
    }

    /// The block of a place, and the unit of it.
    #[inline]
    pub const fn spot(&self, place: u32) -> (u32, u32) {
        (place >> self.shift, place & ((1 << self.shift) - 1))
    }

    /// Units of a block in full mode.
    #[inline]
    pub const fn units_in_full(&self) -> u32 {
        self.units[0]
    }

    /// The mode in which a block was erased.
    #[inline]
    pub fn mode(&self, block: u32) -> Mode {
        self.modes[block as usize]
    }

    /// Units that the block holds in its mode.
    #[inline]
    pub fn units_of(&self, block: u32) -> u32 {
        self.units[self.modes[block as usize] as usize]
    }

    /// Blocks in that mode that hold something.
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

    /// Whether nothing would be won by collecting the block.
    #[inline]
    pub fn is_wholly_valid(&self, block: u32) -> bool {
        self.valid(block) == self.units_of(block)
    }

    /// The area's clock: units programmed so far.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// How often blocks of the area were freed, in the mean.
    #[allow(clippy::cast_precision_loss)] // Wear is compared roughly.
    pub fn mean_cleanings(&self) -> f64 {
        self.cleaned as f64 / self.cleanings.len().max(1) as f64
    }

    /// When the block was filled.
    #[inline]
    pub fn filled_at(&self, block: u32) -> u64 {
        self.filled_at[block as usize]
    }

    /// The full block of which the least is valid.
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

    /// The full block that is worth most: its age, times what the policy makes of the share of its units that are valid
    /// and of how often it was freed. One that is valid throughout is worth nothing. An area has one such policy.
    pub(super) fn worthiest(&mut self, pace: impl Fn(f64, u32) -> f64) -> Option<u32> {
        let mut race = self.race.take().unwrap_or_else(|| Race::new(self.blocks()));
        // An age of none would make all alike.
        let best = race.best(self.now + 1, |block| {
            self.is_full(block).then(|| {
                let share = f64::from(self.valid(block)) / f64::from(self.units_of(block));
                (pace(share.max(NOTHING), self.cleanings[block as usize]), self.filled_at(block))
            })
        });
        self.race = Some(race);
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

    /// The state of a place whose data will soon be replaced.
    #[inline]
    pub(super) fn glance(&self, place: u32) -> u32 {
        u32::from(self.is_valid(place)) + self.valid(place >> self.shift)
    }

    /// The unit is programmed and holds the newest data.
    #[inline]
    pub(super) fn validate(&mut self, place: u32) {
        self.bits[place as usize / 64] |= 1 << (place % 64);
        self.valid[(place >> self.shift) as usize] += 1;
    }

    /// The unit holds old data.
    #[inline]
    pub(super) fn invalidate(&mut self, place: u32) {
        let block = (place >> self.shift) as usize;
        self.bits[place as usize / 64] &= !(1 << (place % 64));
        self.valid[block] -= 1;
        if self.states[block] == State::Full {
            self.set_key(block, self.key(block));
        }
    }

    /// The block and the unit of it that the stream programs next; none where a new block is to be opened.
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

    /// The block took a unit: it may be full now.
    #[inline]
    pub(super) fn note_programmed(&mut self, stream: usize, block: u32) {
        if u32::from(self.written[block as usize]) == self.units_of(block) {
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

    /// Puts a block where it belongs among the full ones.
    #[inline]
    fn set_key(&mut self, block: usize, key: u16) {
        if let Some(race) = &mut self.race {
            race.note(block as u32);
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

    /// What of the block is valid, as units of a block in full mode: blocks of both modes compare by their shares.
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

    /// A program in the block failed: it takes no more pages, and once it is empty it is retired.
    pub(super) fn fail(&mut self, stream: usize, block: u32) {
        self.failing[block as usize] = true;
        self.close(stream, block);
    }

    /// A free block for the stream's turn. It is erased next, unless it is new and in full mode.
    pub(super) fn take(&mut self, stream: usize) -> Option<(u32, Mode, bool)> {
        let turn = self.turns[stream];
        let lane = (0..self.lanes).map(|step| (turn + step) % self.lanes);
        let block = lane.into_iter().find_map(|lane| self.free[lane].pop_front())?;
        self.free_count -= 1;
        let (at, mode) = (block as usize, self.stream_modes[stream]);
        let erase = self.used[at] || self.modes[at] != mode;
        (self.states[at], self.modes[at], self.used[at]) = (State::Open, mode, true);
        self.written[at] = 0;
        self.holding[mode as usize] += 1;
        self.open[stream][turn] = Some(block);
        Some((block, mode, erase))
    }

    /// The block is out of use for good.
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

    /// The block holds nothing any more.
    fn vacate(&mut self, block: u32, now: State) {
        let at = block as usize;
        if let State::Open | State::Full = std::mem::replace(&mut self.states[at], now) {
            self.holding[self.modes[at] as usize] -= 1;
        }
        self.filled.remove(block);
        self.set_key(at, NOT_FULL);
    }

    /// The block is empty. It is free, or it is to be retired.
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
        // Of a block: mode and state in a byte, valid and written units, age, cleanings, its place among the free or
        // its neighbours among the full; where its worth is asked for, a line and the matches of the race.
        let race = if self.race.is_some() { 16 + 2 * 16 + 4 + 1 } else { 0 };
        let bits = self.states.len() * self.units[0] as usize;
        let per_block = 1 + 2 + 2 + 8 + 4 + 8 + race;
        (self.states.len() * per_block + bits.div_ceil(64) * 8) as u64
    }
}
