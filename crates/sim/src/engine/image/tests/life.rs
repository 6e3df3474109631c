//! A disk that lives through all that happens to a file, and what it promises at each call.

use std::io;

use ftl_iface::NandDevice;

use super::super::disk::{Closed, Disk};
use super::super::journaled::Journaled;
use super::super::refusal::Refusal;
use super::noted::{Call, Noted};
use super::{about, device, first_byte, opened, program};

/// What a crash after some calls may leave: pages that a client was answered about, and those that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Promise {
    pub calls: usize,
    pub sent: u16,
    pub answered: u16,
    pub synced: u16,
}

/// Programs pages one by one on a disk, and notes what is promised after which call.
pub(super) struct Life {
    pub disk: Disk<Noted>,
    device: Journaled,
    pub promises: Vec<Promise>,
    now: Promise,
}

impl Life {
    fn note(&mut self) {
        self.now.calls = self.disk.store.calls().len();
        self.promises.push(self.now);
    }

    /// Programs the next page.
    fn page(&mut self) -> io::Result<()> {
        program(&mut self.device, self.now.sent, 10 + self.now.sent as u8);
        self.now.sent += 1;
        self.note();
        self.disk.commit(&mut self.device)?;
        self.now.answered = self.now.sent;
        self.note();
        Ok(())
    }

    /// Makes what was answered survive the machine.
    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync(&mut self.device)?;
        self.now.synced = self.now.answered;
        self.note();
        Ok(())
    }

    /// A new disk.
    pub(super) fn begin() -> Self {
        let mut device = device();
        let disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
        let mut life = Self { disk, device, promises: Vec::new(), now: Promise::default() };
        life.note();
        life
    }

    /// Ends with the chip alone.
    fn close(&mut self) -> io::Result<()> {
        if let Closed::Journal(error) = self.disk.close(&mut self.device)? {
            return Err(error);
        }
        self.now.synced = self.now.answered;
        self.note();
        Ok(())
    }

    /// As the next server does: what it finds is the disk from now on.
    fn open(&mut self) -> io::Result<()> {
        let calls = self.disk.store.calls();
        let (disk, mut found) = opened(self.disk.store.clone()).unwrap();
        assert_eq!(calls.len(), disk.store.calls().len(), "opening changes nothing");
        let pages = count(&mut found.device);
        (self.disk, self.device) = (disk, Journaled::of_file(found.device));
        self.disk.go_on(&mut self.device)?;
        (self.now.sent, self.now.answered) = (pages, pages);
        self.note();
        Ok(())
    }

    /// As the next server does, to its end.
    pub(super) fn start_again(&mut self) -> io::Result<()> {
        self.open()?;
        self.page()?;
        self.sync()?;
        self.close()
    }

    /// Does not heed failures.
    pub(super) fn try_everything(&mut self) {
        let _ = self.disk.commit(&mut self.device);
        let _ = self.disk.sync(&mut self.device);
        let _ = self.disk.rewrite(&mut self.device);
        let _ = self.disk.close(&mut self.device);
    }

    /// To its end, and on.
    pub(super) fn go_through(&mut self) -> io::Result<()> {
        self.page()?;
        self.sync()?;
        self.page()?;
        self.close()?;
        self.open()?;
        self.page()?;
        self.sync()?;
        // As when the journal is used up.
        self.disk.rewrite(&mut self.device)?;
        self.note();
        self.page()?;
        self.sync()
    }
}

/// One that nothing happens to.
pub(super) fn life() -> Life {
    let mut life = Life::begin();
    life.go_through().unwrap();
    life
}

/// What is promised when so many calls were made: what was answered before, and what was sent by then.
pub(super) fn promised(promises: &[Promise], calls: usize) -> Promise {
    let before = promises.iter().rfind(|promise| promise.calls <= calls);
    let before = before.copied().unwrap_or_default();
    let after = promises.iter().find(|promise| promise.calls >= calls).copied();
    Promise { sent: after.unwrap_or(before).sent.max(before.sent), ..before }
}

/// The pages that a file holds; `None`: it holds no disk yet.
pub(super) fn pages(store: Noted) -> Result<Option<u16>, Refusal> {
    let Ok((_, mut found)) = Disk::open(store)? else { return Ok(None) };
    Ok(Some(count(&mut found.device)))
}

/// The pages that were programmed, in a row, and each with its own byte.
fn count(device: &mut impl NandDevice) -> u16 {
    let there: Vec<_> = (0..8).map(|page| first_byte(device, page)).collect();
    let count = there.iter().take_while(|byte| **byte != Some(0xFF)).count();
    for (page, byte) in there.iter().enumerate() {
        let right = if page < count { 10 + page as u8 } else { 0xFF };
        assert_eq!(*byte, Some(right), "page {page}");
    }
    count as u16
}

/// The file after these calls.
pub(super) fn after<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Noted {
    let memory = Noted::default();
    calls.into_iter().for_each(|call| memory.apply(call));
    memory
}
