//! What a disk must hold, block by block: one of the contents that its last requests may have left.

use std::ops::Range;

use super::client::{Client, FUA, Refused, TRIM, WRITE_ZEROES};

pub(crate) const BLOCK: u64 = 512;

/// A part of a disk, which nobody else writes.
pub(crate) struct Truth {
    blocks: Range<u64>,
    /// By block: the writes that it may be of; 0 are zeros. More than one where a request was broken off.
    may_be: Vec<Vec<u64>>,
    writes: u64,
    pub(crate) dice: fastrand::Rng,
}

fn content(block: u64, write: u64, out: &mut [u8]) {
    out.fill(0);
    if write > 0 {
        let mut dice = fastrand::Rng::with_seed(block << 32 ^ write);
        dice.fill(out);
    }
}

impl Truth {
    pub(crate) fn new(blocks: Range<u64>, seed: u64) -> Self {
        let may_be = blocks.clone().map(|_| vec![0]).collect();
        Self { blocks, may_be, writes: 0, dice: fastrand::Rng::with_seed(seed) }
    }

    fn somewhere(&mut self) -> Range<u64> {
        let longest = if self.dice.u32(0..8) == 0 { 64 } else { 8 };
        let first = self.dice.u64(self.blocks.clone());
        first..(first + self.dice.u64(1..=longest)).min(self.blocks.end)
    }

    /// Sends a request, and notes what it left.
    pub(crate) fn step(&mut self, client: &mut Client) -> Result<(), Refused> {
        let place = self.somewhere();
        let (offset, length) = (place.start * BLOCK, (place.end - place.start) * BLOCK);
        let flags = if self.dice.bool() { FUA } else { 0 };
        let (outcome, left) = match self.dice.u32(0..10) {
            0 => return self.compare(client, place),
            1 => (client.flush(), None),
            2 => (client.ask(0, TRIM, offset, length as u32), Some(Left::Trimmed)),
            3 => (client.ask(flags, WRITE_ZEROES, offset, length as u32), Some(Left::Write(0))),
            _ => {
                self.writes += 1;
                let mut data = vec![0; length as usize];
                for (data, block) in data.chunks_mut(BLOCK as usize).zip(place.clone()) {
                    content(block, self.writes, data);
                }
                (client.write(flags, offset, &data), Some(Left::Write(self.writes)))
            }
        };
        for block in place {
            let may_be = &mut self.may_be[(block - self.blocks.start) as usize];
            match left {
                Some(Left::Write(write)) if outcome.is_ok() => *may_be = vec![write],
                Some(Left::Write(write)) => may_be.push(write),
                // A trim forgets whole sectors: of the others, it may leave what was there.
                Some(Left::Trimmed) => may_be.push(0),
                None => {}
            }
        }
        outcome
    }

    /// Reads blocks and compares them. What they are found to be they must be from then on.
    pub(crate) fn compare(
        &mut self,
        client: &mut Client,
        place: Range<u64>,
    ) -> Result<(), Refused> {
        let length = ((place.end - place.start) * BLOCK) as u32;
        let data = client.read(place.start * BLOCK, length)?;
        for (data, block) in data.chunks(BLOCK as usize).zip(place) {
            let may_be = &mut self.may_be[(block - self.blocks.start) as usize];
            let mut expected = vec![0; BLOCK as usize];
            let found = may_be.iter().copied().find(|write| {
                content(block, *write, &mut expected);
                expected == data
            });
            let Some(found) = found else {
                panic!("block {block} is none of writes {may_be:?}: {:02x?}…", &data[..16]);
            };
            *may_be = vec![found];
        }
        Ok(())
    }

    /// Compares all of it.
    pub(crate) fn compare_all(&mut self, client: &mut Client) -> Result<(), Refused> {
        let (start, end) = (self.blocks.start, self.blocks.end);
        for first in (start..end).step_by(128) {
            self.compare(client, first..(first + 128).min(end))?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Left {
    Write(u64),
    Trimmed,
}
