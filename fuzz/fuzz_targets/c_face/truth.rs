//! What was acknowledged: what each sector must read as, and what it may read as after a request that failed.

/// How far the truth holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// Nothing is known: there was no format, or the driver lied since.
    Nothing,
    /// Pages became unreadable by themselves since the format. What that may cost says `NandDevice`: sectors are lost,
    /// or older; never another sector's content, never a mix, never what was there before the format.
    Faded,
    /// The driver kept its contract since the format: every sector reads as it was written.
    Exact,
}

/// The content of a sector: the number of the write, 0 for zeros.
type Version = u32;

#[derive(Clone, Debug, Default)]
struct Known {
    now: Version,
    /// Of requests in which the driver failed: after one, each sector is old or new, as the next mount finds it.
    open: Vec<Version>,
    /// Of requests that were refused because blocks are used up. They may have been begun: what reads as old may be
    /// new after a mount that finds it, but not the other way round.
    begun: Vec<Version>,
    /// All since the format.
    ever: Vec<Version>,
}

pub(crate) struct Truth {
    sectors: Vec<Known>,
    sector_bytes: usize,
    writes: Version,
}

/// Which sectors, and what they are to hold.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub(crate) first: u32,
    pub(crate) count: u32,
    version: Version,
}

/// The bytes of a sector that a write of that number writes to it. No two sectors and writes have the same ones, and
/// no two parts of a sector.
fn content(sector: u32, version: Version, bytes: usize) -> Vec<u8> {
    if version == 0 {
        return vec![0; bytes];
    }
    let mut whole = vec![0; bytes];
    for (at, word) in whole.chunks_exact_mut(8).enumerate() {
        let low = u64::from(sector as u16) << 16 | at as u64;
        word.copy_from_slice(&(u64::from(version) << 32 | low).to_le_bytes());
    }
    whole
}

impl Truth {
    /// No device.
    pub(crate) const fn new() -> Self {
        Self { sectors: Vec::new(), sector_bytes: 512, writes: 0 }
    }

    /// A device that was just formatted: all zeros.
    pub(crate) fn format(&mut self, capacity: u32, sector_bytes: u32) {
        self.sectors = vec![Known::default(); capacity as usize];
        self.sector_bytes = sector_bytes as usize;
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.sectors.len() as u32
    }

    pub(crate) const fn sector_bytes(&self) -> usize {
        self.sector_bytes
    }

    /// A write is about to be asked for.
    pub(crate) fn write(&mut self, first: u32, count: u32) -> Change {
        self.writes += 1;
        self.note(Change { first, count, version: self.writes })
    }

    /// A trim is.
    pub(crate) fn trim(&mut self, first: u32, count: u32) -> Change {
        self.note(Change { first, count, version: 0 })
    }

    fn note(&mut self, change: Change) -> Change {
        for known in self.those(change) {
            known.open.push(change.version);
            known.ever.push(change.version);
        }
        change
    }

    fn those(&mut self, change: Change) -> &mut [Known] {
        &mut self.sectors[change.first as usize..(change.first + change.count) as usize]
    }

    /// The bytes of a write.
    pub(crate) fn bytes(&self, change: Change) -> Vec<u8> {
        let sectors = change.first..change.first + change.count;
        sectors.flat_map(|sector| content(sector, change.version, self.sector_bytes)).collect()
    }

    /// It returned 0.
    pub(crate) fn acknowledge(&mut self, change: Change) {
        for known in self.those(change) {
            (known.now, known.open, known.begun) = (change.version, Vec::new(), Vec::new());
        }
    }

    /// It was refused.
    pub(crate) fn refuse(&mut self, change: Change) {
        for known in self.those(change) {
            known.open.retain(|version| *version != change.version);
            known.begun.push(change.version);
        }
    }

    /// A sector was read.
    pub(crate) fn compare(&mut self, sector: u32, found: &[u8], trust: Trust) {
        if trust == Trust::Nothing {
            return;
        }
        let written = found.first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word)) >> 32;
        let version = written as Version;
        let whole = content(sector, version, found.len()) == found;
        assert!(whole, "sector {sector} holds what was never written to it: {:02X?}", &found[..16]);
        let known = &mut self.sectors[sector as usize];
        if trust == Trust::Faded {
            // Zeros, because the map's page may be gone in which the sector was mentioned first.
            let older = version == 0 || known.ever.contains(&version);
            assert!(older, "sector {sector} holds write {version}, of before the format");
            return;
        }
        match known.begun.iter().position(|begun| *begun == version) {
            _ if version == known.now => {}
            Some(at) => drop(known.begun.drain(..=at)),
            None => {
                let fits = known.open.contains(&version);
                assert!(fits, "sector {sector} holds write {version}: {known:?}");
            }
        }
        // From now on it is that, or newer: a store never takes a step back.
        (known.now, known.open) = (version, Vec::new());
    }
}
