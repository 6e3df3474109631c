//! `tandem size`: what a configuration needs of a device and its firmware: RAM by table, code, the worst request,
//! mounts.
//!
//! RAM and bounds are computed by the formulas that firmware is built with; requests and mounts are run on the model,
//! one operation after the other.
//!
//! # Modules
//!
//! - `keys`: what can be set. `code`: sizes of code. `seen`: requests on the model; `worst`: these beside their bounds.
//!   `mounts`: lives on the model.

mod code;
mod keys;
mod mounts;
mod seen;
mod worst;

use std::io::Write;
use std::path::PathBuf;

use ftl_core::paged::PagedPlan;
use ftl_core::{Config, PlanRow, RamPlan};
use ftl_iface::SectorCount;
use nand_model::part::Part;

use self::keys::Keys;
use self::seen::many;
use self::worst::Bounds;
use crate::flags::device::DeviceArgs;
use crate::output::table::{Edge, Table, write_sentence};
use sim::engine::systems::{self, Blueprint, Chosen, Store, USUAL};
use sim::{Failure, show};

/// The arguments of `size`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The device: a built-in name (`tandem devices` lists them) or the path of a device file; as --device
    #[arg(value_name = "DEVICE", conflicts_with = "device")]
    device_named: Option<String>,
    /// The FTL: paged, hybrid (with a log), or conventional (without)
    #[arg(long, default_value = USUAL, value_parser = Chosen::parse, value_name = "SYSTEM")]
    system: Chosen,
    /// A TOML file with changes to the configuration of `hybrid` or `conventional`. `list` lists the keys of the system
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Writes the tables.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if args.config.as_ref().is_some_and(|path| path.as_os_str() == "list") {
        return Ok(out.write_all(keys::listed(&args.system).as_bytes())?);
    }
    let mut device = args.device.clone();
    if let Some(named) = &args.device_named {
        device.device.clone_from(named);
    }
    let Blueprint { part, store } = args.system.blueprint(&device.setup()?)?;
    let heading = format!("{} on {}: {}\n", args.system.name, part.name, part.title);
    let mut config = match store {
        Store::Chains(chains) => chains.0,
        Store::Pages(_) if args.config.is_some() => {
            let reason = "--config: its keys are for --system hybrid; here use --system 'paged?entries=4096'";
            return Err(Failure::Arguments(reason.into()));
        }
        Store::Pages(pages) => {
            writeln!(out, "{heading}")?;
            return of_pages(&part, &pages.1, out);
        }
    };
    if let Some(path) = &args.config {
        Keys::read(path)?.apply(&mut config)?;
    }
    let plan = RamPlan::new(&part.geometry, &config).map_err(|error| {
        Failure::Unfit(format!("the configuration does not fit {}: {error}", part.name))
    })?;
    writeln!(out, "{heading}")?;
    of_chains(&part, &plan, &config, out)
}

/// Writes the tables of the hybrid, with its log or without.
fn of_chains(
    part: &Part,
    plan: &RamPlan,
    config: &Config,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    ram(plan.rows(), plan.total_bytes(), systems::itself_bytes(plan), out)?;
    code::write("hybrid", out)?;
    let bound = plan.worst_case(config);
    let (one, many) = (SectorCount::new(1), many(config.sector_bytes));
    let bounds = Bounds {
        read: bound.read(one),
        write: bound.write(one),
        write_many: bound.write(many),
        trim: bound.trim(one),
        maintain: bound.maintain(1),
    };
    let lived = mounts::of_chains(part, plan, config)?;
    worst::write(part, config.sector_bytes, &bounds, &lived.seen, out)?;
    lived.write(out)
}

/// When the bounds of the page store do not hold.
const WAITS: &str = "A write to an area without free blocks waits until garbage collection has freed some: then \
    it may take longer.";

/// Writes the tables of the page store.
fn of_pages(part: &Part, plan: &PagedPlan, out: &mut dyn Write) -> Result<(), Failure> {
    ram(plan.rows(), plan.total_bytes(), systems::pages_itself_bytes(), out)?;
    code::write("page store", out)?;
    let bound = plan.worst_case();
    let sector_bytes = plan.shape().sector_bytes;
    let (one, many) = (SectorCount::new(1), many(sector_bytes));
    let bounds = Bounds {
        read: bound.read(one),
        write: bound.write(one),
        write_many: bound.write(many),
        trim: bound.trim(one),
        maintain: bound.maintain(1),
    };
    let lived = mounts::of_pages(part, plan)?;
    worst::write(part, sector_bytes, &bounds, &lived.seen, out)?;
    write_sentence(WAITS, out)?;
    lived.write(out)
}

fn ram(
    rows: impl Iterator<Item = PlanRow>,
    lent: usize,
    ftl: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut table = Table::new([("RAM", Edge::Left), ("bytes", Edge::Right)]);
    for row in rows.filter(|row| row.elements > 0) {
        table.row([row.name.to_owned(), show::count((row.elements * row.element_bytes) as u64)]);
    }
    table.row(["the FTL itself, on a PC".into(), show::count(ftl as u64)]);
    table.row(["all".into(), show::count((lent + ftl) as u64)]);
    Ok(table.write(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_page_store_the_same_is_told() {
        let device = DeviceArgs { device: "c3".into(), capacity: None, slc: None, parallel: false };
        let system = Chosen::parse("paged").unwrap();
        let mut args = Args { device_named: None, system, config: None, device };
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        for part in [
            "paged on c3",
            "directory of map pages",
            "all  ",
            "at most",
            "longest seen",
            "page store, opt-level = \"z\"",
            "without free",
            "a clean stop",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        args.config = Some("keys.toml".into());
        let refused = run(&args, &mut Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("for --system hybrid"), "{refused}");
    }
}
