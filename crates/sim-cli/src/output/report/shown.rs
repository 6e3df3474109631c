//! The runs of a report, and the names in it.

use ftl_iface::Region;
use sim::engine::replay::{Details, Outcome};
use sim::engine::result::{PartResult, RunResult};
use sim::engine::systems::{SLC_MODE, part_name};

use crate::output::ranking;

/// A run in a report, under the name that tells it from the others.
pub(super) struct Shown<'a> {
    pub(super) label: String,
    pub(super) result: &'a RunResult,
    pub(super) details: Option<&'a Details>,
}

/// A flash memory of a run, as its blocks are used: those of the MLC in SLC mode are one by themselves.
pub(super) struct Memory<'a> {
    /// The system, and the memory.
    pub(super) name: String,
    pub(super) region: Region,
    pub(super) part: &'a PartResult,
}

impl<'a> Shown<'a> {
    pub(super) fn memories(&self) -> impl Iterator<Item = Memory<'a>> {
        let [slc, mlc] = Region::ALL.map(|region| (region, part_name(region), region.to_string()));
        let in_slc_mode = (Region::Mlc, SLC_MODE, "MLC in SLC mode".to_owned());
        let (parts, label) = (&self.result.parts, self.label.clone());
        [slc, mlc, in_slc_mode].into_iter().filter_map(move |(region, part, name)| {
            let part = parts.get(part)?;
            Some(Memory { name: format!("{label}, {name}"), region, part })
        })
    }
}

pub(super) fn shown(outcomes: &[Outcome]) -> Vec<Shown<'_>> {
    let runs: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let labelled = outcomes.iter().zip(ranking::labels(&runs));
    let shown = labelled.map(|(Outcome { result, details, .. }, label)| Shown {
        label,
        result,
        details: details.as_ref(),
    });
    shown.collect()
}

/// What a cause is called in tables and charts.
pub(super) fn cause_name(cause: &str) -> &str {
    match cause {
        "reclaim" => "garbage collection",
        "fold" => "folding",
        "scan" => "address translation",
        "meta" => "metadata",
        same => same,
    }
}
