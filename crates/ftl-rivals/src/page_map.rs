//! A page map over one region, all of it in RAM. It is the reference for hybrid systems: on SLC alone the upper bound,
//! on MLC alone the lower bound.
//!
//! The only policy here is the choice of victims. Host writes and the copies of garbage collection fill separate
//! blocks, so that old data is not mixed with new data.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{AreaPlan, Fault, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims};

const HOST: Stream = Stream::new(0, 0);
const COPIES: Stream = Stream::new(0, 1);

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct PageMapConfig {
    /// The region that is used.
    pub region: Region,
    /// How victims are chosen.
    pub victims: Victims,
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
}

/// The rules: all writes are treated alike.
#[derive(Clone, Copy, Debug)]
pub struct PageMap {
    victims: Victims,
}

/// A page map over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &PageMapConfig,
) -> Result<Mapped<D, P, PageMap>, Unfit> {
    let plan = AreaPlan::whole(device.geometry(), config.region, 2, config.lanes);
    let units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    units.fits(0, 0)?;
    Ok(Mapped::new(units, PageMap { victims: config.victims }))
}

impl<D: NandDevice, P: Probe> Policy<D, P> for PageMap {
    #[inline]
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        units.make_room(self.victims, COPIES)?;
        units.put(HOST, unit, data, Cause::Host)
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        Ok(())
    }
}
