//! The units of a block that is being freed, on their way to their destination.

use crate::kit::Unit;

/// Units with their data, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    units: Vec<(Unit, usize)>,
    data: Vec<u8>,
}

impl Gathered {
    pub(super) fn clear(&mut self) {
        self.units.clear();
        self.data.clear();
    }

    pub(super) fn push(&mut self, unit: Unit, data: &[u8]) {
        self.units.push((unit, self.data.len()));
        self.data.extend_from_slice(data);
    }

    /// In the order of their numbers.
    pub(super) fn sort(&mut self) {
        self.units.sort_unstable();
    }

    /// The units, each of `bytes` bytes.
    pub(super) fn each(&self, bytes: usize) -> impl Iterator<Item = (Unit, &[u8])> {
        self.units.iter().map(move |(unit, at)| (*unit, &self.data[*at..at + bytes]))
    }
}
