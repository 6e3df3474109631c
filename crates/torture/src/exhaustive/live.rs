//! One life: a mount and some letters on a device, compared with the promise.

use ftl_iface::{PageCount, Sector, SectorCount, StoreReadError, StoreWriteError};

use super::content::{Deciphered, SECTOR, SmallVersion, fill, read_back};
use super::image::FlashImage;
use super::nand::{Nand, NandHalt};
use super::promise::{Got, Promise, version_told};
use super::script::Letter;
use super::small_ftl::{SmallFtl, SmallMemory};
use super::world::SmallWorld;
use crate::panics;
use crate::subject::Unchecked;

/// Where a life begins.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) image: FlashImage,
    pub(super) promise: Promise,
    /// The number of the last letter.
    pub(super) version: SmallVersion,
    /// Whether some block has failed, so that a small device may be read-only.
    pub(super) has_failed: bool,
}

/// What a life is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifePlan<'a> {
    pub(super) letters: &'a [Letter],
    /// Letters at the beginning that go as usual.
    pub(super) fixed: usize,
    /// From this letter on, operations are photographed; before the first: also those of the mount.
    pub(super) recorded: usize,
    /// Whether everything is compared at the end.
    pub(super) compares: bool,
}

impl<'a> LifePlan<'a> {
    /// A life in which nothing but what is planned goes otherwise, and which is not photographed.
    pub(super) const fn usual(letters: &'a [Letter]) -> Self {
        Self { letters, fixed: usize::MAX, recorded: usize::MAX, compares: true }
    }
}

/// What a life came to.
#[derive(Clone, Debug)]
pub(super) struct LifeResult {
    /// What was promised before the last letter, with that letter's request in flight.
    pub(super) in_flight: Promise,
    /// The same after it.
    pub(super) promise: Promise,
    /// The flash after it.
    pub(super) image: FlashImage,
    pub(super) version: SmallVersion,
    pub(super) failures: u8,
    /// Things met until then that could have gone otherwise.
    pub(super) met: usize,
    /// What was broken: by which letter (or by the comparison behind the last one), and how.
    pub(super) broken: Option<(usize, String)>,
}

/// Pages of idle work that the letter I asks for.
const IDLE: PageCount = PageCount::new(2);

/// Lives a life.
pub(super) fn live(
    world: &SmallWorld,
    (nand, memory): (&mut Nand, &mut SmallMemory),
    start: &Start,
    course: LifePlan<'_>,
) -> LifeResult {
    let mut lived = LifeResult {
        in_flight: start.promise,
        promise: start.promise,
        image: start.image.clone(),
        version: start.version,
        failures: 0,
        met: 0,
        broken: None,
    };
    nand.records = course.recorded == 0;
    nand.is_free &= course.fixed == 0;
    let mut at = 0;
    let outcome = panics::catch(|| {
        world.kind.mount(nand, memory, &mut |ftl| {
            let mut host = LifeHost { world, ftl, lived: &mut lived, has_failed: start.has_failed };
            at = host.follow(course);
        })
    });
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(error)) => lived.broken = Some((0, format!("the device does not mount: {error}"))),
        Err(panic) => lived.broken = Some((at, format!("panic: {panic}"))),
    }
    lived
}

/// The host of a mounted device.
struct LifeHost<'a> {
    world: &'a SmallWorld,
    ftl: &'a mut dyn SmallFtl,
    lived: &'a mut LifeResult,
    has_failed: bool,
}

impl LifeHost<'_> {
    /// Follows the letters; returns how many.
    fn follow(&mut self, course: LifePlan<'_>) -> usize {
        for (at, letter) in course.letters.iter().enumerate() {
            let nand = self.ftl.nand();
            nand.records = at >= course.recorded;
            nand.is_free |= at >= course.fixed && course.fixed > 0;
            nand.say(|_| letter.told());
            self.lived.in_flight = self.lived.promise;
            if let Err(sentence) = self.run_letter(*letter) {
                self.lived.broken = Some((at, sentence));
                self.photograph();
                return at;
            }
        }
        self.photograph();
        if course.compares
            && let Err(sentence) = self.compare()
        {
            self.lived.broken = Some((course.letters.len(), sentence));
        }
        course.letters.len()
    }

    /// Notes how everything is after the last letter.
    fn photograph(&mut self) {
        let nand = self.ftl.nand();
        nand.records = false;
        self.lived.image.clone_from(&nand.image);
        (self.lived.failures, self.lived.met) = (nand.failures(), nand.met.len());
    }

    fn run_letter(&mut self, letter: Letter) -> Result<(), String> {
        let version = self.lived.version + 1;
        match letter {
            Letter::Write(sector) => self.write(sector.into(), 1, version),
            Letter::Page => self.write(0, self.world.page, version),
            Letter::Trim => self.trim((0, 2)),
            Letter::Idle => self.asked(|ftl| ftl.maintain(IDLE).map(drop)),
            Letter::Stop => self.asked(|ftl| ftl.stop()),
            Letter::Read => self.compare(),
            Letter::Check => match self.ftl.check() {
                Err(Unchecked::Broken(sentence)) => {
                    Err(format!("an invariant does not hold: {sentence}"))
                }
                Ok(()) | Err(Unchecked::Unreadable(_)) => Ok(()),
            },
        }?;
        self.lived.version = version;
        Ok(())
    }

    fn write(&mut self, first: u32, count: u32, version: SmallVersion) -> Result<(), String> {
        let mut data = [0; 4 * SECTOR];
        let data = &mut data[..count as usize * SECTOR];
        for (sector, bytes) in (first..).zip(data.chunks_mut(SECTOR)) {
            fill(Sector::new(sector), version, bytes);
        }
        self.lived.in_flight.begin((first, count), version);
        let written = self.ftl.write(Sector::new(first), data);
        self.answered(written, (first, count), version)
    }

    fn trim(&mut self, (first, count): (u32, u32)) -> Result<(), String> {
        self.lived.in_flight.begin((first, count), 0);
        let trimmed = self.ftl.trim(Sector::new(first), SectorCount::new(count));
        self.answered(trimmed, (first, count), 0)
    }

    fn answered(
        &mut self,
        answer: Result<(), StoreWriteError<NandHalt>>,
        run: (u32, u32),
        version: SmallVersion,
    ) -> Result<(), String> {
        match answer {
            Ok(()) => {
                self.lived.promise.acknowledge(run, version);
                Ok(())
            }
            Err(error) => {
                // From now on each sector is old or new.
                self.lived.promise = self.lived.in_flight;
                self.refused(&error)
            }
        }
    }

    fn asked(
        &mut self,
        ask: impl FnOnce(&mut dyn SmallFtl) -> Result<(), StoreWriteError<NandHalt>>,
    ) -> Result<(), String> {
        ask(self.ftl).or_else(|error| self.refused(&error))
    }

    fn refused(&mut self, error: &StoreWriteError<NandHalt>) -> Result<(), String> {
        let has_failed = self.has_failed || self.ftl.nand().failures() > 0;
        match error {
            StoreWriteError::ReadOnly if has_failed => Ok(()),
            error => Err(format!("a request was refused: {error}")),
        }
    }

    /// Reads every sector.
    fn compare(&mut self) -> Result<(), String> {
        for sector in (0..self.world.capacity).map(Sector::new) {
            let mut data = [0xA5; SECTOR];
            let got = match self.ftl.read(sector, &mut data) {
                Ok(()) => Got::Data(read_back(&data)),
                Err(StoreReadError::Lost(_)) => Got::Lost,
                Err(error) => return Err(format!("{sector} cannot be read: {error}")),
            };
            let expected = self.lived.promise;
            if !self.lived.promise.settle(sector, got) {
                let found = match got {
                    Got::Lost => "the error that its content is lost".into(),
                    Got::Data(Deciphered::Zeros) => "zeros".into(),
                    Got::Data(Deciphered::Garbage) => "bytes that were never written".into(),
                    Got::Data(Deciphered::Written(of, version)) => {
                        format!("{} to {of}", version_told(version))
                    }
                };
                return Err(format!("{sector}: expected {}, found {found}", expected.told(sector)));
            }
        }
        Ok(())
    }
}
