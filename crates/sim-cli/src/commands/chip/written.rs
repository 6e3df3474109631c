//! The bytes that a run writes to a page, and expects of it.

use ftl_iface::{Bytes, NandDevice, Page, RegionGeometry};
use sim::Failure;

/// The bytes that a run writes to a page, and expects of it.
pub(super) struct Written {
    pub(super) data: Vec<u8>,
    pub(super) spare: Vec<u8>,
}

impl Written {
    /// Bytes that differ from page to page and hold no pattern that a fault could mimic.
    pub(super) fn new(page: Page, shape: &RegionGeometry) -> Self {
        let place = u64::from(page.block().index()) << 16 | u64::from(page.index().get());
        let mut dice = fastrand::Rng::with_seed(place << 1 | page.region() as u64);
        let mut bytes = |count: Bytes| {
            let mut bytes = vec![0; count.as_usize()];
            dice.fill(&mut bytes);
            bytes
        };
        Self { data: bytes(shape.page_bytes), spare: bytes(shape.spare_bytes) }
    }

    pub(super) fn program<D: NandDevice>(&self, device: &mut D, page: Page) -> Result<(), Failure> {
        device
            .program(page, &self.data, &self.spare)
            .map_err(|error| Failure::Violation(format!("program of {page}: {error}")))
    }

    /// Whether the page holds these bytes, or why it cannot be read.
    pub(super) fn is_in<D: NandDevice>(
        &self,
        device: &mut D,
        page: Page,
    ) -> Result<bool, ftl_iface::ReadError<D::Error>> {
        let (mut data, mut spare) = (vec![0; self.data.len()], vec![0; self.spare.len()]);
        device.read(page, Bytes::ZERO, &mut data, &mut spare)?;
        Ok(data == self.data && spare == self.spare)
    }

    /// Reads the page and compares every byte.
    pub(super) fn verify<D: NandDevice>(&self, device: &mut D, page: Page) -> Result<(), Failure> {
        match self.is_in(device, page) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::Violation(format!("{page} does not hold what was written"))),
            Err(error) => Err(Failure::Violation(format!("read of {page}: {error}"))),
        }
    }
}
