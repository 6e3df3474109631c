//! Every operation on the device goes through here.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};

use super::holder::{self, Holder, Magic};
use super::{Erasure, Marked, rules};
use crate::error::Fault;
use crate::layout::{self, FormatKey, Stamp, Tag, TagKind};
use crate::probe::{Cause, Event, Probe, Verb};

/// A device, what watches it, and what every page on it has: the key of its tag, and its place in the order of
/// programs.
#[derive(Debug)]
pub struct Door<D, P> {
    device: D,
    probe: P,
    key: FormatKey,
    /// The last one given.
    stamp: Stamp,
    /// Optional features in the device's header, which a version without them keeps.
    pub optional: u16,
    /// The driver has failed: nothing more is asked of it.
    dead: bool,
}

impl<D: NandDevice, P: Probe> Door<D, P> {
    /// The door to that device, before its key and its stamps are known.
    pub const fn new(device: D, probe: P) -> Self {
        let (key, stamp) = (FormatKey::HEADER, Stamp::ZERO);
        Self { device, probe, key, stamp, optional: 0, dead: false }
    }

    /// Gives the device and the probe back.
    pub fn into_parts(self) -> (D, P) {
        (self.device, self.probe)
    }

    /// The device's shape.
    pub fn geometry(&self) -> &Geometry {
        self.device.geometry()
    }

    /// Shared access to the device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Exclusive access to the device, for operations beside the FTL. They must not change its content.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The probe.
    pub const fn probe(&self) -> &P {
        &self.probe
    }

    /// Reports a decision to the probe.
    #[inline]
    pub fn tell(&mut self, event: Event) {
        self.probe.event(event);
    }

    /// The key of the device's tags.
    pub const fn key(&self) -> FormatKey {
        self.key
    }

    /// Sets the key of the device's tags.
    pub const fn set_key(&mut self, key: FormatKey) {
        self.key = key;
    }

    /// The last stamp given.
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Raises the last stamp given to at least this one; a mount calls it with each stamp that it reads.
    pub fn raise_stamp(&mut self, stamp: Stamp) {
        self.stamp = self.stamp.max(stamp);
    }

    /// Fails if an error of the driver has ended this mount.
    #[inline]
    pub fn alive(&self) -> Result<(), Fault<D::Error>> {
        if rules::may_be_asked(self.dead) { Ok(()) } else { Err(Fault::Device(None)) }
    }

    fn driver_failed(&mut self, error: D::Error) -> Fault<D::Error> {
        self.dead = true;
        Fault::Device(Some(error))
    }

    /// Reads part of a page, and its spare bytes. [`Uncorrectable`](Fault::Uncorrectable): the buffers hold anything.
    #[inline(always)]
    pub fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
        cause: Cause,
    ) -> Result<Corrected, Fault<D::Error>> {
        self.alive()?;
        self.probe.operation(page.region(), Verb::Read, cause);
        match self.device.read(page, at, data, spare) {
            Ok(corrected) => Ok(corrected),
            Err(ReadError::Uncorrectable) => Err(Fault::Uncorrectable),
            Err(ReadError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Gives the page to be programmed the next stamp, and writes its tag. What its slots hold was put there before.
    #[inline]
    pub fn sign<K: TagKind>(
        &mut self,
        tagged: &mut [u8],
        kind: K,
        note: u32,
    ) -> Result<(), Fault<D::Error>> {
        self.alive()?;
        self.stamp = self.stamp.next();
        layout::put_tag(tagged, &Tag { kind, stamp: self.stamp, note }, self.key);
        Ok(())
    }

    /// Programs a page with its spare bytes, which were signed.
    #[inline]
    pub fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.probe.operation(page.region(), Verb::Program, cause);
        match self.device.program(page, data, spare) {
            Ok(()) => Ok(()),
            Err(ProgramError::Failed) => Err(Fault::BlockFailed),
            Err(ProgramError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Erases a block.
    #[inline]
    pub fn erase(&mut self, block: Block, cause: Cause) -> Result<Erasure, Fault<D::Error>> {
        self.alive()?;
        self.probe.operation(block.region(), Verb::Erase, cause);
        match self.device.erase(block) {
            Ok(()) => Ok(Erasure::Done),
            Err(EraseError::Failed) => Ok(Erasure::Failed),
            Err(EraseError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Marks a block bad.
    pub fn mark_bad(&mut self, block: Block) -> Result<Marked, Fault<D::Error>> {
        self.alive()?;
        match self.device.mark_bad(block) {
            Ok(()) => Ok(Marked::Done),
            Err(MarkError::Failed) => Ok(Marked::Failed),
            Err(MarkError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Whether a block is marked bad.
    pub fn is_bad(&mut self, block: Block) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        self.device.is_bad(block).map_err(|error| self.driver_failed(error))
    }

    /// Looks for another FTL's headers.
    pub(crate) fn look_for(&mut self, magic: Magic) -> Result<Holder, Fault<D::Error>> {
        self.alive()?;
        holder::look_for(&mut self.device, magic).map_err(|error| self.driver_failed(error))
    }
}
