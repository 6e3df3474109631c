//! The host: splits requests into sectors, reads a sector before it writes a part of it, and knows what every sector
//! must hold.
//!
//! Each written sector gets a unique stamp, from a running number, which distinguishes it from older versions and from
//! other sectors. Reads are compared with the stamp written last; a sector that was never written, or was trimmed, must
//! read as zeros.
//!
//! All systems get the same requests, so their sectors must hold the same. One *witness* follows the requests as they
//! are read and computes for each what its reads must find; each system's host issues the requests, assigns the same
//! stamps, and compares.

use std::convert::Infallible;

use ftl_iface::{BlockStore, Lifetime, Sector, SectorCount};
use nand_model::Stamp;

use crate::base::Failure;
use crate::input::trace::{Op, Request};

mod grid;
mod witness;

use self::grid::{Grid, Span};
use self::witness::{NEVER, next_stamp};
pub(crate) use self::witness::{SharedWitness, Witness, first_stamp};

/// The store below a host.
pub(crate) type HostStore<'a> = dyn BlockStore<Error = Infallible> + 'a;

/// Bytes written at once while the device is prepared: a block of the paper's MLC. A power of two, so that blocks of
/// other devices are written in their order, too.
pub(crate) const PREPARED_AT_ONCE: u32 = 512 << 10;

/// How many of a sector's first bytes are compared: the stamp and its mark.
const LOOKED_AT: usize = Stamp::BYTES.as_usize();

/// Fills the buffer before a read, so that bytes that the store leaves untouched are detected.
const UNTOUCHED: u8 = 0x5A;

/// The host of one system.
pub(crate) struct Host {
    grid: Grid,
    witness: SharedWitness,
    latest: u32,
    buffer: Vec<u8>,
    verified: u64,
}

impl Host {
    /// A host on a store whose first sectors are filled.
    pub(crate) fn new(store: &HostStore<'_>, filled: SectorCount, witness: SharedWitness) -> Self {
        let sector = u64::from(store.sector_bytes().get());
        let grid = Grid { sector, capacity: store.capacity().as_usize() as u64 * sector };
        Self { grid, witness, latest: NEVER + filled.get(), buffer: Vec::new(), verified: 0 }
    }

    /// Sectors read with the expected content.
    pub(crate) const fn verified(&self) -> u64 {
        self.verified
    }

    /// The store's capacity in bytes.
    pub(crate) const fn capacity(&self) -> u64 {
        self.grid.capacity
    }

    /// Whether the witness expects a store of this shape that was written completely.
    pub(crate) fn fits_witness(&self) -> bool {
        self.witness.lock().grid == self.grid
    }

    /// The first sector of a request.
    pub(crate) const fn first_sector(&self, request: &Request) -> Sector {
        self.grid.sector_at(request.offset)
    }

    /// Issues a request to the store and waits for it. Returns how many sectors it touched. What its reads must find is
    /// taken from `must`.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        store: &mut HostStore<'_>,
        request: &Request,
        must: &mut &[u32],
    ) -> Result<u64, Failure> {
        if request.op == Op::Flush {
            store.flush().map_err(|error| broken(format!("a flush failed: {error}")))?;
            return Ok(0);
        }
        let mut touched = 0;
        for span in self.grid.parts(request) {
            touched += span.count;
            match request.op {
                Op::Read => self.read(store, span.first, span.count, must)?,
                Op::Write => self.write(store, span, request.lifetime, must)?,
                Op::Trim => Self::trim(store, span)?,
                Op::Flush => {}
            }
        }
        Ok(touched)
    }

    fn buffer(&mut self, sectors: u64) -> usize {
        let bytes = (sectors * self.grid.sector) as usize;
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, UNTOUCHED);
        }
        bytes
    }

    /// Reads sectors and compares each with the expected stamp.
    fn read(
        &mut self,
        store: &mut HostStore<'_>,
        first: u64,
        count: u64,
        must: &mut &[u32],
    ) -> Result<(), Failure> {
        let bytes = self.buffer(count);
        let size = self.grid.sector as usize;
        let data = &mut self.buffer[..bytes];
        for sector in data.chunks_exact_mut(size) {
            sector[..LOOKED_AT].fill(UNTOUCHED);
        }
        store.read(Sector::new(first as u32), data).map_err(|error| {
            broken(format!("a read of {count} sectors from {first} on failed: {error}"))
        })?;
        let Some((stamps, rest)) = must.split_at_checked(count as usize) else {
            return Err(broken("nobody followed a request to say what it must find".into()));
        };
        *must = rest;
        let mut read = data.chunks_exact(size).zip(stamps);
        if let Some(at) = read.position(|(sector, stamp)| !holds(sector, *stamp)) {
            return Err(self.violation(first, at, stamps[at]));
        }
        self.verified += count;
        Ok(())
    }

    /// Writes sectors, after reading those that are covered in part.
    fn write(
        &mut self,
        store: &mut HostStore<'_>,
        span: Span,
        lifetime: Lifetime,
        must: &mut &[u32],
    ) -> Result<(), Failure> {
        for sector in span.partial() {
            self.read(store, sector, 1, must)?;
        }
        let bytes = self.buffer(span.count);
        let size = self.grid.sector as usize;
        for sector in self.buffer[..bytes].chunks_exact_mut(size) {
            self.latest = next_stamp(self.latest);
            Stamp::new(self.latest).write_to(sector);
        }
        let (first, data) = (Sector::new(span.first as u32), &self.buffer[..bytes]);
        store.write_hinted(first, data, lifetime).map_err(|error| {
            broken(format!(
                "a write of {} sectors from {} on failed: {error}",
                span.count, span.first
            ))
        })
    }

    /// Trims the sectors that the request covers completely.
    fn trim(store: &mut HostStore<'_>, span: Span) -> Result<(), Failure> {
        let covered = span.covered();
        if covered.is_empty() {
            return Ok(());
        }
        let (first, count) =
            (covered.start, SectorCount::new((covered.end - covered.start) as u32));
        store
            .trim(Sector::new(first as u32), count)
            .map_err(|error| broken(format!("a trim of {count} from {first} on failed: {error}")))
    }

    #[cold]
    fn violation(&self, first: u64, at: usize, must: u32) -> Failure {
        let number = first + at as u64;
        let size = self.grid.sector as usize;
        let sector = &self.buffer[at * size..(at + 1) * size];
        let expected = match must {
            NEVER => "zeros".into(),
            stamp => format!("write {stamp}"),
        };
        let found = match Stamp::read_from(sector) {
            // The witness is some requests ahead, so in rare cases a neighbour's stamp is overwritten there already.
            Some(stamp) => match self.witness.lock().owner(stamp) {
                Some(owner) => format!("write {}, which is sector {owner}'s", stamp.get()),
                None => format!("write {}, which was overwritten since", stamp.get()),
            },
            None if sector.iter().all(|byte| *byte == 0) => "zeros".into(),
            None if sector[..LOOKED_AT].iter().all(|byte| *byte == UNTOUCHED) => {
                "a buffer that the read left as it was".into()
            }
            None => format!("bytes that were never written ({:02X?}…)", &sector[..LOOKED_AT]),
        };
        broken(format!("sector {number} must hold {expected}, and holds {found}"))
    }
}

/// Whether a sector that was read holds what was written with that stamp.
#[inline]
pub(crate) fn holds(sector: &[u8], stamp: u32) -> bool {
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

    /// A store in memory that records its calls, and can be made to return wrong data.
    struct Memory {
        data: Vec<u8>,
        asked: Vec<(char, u32, usize)>,
        deaf: bool,
    }

    const SECTOR: usize = 2048;

    impl Memory {
        fn full(sectors: usize) -> Self {
            let mut data = vec![0; sectors * SECTOR];
            for (data, sector) in data.chunks_mut(SECTOR).zip(0..) {
                first_stamp(sector).write_to(data);
            }
            Self { data, asked: Vec::new(), deaf: false }
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

    /// A full store and its host, whose requests a witness follows.
    struct Pair {
        store: Memory,
        host: Host,
    }

    impl Pair {
        fn new(sectors: usize) -> Self {
            let store = Memory::full(sectors);
            let witness = Witness::of_full_stores(SECTOR as u64, (sectors * SECTOR) as u64);
            let filled = SectorCount::new(sectors as u32);
            let host = Host::new(&store, filled, SharedWitness::new(witness));
            assert!(host.fits_witness());
            Self { store, host }
        }

        fn serve(&mut self, op: Op, offset: u64, length: u64) -> Result<u64, String> {
            let request = Request::new(Nanos::ZERO, op, offset, length);
            let mut must = Vec::new();
            self.host.witness.lock().follow(&request, &mut must);
            let mut left = must.as_slice();
            let served = self.host.serve(&mut self.store, &request, &mut left);
            assert!(served.is_err() || left.is_empty(), "{left:?}");
            served.map_err(|failure| failure.to_string())
        }
    }

    /// Serves one request on a store with `sectors`, and returns the calls to the store.
    fn asked(sectors: usize, op: Op, offset: u64, length: u64) -> (u64, Vec<(char, u32, usize)>) {
        let mut pair = Pair::new(sectors);
        let touched = pair.serve(op, offset, length).unwrap();
        (touched, pair.store.asked)
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
    fn a_request_over_the_end_goes_on_at_the_beginning_and_a_long_one_stays_whole() {
        assert_eq!(asked(8, Op::Read, 7 * 2048, 4096), (2, vec![('R', 7, 1), ('R', 0, 1)]));
        // Neither the size nor the place of a request cuts it.
        for op in [Op::Read, Op::Write, Op::Trim] {
            let mut pair = Pair::new(8192);
            assert_eq!(pair.serve(op, 2048, 10 << 20), Ok(5120));
            assert_eq!(pair.store.asked, vec![(op.letter(), 1, 5120)]);
            pair.serve(Op::Read, 0, 16 << 20).unwrap();
        }
        assert_eq!(asked(8, Op::Read, 0, 0), (0, vec![]));
        assert_eq!(asked(8, Op::Flush, 0, 0), (0, vec![('F', 0, 0)]));
    }

    #[test]
    fn what_is_not_what_was_written_is_told_with_sector_expected_and_found() {
        let mut pair = Pair::new(8);
        pair.serve(Op::Read, 0, 16384).unwrap();
        pair.serve(Op::Write, 0, 4096).unwrap();
        pair.serve(Op::Trim, 6144, 2048).unwrap();
        pair.serve(Op::Read, 0, 16384).unwrap();
        assert_eq!(pair.host.verified(), 16);
        pair.store.deaf = true;
        pair.serve(Op::Write, 2048, 2048).unwrap();
        let stale = pair.serve(Op::Read, 0, 4096).unwrap_err();
        let told = "sector 1 must hold write 11, and holds write 10, which was overwritten";
        assert!(stale.contains(told), "{stale}");
        pair.store.data.copy_within(0..2048, 6144);
        let strange = pair.serve(Op::Read, 6144, 2048).unwrap_err();
        assert!(strange.contains("sector 3 must hold zeros"), "{strange}");
        assert!(strange.contains("write 9, which is sector 0's"), "{strange}");
    }
}
