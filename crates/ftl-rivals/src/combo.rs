//! S. Im and D. Shin, "`ComboFTL`: Improving performance and lifespan of MLC flash memory using SLC flash
//! buffer" (2010), as Ko et al. describe and compare with it.
//!
//! Host writes go to a hot part of the SLC; pages evicted from it move to a warm part, and from there to the MLC. Both
//! parts are collected in block order, and everything valid in a victim is evicted.
//!
//! *What that description leaves out.* The parts' sizes: `hot_percent` of the SLC's blocks are hot. How the MLC is
//! mapped: ours is the page map of [`ko`](crate::ko), so that the two differ only in their use of the SLC.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    AreaPlan, Fault, Figure, Lanes, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const HOT: Stream = Stream::new(0, 0);
const WARM: Stream = Stream::new(1, 0);
const COLD: Stream = Stream::new(2, 0);
const MLC_COPIES: Stream = Stream::new(2, 1);

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct ComboConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: Lanes,
    /// The hot part's share of the SLC's blocks, in percent.
    pub hot_percent: u32,
}

/// The rules.
#[derive(Clone, Debug, Default)]
pub struct Combo {
    to_warm: u64,
    to_mlc: u64,
}

/// The FTL over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &ComboConfig,
) -> Result<Mapped<D, P, Combo>, Unfit> {
    let area = |region, streams| {
        AreaPlan::whole(device.geometry(), region, streams, config.lanes.of(region))
    };
    let slc = area(Region::Slc, 1);
    let hot = slc.blocks.end * config.hot_percent.min(100) / 100;
    let plans = [
        AreaPlan { blocks: 0..hot, ..slc.clone() },
        AreaPlan { blocks: hot..slc.blocks.end, ..slc },
        area(Region::Mlc, 2),
    ];
    let units = Units::new(device, probe, &plans, config.sector, config.capacity)?;
    [HOT, WARM].iter().try_for_each(|part| units.can_turn(part.area))?;
    units.fits(COLD.area, 0)?;
    Ok(Mapped::new(units, Combo::default()))
}

impl Combo {
    /// Collects the warm part until it has room for pages evicted from the hot one.
    fn reclaim_warm<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        self.to_mlc += units.spill(WARM.area, (COLD, Cause::WriteBack), |units| {
            units.make_room(Victims::Cat, MLC_COPIES)
        })?;
        Ok(())
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Combo {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        self.to_warm +=
            units.spill(HOT.area, (WARM, Cause::Gc), |units| self.reclaim_warm(units))?;
        units.put(HOT, unit, data, Cause::Host)
    }

    fn settle(&mut self, _: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        *self = Self::default();
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        vec![("hot_to_warm", self.to_warm as f64), ("warm_to_mlc", self.to_mlc as f64)]
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        Ok(())
    }
}
