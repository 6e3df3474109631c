//! A disk on USB: SCSI commands of `usbd-storage`, served from a store.
//!
//! The host's commands come in pieces, as packets do. [`UsbDisk::serve`] takes a step at each call and keeps what the
//! command still needs; data gathers in lent memory, so that as many blocks as it holds reach the store in one request.
//!
//! It is version 2 of `usbd-storage`: version 3.0.0 uses `core::assert_matches`, which stable Rust 1.95 does not have.

use core::borrow::BorrowMut;

use ftl_iface::BlockStore;
use usb_device::bus::UsbBus;
use usbd_storage::subclass::Command;
use usbd_storage::subclass::scsi::{Scsi, ScsiCommand};
use usbd_storage::transport::bbb::BulkOnly;

use crate::bytes::ByteStore;

/// The block that hosts of all systems accept.
const BLOCK: u32 = 512;

/// Sense keys and codes (SCSI Primary Commands 4, tables 43 and 44).
const NO_SENSE: (u8, u8) = (0x00, 0x00);
const UNRECOVERED_READ: (u8, u8) = (0x03, 0x11);
const WRITE_FAULT: (u8, u8) = (0x03, 0x03);
const INVALID_COMMAND: (u8, u8) = (0x05, 0x20);
const OUT_OF_RANGE: (u8, u8) = (0x05, 0x21);

/// A command as it comes from the host's bus.
pub type DiskCommand<'c, 'a, Bus, Buf> = Command<'c, ScsiCommand, Scsi<BulkOnly<'a, Bus, Buf>>>;

/// A store as a disk on USB.
#[derive(Debug)]
pub struct UsbDisk<'b, S> {
    bytes: ByteStore<'b, S>,
    /// Data on its way: a whole number of blocks.
    staged: &'b mut [u8],
    /// Bytes of the command that reached the store or came from it.
    done: u64,
    /// Bytes in `staged`.
    filled: usize,
    /// Bytes of these that the host took.
    taken: usize,
    sense: (u8, u8),
    vendor: [u8; 8],
    product: [u8; 16],
}

impl<'b, S: BlockStore> UsbDisk<'b, S> {
    /// A disk over that store. `staged` holds at least a block of 512 bytes; the more, the larger the requests that the
    /// store is given.
    pub fn new(bytes: ByteStore<'b, S>, staged: &'b mut [u8]) -> Option<Self> {
        let whole = staged.len() / BLOCK as usize * BLOCK as usize;
        let staged = staged.get_mut(..whole).filter(|staged| !staged.is_empty())?;
        Some(Self {
            bytes,
            staged,
            done: 0,
            filled: 0,
            taken: 0,
            sense: NO_SENSE,
            vendor: *b"TANDEM  ",
            product: *b"FTL             ",
        })
    }

    /// The same disk under names of one's own, filled up with spaces.
    #[must_use]
    pub fn named(self, vendor: [u8; 8], product: [u8; 16]) -> Self {
        Self { vendor, product, ..self }
    }

    /// The store, between commands.
    pub const fn bytes(&mut self) -> &mut ByteStore<'b, S> {
        &mut self.bytes
    }

    /// Gives the store back.
    pub fn into_inner(self) -> ByteStore<'b, S> {
        self.bytes
    }

    /// Forgets a command that was cut off: call it when the bus was reset.
    pub const fn reset(&mut self) {
        (self.done, self.filled, self.taken) = (0, 0, 0);
    }

    /// Takes the command a step further. Call it from `Scsi::poll`, after each poll of the bus.
    pub fn serve<'a, Bus: UsbBus + 'a, Buf: BorrowMut<[u8]>>(
        &mut self,
        mut command: DiskCommand<'_, 'a, Bus, Buf>,
    ) {
        match command.kind {
            ScsiCommand::Read { lba, len } => return self.read(command, lba.into(), len.into()),
            ScsiCommand::Write { lba, len } => return self.write(command, lba.into(), len.into()),
            _ => {}
        }
        let mut answer = [0; 36];
        let length = match command.kind {
            ScsiCommand::TestUnitReady => Some(0),
            ScsiCommand::Inquiry { alloc_len, .. } => {
                Some(self.inquiry(&mut answer).min(alloc_len.into()))
            }
            ScsiCommand::RequestSense { alloc_len, .. } => {
                Some(self.request_sense(&mut answer).min(alloc_len.into()))
            }
            ScsiCommand::ReadCapacity10 => Some(self.read_capacity(&mut answer)),
            ScsiCommand::ReadFormatCapacities { alloc_len } => {
                Some(self.format_capacities(&mut answer).min(alloc_len.into()))
            }
            // No pages, not write-protected, no block descriptors: just the length of what follows.
            ScsiCommand::ModeSense6 { alloc_len, .. } => {
                answer[0] = 3;
                Some(4.min(alloc_len.into()))
            }
            ScsiCommand::ModeSense10 { alloc_len, .. } => {
                answer[1] = 6;
                Some(8.min(alloc_len.into()))
            }
            _ => None,
        };
        match length {
            Some(0) => command.pass(),
            Some(length) => match command.try_write_data_all(&answer[..length]) {
                Ok(()) => command.pass(),
                // The host announced no data, or less room than it has.
                Err(_) => self.fail(command, INVALID_COMMAND),
            },
            None => self.fail(command, INVALID_COMMAND),
        }
    }

    fn read<'a, Bus: UsbBus + 'a, Buf: BorrowMut<[u8]>>(
        &mut self,
        mut command: DiskCommand<'_, 'a, Bus, Buf>,
        first: u64,
        blocks: u64,
    ) {
        let (start, total) = (first * u64::from(BLOCK), blocks * u64::from(BLOCK));
        if start + total > self.bytes.capacity_bytes() {
            self.fail(command, OUT_OF_RANGE);
            return;
        }
        loop {
            if self.taken == self.filled {
                if self.done == total {
                    self.reset();
                    command.pass();
                    return;
                }
                let next = (total - self.done).min(self.staged.len() as u64) as usize;
                let place = start + self.done;
                if self.bytes.read_bytes(place, &mut self.staged[..next]).is_err() {
                    self.fail(command, UNRECOVERED_READ);
                    return;
                }
                (self.filled, self.taken) = (next, 0);
                self.done += next as u64;
            }
            let Ok(taken) = command.write_data(&self.staged[self.taken..self.filled]) else {
                self.fail(command, INVALID_COMMAND);
                return;
            };
            if taken == 0 {
                // The bus is full: continue when it has sent.
                return;
            }
            self.taken += taken;
        }
    }

    fn write<'a, Bus: UsbBus + 'a, Buf: BorrowMut<[u8]>>(
        &mut self,
        mut command: DiskCommand<'_, 'a, Bus, Buf>,
        first: u64,
        blocks: u64,
    ) {
        let (start, total) = (first * u64::from(BLOCK), blocks * u64::from(BLOCK));
        if start + total > self.bytes.capacity_bytes() {
            self.fail(command, OUT_OF_RANGE);
            return;
        }
        loop {
            let next = (total - self.done).min(self.staged.len() as u64) as usize;
            if self.filled < next {
                let Ok(came) = command.read_data(&mut self.staged[self.filled..next]) else {
                    self.fail(command, INVALID_COMMAND);
                    return;
                };
                if came == 0 {
                    // The rest is still on its way.
                    return;
                }
                self.filled += came;
                continue;
            }
            if next > 0 && self.bytes.write_bytes(start + self.done, &self.staged[..next]).is_err()
            {
                self.fail(command, WRITE_FAULT);
                return;
            }
            self.done += next as u64;
            self.filled = 0;
            if self.done == total {
                self.reset();
                command.pass();
                return;
            }
        }
    }

    fn fail<'a, Bus: UsbBus + 'a, Buf: BorrowMut<[u8]>>(
        &mut self,
        command: DiskCommand<'_, 'a, Bus, Buf>,
        sense: (u8, u8),
    ) {
        self.reset();
        self.sense = sense;
        command.fail();
    }

    /// A direct-access device, removable, of the SPC-2 command set.
    fn inquiry(&self, answer: &mut [u8; 36]) -> usize {
        answer[1] = 0x80;
        answer[2] = 0x04;
        answer[3] = 0x02;
        answer[4] = 36 - 5;
        answer[8..16].copy_from_slice(&self.vendor);
        answer[16..32].copy_from_slice(&self.product);
        answer[32..36].copy_from_slice(b"1.00");
        36
    }

    /// Says why the last command failed, once.
    fn request_sense(&mut self, answer: &mut [u8; 36]) -> usize {
        let (key, code) = core::mem::replace(&mut self.sense, NO_SENSE);
        answer[0] = 0x70;
        answer[2] = key;
        answer[7] = 18 - 8;
        answer[12] = code;
        18
    }

    fn blocks(&self) -> u32 {
        u32::try_from(self.bytes.capacity_bytes() / u64::from(BLOCK)).unwrap_or(u32::MAX)
    }

    /// The last block's number and a block's size.
    fn read_capacity(&self, answer: &mut [u8; 36]) -> usize {
        answer[..4].copy_from_slice(&self.blocks().saturating_sub(1).to_be_bytes());
        answer[4..8].copy_from_slice(&BLOCK.to_be_bytes());
        8
    }

    /// One descriptor, of formatted media.
    fn format_capacities(&self, answer: &mut [u8; 36]) -> usize {
        answer[3] = 8;
        answer[4..8].copy_from_slice(&self.blocks().to_be_bytes());
        answer[8..12].copy_from_slice(&(BLOCK | 0x0200_0000).to_be_bytes());
        12
    }
}
