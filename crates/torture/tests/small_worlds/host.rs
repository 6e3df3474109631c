//! The host of a small world, and what it may read.

use ftl_core::Ftl;
use ftl_iface::{
    BlockStore, NandDevice, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
};

pub(crate) const BYTES: usize = 512;

/// What the host does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Write(u32, u32),
    Trim(u32, u32),
    Read(u32),
    Maintain(u32),
    Scrub,
    Settle,
    Stop,
}

/// Whether power is still on after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    On,
    Off,
}

/// The versions that each sector may read as. Zero is zeros.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    allowed: Vec<Vec<u32>>,
    version: u32,
}

fn content(sector: u32, version: u32) -> [u8; BYTES] {
    let mut state = u64::from(sector) << 32 | u64::from(version) | 1 << 63;
    [(); BYTES].map(|()| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}

fn is_version(data: &[u8], sector: u32, version: u32) -> bool {
    let wanted = if version == 0 { [0; BYTES] } else { content(sector, version) };
    data == wanted
}

impl Truth {
    pub(crate) fn new(sectors: u32) -> Self {
        Self { allowed: vec![vec![0]; sectors as usize], version: 0 }
    }

    pub(crate) fn sectors(&self) -> u32 {
        self.allowed.len() as u32
    }

    /// Each of these sectors may also read as that version, once the request is acknowledged as nothing else.
    fn begin(&mut self, first: u32, count: u32, version: u32) {
        self.of(first, count).for_each(|allowed| allowed.push(version));
    }

    fn acknowledge(&mut self, first: u32, count: u32, version: u32) {
        self.of(first, count).for_each(|allowed| *allowed = vec![version]);
    }

    fn of(&mut self, first: u32, count: u32) -> impl Iterator<Item = &mut Vec<u32>> {
        self.allowed.iter_mut().skip(first as usize).take(count as usize)
    }

    /// Does a step. An error is a sentence about what is wrong.
    pub(crate) fn step<D: NandDevice>(
        &mut self,
        ftl: &mut Ftl<'_, D>,
        step: Step,
    ) -> Result<Power, String> {
        self.version += 1;
        let version = self.version;
        match step {
            Step::Write(first, count) => {
                let data: Vec<u8> =
                    (first..first + count).flat_map(|sector| content(sector, version)).collect();
                self.begin(first, count, version);
                let power = power(ftl.write(Sector::new(first), &data), step)?;
                if power == Power::On {
                    self.acknowledge(first, count, version);
                }
                Ok(power)
            }
            Step::Trim(first, count) => {
                self.begin(first, count, 0);
                let power = power(ftl.trim(Sector::new(first), SectorCount::new(count)), step)?;
                if power == Power::On {
                    self.acknowledge(first, count, 0);
                }
                Ok(power)
            }
            Step::Read(sector) => self.read(ftl, sector),
            Step::Maintain(budget) => power(ftl.maintain(PageCount::new(budget)), step),
            Step::Scrub => {
                ftl.scrub();
                power(ftl.maintain(PageCount::new(60)), step)
            }
            Step::Settle => power(ftl.settle(), step),
            Step::Stop => power(ftl.stop(), step),
        }
    }

    /// Reads a sector, which may read as nothing else from then on.
    pub(crate) fn read<D: NandDevice>(
        &mut self,
        ftl: &mut Ftl<'_, D>,
        sector: u32,
    ) -> Result<Power, String> {
        let allowed = &mut self.allowed[sector as usize];
        let mut data = [0xA5; BYTES];
        match ftl.read(Sector::new(sector), &mut data) {
            Ok(()) => {}
            Err(StoreReadError::Device(_)) => return Ok(Power::Off),
            Err(error) => return Err(format!("sector {sector}: {error}, not one of {allowed:?}")),
        }
        let found = allowed.iter().find(|version| is_version(&data, sector, **version)).copied();
        let Some(found) = found else {
            let other = (0..=self.version).find(|version| is_version(&data, sector, *version));
            return Err(format!("sector {sector} is {other:?}, not one of {allowed:?}"));
        };
        *allowed = vec![found];
        Ok(Power::On)
    }

    /// Reads all sectors, from one of them on.
    pub(crate) fn read_all<D: NandDevice>(
        &mut self,
        ftl: &mut Ftl<'_, D>,
        from: u32,
    ) -> Result<Power, String> {
        let sectors = self.sectors();
        for at in 0..sectors {
            if self.read(ftl, (from + at) % sectors)? == Power::Off {
                return Ok(Power::Off);
            }
        }
        Ok(Power::On)
    }
}

fn power<T, E: std::fmt::Debug>(
    outcome: Result<T, StoreWriteError<E>>,
    step: Step,
) -> Result<Power, String> {
    match outcome {
        Ok(_) => Ok(Power::On),
        Err(StoreWriteError::Device(_)) => Ok(Power::Off),
        Err(error) => Err(format!("{step:?}: {error}")),
    }
}
