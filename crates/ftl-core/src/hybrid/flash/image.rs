//! The image of a checkpoint, page by page through the page buffer.

use ftl_iface::NandDevice;

use super::{Flash, Programmed};
use crate::error::Fault;
use crate::hybrid::shape::CheckpointArea;
use crate::image::{Sink, Source};
use crate::layout;
use crate::probe::Probe;

/// Writes an image to a place, page by page as they fill.
#[derive(Debug)]
pub struct ImageWriter<'a, 'ram, D: NandDevice, P> {
    flash: &'a mut Flash<'ram, D, P>,
    place: CheckpointArea,
    /// The page that is being filled, and up to where.
    page: u32,
    filled: usize,
    check: u32,
    length: u32,
    /// A page failed to program, or there was no page left: the rest is dropped.
    failed: bool,
    fault: Option<Fault<D::Error>>,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the image.
    pub length: u32,
    /// The checksum over its pages.
    pub check: u32,
}

impl<'a, 'ram, D: NandDevice, P: Probe> ImageWriter<'a, 'ram, D, P> {
    /// Starts at the first page of an erased place.
    pub fn new(flash: &'a mut Flash<'ram, D, P>, place: CheckpointArea) -> Self {
        let check = flash.key().get();
        Self { flash, place, page: 0, filled: 0, check, length: 0, failed: false, fault: None }
    }

    fn page_bytes(&self) -> usize {
        self.flash.meta.page_bytes.as_usize()
    }

    fn program(&mut self) {
        let page_bytes = self.page_bytes();
        if let Some(rest) = self.flash.buffer.get_mut(self.filled..page_bytes) {
            rest.fill(0xFF);
        }
        let page = self.flash.buffer.get(..page_bytes).unwrap_or(&[]);
        self.check = layout::image_check(self.check, page);
        if self.page >= self.place.seal() {
            self.failed = true;
            return;
        }
        match self.flash.program_in_place(self.place, self.page) {
            Ok(programmed) => self.failed = programmed == Programmed::BlockFailed,
            Err(fault) => (self.failed, self.fault) = (true, Some(fault)),
        }
        (self.page, self.filled) = (self.page + 1, 0);
    }

    /// Programs the last page. `None`: the place could not hold the image.
    pub fn finish(mut self) -> Result<Option<Written>, Fault<D::Error>> {
        if self.filled > 0 && !self.failed {
            self.program();
        }
        match self.fault {
            Some(fault) => Err(fault),
            None if self.failed => Ok(None),
            None => Ok(Some(Written { length: self.length, check: self.check })),
        }
    }
}

impl<D: NandDevice, P: Probe> Sink for ImageWriter<'_, '_, D, P> {
    // Called for every number of every table: inlined, it would take five times the code.
    #[inline(never)]
    fn put(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.failed {
            let free = self.page_bytes() - self.filled;
            let (now, after) = rest.split_at_checked(free).unwrap_or((rest, &[]));
            let target = self.flash.buffer.get_mut(self.filled..self.filled + now.len());
            // Byte by byte, because the smallest builds keep the panic of a copy between slices of different lengths.
            for (target, byte) in target.unwrap_or_default().iter_mut().zip(now) {
                *target = *byte;
            }
            self.filled += now.len();
            self.length += now.len() as u32;
            rest = after;
            if self.filled == self.page_bytes() {
                self.program();
            }
        }
    }
}

/// Reads an image from a place.
#[derive(Debug)]
pub struct ImageReader<'a, 'ram, D: NandDevice, P> {
    flash: &'a mut Flash<'ram, D, P>,
    place: CheckpointArea,
    /// The next page to read, and how much of the one before was used.
    page: u32,
    used: usize,
    check: u32,
    /// Bytes still to be read.
    left: u32,
    fault: Option<Fault<D::Error>>,
}

impl<'a, 'ram, D: NandDevice, P: Probe> ImageReader<'a, 'ram, D, P> {
    /// Starts at the first page of a place, with an image of that length.
    pub fn new(flash: &'a mut Flash<'ram, D, P>, place: CheckpointArea, length: u32) -> Self {
        let (check, used) = (flash.key().get(), flash.meta.page_bytes.as_usize());
        Self { flash, place, page: 0, used, check, left: length, fault: None }
    }

    /// The checksum over the pages read, if the whole image was read.
    pub fn finish(self) -> Result<Option<u32>, Fault<D::Error>> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok((self.left == 0).then_some(self.check)),
        }
    }

    fn next_page(&mut self) -> Option<()> {
        if self.page >= self.place.seal() {
            return None;
        }
        match self.flash.fetch_in_place(self.place, self.page) {
            Ok(tag) => tag?,
            Err(fault) => {
                self.fault = Some(fault);
                return None;
            }
        };
        let page = self.flash.buffer.get(..self.flash.meta.page_bytes.as_usize())?;
        self.check = layout::image_check(self.check, page);
        (self.page, self.used) = (self.page + 1, 0);
        Some(())
    }
}

impl<D: NandDevice, P: Probe> Source for ImageReader<'_, '_, D, P> {
    #[inline(never)]
    fn take(&mut self, bytes: &mut [u8]) -> Option<()> {
        self.left = self.left.checked_sub(u32::try_from(bytes.len()).ok()?)?;
        let page_bytes = self.flash.meta.page_bytes.as_usize();
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.used == page_bytes {
                self.next_page()?;
            }
            let length = rest.len().min(page_bytes - self.used);
            let (now, after) = rest.split_at_mut_checked(length)?;
            let source = self.flash.buffer.get(self.used..self.used + length)?;
            for (target, byte) in now.iter_mut().zip(source) {
                *target = *byte;
            }
            self.used += length;
            rest = after;
        }
        Some(())
    }
}
