//! Systems side by side, on the same requests: which run, what each is without its SLC, and how they compare.
//!
//! # Modules
//!
//! - `ranking`: one order of them all.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::base::{Failure, Observer};
use crate::engine::result::{Ratios, RunResult};
use crate::engine::systems::{self, Chosen, Several, Without};
use crate::input::device::Setup;

mod ranking;

pub use ranking::{
    Listed, NOTABLE, Pair, Ranking, RankingRow, Standing, is_same_price, labels, told,
    with_and_without,
};

/// A comparison, as in its JSON.
#[derive(Debug, Serialize)]
pub struct Comparison<'a> {
    /// One of each system, the first of which the others are compared with.
    pub runs: &'a [&'a RunResult],
    /// Each compared with the first.
    pub ratios: BTreeMap<&'a str, Ratios>,
    /// How many times as fast each system is with its SLC as without.
    pub slc_gain: BTreeMap<&'a str, f64>,
    /// The runs without SLC that were made for that, as results but for the times of this computer.
    pub without_slc: BTreeMap<&'a str, Value>,
    /// The best first.
    pub ranking: Vec<RankingRow<'a>>,
}

impl<'a> Comparison<'a> {
    /// The comparison of these runs, and of those without SLC.
    pub fn of(runs: &'a [&'a RunResult], pairs: &[Pair<'a>]) -> Self {
        let against =
            runs.iter().filter_map(|run| Some((run.system.as_str(), run.against(runs.first()?))));
        let name = |pair: &Pair<'a>| pair.with.system.as_str();
        let of_pairs = pairs.iter();
        Self {
            runs,
            ratios: against.collect(),
            slc_gain: of_pairs
                .clone()
                .filter_map(|pair| Some((name(pair), pair.gain()?)))
                .collect(),
            without_slc: of_pairs
                .filter_map(|pair| Some((name(pair), of_device(pair.without.ok()?))))
                .collect(),
            ranking: ranking(runs, pairs).as_ref().map_or_else(Vec::new, Ranking::rows),
        }
    }
}

/// The ranking of several runs; `None` for a single one.
pub fn ranking<'a>(runs: &[&'a RunResult], pairs: &[Pair<'a>]) -> Option<Ranking<'a>> {
    let several = runs.len() > 1 || pairs.iter().any(|pair| pair.without.is_ok());
    if several { Ranking::of(runs, pairs) } else { None }
}

/// The systems of a comparison, and what each is without its SLC.
#[derive(Clone, Debug, Default)]
pub struct ComparedSystems {
    systems: Vec<Chosen>,
    without: Vec<Option<Without>>,
    left_out: Vec<String>,
}

impl ComparedSystems {
    /// These systems, or the usual ones if there are none: those of them that fit the device.
    pub fn of(asked: &[Several], setup: &Setup, observer: &dyn Observer) -> Result<Self, Failure> {
        let usual = if asked.is_empty() {
            Several::usual(setup).map_err(Failure::Arguments)?
        } else {
            Vec::new()
        };
        let (mut systems, mut left_out) = (Vec::new(), Vec::new());
        for several in asked.iter().chain(&usual) {
            let fitting = several.on(setup, observer)?;
            systems.extend(fitting.systems);
            left_out.extend(fitting.left_out);
        }
        if systems.is_empty() {
            return Err(Failure::Unfit("no system fits the device: see above".into()));
        }
        for (at, system) in systems.iter().enumerate() {
            if systems[..at].iter().any(|other| other.name == system.name) {
                let reason =
                    format!("`{}` is named twice: a comparison has each system once", system.name);
                return Err(Failure::Arguments(reason));
            }
        }
        let without = systems::without_slc(&systems, setup)?;
        Ok(Self { systems, without, left_out })
    }

    /// The systems that are compared.
    pub fn systems(&self) -> &[Chosen] {
        &self.systems
    }

    /// Which systems do not fit the device, and why.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// All that run: the systems, then those without SLC.
    pub fn all(&self) -> Vec<Chosen> {
        let without = self.without.iter().filter_map(|without| match without {
            Some(Without::Own(chosen)) => Some(chosen.clone()),
            _ => None,
        });
        self.systems.iter().cloned().chain(without).collect()
    }

    /// Each system with an SLC beside its run without, of all runs in the order of [`all`](Self::all).
    pub fn pairs<'a>(&'a self, all: &[&'a RunResult]) -> Vec<Pair<'a>> {
        let mut own = all.iter().skip(self.systems.len()).copied();
        let pair = |(with, without): (&&'a RunResult, &'a Option<Without>)| {
            let without = match without.as_ref()? {
                Without::Own(_) => Ok(own.next()?),
                Without::Same(at) => Ok(*all.get(*at)?),
                Without::Nothing(reason) => Err(reason),
            };
            Some(Pair { with, without })
        };
        all.iter().zip(&self.without).filter_map(pair).collect()
    }
}

/// The times of this computer in a result.
const OF_COMPUTER: [&str; 4] = ["wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"];

/// A result without these.
fn of_device(run: &RunResult) -> Value {
    // A result is figures and names, which JSON can always represent.
    let mut value = serde_json::to_value(run).unwrap_or_default();
    if let Some(names) = value.as_object_mut() {
        names.retain(|name, _| !OF_COMPUTER.contains(&name.as_str()));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::device::DeviceChoice;

    /// What bounds the time of a comparison: each system runs once more at most.
    #[test]
    fn at_most_as_many_run_without_slc_as_with_it() {
        for (device, capacity) in [("c3", 1 << 30), ("tlc-pslc", 8 << 30)] {
            let choice = DeviceChoice { capacity: Some(capacity), ..DeviceChoice::named(device) };
            let setup = choice.setup().unwrap();
            let asked = Several::parse("all").unwrap();
            let compared = ComparedSystems::of(&[asked], &setup, &()).unwrap();
            let with_slc = compared.systems().iter().filter(|system| system.uses_slc()).count();
            let without = compared.all().len() - compared.systems().len();
            assert!((1..=with_slc).contains(&without), "{device}: {without} for {with_slc}");
        }
    }
}
