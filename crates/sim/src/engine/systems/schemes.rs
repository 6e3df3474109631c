//! Schemes of garbage collection, on the device's MLC: their parameters, and how each is built.

use std::sync::Arc;

use ftl_iface::Region;
pub use ftl_rivals::fk::{Diary, Future, Reach};
use ftl_rivals::kit::Victims;
use ftl_rivals::midas::{self, MidasConfig, Pooled};
use ftl_rivals::page_map::{Copies, PageMapConfig};
use ftl_rivals::{d_choices, fk, page_map, sep_bit};
use nand_model::part::Part;

use super::bench;
use super::given::Given;
use super::machine::Machine;
use super::meter::Meter;
use super::parts::mlc_alone;
use super::rivals::{capacity, lanes, number, unfit, victims};
use super::system::Session;
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

/// Of schemes whose victims are chosen by valid share and age, unless told otherwise.
pub(super) const BY_AGE: [Parameter; 1] = [Parameter {
    name: "victims",
    default: "cost-benefit",
    title: "choice of victims: greedy, cost-benefit or cat (cost age times)",
}];

/// A page map over the MLC whose copies lie apart.
fn page_map_config(setup: &Setup, part: &Part, victims: Victims) -> PageMapConfig {
    PageMapConfig {
        region: Region::Mlc,
        victims,
        copies: Copies::Apart,
        sector: part.sector_bytes,
        capacity: capacity(part),
        lanes: lanes(setup, part).mlc,
    }
}

pub(super) fn sep_gc(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = mlc_alone(&setup.part)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = page_map_config(setup, &part, victims(values)?);
    let store = page_map::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const D_CHOICES: [Parameter; 1] =
    [Parameter { name: "d", default: "10", title: "blocks that are drawn for each victim" }];

pub(super) fn d_choices(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = mlc_alone(&setup.part)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = d_choices::DChoicesConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part).mlc,
        choices: number(values, "d")?,
    };
    let store = d_choices::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) fn sep_bit(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = mlc_alone(&setup.part)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = sep_bit::SepBitConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part).mlc,
        victims: victims(values)?,
    };
    let store = sep_bit::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const MIDAS: [Parameter; 1] = [Parameter {
    name: "victims",
    default: "cost-benefit",
    title: "choice of victims where groups have no sizes: greedy or cost-benefit",
}];

pub(super) fn midas(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = mlc_alone(&setup.part)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let pooled = values.get("victims", |text| match text {
        "greedy" => Ok(Pooled::Greedy),
        "cost-benefit" => Ok(Pooled::CostBenefit),
        _ => Err("write greedy or cost-benefit".into()),
    });
    let config = MidasConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part).mlc,
        pooled: pooled.map_err(Failure::Arguments)?,
    };
    let store = midas::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

/// A page map that keeps a diary of a run, for one that knows its future.
pub fn diarist(diary: Diary) -> Arc<dyn Given> {
    Arc::new(Diarist(diary))
}

#[derive(Debug)]
struct Diarist(Diary);

impl Given for Diarist {
    fn uses_slc(&self) -> bool {
        false
    }

    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        let part = mlc_alone(&setup.part)?;
        let meter = Meter::new();
        let machine = Machine::new(&part, setup, &meter)?;
        let config = page_map_config(setup, &part, Victims::Greedy);
        let diary = self.0.clone();
        let store = fk::diarist(machine.nand(), machine.probe(), &config, diary).map_err(unfit)?;
        bench::run(&machine, store, session)
    }
}

/// FK, which knows that future. It must replay what the diarist has replayed, on a device of the same capacity.
pub fn foreseeing(future: Arc<Future>, reach: Reach) -> Arc<dyn Given> {
    Arc::new(Foreseeing { future, reach })
}

#[derive(Debug)]
struct Foreseeing {
    future: Arc<Future>,
    reach: Reach,
}

impl Given for Foreseeing {
    fn uses_slc(&self) -> bool {
        false
    }

    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        let part = mlc_alone(&setup.part)?;
        let meter = Meter::new();
        let machine = Machine::new(&part, setup, &meter)?;
        let config = fk::FkConfig {
            sector: part.sector_bytes,
            capacity: capacity(&part),
            lanes: lanes(setup, &part).mlc,
            victims: Victims::CostBenefit,
            reach: self.reach,
            future: Arc::clone(&self.future),
        };
        let store = fk::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
        bench::run(&machine, store, session)
    }
}
