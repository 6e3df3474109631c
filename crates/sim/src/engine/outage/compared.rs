//! Every sector, compared with what it must hold.

use std::collections::BTreeMap;

use ftl_iface::{Sector, StoreReadError};

use super::found::Sectors;
use crate::base::Failure;
use crate::engine::host::holds;
use crate::engine::systems::System;

/// Sectors read at a time.
const AT_ONCE: usize = 512;

/// What sectors must hold.
pub(super) struct Expected {
    /// The stamp of each, if the request in flight was served.
    pub(super) stamps: Vec<u32>,
    /// Those of the sectors that this request was to change, before it.
    pub(super) before: BTreeMap<u64, u32>,
}

impl Expected {
    /// Reads all sectors and compares them.
    pub(super) fn compare(&self, disk: &mut dyn System) -> Result<Sectors, Failure> {
        let size = disk.sector_bytes().as_usize();
        let mut data = vec![0; AT_ONCE * size];
        let mut sectors = Sectors::default();
        for first in (0..self.stamps.len()).step_by(AT_ONCE) {
            let count = AT_ONCE.min(self.stamps.len() - first);
            let data = &mut data[..count * size];
            match disk.read(Sector::new(first as u32), data) {
                Ok(()) => {
                    for (sector, at) in data.chunks_exact(size).zip(first..) {
                        self.judge(at, sector, &mut sectors);
                    }
                }
                // One of them is lost; each is read by itself.
                Err(StoreReadError::Lost(_)) => {
                    for at in first..first + count {
                        self.read_one(disk, at, &mut data[..size], &mut sectors)?;
                    }
                }
                Err(error) => return Err(failed(first, &error)),
            }
        }
        Ok(sectors)
    }

    fn read_one(
        &self,
        disk: &mut dyn System,
        at: usize,
        data: &mut [u8],
        sectors: &mut Sectors,
    ) -> Result<(), Failure> {
        match disk.read(Sector::new(at as u32), data) {
            Ok(()) => self.judge(at, data, sectors),
            Err(StoreReadError::Lost(_)) => {
                sectors.checked += 1;
                sectors.lost += 1;
            }
            Err(error) => return Err(failed(at, &error)),
        }
        Ok(())
    }

    fn judge(&self, at: usize, data: &[u8], sectors: &mut Sectors) {
        sectors.checked += 1;
        let requested = holds(data, self.stamps[at]);
        let count = match self.before.get(&(at as u64)) {
            Some(_) if requested => &mut sectors.as_requested,
            Some(before) if holds(data, *before) => &mut sectors.as_before,
            None if requested => &mut sectors.intact,
            _ => &mut sectors.wrong,
        };
        *count += 1;
    }
}

fn failed(at: usize, error: &dyn std::fmt::Display) -> Failure {
    Failure::Violation(format!("a read from sector {at} on failed after the mount: {error}"))
}
