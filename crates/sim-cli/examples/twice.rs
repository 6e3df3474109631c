//! An FTL from outside the simulator, compared with those inside: `docs/YOUR-SYSTEM.md` quotes it.
use std::convert::Infallible;
use std::process::ExitCode;

use ftl_iface::{Cause, Mode, NandDevice, Probe, Region};
use ftl_rivals::kit::{AreaPlan, Fault, Mapped, Policy, Request, Stream, Unit, Units, Victims};
use ftl_rivals::page_map::make_room;
use ftl_rivals::{Rival, Unfit};
use sim_cli::own::{self, Own, Parameter, Wanted};

/// Areas of blocks, SLC and MLC, and the streams that fill them.
const SLC: usize = 0;
const HOT: Stream = Stream::new(SLC, 0);
const COLD: Stream = Stream::new(1, 0);
const COPIES: Stream = Stream::new(1, 1);

/// A unit that was written `times` times goes to the SLC, any other to the MLC, and what is oldest leaves the SLC.
pub(crate) struct Twice {
    times: u8,
    written: Vec<u8>,
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Twice {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        let written = &mut self.written[unit.0 as usize];
        *written = written.saturating_add(1);
        make_room(units, Victims::Greedy, COPIES)?;
        if *written < self.times {
            return units.put(COLD, unit, data, Cause::Host);
        }
        while units.area(SLC).free_blocks() < units.area(SLC).least_free() {
            let oldest = Victims::InOrder.choose(units.area_mut(SLC)).ok_or(Fault::Full)?;
            units.collect(SLC, oldest, Cause::WriteBack, |_| (COPIES, Cause::WriteBack))?;
            make_room(units, Victims::Greedy, COPIES)?;
        }
        units.put(HOT, unit, data, Cause::Host)
    }

    fn ram_bytes(&self) -> u64 {
        self.written.len() as u64
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        let mut hot = (0..units.count()).filter(|unit| units.area_of(Unit(*unit)) == Some(SLC));
        let is_early = hot.any(|unit| self.written[unit as usize] < self.times);
        if is_early { Err("a unit is in the SLC too early".into()) } else { Ok(()) }
    }
}

impl Own for Twice {
    const NAME: &'static str = "twice";
    const TITLE: &'static str = "what is written twice goes to the SLC";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter { name: "times", default: "2", title: "writes that make a unit hot" }];

    fn build<D: NandDevice<Error = Infallible>, P: Probe>(
        device: D,
        probe: P,
        wanted: &Wanted<'_>,
    ) -> Result<impl Rival<Error = Infallible>, Unfit> {
        let plans = [Region::Slc, Region::Mlc].map(|region| {
            let blocks = device.geometry().region(region).map_or(0, |shape| shape.blocks.get());
            let streams = vec![Mode::Full; 2];
            AreaPlan { region, blocks: 0..blocks, streams, lanes: wanted.lanes }
        });
        let units = Units::new(device, probe, &plans, wanted.sector, wanted.capacity)?;
        let written = vec![0; units.count() as usize];
        Ok(Mapped::new(units, Twice { times: wanted.number("times")?.min(255) as u8, written }))
    }
}

fn main() -> ExitCode {
    sim_cli::main_with([own::of::<Twice>()])
}
