//! `tandem_judge_chip_t`: a SPI NAND chip by figures of its datasheet.

use ftl_iface::{Bytes, Geometry, PageCount};
use ftl_spi_nand::part::{Detail, EccReport, EccStatus, Part, Run, SPARE_MAX};
use ftl_spi_nand::parts;

/// A value of the status: some bits were corrected, and `detail_register` tells how many.
pub const JUDGE_SEE_DETAIL: u32 = 254;

/// A value of the status: more bits were wrong than can be corrected, or the datasheet reserves it.
pub const JUDGE_UNCORRECTABLE: u32 = 255;

/// The fewest blocks of a chip that can be examined.
pub(crate) const BLOCKS_MIN: u32 = 16;

/// A run of spare bytes that are free and that error correction covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct JudgeSpare {
    /// Its first byte's number in the spare area. Byte 0 is the bad-block mark and never free.
    pub at: u32,
    /// Its bytes. A run without bytes is none, and neither are those after it.
    pub bytes: u32,
}

/// A SPI NAND chip: the figures of its datasheet. `docs/PORTING.md` says where they stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct JudgeChip {
    /// What it answers to Read ID after the dummy byte.
    pub id: [u8; 3],
    /// How many bytes these are: 2 or 3.
    pub id_bytes: u8,
    /// Blocks: at least 16.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Data bytes of a page.
    pub page_bytes: u32,
    /// All spare bytes of a page, those of the chip's own correction among them.
    pub spare_bytes: u32,
    /// Those that are free and corrected, in rising order.
    pub spare: [JudgeSpare; 8],
    /// What register B0h holds in use: correction on, and reads from a buffer if it has a bit for them.
    pub configuration: u32,
    /// The lowest bit of the correction's field in the status register.
    pub ecc_shift: u32,
    /// Its bits, after the shift: 3 or 7.
    pub ecc_mask: u32,
    /// What each value of the field says: at most so many bits were corrected, 0 if none, or `TANDEM_JUDGE_…`.
    pub ecc: [u32; 8],
    /// The register that tells how many, and there the field's lowest bit, its bits after the shift, and what its
    /// value is counted from. All 0 if there is none.
    pub detail_register: u32,
    /// See `detail_register`.
    pub detail_shift: u32,
    /// See `detail_register`.
    pub detail_mask: u32,
    /// See `detail_register`.
    pub detail_plus: u32,
    /// Bits of a codeword that are corrected.
    pub correctable_bits: u32,
    /// For a chip of two planes, the bit of a column address that names the plane of an odd block; otherwise 0.
    pub plane_bit: u32,
    /// 1 if the status may call the parameter page uncorrectable while correction is on, which it does not cover.
    pub parameters_uncorrected: u32,
    /// 1 if the correction takes erased pages for what they are, so that it is never wrong about one with a flipped
    /// bit.
    pub erased_corrected: u32,
}

const fn number_of(status: EccStatus) -> u32 {
    match status {
        EccStatus::Clean => 0,
        EccStatus::Corrected(bits) => bits as u32,
        EccStatus::SeeDetail => JUDGE_SEE_DETAIL,
        EccStatus::Uncorrectable => JUDGE_UNCORRECTABLE,
    }
}

fn status_of(number: u32) -> Option<EccStatus> {
    Some(match number {
        0 => EccStatus::Clean,
        JUDGE_SEE_DETAIL => EccStatus::SeeDetail,
        JUDGE_UNCORRECTABLE => EccStatus::Uncorrectable,
        bits => EccStatus::Corrected(u8::try_from(bits).ok()?),
    })
}

impl JudgeChip {
    /// A chip that is described already, by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let part = parts::ALL.iter().find(|part| part.name == name)?;
        let slc = part.geometry.slc()?;
        let mut chip = Self {
            id_bytes: part.id.len() as u8,
            blocks: slc.blocks.get(),
            pages_per_block: slc.pages_per_block.get(),
            page_bytes: slc.page_bytes.get(),
            spare_bytes: part.spare_bytes.into(),
            configuration: part.configuration.into(),
            ecc_shift: part.ecc.shift.into(),
            ecc_mask: part.ecc.mask.into(),
            ecc: part.ecc.verdicts.map(number_of),
            correctable_bits: part.ecc.correctable_bits.into(),
            plane_bit: part.plane_bit.unwrap_or(0).into(),
            ..Self::default()
        };
        chip.id.iter_mut().zip(part.id).for_each(|(place, byte)| *place = *byte);
        for (place, run) in chip.spare.iter_mut().zip(part.spare_runs) {
            *place = JudgeSpare { at: run.at.into(), bytes: run.length.into() };
        }
        if let Some(detail) = part.ecc.detail {
            chip.detail_register = detail.register.into();
            chip.detail_shift = detail.shift.into();
            chip.detail_mask = detail.mask.into();
            chip.detail_plus = detail.plus.into();
        }
        Some(chip)
    }

    /// The spare bytes of a page that are free.
    pub(crate) fn free_bytes(&self) -> u32 {
        self.spare.iter().map(|run| run.bytes).sum()
    }

    fn runs(&self) -> Option<Vec<Run>> {
        let used = self.spare.iter().take_while(|run| run.bytes > 0);
        let narrow = |run: &JudgeSpare| {
            Some(Run { at: u16::try_from(run.at).ok()?, length: u16::try_from(run.bytes).ok()? })
        };
        used.map(narrow).collect()
    }

    fn geometry(&self, runs: &[Run]) -> Option<Geometry> {
        let shape = Part::shape(self.blocks, 64, self.page_bytes, runs).ok()?;
        let mut slc = *shape.slc()?;
        slc.pages_per_block = PageCount::new(self.pages_per_block);
        slc.page_bytes = Bytes::new(self.page_bytes);
        Geometry::new(Some(slc), None).ok()
    }

    fn report(&self) -> Option<EccReport> {
        let byte = |number: u32| u8::try_from(number).ok();
        let mut verdicts = [EccStatus::Uncorrectable; 8];
        for (place, number) in verdicts.iter_mut().zip(self.ecc) {
            *place = status_of(number)?;
        }
        let detail = Detail {
            register: byte(self.detail_register)?,
            shift: byte(self.detail_shift)?,
            mask: byte(self.detail_mask)?,
            plus: byte(self.detail_plus)?,
        };
        let tells = verdicts.contains(&EccStatus::Clean)
            && verdicts.contains(&EccStatus::Uncorrectable)
            && self.ecc_shift < 6
            && self.detail_shift < 8;
        tells.then_some(EccReport {
            shift: byte(self.ecc_shift)?,
            mask: byte(self.ecc_mask)?,
            verdicts,
            detail: Some(detail).filter(|detail| detail.register != 0),
            correctable_bits: byte(self.correctable_bits)?,
        })
    }
}

/// What a description leads to, for as long as this lives.
pub(crate) struct Described {
    part: *mut Part,
    id: *mut [u8],
    runs: *mut [Run],
    cache: *mut [u8],
}

impl Described {
    /// `None` if the figures contradict each other.
    pub(crate) fn new(chip: &JudgeChip) -> Option<Self> {
        let id = chip.id.get(..chip.id_bytes.into())?;
        let runs = chip.runs()?;
        let geometry = chip.geometry(&runs)?;
        let spare_bytes = u16::try_from(chip.spare_bytes).ok()?;
        let page_bytes = chip.page_bytes as usize;
        let part = Part {
            name: "the chip",
            id: &[],
            geometry,
            spare_bytes,
            spare_runs: &[],
            configuration: u8::try_from(chip.configuration).ok()?,
            ecc: chip.report()?,
            plane_bit: Some(u8::try_from(chip.plane_bit).ok()?).filter(|bit| *bit != 0),
        };
        // A reference to what these boxes hold is good until they are dropped, with this.
        let id = Box::into_raw(Box::<[u8]>::from(id));
        let runs = Box::into_raw(runs.into_boxed_slice());
        let cache = vec![0xFF; page_bytes + SPARE_MAX].into_boxed_slice();
        // SAFETY: both were just made, and stay until `drop`.
        let part = unsafe { Part { id: &*id, spare_runs: &*runs, ..part } };
        let sound = part.is_sound() && chip.blocks >= BLOCKS_MIN;
        let part = Box::into_raw(Box::new(part));
        let described = Self { part, id, runs, cache: Box::into_raw(cache) };
        sound.then_some(described)
    }

    /// The description, and memory for a page.
    ///
    /// # Safety
    ///
    /// It is called once, and nothing that it returns is used after this is dropped.
    pub(crate) unsafe fn lend(&self) -> (&'static Part, &'static mut [u8]) {
        // SAFETY: both stay until `drop`, and the memory is lent once.
        unsafe { (&*self.part, &mut *self.cache) }
    }
}

impl Drop for Described {
    fn drop(&mut self) {
        // SAFETY: each was made by `Box::into_raw` in `new`, and nobody uses it any more.
        unsafe {
            drop(Box::from_raw(self.part));
            drop(Box::from_raw(self.id));
            drop(Box::from_raw(self.runs));
            drop(Box::from_raw(self.cache));
        }
    }
}
