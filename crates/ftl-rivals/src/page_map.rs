//! A page map over one region, all of it in RAM. It is the reference for hybrid systems: on SLC alone the upper bound,
//! on MLC alone the lower bound.
//!
//! The only policy here is the choice of victims. Host writes and the copies of garbage collection fill separate
//! blocks, so that old data is not mixed with new data: the literature calls that `SepGC`. Both in the same blocks are
//! its baseline, `NoSep`.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{AreaPlan, Fault, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims};

const HOST: Stream = Stream::new(0, 0);
const COPIES: Stream = Stream::new(0, 1);

/// Where garbage collection copies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// To blocks without host writes.
    Apart,
    /// To the blocks that host writes fill.
    Mixed,
}

impl Copies {
    const fn stream(self) -> Stream {
        match self {
            Self::Apart => COPIES,
            Self::Mixed => HOST,
        }
    }
}

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct PageMapConfig {
    /// The region that is used.
    pub region: Region,
    /// How victims are chosen.
    pub victims: Victims,
    /// Where their data goes.
    pub copies: Copies,
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
    copies: Copies,
}

impl PageMap {
    /// The rules with these parameters.
    pub(crate) const fn new(config: &PageMapConfig) -> Self {
        Self { victims: config.victims, copies: config.copies }
    }
}

/// A page map over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &PageMapConfig,
) -> Result<Mapped<D, P, PageMap>, Unfit> {
    Ok(Mapped::new(units(device, probe, config)?, PageMap::new(config)))
}

/// The units that it maps.
pub(crate) fn units<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &PageMapConfig,
) -> Result<Units<D, P>, Unfit> {
    let PageMapConfig { region, copies, sector, capacity, lanes, .. } = *config;
    let plan = AreaPlan::whole(device.geometry(), region, copies.stream().number + 1, lanes);
    let units = Units::new(device, probe, &[plan], sector, capacity)?;
    units.fits(0, 0)?;
    Ok(units)
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
        units.make_room(self.victims, self.copies.stream())?;
        units.put(HOST, unit, data, Cause::Host)
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        Ok(())
    }
}
