//! Whether a run was long enough to show what it is asked for, and how long a longer one must be.

use ftl_iface::Region;
use nand_model::part::Part;
use sim::engine::replay::{ROUNDS_MOST, is_filling};
use sim::engine::result::{ByVerb, PartResult, RunResult, ratio};
use sim::engine::systems::{self, part_name};
use sim::input::device::{Fill, Setup};
use sim::input::synth::PREFIX;

use super::field::Field;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// How often a memory must be written over until speed and life hardly change any more.
const TIMES_LEAST: f64 = 3.0;

/// From this share of the rounds on that a run may take, it is proposed to replay until it is steady.
const ROUNDS_SURE: f64 = 0.8;

/// The causes of work that makes room.
const MAKES_ROOM: [&str; 2] = ["gc", "write_back"];

/// The operations of a memory that make room in it.
fn making_room(run: &RunResult, part: &str) -> ByVerb {
    let Some(part) = run.parts.get(part) else { return ByVerb::default() };
    let causes = MAKES_ROOM.iter().filter_map(|cause| part.operations.get(*cause));
    causes.fold(ByVerb::default(), |sum, done| ByVerb {
        read: sum.read + done.read,
        program: sum.program + done.program,
        erase: sum.erase + done.erase,
    })
}

/// Whether pages were programmed, and nothing was done to make room for them.
pub(super) fn is_idle(run: &RunResult) -> bool {
    let programs = run.parts.values().map(|part| part.pages().programs());
    let makes_room = run.parts.keys().any(|part| making_room(run, part) != ByVerb::default());
    // Memory that is written byte by byte needs no room.
    let is_flash = run.parts.contains_key(part_name(Region::Mlc))
        || run.parts.contains_key(part_name(Region::Slc));
    is_flash && programs.sum::<u64>() > 0 && !makes_room
}

/// How to replay enough for all these runs.
pub(super) fn replay_more(field: &Field<'_>, runs: &[&RunResult]) -> String {
    if runs.iter().any(|run| run.partial) {
        return "Let the replay come to its end".into();
    }
    let each = runs.iter().map(|run| (*run, passes(run, field.setup)));
    let (enough, others): (Vec<_>, Vec<_>) = each.partition(|(_, passes)| passes.is_some());
    let Some(passes) = enough.iter().filter_map(|(_, passes)| *passes).max() else {
        return write_more(runs).into();
    };
    let others: Vec<&RunResult> = others.iter().map(|(run, _)| *run).collect();
    let but = match others[..] {
        [] => String::new(),
        _ => format!(", which may not be enough for {}", field.named(&others)),
    };
    format!("Replay more: --passes {passes}{but}")
}

/// How to have more written, where more passes do not help.
pub(super) fn write_more(runs: &[&RunResult]) -> &'static str {
    let is_synthetic = runs.iter().all(|run| run.trace.contains(PREFIX));
    if is_synthetic {
        "Replay more, with more requests="
    } else {
        "Replay a trace that writes more"
    }
}

/// The passes that write a tenth of the disk, or all of an empty one and that, and fill the SLC twice, if so many are
/// reasonable. With `--steady` there is no number of passes to propose.
fn passes(run: &RunResult, setup: &Setup) -> Option<u64> {
    if run.steady.is_some() {
        return None;
    }
    let part = &setup.part;
    let so_far = u64::from(run.passes);
    let empty = match setup.fill {
        Fill::Nothing => main_memory(run).map_or(0, |part| part.bytes),
        Fill::InOrder | Fill::Random => 0,
    };
    let of_disk = (empty + part.exported_bytes / 10).div_ceil(run.bytes_written.max(1)) * so_far;
    let twice = |programmed: u64| (2 * run.slc_bytes).div_ceil(programmed.max(1)) * so_far;
    let of_slc = slc_programmed(run, part).map_or(0, twice);
    let passes = of_disk.max(of_slc).max(10 * so_far);
    (run.bytes_written > 0 && passes <= PASSES_MOST).then_some(passes)
}

/// The memory in which the system keeps most of its data.
fn main_memory(run: &RunResult) -> Option<&PartResult> {
    [Region::Mlc, Region::Slc].into_iter().find_map(|region| run.parts.get(part_name(region)))
}

/// The bytes of data and map programmed in the SLC whose size the user chose; `None` if there is no such SLC. Metadata
/// stays in a few blocks.
fn slc_programmed(run: &RunResult, part: &Part) -> Option<u64> {
    // A chip of SLC alone has no log to be filled.
    part.geometry.mlc()?;
    let page = part.geometry.slc()?.page_bytes;
    let is_sized = run.slc_bytes > 0 && systems::uses_slc(&run.system);
    let pages = run.slc.pages.programs() - run.slc.pages.meta_program;
    is_sized.then(|| pages * u64::from(page.get()))
}

/// Whether, and by how much, the SLC of a run was not filled.
pub(crate) fn unfilled(run: &RunResult, setup: &Setup) -> Option<Unfilled> {
    let programmed = slc_programmed(run, &setup.part)?;
    let before = run.parts.get(part_name(Region::Slc)).map_or(0, |part| part.programmed_before);
    let passes = passes(run, setup).filter(|_| !run.partial);
    (before + programmed < run.slc_bytes).then_some(Unfilled { programmed, passes })
}

/// An SLC that was never filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// The bytes of data and map programmed in it by the run.
    pub(crate) programmed: u64,
    /// The passes that fill it twice, if so many are reasonable.
    pub(crate) passes: Option<u64>,
}

/// Whether a run that ends when it is steady would use up what is free in the main memory, if it writes there.
pub(crate) fn could_settle(run: &RunResult) -> bool {
    let rounds = f64::from(ROUNDS_MOST as u32) * ROUNDS_SURE / f64::from(run.passes.max(1));
    let before = main_memory(run).and_then(|main| ratio(main.programmed_before, main.bytes));
    let before = before.unwrap_or(0.0);
    run.steady.is_none() && times_over(run).is_none_or(|times| before + times * rounds >= 1.0)
}

/// Whether a run wrote so little of the disk that the rest decides.
pub(crate) fn is_little(run: &RunResult, part: &Part) -> bool {
    run.bytes_touched > 0 && !is_enough(run.bytes_touched, part.exported_bytes)
}

/// Whether that much written is enough of a disk of that size.
pub(super) fn is_enough(touched: u64, exported: u64) -> bool {
    ratio(touched, exported).is_some_and(|share| share >= TOUCHED_LEAST)
}

/// How often the system's main memory was programmed over; `None` if it was not.
pub(super) fn times_over(run: &RunResult) -> Option<f64> {
    run.times_over.filter(|times| *times > 0.0)
}

/// Whether a run is so short that its speed and life may still change.
pub(crate) fn is_short(run: &RunResult) -> bool {
    let is_short = match &run.steady {
        Some(steady) => is_filling(&steady.rounds),
        None => times_over(run).is_some_and(|times| times < TIMES_LEAST),
    };
    run.bytes_written > 0 && is_short
}
