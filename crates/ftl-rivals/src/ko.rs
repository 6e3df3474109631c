//! S. Ko, H. Suh, S. Park and E. Chung, "FTL for the effective use of SLC NAND flash memory in hybrid solid state
//! devices" (2011; in Korean).
//!
//! A separator sends short requests to the SLC and long ones to the MLC. The SLC is collected in block order. Each of
//! its pages has an update counter: at collection, a page that was updated more often than a threshold stays, the
//! others go to the MLC. The paper finds a large threshold best, by which few pages stay, and calls it offensive. The
//! MLC is a page map whose victims are chosen by cost age times (CAT).
//!
//! *What the paper leaves out.* Which requests are short: ours are those of up to `short` sectors. What happens to the
//! counter of a page that stayed: ours restarts at zero, so that no page stays forever.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    AreaPlan, Fault, Figure, Lanes, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const SLC: usize = 0;
const MLC: usize = 1;
const HOT: Stream = Stream::new(SLC, 0);
const STAYING: Stream = Stream::new(SLC, 1);
pub(crate) const COLD: Stream = Stream::new(MLC, 0);

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct KoConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: Lanes,
    /// The longest request that enters the SLC.
    pub short: SectorCount,
    /// Updates above which a page stays in the SLC.
    pub threshold: u32,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Ko {
    short: SectorCount,
    threshold: u32,
    /// By place of the SLC: updates of its unit since the unit entered the SLC or last stayed there.
    updates: Vec<u8>,
    /// Units that the SLC holds.
    slc_units: u32,
    stayed: u64,
    left: u64,
}

/// The paper's FTL over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &KoConfig,
) -> Result<Mapped<D, P, Ko>, Unfit> {
    let area = |region| AreaPlan::whole(device.geometry(), region, 2, config.lanes.of(region));
    let plans = [area(Region::Slc), area(Region::Mlc)];
    let units = Units::new(device, probe, &plans, config.sector, config.capacity)?;
    units.can_turn(SLC)?;
    units.fits(MLC, 0)?;
    let slc = units.area(SLC);
    let updates = vec![0; slc.places() as usize];
    let slc_units = slc.blocks() * slc.units_in_full();
    let KoConfig { short, threshold, .. } = *config;
    Ok(Mapped::new(units, Ko { short, threshold, updates, slc_units, stayed: 0, left: 0 }))
}

impl Ko {
    /// The updates of a unit in the SLC that is about to leave its place.
    #[inline]
    fn take_updates<D: NandDevice, P: Probe>(
        &mut self,
        units: &Units<D, P>,
        unit: Unit,
    ) -> Option<u8> {
        let (_, place) = units.spot_of(unit).filter(|(area, _)| *area == SLC)?;
        Some(std::mem::take(&mut self.updates[place as usize]))
    }

    /// Collects the SLC in order until a write finds room.
    fn reclaim<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(SLC).is_short() {
            make_room_in_mlc(units)?;
            let victim = Victims::InOrder.choose(units.area_mut(SLC)).ok_or(Fault::Full)?;
            units.collect_places(SLC, victim, Cause::Gc, |_, place| {
                let updates = std::mem::take(&mut self.updates[place as usize]);
                if u32::from(updates) > self.threshold {
                    self.stayed += 1;
                    (STAYING, Cause::Gc)
                } else {
                    self.left += 1;
                    (COLD, Cause::WriteBack)
                }
            })?;
        }
        Ok(())
    }
}

/// Collects the MLC by CAT until evicted pages find room.
fn make_room_in_mlc<D: NandDevice, P: Probe>(
    units: &mut Units<D, P>,
) -> Result<(), Fault<D::Error>> {
    units.make_room(Victims::Cat, Stream::new(MLC, 1))
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Ko {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        request: Request,
    ) -> Result<(), Fault<D::Error>> {
        if request.sectors > self.short {
            self.take_updates(units, unit);
            make_room_in_mlc(units)?;
            return units.put(COLD, unit, data, Cause::Host);
        }
        self.reclaim(units)?;
        let updates = self.take_updates(units, unit).map_or(0, |before| before.saturating_add(1));
        units.put(HOT, unit, data, Cause::Host)?;
        if let Some((SLC, place)) = units.spot_of(unit) {
            self.updates[place as usize] = updates;
        }
        Ok(())
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.take_updates(units, unit);
        units.forget(unit);
        Ok(())
    }

    fn settle(&mut self, _: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        (self.stayed, self.left) = (0, 0);
        Ok(())
    }

    /// A one-byte counter for each unit of the SLC.
    fn ram_bytes(&self) -> u64 {
        self.slc_units.into()
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        vec![("stayed_in_slc", self.stayed as f64), ("left_slc", self.left as f64)]
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        for (updates, place) in self.updates.iter().zip(0..) {
            if *updates > 0 && !units.area(SLC).is_valid(place) {
                return Err(format!("place {place} counts {updates} updates and holds nothing"));
            }
        }
        Ok(())
    }
}
