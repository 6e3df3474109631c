//! A chip in a file: [`Chip::save`] and [`Chip::load`], and the same for a chip under faults.
//!
//! ```text
//! chip image    magic "TNDMCHIP" | version u16 | header length u32 | header | blocks, SLC first | CRC-32 of all before
//!               header: the part, what is kept of a page, clock and books (postcard), the source of its prices
//!               block:  erases u32 | 1 if bad, 2 if in SLC mode u8 | erases into SLC mode u32, where there is one |
//!                       next page u16 | its pages up to there
//!               page:   0 skipped | 1, spare bytes kept, stamps or data | 2, spare bytes kept, data
//! faults image  magic "TNDMFLTS" | version u16 | length u32 | faults (postcard) | CRC-32 of all before | chip image
//! ```
//!
//! Numbers are little-endian. Operations under way on dies that work at the same time are waited for: a loaded chip is
//! at rest. Readers and writers are used piece by piece; put a `BufReader` or `BufWriter` around a file.
//!
//! An image that is damaged, foreign, cut short or of another version is a typed error, and memory is asked for as
//! content arrives, block by block.

use std::io::{Read, Write};
use std::sync::Arc;

use ftl_iface::{Geometry, Mode, PageCount, Pairing, Region, RegionGeometry};

use crate::cells::{BlockCells, Cells};
use crate::chip::{Chip, RegionState};
use crate::clock::{Clock, Time};
use crate::content::{Content, Format};
use crate::faults::{FaultInjector, Faults};
use crate::part::{Layout, Nanos, Part, Power, RegionPart, kept_table};
use crate::stamp::State;
use crate::stats::RegionTally;

mod error;
mod wire;

pub use self::error::ImageError;
use self::wire::{In, Out};

const CHIP_MAGIC: [u8; 8] = *b"TNDMCHIP";
const FAULTS_MAGIC: [u8; 8] = *b"TNDMFLTS";
/// Larger than any part's figures, so that a damaged length ends the load early.
const HEADER_MAX: u32 = 1 << 20;
/// Room for a note on each of millions of pages.
const FAULTS_MAX: u32 = 1 << 28;
/// Sums that start below it cannot overflow within a run.
const SUM_MAX: u64 = 1 << 62;

/// All of a chip but its blocks.
#[derive(serde::Serialize, serde::Deserialize)]
struct Header {
    name: String,
    title: String,
    shapes: [Option<RegionGeometry>; 2],
    /// The pairing tables of parts that have their own; the shape says none in their place.
    tables: [Option<Vec<u16>>; 2],
    figures: [Option<RegionPart>; 2],
    layout: Layout,
    power: Power,
    exported_bytes: u64,
    sector_bytes: ftl_iface::Bytes,
    content: Content,
    time: Time,
    now: Nanos,
    active: Nanos,
    tallies: [RegionTally; 2],
    /// The last field: images of older programs end before it.
    price_source: Option<String>,
}

impl Header {
    fn of(chip: &Chip) -> Self {
        let part = chip.part();
        let shapes = Region::ALL.map(|region| part.geometry.region(region).copied());
        let table = |shape: Option<RegionGeometry>| match shape?.pairing {
            Pairing::Table(lines) => Some(lines.to_vec()),
            _ => None,
        };
        let without_table = |shape: RegionGeometry| match shape.pairing {
            Pairing::Table(_) => RegionGeometry { pairing: Pairing::None, ..shape },
            _ => shape,
        };
        let (now, active) = chip.clock().at_rest();
        Self {
            name: part.name.clone(),
            title: part.title.clone(),
            shapes: shapes.map(|shape| shape.map(without_table)),
            tables: shapes.map(table),
            figures: [part.slc.clone(), part.mlc.clone()],
            layout: part.layout,
            power: part.power,
            exported_bytes: part.exported_bytes,
            sector_bytes: part.sector_bytes,
            price_source: part.price_source.clone(),
            content: chip.content(),
            time: chip.time(),
            now,
            active,
            tallies: chip
                .regions()
                .each_ref()
                .map(|state| state.as_ref().map_or_else(RegionTally::default, |state| state.tally)),
        }
    }

    fn part(&self) -> Result<Part, ImageError> {
        let [slc, mlc] = [0, 1].map(|at| {
            let shape = self.shapes[at]?;
            let pairing = self.tables[at].as_ref().map(|lines| Pairing::Table(kept_table(lines)));
            Some(RegionGeometry { pairing: pairing.unwrap_or(shape.pairing), ..shape })
        });
        let [slc_part, mlc_part] = self.figures.clone();
        Ok(Part {
            name: self.name.clone(),
            title: self.title.clone(),
            geometry: Geometry::new(slc, mlc)?,
            slc: slc_part,
            mlc: mlc_part,
            layout: self.layout,
            power: self.power,
            exported_bytes: self.exported_bytes,
            sector_bytes: self.sector_bytes,
            price_source: self.price_source.clone(),
        })
    }

    /// Pages of the region's blocks in SLC mode, where they have one.
    fn slc_mode_pages(&self, region: Region) -> Option<PageCount> {
        self.figures[region as usize].as_ref()?.slc_mode.map(|mode| mode.pages_per_block)
    }

    fn check_sums(&self) -> Result<(), ImageError> {
        let tallies = self.tallies.iter();
        let sums =
            tallies.flat_map(|tally| [tally.reads, tally.programs, tally.erases, tally.busy.get()]);
        let largest = sums.chain([self.now.get(), self.active.get()]).max();
        let possible = largest.is_none_or(|sum| sum < SUM_MAX);
        if possible { Ok(()) } else { Err(ImageError::Damaged("impossible counts")) }
    }
}

impl Chip {
    /// Writes the chip.
    pub fn save(&self, to: impl Write) -> Result<(), ImageError> {
        let header = postcard::to_stdvec(&Header::of(self));
        let header = header.map_err(|_| ImageError::Damaged("its part cannot be written"))?;
        let mut out = Out::start(to, CHIP_MAGIC, &header)?;
        for state in self.regions().iter().flatten() {
            for (index, block) in state.cells.blocks().iter().enumerate() {
                put_block(&mut out, &state.cells, index as u32, block)?;
            }
        }
        out.finish()?.flush().map_err(ImageError::Io)
    }

    /// Reads a chip that was saved.
    pub fn load(from: impl Read) -> Result<Self, ImageError> {
        let (mut input, mut header) = In::start(from, CHIP_MAGIC, "chip", HEADER_MAX)?;
        // No source of the prices, where the header ends before it.
        header.push(0);
        let header: Header = postcard::from_bytes(&header)
            .map_err(|_| ImageError::Damaged("its header makes no sense"))?;
        header.check_sums()?;
        let part = header.part()?;
        Self::check(&part)?;
        let mut regions = [None, None];
        for region in Region::ALL {
            let state = Self::region_state(&part, region, header.content, Cells::without_blocks)?;
            regions[region as usize] = match (state, part.geometry.region(region)) {
                (Some(state), Some(shape)) => Some(fill_region(&mut input, state, shape, &header)?),
                _ => None,
            };
            if let Some(state) = &mut regions[region as usize] {
                state.tally = header.tallies[region as usize];
            }
        }
        input.finish()?;
        let clock = Clock::new(header.time, &part, header.now, header.active);
        Ok(Self::restored(part, header.content, regions, clock))
    }
}

fn fill_region<R: Read>(
    input: &mut In<R>,
    mut state: RegionState,
    shape: &RegionGeometry,
    header: &Header,
) -> Result<RegionState, ImageError> {
    let stamps = matches!(header.content, Content::Stamps { .. });
    let (mut skipped, mut modes) = (0, Vec::new());
    let slc_mode = header.slc_mode_pages(state.cells.region());
    for _ in 0..shape.blocks.get() {
        let of = Shapes { format: state.cells.format(), shape, slc_mode, stamps };
        let (block, whole, mode) = take_block(input, &of, &mut skipped)?;
        state.cells.push_block(block, whole);
        modes.push(mode);
    }
    if let Some(pages) = slc_mode {
        state.cells.allow_slc_mode(pages.get() as u16);
        for ((mode, erases), block) in modes.into_iter().zip(0..) {
            state.cells.restore_mode(block, mode, erases);
        }
    }
    Ok(state)
}

/// What a block of an image must fit.
struct Shapes<'a> {
    format: &'a Format,
    shape: &'a RegionGeometry,
    slc_mode: Option<PageCount>,
    stamps: bool,
}

fn put_block<W: Write>(
    out: &mut Out<W>,
    cells: &Cells,
    index: u32,
    block: &BlockCells,
) -> Result<(), ImageError> {
    out.put(&block.erases().to_le_bytes())?;
    let in_slc_mode = cells.mode(index) == Mode::Slc;
    out.put(&[u8::from(block.is_bad()) | u8::from(in_slc_mode) << 1])?;
    if cells.has_modes() {
        out.put(&cells.slc_mode_erases(index).to_le_bytes())?;
    }
    out.put(&block.next().to_le_bytes())?;
    let format = cells.format();
    let records = cells.records(index);
    let mut whole = vec![0; format.page_bytes()];
    for (page, record) in (0..block.next()).zip(records.chunks_exact(format.record())) {
        match State::from_code(record[0]) {
            Some(State::Kept) => out.put(record)?,
            Some(State::Whole) => {
                out.put(&record[..format.head()])?;
                cells.whole().load(index, page, 0, &mut whole);
                out.put(&whole)?;
            }
            _ => out.put(&[State::Skipped.code()])?,
        }
    }
    Ok(())
}

/// Memory that skipped pages may take in all. They take one byte of the image each, so that a
/// hostile one could ask for any amount with few of them; chips in use have hardly any.
const SKIPPED_BYTES_MAX: usize = 256 << 20;

/// The data of a block's pages that are kept whole.
type PageData = Vec<(u16, Arc<[u8]>)>;

fn take_block<R: Read>(
    input: &mut In<R>,
    of: &Shapes<'_>,
    skipped: &mut usize,
) -> Result<(BlockCells, PageData, (Mode, u32)), ImageError> {
    let Shapes { format, shape, slc_mode, stamps } = *of;
    let erases = u32::from_le_bytes(input.array()?);
    let [flags] = input.array()?;
    let (is_bad, in_slc_mode) = (flags & 1 > 0, flags & 2 > 0);
    let slc_mode_erases = match slc_mode {
        Some(_) => u32::from_le_bytes(input.array()?),
        None => 0,
    };
    let next = u16::from_le_bytes(input.array()?);
    let pages = if in_slc_mode { slc_mode.unwrap_or_default() } else { shape.pages_per_block };
    if flags > 3 || u32::from(next) > pages.get() || slc_mode_erases > erases {
        return Err(ImageError::Damaged("a block that cannot be"));
    }
    let mode = if in_slc_mode { Mode::Slc } else { Mode::Full };
    let (mut records, mut whole) = (Vec::new(), PageData::new());
    let mut last = State::Kept;
    for page in 0..next {
        let [code] = input.array()?;
        last = State::from_code(code).ok_or(ImageError::Damaged("a page that cannot be"))?;
        let start = records.len();
        records.resize(start + format.record(), 0);
        let record = &mut records[start..];
        record[0] = code;
        match last {
            State::Skipped => {
                *skipped += format.record();
                if *skipped > SKIPPED_BYTES_MAX {
                    return Err(ImageError::Damaged("more skipped pages than any chip has"));
                }
            }
            State::Kept => input.fill(&mut record[1..])?,
            State::Whole if stamps => {
                input.fill(&mut record[1..format.head()])?;
                let mut data = vec![0; format.page_bytes()];
                input.fill(&mut data)?;
                whole.push((page, data.into()));
            }
            State::Whole => return Err(ImageError::Damaged("a page that cannot be")),
        }
    }
    if last == State::Skipped {
        return Err(ImageError::Damaged("a block that ends with a skipped page"));
    }
    let block = BlockCells::restored(records.into(), erases, next, is_bad);
    Ok((block, whole, (mode, slc_mode_erases)))
}

impl FaultInjector<Chip> {
    /// Writes the faults, what they left, and the chip below.
    pub fn save(&self, to: impl Write) -> Result<(), ImageError> {
        let faults = postcard::to_stdvec(&self.faults);
        let faults = faults.map_err(|_| ImageError::Damaged("its faults cannot be written"))?;
        let to = Out::start(to, FAULTS_MAGIC, &faults)?.finish()?;
        self.inner().save(to)
    }

    /// Reads a chip under faults that was saved.
    pub fn load(from: impl Read) -> Result<Self, ImageError> {
        let (input, faults) = In::start(from, FAULTS_MAGIC, "faults", FAULTS_MAX)?;
        let faults: Faults = postcard::from_bytes(&faults)
            .map_err(|_| ImageError::Damaged("its faults make no sense"))?;
        let chip = Chip::load(input.finish()?)?;
        let fits =
            faults.bit_errors.as_ref().is_none_or(|errors| errors.fits(&chip.part().geometry));
        if fits {
            Ok(Self::with_faults(chip, faults))
        } else {
            Err(ImageError::Damaged("its faults belong to another chip"))
        }
    }
}
