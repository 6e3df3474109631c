//! The host: cuts requests into sectors, reads before it writes a part of one, and knows what every sector must hold.
//!
//! Each sector that is written gets a stamp of its own, from a running number, so that an older version of it is told
//! from the newest, and a neighbour's content from its own. What is read is compared with the stamp that was written
//! last; a sector that was never written, or was trimmed, must read as zeros.

use std::convert::Infallible;

use ftl_iface::{BlockStore, Sector, SectorCount};
use nand_model::Stamp;

use crate::Failure;
use crate::trace::{Op, Request};

/// The store that a host of this house speaks to.
pub(crate) type Store<'a> = dyn BlockStore<Error = Infallible> + 'a;

/// The most that is handed to the store at once. No filter calls a larger request hot, and a buffer for the largest
/// requests of real traces (tens of MiB) would weigh more than the FTL's RAM.
const HANDED_MOST: u64 = 4 << 20;

/// Bytes written at once while the device is prepared: a block of the paper's MLC. A power of two, so that blocks of
/// other devices are written in their order, too.
pub(crate) const PREPARED_AT_ONCE: u32 = 512 << 10;

/// The stamp of a sector that was never written, or was trimmed.
const NEVER: u32 = 0;

/// In the table: what the sector held at first. Zero, so that the system need not clear memory for what nobody writes.
const AT_FIRST: u32 = 0;

/// In the table: the sector was trimmed. No stamp is so large.
const TRIMMED: u32 = u32::MAX;

/// What a sector of a filled device holds: sectors were written once each, in order.
#[inline]
pub(crate) const fn first_stamp(sector: u32) -> Stamp {
    Stamp::new(NEVER + 1 + sector)
}

/// How many of a sector's first bytes are looked at: the stamp and its mark.
const LOOKED_AT: usize = Stamp::BYTES.as_usize();

/// Stands in the buffer before a read: what the store leaves untouched is found out.
const UNTOUCHED: u8 = 0x5A;

/// The host and its memory of what it wrote.
pub(crate) struct Host {
    /// The stamp written last, by sector, or [`AT_FIRST`] or [`TRIMMED`].
    stamps: Vec<u32>,
    /// Sectors, from the first on, that held their [`first_stamp`] when all began; the others were never written.
    filled: u32,
    latest: u32,
    sector_bytes: u64,
    /// The store's capacity in bytes.
    capacity: u64,
    buffer: Vec<u8>,
    verified: u64,
}

/// Sectors of a request: those that it touches, and whether it covers the first and the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: u64,
    count: u64,
    covers_first: bool,
    covers_last: bool,
}

impl Host {
    /// A host of a store whose first sectors are filled, and that is empty otherwise.
    pub(crate) fn new(store: &Store<'_>, filled: SectorCount) -> Self {
        let sector_bytes = u64::from(store.sector_bytes().get());
        let sectors = store.capacity().as_usize();
        Self {
            stamps: vec![AT_FIRST; sectors],
            filled: filled.get(),
            latest: NEVER + filled.get(),
            sector_bytes,
            capacity: sectors as u64 * sector_bytes,
            buffer: Vec::new(),
            verified: 0,
        }
    }

    /// Sectors that were read and held what they must.
    pub(crate) const fn verified(&self) -> u64 {
        self.verified
    }

    /// The store's capacity in bytes.
    pub(crate) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Hands a request to the store and waits for it. Says how many sectors it touched. A request that runs over the
    /// store's end goes on at its beginning.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        store: &mut Store<'_>,
        request: &Request,
    ) -> Result<u64, Failure> {
        if request.op == Op::Flush {
            store.flush().map_err(|error| broken(format!("a flush failed: {error}")))?;
            return Ok(0);
        }
        let mut touched = 0;
        let mut at = request.offset;
        let mut left = request.length;
        while left > 0 {
            // Parts end at multiples of what is handed over at once, so that a sector is never cut by it.
            let to_cut = HANDED_MOST - at % HANDED_MOST;
            let length = left.min(self.capacity - at).min(to_cut);
            let span = self.span(at, length);
            touched += span.count;
            match request.op {
                Op::Read => self.read(store, span.first, span.count)?,
                Op::Write => self.write(store, span)?,
                Op::Trim => self.trim(store, span)?,
                Op::Flush => {}
            }
            left -= length;
            at += length;
            if at == self.capacity {
                at = 0;
            }
        }
        Ok(touched)
    }

    fn span(&self, offset: u64, length: u64) -> Span {
        // A power of two: the store's shape was checked.
        let shift = self.sector_bytes.trailing_zeros();
        let end = offset + length;
        let first = offset >> shift;
        let last = (end - 1) >> shift;
        let covers_first = offset == first << shift && (end >= (first + 1) << shift);
        let covers_last = end == (last + 1) << shift && offset <= last << shift;
        Span { first, count: last - first + 1, covers_first, covers_last }
    }

    /// The stamp that a sector must hold, of which the table knows that.
    #[inline]
    const fn expected(&self, known: u32, sector: u32) -> u32 {
        match known {
            AT_FIRST if sector < self.filled => first_stamp(sector).get(),
            AT_FIRST | TRIMMED => NEVER,
            stamp => stamp,
        }
    }

    fn buffer(&mut self, sectors: u64) -> usize {
        let bytes = (sectors * self.sector_bytes) as usize;
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, UNTOUCHED);
        }
        bytes
    }

    /// Reads sectors and compares each with what it must hold.
    fn read(&mut self, store: &mut Store<'_>, first: u64, count: u64) -> Result<(), Failure> {
        let bytes = self.buffer(count);
        let size = self.sector_bytes as usize;
        let data = &mut self.buffer[..bytes];
        for sector in data.chunks_exact_mut(size) {
            sector[..LOOKED_AT].fill(UNTOUCHED);
        }
        store.read(Sector::new(first as u32), data).map_err(|error| {
            broken(format!("a read of {count} sectors from {first} on failed: {error}"))
        })?;
        let stamps = self.stamps[first as usize..].iter().zip(first as u32..);
        let mut read = self.buffer[..bytes].chunks_exact(size).zip(stamps);
        let wrong = |(data, (known, sector)): (&[u8], (&u32, u32))| {
            !holds(data, self.expected(*known, sector))
        };
        if let Some(at) = read.position(wrong) {
            return Err(self.violation(first, at));
        }
        self.verified += count;
        Ok(())
    }

    /// Writes sectors, after reading those that are covered in part.
    fn write(&mut self, store: &mut Store<'_>, span: Span) -> Result<(), Failure> {
        if !span.covers_first {
            self.read(store, span.first, 1)?;
        }
        if !span.covers_last && (span.count > 1 || span.covers_first) {
            self.read(store, span.first + span.count - 1, 1)?;
        }
        let bytes = self.buffer(span.count);
        let size = self.sector_bytes as usize;
        let first = span.first as usize;
        let stamps = &mut self.stamps[first..first + span.count as usize];
        for (sector, stamp) in self.buffer[..bytes].chunks_exact_mut(size).zip(stamps) {
            // After the largest stamp the numbers begin again: four thousand million writes later, no version of
            // that time is left to be taken for a new one.
            self.latest = if self.latest < Stamp::MAX.get() { self.latest + 1 } else { NEVER + 1 };
            *stamp = self.latest;
            Stamp::new(self.latest).write_to(sector);
        }
        store.write(Sector::new(span.first as u32), &self.buffer[..bytes]).map_err(|error| {
            broken(format!(
                "a write of {} sectors from {} on failed: {error}",
                span.count, span.first
            ))
        })
    }

    /// Trims the sectors that the request covers; what it covers in part stays.
    fn trim(&mut self, store: &mut Store<'_>, span: Span) -> Result<(), Failure> {
        let first = span.first + u64::from(!span.covers_first);
        let end = span.first + span.count - u64::from(!span.covers_last);
        if first >= end {
            return Ok(());
        }
        let count = SectorCount::new((end - first) as u32);
        store.trim(Sector::new(first as u32), count).map_err(|error| {
            broken(format!("a trim of {count} from {first} on failed: {error}"))
        })?;
        self.stamps[first as usize..end as usize].fill(TRIMMED);
        Ok(())
    }

    #[cold]
    fn violation(&self, first: u64, at: usize) -> Failure {
        let number = first + at as u64;
        let size = self.sector_bytes as usize;
        let sector = &self.buffer[at * size..(at + 1) * size];
        let expected = |number: usize| self.expected(self.stamps[number], number as u32);
        let must = match expected(number as usize) {
            NEVER => "zeros".into(),
            stamp => format!("write {stamp}"),
        };
        let found = match Stamp::read_from(sector) {
            Some(stamp) => {
                let owner =
                    (0..self.stamps.len()).position(|number| expected(number) == stamp.get());
                match owner {
                    Some(owner) => format!("write {}, which is sector {owner}'s", stamp.get()),
                    None => format!("write {}, which was overwritten since", stamp.get()),
                }
            }
            None if sector.iter().all(|byte| *byte == 0) => "zeros".into(),
            None if sector[..LOOKED_AT].iter().all(|byte| *byte == UNTOUCHED) => {
                "a buffer that the read left as it was".into()
            }
            None => format!("bytes that nobody wrote ({:02X?}…)", &sector[..LOOKED_AT]),
        };
        broken(format!("sector {number} must hold {must}, and holds {found}"))
    }
}

/// Whether a sector that was read holds what was written with that stamp.
#[inline]
fn holds(sector: &[u8], stamp: u32) -> bool {
    match stamp {
        NEVER => sector[..LOOKED_AT].iter().all(|byte| *byte == 0),
        stamp => Stamp::read_from(sector) == Some(Stamp::new(stamp)),
    }
}

fn broken(what: String) -> Failure {
    Failure::Violation(what)
}

#[cfg(test)]
mod tests {
    use ftl_iface::{Bytes, PageCount, StoreReadError, StoreWriteError, Work};
    use nand_model::part::Nanos;

    use super::*;

    /// A store in memory that writes down what it is asked, and can be told to lie.
    struct Memory {
        data: Vec<u8>,
        asked: Vec<(char, u32, usize)>,
        deaf: bool,
    }

    const SECTOR: usize = 2048;

    impl Memory {
        fn new(sectors: usize) -> Self {
            Self { data: vec![0; sectors * SECTOR], asked: Vec::new(), deaf: false }
        }
    }

    impl BlockStore for Memory {
        type Error = Infallible;

        fn sector_bytes(&self) -> Bytes {
            Bytes::new(SECTOR as u32)
        }

        fn capacity(&self) -> SectorCount {
            SectorCount::new((self.data.len() / SECTOR) as u32)
        }

        fn read(
            &mut self,
            first: Sector,
            data: &mut [u8],
        ) -> Result<(), StoreReadError<Infallible>> {
            self.asked.push(('R', first.get(), data.len() / SECTOR));
            let at = first.get() as usize * SECTOR;
            data.copy_from_slice(&self.data[at..at + data.len()]);
            Ok(())
        }

        fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
            self.asked.push(('W', first.get(), data.len() / SECTOR));
            let at = first.get() as usize * SECTOR;
            if !self.deaf {
                self.data[at..at + data.len()].copy_from_slice(data);
            }
            Ok(())
        }

        fn trim(
            &mut self,
            first: Sector,
            count: SectorCount,
        ) -> Result<(), StoreWriteError<Infallible>> {
            self.asked.push(('T', first.get(), count.as_usize()));
            let at = first.get() as usize * SECTOR;
            self.data[at..at + count.as_usize() * SECTOR].fill(0);
            Ok(())
        }

        fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
            self.asked.push(('F', 0, 0));
            Ok(())
        }

        fn maintain(&mut self, _: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
            Ok(Work::Done)
        }
    }

    /// Serves one request of a store with `sectors`, and says what the store was asked.
    fn asked(sectors: usize, op: Op, offset: u64, length: u64) -> (u64, Vec<(char, u32, usize)>) {
        let mut store = Memory::new(sectors);
        let mut host = Host::new(&store, SectorCount::ZERO);
        let request = Request { time: Nanos::ZERO, op, offset, length };
        let touched = host.serve(&mut store, &request).unwrap();
        (touched, store.asked)
    }

    #[test]
    fn whole_sectors_are_written_as_they_are() {
        assert_eq!(asked(8, Op::Write, 2048, 4096), (2, vec![('W', 1, 2)]));
    }

    #[test]
    fn sectors_covered_in_part_are_read_first() {
        assert_eq!(asked(8, Op::Write, 512, 512), (1, vec![('R', 0, 1), ('W', 0, 1)]));
        assert_eq!(asked(8, Op::Write, 0, 512), (1, vec![('R', 0, 1), ('W', 0, 1)]));
        assert_eq!(asked(8, Op::Write, 1536, 512), (1, vec![('R', 0, 1), ('W', 0, 1)]));
        let both = vec![('R', 0, 1), ('R', 2, 1), ('W', 0, 3)];
        assert_eq!(asked(8, Op::Write, 1024, 4096), (3, both));
        let last = vec![('R', 1, 1), ('W', 0, 2)];
        assert_eq!(asked(8, Op::Write, 0, 2560), (2, last));
    }

    #[test]
    fn a_trim_takes_only_what_it_covers() {
        assert_eq!(asked(8, Op::Trim, 512, 6144), (4, vec![('T', 1, 2)]));
        assert_eq!(asked(8, Op::Trim, 512, 1024), (1, vec![]));
        assert_eq!(asked(8, Op::Trim, 2048, 2048), (1, vec![('T', 1, 1)]));
    }

    #[test]
    fn a_request_over_the_end_goes_on_at_the_beginning_and_a_long_one_in_parts() {
        assert_eq!(asked(8, Op::Read, 7 * 2048, 4096), (2, vec![('R', 7, 1), ('R', 0, 1)]));
        let parts = vec![('R', 1, 2047), ('R', 2048, 2)];
        assert_eq!(asked(4096, Op::Read, 2048, 4 << 20 | 2048), (2049, parts));
        assert_eq!(asked(8, Op::Read, 0, 0), (0, vec![]));
        assert_eq!(asked(8, Op::Flush, 0, 0), (0, vec![('F', 0, 0)]));
    }

    #[test]
    fn what_is_not_what_was_written_is_told_with_sector_expected_and_found() {
        let mut store = Memory::new(8);
        let mut host = Host::new(&store, SectorCount::ZERO);
        let mut serve = |store: &mut Memory, op, offset, length| {
            let request = Request { time: Nanos::ZERO, op, offset, length };
            host.serve(store, &request).map_err(|failure| failure.to_string())
        };
        serve(&mut store, Op::Write, 0, 4096).unwrap();
        serve(&mut store, Op::Read, 0, 16384).unwrap();
        store.deaf = true;
        serve(&mut store, Op::Write, 2048, 2048).unwrap();
        let stale = serve(&mut store, Op::Read, 0, 4096).unwrap_err();
        assert!(
            stale.contains("sector 1 must hold write 3") && stale.contains("overwritten"),
            "{stale}"
        );
        store.data.copy_within(0..2048, 4096);
        let strange = serve(&mut store, Op::Read, 4096, 2048).unwrap_err();
        assert!(strange.contains("sector 2 must hold zeros"), "{strange}");
        assert!(strange.contains("write 1, which is sector 0's"), "{strange}");
    }
}
