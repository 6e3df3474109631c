//! Sizes that a warning may propose: those with which every system of the comparison runs.

use ftl_iface::RegionGeometry;

use super::field::Field;
use crate::flags::device::DeviceArgs;

/// The least disk that is proposed.
const DISK_LEAST: u64 = 256 << 20;

/// The least SLC that is proposed.
const SLC_LEAST: u64 = 1 << 20;

/// A disk that a warning proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallerDisk {
    pub(super) capacity: u64,
    /// Its SLC; `None`: as large as now.
    pub(super) slc: Option<u64>,
}

impl Field<'_> {
    /// Whether every system fits the device at these sizes.
    fn fits(&self, args: &DeviceArgs) -> bool {
        let Ok(setup) = args.setup() else { return false };
        self.systems.iter().all(|system| matches!(system.unfit(&setup), Ok(None)))
    }

    /// The first size from `least` on, each twice the one before and below `most`, with which every system runs.
    fn first_that_fits(
        &self,
        least: u64,
        most: u64,
        with: impl Fn(u64) -> DeviceArgs,
    ) -> Option<u64> {
        let sizes = std::iter::successors(Some(least), |size| size.checked_mul(2));
        sizes.take_while(|size| *size < most).find(|size| self.fits(&with(*size)))
    }

    /// A disk two to four times as large as the data of the trace, if it is smaller than the present one; if all
    /// systems fit it, with as much less SLC.
    pub(super) fn smaller_disk(&self, packed: u64) -> Option<SmallerDisk> {
        let (capacity, exported) =
            (packed.saturating_mul(2).checked_next_power_of_two()?, self.setup.part.exported_bytes);
        if capacity < DISK_LEAST || capacity >= exported {
            return None;
        }
        let geometry = &self.setup.part.geometry;
        let slc = geometry.mlc().and(geometry.slc()).map(RegionGeometry::capacity_bytes);
        let in_share = slc.map(|slc| u128::from(slc) * u128::from(capacity) / u128::from(exported));
        let in_share = in_share.and_then(|slc| u64::try_from(slc).ok());
        let in_share = in_share.map(|slc| 1 << slc.max(SLC_LEAST).ilog2());
        let disks = [in_share, None].map(|slc| SmallerDisk { capacity, slc });
        disks.into_iter().find(|SmallerDisk { capacity, slc }| {
            let slc = slc.or(self.device.slc);
            self.fits(&DeviceArgs { capacity: Some(*capacity), slc, ..self.device.clone() })
        })
    }

    /// An SLC that was filled about four times, or at least once, if it is smaller than the present one.
    pub(super) fn smaller_slc(&self, programmed: u64, present: u64) -> Option<u64> {
        let least = 1 << (programmed / 4).max(SLC_LEAST).ilog2();
        let with = |slc| DeviceArgs { slc: Some(slc), ..self.device.clone() };
        self.first_that_fits(least, present.min(programmed), with)
    }
}
