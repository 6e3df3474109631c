//! An FTL from outside the simulator, compared with those inside: `docs/YOUR-SYSTEM.md` quotes it.
use std::convert::Infallible;
use std::process::ExitCode;

use ftl_iface::{Cause, NandDevice, Probe};
use ftl_rivals::kit::{Fault, Mapped, Policy, Request, Stream, Unit, Units, Victims};
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
        if *written < self.times {
            units.make_room(Victims::Greedy, COPIES)?;
            return units.put(COLD, unit, data, Cause::Host);
        }
        units.spill(SLC, (COPIES, Cause::WriteBack), |units| {
            units.make_room(Victims::Greedy, COPIES)
        })?;
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
        let units = wanted.units(device, probe, 2)?;
        let written = vec![0; units.count() as usize];
        Ok(Mapped::new(units, Twice { times: wanted.number("times")?.min(255) as u8, written }))
    }
}

fn main() -> ExitCode {
    sim_cli::main_with([own::of::<Twice>()])
}
