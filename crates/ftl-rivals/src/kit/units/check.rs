//! Checks that areas have room for their data, and that map and areas agree.

use ftl_iface::{NandDevice, Probe};

use super::{NOWHERE, Place, Unfit, Units};

impl<D: NandDevice, P: Probe> Units<D, P> {
    /// Whether an area can hold all units and still be collected: besides the data, `beside` blocks that do not take
    /// part and the open ones, it needs as many free blocks as collection may take.
    pub fn fits(&self, area: usize, beside: u32) -> Result<(), Unfit> {
        let area = &self.areas[area];
        let data = self.count().div_ceil(area.units_in_full());
        let (open, free, there) = (area.most_open(), area.least_free(), area.good_blocks());
        let needed = [data, beside, open, free].into_iter().fold(0, u32::saturating_add);
        if needed <= there {
            return Ok(());
        }
        let cache = if beside > 0 { format!(", {beside} of cache") } else { String::new() };
        Err(Unfit(format!(
            "{data} blocks of data{cache}, {open} that are filled at a time and {free} kept free are \
             {needed}, and there are {there}: ask for less of the device, or for fewer at a time"
        )))
    }

    /// Whether a cache area can be collected: besides the open blocks and those kept free there is one to collect.
    pub fn can_turn(&self, area: usize) -> Result<(), Unfit> {
        let area = &self.areas[area];
        let (needed, there) = (area.most_open() + area.least_free(), area.good_blocks());
        if needed <= there {
            return Ok(());
        }
        let part = area.block(0).region();
        Err(Unfit(format!(
            "{there} of the {part} blocks are a part that needs {needed}: ask for a larger SLC"
        )))
    }

    /// Checks that the map is one to one and every count right.
    pub fn check(&self) -> Result<(), String> {
        let mut mapped = vec![0; self.areas.len()];
        let mut seen = vec![0_u64; self.owners.len().div_ceil(64)];
        for (unit, place) in (0..).zip(&self.map).filter(|(_, place)| **place != NOWHERE) {
            let (word, bit) = (&mut seen[*place as usize / 64], 1 << (place % 64));
            if *word & bit != 0 || self.owners[*place as usize] != unit {
                return Err(format!("unit {unit} lies at place {place}, which is another's"));
            }
            *word |= bit;
            let (area, local) = self.locate(Place(*place));
            mapped[area] += 1;
            if !self.areas[area].is_valid(local) {
                return Err(format!("a unit lies at place {place}, which is not valid"));
            }
        }
        for (area, mapped) in self.areas.iter().zip(mapped) {
            area.check()?;
            let valid: u32 = (0..area.blocks()).map(|block| area.valid(block)).sum();
            if valid != mapped {
                return Err(format!("{valid} units are valid in an area, and {mapped} mapped"));
            }
        }
        Ok(())
    }
}
