//! `tandem devices`: lists the built-in devices, or shows every figure of one.

use std::io::Write;

use ftl_iface::{Pairing, Region, RegionGeometry};
use nand_model::datasheet;
use nand_model::part::{Layout, Part, RegionPart};
use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// The arguments of `devices`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Devices to describe in full: built-in names, or paths of device files. Without any, lists the built-in ones
    #[arg(value_name = "DEVICE")]
    pub devices: Vec<String>,
}

/// Lists the built-in devices, or describes the named ones.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if args.devices.is_empty() {
        return list(out);
    }
    for (at, name) in args.devices.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        describe(&datasheet::open(name)?, out)?;
    }
    Ok(())
}

fn list(out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([
        ("device", Edge::Left),
        ("SLC", Edge::Right),
        ("MLC", Edge::Right),
        ("exported", Edge::Right),
        ("price", Edge::Right),
        ("what it is", Edge::Left),
    ]);
    for name in datasheet::builtin_names() {
        let part = datasheet::builtin(name)?;
        let capacity = |region| {
            part.geometry
                .region(region)
                .map_or("-".into(), |shape: &RegionGeometry| show::short(shape.capacity_bytes()))
        };
        table.row([
            part.name.clone(),
            capacity(Region::Slc),
            capacity(Region::Mlc),
            show::short(part.exported_bytes),
            format!("${:.2}", part.cost_dollars()),
            part.title.clone(),
        ]);
    }
    Ok(table.write(out)?)
}

fn describe(part: &Part, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}", part.name, part.title)?;
    let exported = show::short(part.exported_bytes);
    let sector = show::size(part.sector_bytes.get().into());
    writeln!(out, "  exports {exported} in sectors of {sector}, for ${:.2}", part.cost_dollars())?;
    writeln!(out, "  {}", hardware(part.layout))?;
    writeln!(
        out,
        "  {:.1} V, {:.1} mA at work, {:.1} uA at rest",
        f64::from(part.power.supply_millivolts) / 1e3,
        f64::from(part.power.active_microamps) / 1e3,
        f64::from(part.power.standby_microamps),
    )?;
    if let Some(source) = &part.price_source {
        writeln!(out, "  prices: {source}")?;
    }
    for region in Region::ALL {
        if let (Some(shape), Some(figures)) = (part.geometry.region(region), part.region(region)) {
            describe_region(region, shape, figures, out)?;
        }
    }
    Ok(())
}

fn hardware(layout: Layout) -> String {
    format!(
        "{} x {} x {} channels, dies and planes",
        layout.channels, layout.dies_per_channel, layout.planes_per_die,
    )
}

fn describe_region(
    region: Region,
    shape: &RegionGeometry,
    figures: &RegionPart,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let capacity = show::short(shape.capacity_bytes());
    writeln!(out, "  the {region} region: {capacity} of {} cells", shape.cell.name())?;
    let timing = &figures.timing;
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    let mut row = |what: &str, value: String| table.row([what.to_owned(), value]);
    let bytes = |bytes: ftl_iface::Bytes| show::size(bytes.get().into());
    row(
        "shape",
        format!(
            "{} blocks of {} pages of {} + {} spare",
            show::count(shape.blocks.get()),
            shape.pages_per_block.get(),
            bytes(shape.page_bytes),
            bytes(shape.spare_bytes)
        ),
    );
    if let Some(layout) = figures.layout {
        row("of its own", hardware(layout));
    }
    row("pairing", pairing(shape.pairing));
    row("page read", show::micros(timing.read));
    row("page program", show::micros(timing.program));
    row("block erase", show::micros(timing.erase));
    row("bus", bus(timing.bus_picos_per_byte));
    row("endurance", format!("{} cycles", show::count(figures.endurance)));
    row(
        "correction",
        format!("{} bits in {}B", figures.ecc.correctable_bits, figures.ecc.codeword_bytes),
    );
    row("bad when delivered", format!("at most {}", figures.factory_bad_blocks_max));
    row("price", format!("${:.2} a GiB", figures.dollars_per_gib));
    Ok(table.write_rows(out)?)
}

/// The scheme's name in device files.
fn pairing(scheme: Pairing) -> String {
    match (datasheet::pairing_name(scheme), scheme) {
        (Some(name), _) => name.into(),
        (None, Pairing::Table(lines)) => format!("a table of {} pages", lines.len()),
        (None, _) => "a scheme without a name".into(),
    }
}

fn bus(picos_per_byte: u64) -> String {
    if picos_per_byte == 0 {
        return "left out".into();
    }
    // A byte per picosecond would be a million megabytes per second.
    #[allow(clippy::cast_precision_loss)] // A table shows one digit after the point.
    let megabytes_per_second = 1e6 / picos_per_byte as f64;
    format!("{megabytes_per_second:.1} MB/s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::exit;

    fn output(devices: &[&str]) -> String {
        let mut out = Vec::new();
        let devices = devices.iter().map(|name| (*name).to_owned()).collect();
        run(&Args { devices }, &mut out).unwrap_or_else(|failure| panic!("{failure}"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_list_has_a_row_for_every_builtin_device() {
        let list = output(&[]);
        assert_eq!(list.lines().count(), 1 + datasheet::builtin_names().count());
        assert!(list.contains("c3"), "{list}");
        assert!(list.contains("$70.38"), "256 MiB at 11.05 and 21 GiB at 3.22: {list}");
    }

    #[test]
    fn a_description_has_the_figures_of_the_file() {
        let text = output(&["c3", "spi-nand-1g"]);
        for figure in [
            "43,008 blocks of 128 pages of 4KiB + 128B spare",
            "distance6",
            "800.000 us",
            "1500.000 us",
            "5,000 cycles",
            "4 bits in 512B",
            "52.0 MB/s",
            "3.3 V, 15.0 mA",
        ] {
            assert!(text.contains(figure), "{figure} is missing: {text}");
        }
    }

    #[test]
    fn an_unknown_device_is_bad_input() {
        let args = Args { devices: vec!["c9".into()] };
        let failure = run(&args, &mut Vec::new()).unwrap_err();
        assert_eq!(exit::code(&failure), 2);
    }
}
