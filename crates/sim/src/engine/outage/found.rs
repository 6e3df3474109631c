//! What a power cut hit, and what the mount after it found.

use std::collections::BTreeMap;

use ftl_iface::{Cause, Pairing, Region, Verb};
use nand_model::part::Part;
use nand_model::power::{BlockFate, Fates, PageFate, PairFate};
use serde::Serialize;

use crate::engine::result::ByVerb;
use crate::engine::systems::{Hardware, part_name};
use crate::input::trace::Request;

/// What a power cut hit, and what the mount after it found.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// Requests that were acknowledged before.
    pub acknowledged: u64,
    /// The request that was not; `None` if power failed between two.
    pub in_flight: Option<InFlight>,
    /// The operation in which power failed; `None` if there was none.
    pub hit: Option<Hit>,
    /// The device's time from power-on until the host may write, in microseconds.
    pub mount_us: f64,
    /// What it did in that time, by the name of the memory.
    pub mount: BTreeMap<String, ByVerb>,
    /// What the device holds then.
    pub sectors: Sectors,
}

/// A request that was not acknowledged.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct InFlight {
    /// What it asked: R, W, T or F.
    pub op: char,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

impl From<Request> for InFlight {
    fn from(request: Request) -> Self {
        let Request { op, offset, length, .. } = request;
        Self { op: op.letter(), offset, length }
    }
}

/// The operation in which power failed.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// The memory.
    pub part: &'static str,
    /// Program or erase.
    pub verb: &'static str,
    /// Why it was done.
    pub cause: &'static str,
    /// What became of it, in words.
    pub fate: &'static str,
    /// Whether pages that share its cells were lost with it, as far as there are any.
    pub takes_others: bool,
}

impl Hit {
    /// The operation that was begun between the two states, with its fate.
    pub(super) fn between(
        part: &Part,
        [before, after]: [&Hardware; 2],
        fates: &Fates,
    ) -> Option<Self> {
        Region::ALL.into_iter().find_map(|region| {
            let has_pairs = part.geometry.region(region)?.pairing != Pairing::None;
            let part = part_name(region);
            let operations = |state: &Hardware| state.part(part).map(|part| part.operations);
            let begun = operations(after)?.since(&operations(before)?);
            [Verb::Program, Verb::Erase].into_iter().find_map(|verb| {
                let cause = Cause::ALL.into_iter().find(|cause| begun.get(verb, *cause) > 0)?;
                let (fate, takes_others) = match verb {
                    Verb::Erase => (of_block(fates.block), false),
                    _ => (of_page(fates.page), has_pairs && fates.pair == PairFate::Lost),
                };
                Some(Self { part, verb: verb.name(), cause: cause.name(), fate, takes_others })
            })
        })
    }
}

const fn of_page(fate: PageFate) -> &'static str {
    match fate {
        PageFate::Untouched => "it had not begun: the page reads as erased",
        PageFate::Complete => "it was done, but for its acknowledgement",
        PageFate::Uncorrectable => "the page is uncorrectable",
        PageFate::ReadsErased => "it was half done: the page reads as erased, and is not",
        PageFate::Unstable { .. } => "the page reads well at first, and is uncorrectable later",
        PageFate::Fading => "the page reads well until power fails once more",
    }
}

const fn of_block(fate: BlockFate) -> &'static str {
    match fate {
        BlockFate::Untouched => "it had not begun: the pages read as before",
        BlockFate::Erased => "it was done, but for its acknowledgement",
        BlockFate::Garbage => "the block holds a mix of old pages, erased ones and garbage",
        BlockFate::Fading => "the block was erased weakly: some pages read well for a while",
    }
}

/// What every sector of the device holds, in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sectors {
    /// All that were read.
    pub checked: u64,
    /// As they were acknowledged last.
    pub intact: u64,
    /// Of the request in flight: as before it.
    pub as_before: u64,
    /// Of the request in flight: as it asked.
    pub as_requested: u64,
    /// Reported as lost.
    pub lost: u64,
    /// Something else: acknowledged data is gone, and nothing says so.
    pub wrong: u64,
}
