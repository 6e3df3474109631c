//! What the page draws of a moment of a run.

use nand_model::part::Nanos;
use serde::Serialize;
use sim::Op;
use sim::engine::replay::{Answer, Look};
use sim::engine::result::PartResult;
use sim::engine::systems::{Hardware, PartState};

/// The most cells of a memory's picture: beyond, a cell stands for several blocks.
const CELLS: usize = 1024;

/// A moment of a run. Operations, wear and time are counted from its beginning.
#[derive(Debug, Serialize)]
pub struct Frame {
    requests: u64,
    written: u64,
    elapsed_us: f64,
    parts: Vec<Memory>,
    /// Response times since the frame before.
    reads: Option<Times>,
    writes: Option<Times>,
}

/// A memory at that moment.
#[derive(Debug, Serialize)]
struct Memory {
    name: &'static str,
    /// Bytes that are programmed, and not erased since.
    programmed: u64,
    /// The pages of a block.
    block_pages: u64,
    /// Blocks that a cell stands for.
    blocks_a_cell: usize,
    /// Pages programmed in the blocks of each cell, on average.
    filled: Vec<u16>,
    /// Erases of the most worn block of each cell.
    erases: Vec<u32>,
    /// Its work by cause, and the spread of its erases.
    done: PartResult,
}

/// Response times, in microseconds.
#[derive(Debug, Serialize)]
struct Times {
    count: usize,
    median: f64,
    p99: f64,
    longest: f64,
}

impl Frame {
    /// What there is to see, compared with the hardware at the first look.
    pub(crate) fn of(look: &Look<'_>, now: &Hardware, before: &Hardware) -> Self {
        let parts =
            now.parts.iter().filter_map(|part| Some(Memory::of(part, before.part(part.name)?)));
        Self {
            requests: look.requests,
            written: look.written,
            elapsed_us: now.at_rest.since(look.begun).as_micros_f64(),
            parts: parts.collect(),
            reads: Times::of(look.answers, Op::Read),
            writes: Times::of(look.answers, Op::Write),
        }
    }
}

impl Times {
    fn of(answers: &[Answer], op: Op) -> Option<Self> {
        let chosen = answers.iter().filter(|answer| answer.op == op);
        let mut took: Vec<Nanos> = chosen.map(|answer| answer.took).collect();
        took.sort_unstable();
        let count = took.len();
        let at = |percent: usize| took.get((count * percent).div_ceil(100).saturating_sub(1));
        let at = |percent| at(percent).map(|time| time.as_micros_f64());
        Some(Self { count, median: at(50)?, p99: at(99)?, longest: at(100)? })
    }
}

impl Memory {
    fn of(state: &PartState, before: &PartState) -> Self {
        let since = |(now, before): (&u32, &u32)| now - before;
        let wear: Vec<u32> = state.wear.iter().zip(&before.wear).map(since).collect();
        let operations = state.operations.since(&before.operations);
        let most = wear.len().max(state.filled.len());
        let blocks_a_cell = most.div_ceil(CELLS).max(1);
        let mean = |blocks: &[u16]| {
            let pages: usize = blocks.iter().copied().map(usize::from).sum();
            u16::try_from(pages.div_ceil(blocks.len())).unwrap_or(u16::MAX)
        };
        Self {
            name: state.name,
            programmed: state.programmed,
            block_pages: state.bytes / (state.page_bytes * state.filled.len() as u64).max(1),
            blocks_a_cell,
            filled: state.filled.chunks(blocks_a_cell).map(mean).collect(),
            erases: wear
                .chunks(blocks_a_cell)
                .map(|blocks| blocks.iter().copied().max().unwrap_or(0))
                .collect(),
            done: PartResult::new(state.bytes, before.programmed, &wear, &operations),
        }
    }
}
