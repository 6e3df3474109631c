//! The cache of blocks in SLC mode, as drives are sold with it: its parameters, and how it is built.

use ftl_iface::Region;
use ftl_rivals::pslc;
use nand_model::Time;

use super::bench;
use super::machine::Machine;
use super::meter::Meter;
use super::parts::{mlc_alone, with_slc_mode};
use super::rivals::{capacity, lanes, number, planes, unfit};
use super::system::Session;
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

pub(super) const PSLC: [Parameter; 4] = [
    Parameter {
        name: "static",
        default: "10",
        title: "minimum size of the cache, in thousandths of all blocks; static=0&dynamic=0: no cache",
    },
    Parameter {
        name: "dynamic",
        default: "250",
        title: "additional size of the cache, in thousandths of the blocks without data outside it",
    },
    Parameter {
        name: "full",
        default: "beside",
        title: "a write, when the cache is full: beside: goes past it; direct: does so while there are clean blocks, \
                then enters it; fold: enters it, once its oldest blocks are folded",
    },
    Parameter {
        name: "fold",
        default: "0",
        title: "pages of the cache that are folded for each hundred that go past it while there are clean blocks",
    },
];

pub(super) fn pslc(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = with_slc_mode(mlc_alone(&setup.part)?, &setup.part)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = pslc::PslcConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part).mlc,
        static_permille: number(values, "static")?,
        dynamic_permille: number(values, "dynamic")?,
        when_full: when_full(values)?,
        fold_percent: number(values, "fold")?,
        at_a_time: match setup.time {
            Time::Serial => 1,
            Time::Overlapped => planes(&part, Region::Mlc),
        },
    };
    let store = pslc::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

fn when_full(values: &Values) -> Result<pslc::WhenFull, Failure> {
    let when_full = values.get("full", |text| match text {
        "fold" => Ok(pslc::WhenFull::Fold),
        "direct" => Ok(pslc::WhenFull::Direct),
        "beside" => Ok(pslc::WhenFull::Beside),
        _ => Err("write fold, direct or beside".into()),
    });
    when_full.map_err(Failure::Arguments)
}
