//! `tandem bounds`: the speed limits of a device's dies and buses, and how close workloads come to them.
//!
//! A load reads at random, or writes sequentially, in requests of one size, with a fixed number outstanding. It cannot
//! be faster than
//!
//! - its *queue* allows: that many requests in the time that one of them takes on idle hardware;
//! - its *dies* allow: each is busy with a page's cell operation and with its bus transfer;
//! - its *buses* allow: each carries one page at a time.
//!
//! The smallest of the three is the bound. The speed of a replay on `conventional` is shown beside it; the difference
//! is due to requests that collide on one die while others idle, map lookups, and erases.

use std::io::Write;
use std::num::NonZeroU32;

use ftl_iface::{Bytes, Region, RegionGeometry};
use nand_model::Time;
use nand_model::part::{Layout, Nanos, Part, RegionPart, Stripe};
use sim::engine::systems::Chosen;
use sim::input::trace::Op;
use sim::{Failure, show};

use crate::base::interrupt;
use crate::base::terminal::Terminal;
use crate::flags::device::DeviceArgs;
use crate::flags::options::{Options, PaceArgs};
use crate::flags::workload::WorkloadArgs;
use crate::output::ended;
use crate::output::table::{Edge, Table};

/// The arguments of `bounds`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The device: a built-in name (`tandem devices` lists them) or the path of a device file
    #[arg(value_name = "DEVICE", default_value = "tlc-pslc")]
    device: String,
}

/// The part of the device that random reads go to: small, so that its maps are soon cached.
const READ_FROM: u64 = 256 << 20;

/// Bytes that a load moves, and its minimum and maximum number of requests.
const MOVED: u64 = 96 << 20;
const REQUESTS: (u64, u64) = (400, 6_000);

const SIZES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const DEPTHS: [u32; 5] = [1, 2, 4, 16, 64];

/// Requests of one kind and size.
#[derive(Clone, Copy, Debug)]
struct BoundedLoad {
    op: Op,
    bytes: u64,
    depth: u32,
}

/// What limits the speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Queue,
    Dies,
    Buses,
}

impl Limit {
    const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Dies => "dies",
            Self::Buses => "buses",
        }
    }
}

/// The cost of a page of a load.
#[derive(Clone, Copy, Debug)]
struct PageCost {
    array: Nanos,
    transfer: Nanos,
}

/// Runs the loads and writes the table.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let device =
        DeviceArgs { device: args.device.clone(), capacity: None, slc: None, parallel: true };
    let part = device.setup()?.part;
    writeln!(out, "{}: {}", part.name, part.title)?;
    writeln!(out, "{}\n", hardware(&part))?;
    let mut done = 0;
    for (op, title) in
        [(Op::Read, "Reads only, at random addresses"), (Op::Write, "\nWrites only, sequential")]
    {
        writeln!(out, "{title}:")?;
        done += of_all_loads(op, &part, &device, out)?;
        if interrupt::is_requested() {
            let all = 2 * SIZES.len() * DEPTHS.len();
            return Err(Failure::Interrupted(format!("{done} of {all} loads were replayed")));
        }
    }
    Ok(())
}

/// Writes the table of one kind of request, until Ctrl-C. Returns the number of its loads.
fn of_all_loads(
    op: Op,
    part: &Part,
    device: &DeviceArgs,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    let heads = ["request", "queue", "bound", "by", "reached", "share"];
    let edges = [Edge::Right, Edge::Right, Edge::Right, Edge::Left, Edge::Right, Edge::Right];
    let mut table = Table::new(heads.into_iter().zip(edges));
    let mut done = 0;
    for (bytes, depth) in SIZES.into_iter().flat_map(|bytes| DEPTHS.map(|depth| (bytes, depth))) {
        match row(part, device, BoundedLoad { op, bytes, depth }) {
            Err(Failure::Interrupted(_)) => break,
            row => table.row(row?),
        }
        done += 1;
    }
    table.write(out)?;
    Ok(done)
}

fn hardware(part: &Part) -> String {
    let layout = layout(part);
    let striped = match layout.stripe {
        Stripe::None => "a block on one plane",
        Stripe::Die => "a block over the planes of a die",
        Stripe::Device => "a block over all planes",
    };
    format!(
        "{} channels of {} dies of {} planes, {striped}",
        layout.channels, layout.dies_per_channel, layout.planes_per_die
    )
}

fn row(part: &Part, device: &DeviceArgs, load: BoundedLoad) -> Result<Vec<String>, Failure> {
    let (bound, limit) = bound(part, load);
    let reached = reached(device, load)?;
    Ok(vec![
        show::size(load.bytes),
        load.depth.to_string(),
        format!("{:.1} MB/s", bound / 1e6),
        limit.name().into(),
        format!("{:.1} MB/s", reached / 1e6),
        format!("{:.0} %", reached / bound * 100.0),
    ])
}

/// The region that holds the host's data if there is no SLC.
fn home(part: &Part) -> Option<(&RegionGeometry, &RegionPart)> {
    let mlc = part.geometry.mlc().zip(part.mlc.as_ref());
    mlc.or_else(|| part.geometry.slc().zip(part.slc.as_ref()))
}

/// The hardware of that region.
fn layout(part: &Part) -> Layout {
    part.layout_of(if part.mlc.is_some() { Region::Mlc } else { Region::Slc })
}

/// The upper bound of the load in bytes per second, and what limits it.
#[allow(clippy::cast_precision_loss)] // A table shows one digit after the point.
fn bound(part: &Part, load: BoundedLoad) -> (f64, Limit) {
    let Some((shape, figures)) = home(part) else { return (0.0, Limit::Dies) };
    let page = u64::from(shape.page_bytes.get());
    let (pages, timing) = (load.bytes.div_ceil(page), &figures.timing);
    let cost = match load.op {
        // Only the requested bytes leave the die, without spare bytes.
        Op::Read => PageCost {
            array: timing.read,
            transfer: timing.transfer(Bytes::new(load.bytes.min(page) as u32)),
        },
        _ => PageCost {
            array: timing.program,
            transfer: timing.transfer(shape.page_bytes + shape.spare_bytes),
        },
    };
    let seconds = |time: Nanos| time.get() as f64 / 1e9;
    let a_page = load.bytes as f64 / pages as f64;
    let layout = layout(part);
    let dies = u64::from(layout.dies());
    let under_way = pages * u64::from(load.depth);
    let together = under_way.div_ceil(dies).clamp(1, layout.planes_per_die.into());
    let by_dies = (dies * together) as f64 / seconds(cost.array + cost.transfer * together);
    let by_queue = f64::from(load.depth) * pages as f64 / seconds(alone(part, pages, cost));
    let mut least = (a_page * by_queue, Limit::Queue);
    let by_buses = f64::from(layout.channels) / seconds(cost.transfer.max(Nanos::new(1)));
    for (pages_a_second, limit) in [(by_dies, Limit::Dies), (by_buses, Limit::Buses)] {
        if pages_a_second * a_page < least.0 {
            least = (pages_a_second * a_page, limit);
        }
    }
    least
}

/// The shortest time of a request of that many pages on idle hardware.
fn alone(part: &Part, pages: u64, cost: PageCost) -> Nanos {
    let layout = layout(part);
    let (channels, dies, planes) = match layout.stripe {
        Stripe::None => (1, 1, 1),
        Stripe::Die => (1, 1, layout.planes_per_die),
        Stripe::Device => (layout.channels, layout.dies(), layout.planes_per_die),
    };
    let on_channel = pages.div_ceil(channels.into());
    let on_die = pages.div_ceil(dies.into());
    let times = on_die.div_ceil(planes.into());
    let by_die = cost.array * times + cost.transfer * on_die;
    by_die.max(cost.array + cost.transfer * on_channel)
}

/// The bytes per second that the load reaches. A replay that Ctrl-C cut short does not show them.
#[allow(clippy::cast_precision_loss)] // A table shows one digit after the point.
fn reached(device: &DeviceArgs, load: BoundedLoad) -> Result<f64, Failure> {
    let requests = (MOVED / load.bytes).clamp(REQUESTS.0, REQUESTS.1);
    let size = load.bytes;
    let workload = match load.op {
        Op::Read => format!(
            "synth:uniform?requests={requests}&size={size}B&reads=100&footprint={READ_FROM}B"
        ),
        _ => format!("synth:sequential?requests={requests}&size={size}B"),
    };
    let pace = PaceArgs {
        open_loop: false,
        queue_depth: NonZeroU32::new(load.depth).unwrap_or(NonZeroU32::MIN),
    };
    let options = Options::quiet(WorkloadArgs::of(workload), device.clone(), pace);
    let setup = device.setup()?;
    debug_assert_eq!(setup.time, Time::Overlapped);
    let system = Chosen::parse("conventional").map_err(Failure::Arguments)?;
    let outcomes = options.run_all(&setup, &[system], &Terminal)?;
    ended::check(std::iter::empty(), outcomes.iter().map(|outcome| &outcome.result))?;
    let elapsed = outcomes.first().map_or(0.0, |outcome| outcome.result.elapsed_us);
    Ok((requests * load.bytes) as f64 / elapsed * 1e6)
}

#[cfg(test)]
mod tests {
    use nand_model::datasheet;

    use super::*;

    fn bounded(op: Op, bytes: u64, depth: u32) -> (String, &'static str) {
        let part = datasheet::builtin("tlc-pslc").unwrap();
        let (bound, limit) = bound(&part, BoundedLoad { op, bytes, depth });
        (format!("{:.3}", bound / 1e6), limit.name())
    }

    #[test]
    fn bounds_are_those_worked_out_by_hand() {
        // 75 us and 20.48 us: a page in 95.48 us.
        assert_eq!(bounded(Op::Read, 16 << 10, 1), ("171.596".into(), "queue"));
        assert_eq!(bounded(Op::Read, 16 << 10, 2), ("343.192".into(), "queue"));
        // Four dies of two planes: eight pages in 75 us and twice 20.48.
        assert_eq!(bounded(Op::Read, 16 << 10, 64), ("1130.321".into(), "dies"));
        // Eight pages: sensed at once, and four over each bus, in 156.92 us.
        assert_eq!(bounded(Op::Read, 128 << 10, 1), ("835.279".into(), "queue"));
        // 4 KiB leave in 5.12 us: eight in 85.24 us.
        assert_eq!(bounded(Op::Read, 4 << 10, 64), ("384.420".into(), "dies"));
        // A page and its spare bytes come in in 20.64 us; two planes are programmed in 750 us.
        assert_eq!(bounded(Op::Write, 1 << 20, 64), ("165.646".into(), "dies"));
        assert_eq!(bounded(Op::Write, 16 << 10, 1), ("21.260".into(), "queue"));
    }

    #[test]
    fn no_load_exceeds_its_bound() {
        let device =
            DeviceArgs { device: "tlc-pslc".into(), capacity: None, slc: None, parallel: true };
        let part = device.setup().unwrap().part;
        for op in [Op::Read, Op::Write] {
            for (bytes, depth) in [(16 << 10, 1), (16 << 10, 64), (256 << 10, 4)] {
                let load = BoundedLoad { op, bytes, depth };
                let share = reached(&device, load).unwrap() / bound(&part, load).0;
                assert!((0.5..1.0).contains(&share), "{load:?}: {share}");
            }
        }
    }
}
