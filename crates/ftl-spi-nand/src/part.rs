//! What differs from part to part, as figures. [`parts`](crate::parts) fills them in for six chips.

use ftl_iface::{
    BlockCount, Bytes, Cell, Geometry, GeometryError, PageCount, Pairing, RegionGeometry,
};

/// The most spare bytes of a page, the chip's own among them.
pub const SPARE_MAX: usize = 256;

/// A run of spare bytes that are the user's and that the chip's error correction covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Run {
    /// Its first byte's number in the spare area. Never zero: that byte is the bad-block mark.
    pub at: u16,
    /// Its bytes.
    pub length: u16,
}

/// What a value of the status register's field says of the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EccStatus {
    /// No bit was wrong.
    Clean,
    /// At most that many bits of a codeword were wrong, and were corrected.
    Corrected(u8),
    /// Some were corrected; how many, another register says.
    SeeDetail,
    /// More were wrong than can be corrected. Also every value that the datasheet reserves.
    Uncorrectable,
}

/// A field of another register, which says how many bits were corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Detail {
    /// The register.
    pub register: u8,
    /// The field's lowest bit.
    pub shift: u8,
    /// The field's bits, after the shift.
    pub mask: u8,
    /// What the field's value is counted from.
    pub plus: u8,
}

/// How a part tells what its error correction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EccReport {
    /// The lowest bit of the field in the status register.
    pub shift: u8,
    /// The field's bits, after the shift: 3 or 7.
    pub mask: u8,
    /// What each value of the field says.
    pub verdicts: [EccStatus; 8],
    /// Where [`EccStatus::SeeDetail`] leads.
    pub detail: Option<Detail>,
    /// Bits of a codeword that are corrected.
    pub correctable_bits: u8,
}

impl EccReport {
    /// What a status says. `None` if no value of its field says that.
    #[inline]
    pub fn verdict(&self, status: u8) -> Option<EccStatus> {
        let field = status >> self.shift & self.mask;
        self.verdicts.get(usize::from(field)).copied()
    }
}

/// A kind of chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// What it answers to Read ID after the dummy byte: two or three bytes.
    pub id: &'static [u8],
    /// Its shape. The spare bytes are those of [`spare_runs`](Self::spare_runs).
    pub geometry: Geometry,
    /// All spare bytes of a page, the mark's and the correction's among them.
    pub spare_bytes: u16,
    /// Where the user's spare bytes lie, in rising order.
    pub spare_runs: &'static [Run],
    /// What the configuration register holds in use: correction on, reads from a buffer.
    pub configuration: u8,
    /// What its error correction tells.
    pub ecc: EccReport,
    /// For a chip of two planes, the bit of a column address that names the plane of an odd block.
    pub plane_bit: Option<u8>,
}

impl Part {
    /// The shape of an SLC chip of blocks of `pages` pages of 2 KiB, whose user's spare bytes lie in those runs.
    pub const fn shape(
        blocks: u32,
        pages: u32,
        page_bytes: u32,
        runs: &[Run],
    ) -> Result<Geometry, GeometryError> {
        let mut spare_bytes = 0;
        let mut at = 0;
        while at < runs.len() {
            spare_bytes += runs[at].length as u32;
            at += 1;
        }
        let slc = RegionGeometry {
            cell: Cell::Slc,
            blocks: BlockCount::new(blocks),
            pages_per_block: PageCount::new(pages),
            page_bytes: Bytes::new(page_bytes),
            spare_bytes: Bytes::new(spare_bytes),
            pairing: Pairing::None,
        };
        Geometry::new(Some(slc), None)
    }

    /// Whether the driver can serve the part as it is described: an SLC region alone, runs of spare bytes that lie
    /// within the spare area, in order, beside the mark, and add up to the geometry's.
    pub const fn is_sound(&self) -> bool {
        let Some(slc) = self.geometry.slc() else { return false };
        let mut sum = 0;
        let mut end = 1;
        let mut at = 0;
        while at < self.spare_runs.len() {
            let run = self.spare_runs[at];
            if run.at < end
                || run.length == 0
                || run.at as u32 + run.length as u32 > SPARE_MAX as u32
            {
                return false;
            }
            end = run.at + run.length;
            sum += run.length as u32;
            at += 1;
        }
        let in_spare = end <= self.spare_bytes && self.spare_bytes as usize <= SPARE_MAX;
        let columns = slc.page_bytes.get() + self.spare_bytes as u32;
        let plane = match self.plane_bit {
            Some(bit) => bit < 16 && columns <= 1 << bit,
            None => columns <= 1 << 16,
        };
        let rows = slc.pages() <= 1 << 24;
        let id = self.id.len() == 2 || self.id.len() == 3;
        self.geometry.mlc().is_none()
            && sum == slc.spare_bytes.get()
            && in_spare
            && plane
            && rows
            && id
            && (self.ecc.mask == 3 || self.ecc.mask == 7)
    }

    /// The spare bytes up to the end of the user's last one: what is loaded and read.
    pub(crate) const fn spare_span(&self) -> usize {
        match self.spare_runs.last() {
            Some(run) => run.at as usize + run.length as usize,
            None => 0,
        }
    }

    /// Copies the user's spare bytes, in one run, to where they lie in a page's spare area.
    pub(crate) fn scatter(&self, mut user: &[u8], area: &mut [u8]) {
        for run in self.spare_runs {
            let (now, later) = user.split_at(user.len().min(run.length.into()));
            if let Some(place) = area.get_mut(run.at.into()..usize::from(run.at) + now.len()) {
                place.copy_from_slice(now);
            }
            user = later;
        }
    }

    /// Collects the user's spare bytes, as many as `user` has room for.
    pub(crate) fn gather(&self, area: &[u8], mut user: &mut [u8]) {
        for run in self.spare_runs {
            let length = user.len().min(run.length.into());
            let (now, later) = user.split_at_mut(length);
            if let Some(place) = area.get(run.at.into()..usize::from(run.at) + length) {
                now.copy_from_slice(place);
            }
            user = later;
        }
    }
}
