//! A chip on a bus, which the judge and the driver under test share.

use std::cell::{RefCell, RefMut};

use crate::bus::Bus;
use crate::figures::{Described, JudgeChip};

/// A simulated SPI NAND chip on a bus of its own. A program may have several; each is for one thread at a time.
#[repr(C)]
pub struct Judge {
    /// Dropped before what it refers to.
    bus: RefCell<Bus>,
    chip: JudgeChip,
    _described: Described,
}

impl Judge {
    /// `None` if the figures contradict each other.
    pub(crate) fn new(chip: &JudgeChip) -> Option<Self> {
        let described = Described::new(chip)?;
        // SAFETY: once, and the bus is dropped before the description.
        let (part, cache) = unsafe { described.lend() };
        let bus = Bus::new(part, cache, chip.parameters_uncorrected != 0)?;
        Some(Self { bus: RefCell::new(bus), chip: *chip, _described: described })
    }

    /// The bus, for as long as no function of the driver's runs.
    pub(crate) fn bus(&self) -> RefMut<'_, Bus> {
        self.bus.borrow_mut()
    }

    pub(crate) const fn chip(&self) -> &JudgeChip {
        &self.chip
    }
}
