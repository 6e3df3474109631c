//! What each sector must read as.

use std::ops::Range;

use super::content::{Contents, Deciphered, SmallVersion};
use super::grid::Grid;
use super::image::{FlashImage, Read};
use crate::dice::mix;
use ftl_iface::Sector;

/// The most sectors of a small device.
pub(super) const SECTORS_MAX: usize = 12;

/// The most requests in flight whose outcome was never read.
const ASKED_MAX: usize = 6;

/// What one sector must read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SectorPromise {
    now: SmallVersion,
    /// Versions of requests in flight: it may hold any of them.
    asked: [SmallVersion; ASKED_MAX],
    asked_count: u8,
    /// A page that held it became unreadable by itself: it may be lost or older until it is written again.
    page_lost: bool,
}

impl SectorPromise {
    fn asked(&self) -> &[SmallVersion] {
        &self.asked[..usize::from(self.asked_count)]
    }

    fn ask(&mut self, version: SmallVersion) {
        if self.now == version || self.asked().contains(&version) {
            return;
        }
        if let Some(place) = self.asked.get_mut(usize::from(self.asked_count)) {
            *place = version;
            self.asked_count += 1;
        }
    }

    fn is(version: SmallVersion) -> Self {
        Self { now: version, ..Self::default() }
    }
}

/// What the device must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise {
    sectors: [SectorPromise; SECTORS_MAX],
    count: u8,
}

/// What a read of a sector gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Got {
    Data(Deciphered),
    Lost,
}

/// What may be lost with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    Nothing,
    /// What it held of these sectors.
    Held(Vec<(Sector, SmallVersion)>),
    /// Any of these sectors: the page had their addresses.
    Range(Range<u32>),
}

impl Promise {
    /// A formatted device: zeros.
    pub(super) fn new(count: u32) -> Self {
        Self { sectors: [SectorPromise::default(); SECTORS_MAX], count: count as u8 }
    }

    fn run(&mut self, first: u32, count: u32) -> &mut [SectorPromise] {
        &mut self.sectors[first as usize..(first + count) as usize]
    }

    /// Begins a request that writes this version, or trims.
    pub(super) fn begin(&mut self, (first, count): (u32, u32), version: SmallVersion) {
        self.run(first, count).iter_mut().for_each(|sector| sector.ask(version));
    }

    /// The request was acknowledged.
    pub(super) fn acknowledge(&mut self, (first, count): (u32, u32), version: SmallVersion) {
        self.run(first, count).fill(SectorPromise::is(version));
    }

    /// Notes what a sector read as; returns whether it may.
    pub(super) fn settle(&mut self, sector: Sector, got: Got) -> bool {
        let expected = &mut self.sectors[sector.get() as usize];
        let version = match got {
            Got::Lost => return expected.page_lost,
            Got::Data(Deciphered::Garbage) => return false,
            Got::Data(Deciphered::Zeros) => 0,
            Got::Data(Deciphered::Written(of, _)) if of != sector => return false,
            Got::Data(Deciphered::Written(_, version)) => version,
        };
        let is_told = expected.now == version || expected.asked().contains(&version);
        if is_told {
            *expected =
                SectorPromise { page_lost: expected.page_lost, ..SectorPromise::is(version) };
        }
        // Without its address, whatever the sector was once may come back, also after a trim.
        is_told || expected.page_lost
    }

    /// What is expected of a sector, in words.
    pub(super) fn told(&self, sector: Sector) -> String {
        let expected = &self.sectors[sector.get() as usize];
        let all = [&expected.now].into_iter().chain(expected.asked());
        let told: Vec<String> = all.map(|version| version_told(*version)).collect();
        told.join(" or ")
    }

    /// Notes that a page became unreadable by itself.
    pub(super) fn lose_page(&mut self, cost: &Cost) {
        match cost {
            Cost::Nothing => {}
            Cost::Held(held) => {
                for (sector, version) in held {
                    let expected = &mut self.sectors[sector.get() as usize];
                    if expected.now == *version || expected.asked().contains(version) {
                        expected.page_lost = true;
                    }
                }
            }
            Cost::Range(sectors) => {
                for sector in sectors.clone().take_while(|sector| *sector < self.count.into()) {
                    let expected = &mut self.sectors[sector as usize];
                    expected.page_lost = true;
                }
            }
        }
    }

    /// Forgets requests in flight of which nothing is on flash, so that states are the same that differ in nothing
    /// else.
    pub(super) fn forget_what_is_gone(
        &mut self,
        image: &FlashImage,
        (grid, contents): (&Grid, &Contents),
    ) {
        let count = usize::from(self.count);
        if self.sectors[..count].iter().all(|sector| sector.asked_count == 0) {
            return;
        }
        let mut there = [0_u64; 4];
        for (_, cell) in image.held(grid) {
            let Read::Content(id) = cell.read() else { continue };
            for (_, version) in contents.get(id).sectors() {
                there[usize::from(version >> 6)] |= 1 << (version & 63);
            }
        }
        let is_there = |version: SmallVersion| {
            version == 0 || there[usize::from(version >> 6)] >> (version & 63) & 1 == 1
        };
        for sector in &mut self.sectors[..count] {
            let before = *sector;
            (sector.asked, sector.asked_count) = ([0; ASKED_MAX], 0);
            for version in before.asked().iter().filter(|version| is_there(**version)) {
                sector.ask(*version);
            }
        }
    }

    /// A hash of it.
    pub(super) fn fingerprint(&self) -> u64 {
        let count = usize::from(self.count);
        self.sectors[..count].iter().fold(0, |hash, sector| {
            let asked =
                sector.asked().iter().fold(0_u64, |all, asked| all << 8 | u64::from(*asked));
            let rest = u64::from(sector.now) | u64::from(sector.asked_count) << 8;
            mix(hash ^ asked, rest | u64::from(sector.page_lost) << 16)
        })
    }
}

/// A version in words.
pub(super) fn version_told(version: SmallVersion) -> String {
    match version {
        0 => "zeros".into(),
        version => format!("what letter {version} wrote"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: Sector = Sector::new(1);

    fn written(version: SmallVersion) -> Got {
        Got::Data(Deciphered::Written(SECTOR, version))
    }

    #[test]
    fn a_sector_in_flight_is_old_or_new_and_stays_what_it_was_read_as() {
        let mut promise = Promise::new(3);
        promise.acknowledge((0, 2), 1);
        promise.begin((1, 1), 2);
        let as_new = &mut promise.clone();
        assert!(as_new.settle(SECTOR, written(2)) && !as_new.settle(SECTOR, written(1)));
        let as_old = &mut promise.clone();
        assert!(as_old.settle(SECTOR, written(1)) && !as_old.settle(SECTOR, written(2)));
        for wrong in
            [written(3), Got::Lost, Got::Data(Deciphered::Zeros), Got::Data(Deciphered::Garbage)]
        {
            assert!(!promise.clone().settle(SECTOR, wrong), "{wrong:?}");
        }
        let of_another = Got::Data(Deciphered::Written(Sector::new(0), 1));
        assert!(!promise.settle(SECTOR, of_another));
    }

    #[test]
    fn a_page_that_went_by_itself_costs_its_own_sectors_alone() {
        let mut promise = Promise::new(3);
        promise.acknowledge((0, 3), 4);
        promise.lose_page(&Cost::Held(vec![(SECTOR, 4), (Sector::new(2), 3)]));
        assert!(promise.settle(SECTOR, Got::Lost) && promise.settle(SECTOR, written(2)));
        assert!(!promise.settle(Sector::new(2), Got::Lost));
        promise.lose_page(&Cost::Range(2..100));
        assert!(promise.settle(Sector::new(2), Got::Lost));
        assert!(!promise.settle(Sector::new(0), Got::Lost));
        promise.acknowledge((0, 3), 5);
        assert!(!promise.settle(SECTOR, Got::Lost));
    }
}
