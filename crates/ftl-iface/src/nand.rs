//! The interface below the FTL: a NAND device.

use core::fmt;

use crate::address::{Block, Page, Region};
use crate::geometry::Geometry;
use crate::units::{Bytes, PageCount};

/// A NAND device: the interface that a driver or a model implements, and an FTL uses.
///
/// Calls block until the operation is done and its result known. There is no time in this interface: the device has
/// the clock, and the FTL decides by state alone, so the same requests give the same operations on every device.
///
/// # What the caller promises
///
/// - Every address is within the [`geometry`](Self::geometry), which never changes.
/// - `program` gets buffers of exactly a page's size and exactly its spare size.
/// - The pages of a block are programmed in rising order, each at most once after an erase. Pages may be skipped.
/// - A block that is marked bad is neither programmed nor erased. Its pages may still be read.
/// - After [`ProgramError::Driver`] or any other `Driver` error the state of the device is unknown. The caller
///   makes no more calls, and mounts again.
///
/// # What the device promises
///
/// - Error correction happens below this interface. A read that returns `Ok` returns exactly what was programmed, in
///   the data and in the spare area.
/// - A page that was not programmed after its block's last erase reads as 0xFF, every byte. (If the part's ECC reports
///   an erased page with a flipped bit as uncorrectable, its driver must recognise that case.)
/// - A failed program leaves the block's earlier pages readable. The failing page reads as anything. It may be
///   **unstable**.
/// - After a failed erase each page of the block reads as anything, or is unstable. The block must be erased again
///   before anything is programmed to it.
/// - [`mark_bad`](Self::mark_bad) may destroy pages of its block, also if it fails. A destroyed page is unreadable.
/// - As long as power is on, nothing else changes.
///
/// # When a page cannot be read
///
/// - A read that fails leaves anything in the caller's buffers: what was there before, a part of the page, or nearly
///   the page.
/// - A page that could not be read never reads well again before its block's erase. A driver whose part may read it at
///   the next attempt tries again within `read`.
/// - A page is unreadable as a whole. A driver whose part corrects each codeword alone also fails a read of spare bytes
///   alone if the data cannot be read.
/// - An *unstable* page reads well at first. It may become unreadable at any read, and whenever power is lost.
/// - A page that was good may become unreadable between two mounts.
///
/// # When power fails
///
/// The device, and the FTL's RAM, stop at once. When power is back:
///
/// - *In a program*: the page in flight reads as before, as intended, as uncorrectable, or as erased, or it is
///   unstable. It counts as programmed, whatever it reads as.
/// - *In a program of a region of several bits per cell*: the pages of the same word line that were programmed before
///   it may be lost too ([`Pairing::endangered`](crate::Pairing::endangered)).
/// - *In an erase*: each page of the block reads as before, as erased, or as anything, or is unstable. The block must
///   be erased again before anything is programmed to it. It keeps its old mode, whatever the mode of the erase; so
///   does a block whose erase fails.
/// - *In a bad-block mark*: the mark is set or it is not. Pages of the block may be destroyed in either case.
/// - *In a read*: nothing changes.
/// - Nothing else changes: no other page, no other block.
///
/// The same holds for the operation in which a driver fails, whether power stays on or not.
///
/// # What a lost page may cost
///
/// This is what an FTL promises when a good page becomes unreadable by itself:
///
/// - *A page of host data*: its own sectors. They are told as lost; or they read as the version before, where nothing
///   else on flash recorded the page yet, and if a power cut had torn that one, as an older one after the next mount.
/// - *A page of the map*: the sectors of its range. They are told as lost; or they read as an older version, if the
///   mount reads every block, or where nothing else on flash recorded the page yet.
/// - *An anchor or a checkpoint*: nothing.
/// - *One of the two headers*: nothing.
/// - Nothing else is ever lost, and the device as a whole never takes a step back: no mount accepts a state that is
///   older than one whose traces it can see.
///
/// # Example: the smallest conforming device
///
/// ```
/// use ftl_iface::*;
///
/// /// One block of two pages, in RAM.
/// struct Ram { geometry: Geometry, pages: [[u8; 512 + 16]; 2] }
///
/// impl NandDevice for Ram {
///     type Error = core::convert::Infallible;
///     fn geometry(&self) -> &Geometry { &self.geometry }
///     fn read(&mut self, page: Page, at: Bytes, data: &mut [u8], spare: &mut [u8])
///         -> Result<Corrected, ReadError<Self::Error>>
///     {
///         let cells = &self.pages[page.index().as_usize()];
///         data.copy_from_slice(&cells[at.as_usize()..at.as_usize() + data.len()]);
///         spare.copy_from_slice(&cells[512..512 + spare.len()]);
///         Ok(Corrected::NONE)
///     }
///     fn program(&mut self, page: Page, data: &[u8], spare: &[u8])
///         -> Result<(), ProgramError<Self::Error>>
///     {
///         let cells = &mut self.pages[page.index().as_usize()];
///         cells[..512].copy_from_slice(data);
///         cells[512..].copy_from_slice(spare);
///         Ok(())
///     }
///     fn erase(&mut self, _: Block) -> Result<(), EraseError<Self::Error>> {
///         self.pages = [[0xFF; 528]; 2];
///         Ok(())
///     }
///     fn is_bad(&mut self, _: Block) -> Result<bool, Self::Error> { Ok(false) }
///     fn mark_bad(&mut self, _: Block) -> Result<(), MarkError<Self::Error>> { Ok(()) }
/// }
/// ```
pub trait NandDevice {
    /// The driver's error when the bus or the chip does not respond correctly. It ends this mount.
    type Error: fmt::Debug;

    /// The shape of the device.
    fn geometry(&self) -> &Geometry;

    /// Reads part of a page.
    ///
    /// `data` receives the bytes from `at` on; `at + data.len()` stays within the page. An empty `data` reads the
    /// spare area only. `spare` receives the first `spare.len()` spare bytes; an empty one reads none.
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>>;

    /// Programs a whole page with its spare area, in one operation.
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>>;

    /// Erases a block.
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Self::Error>>;

    /// Whether the block is marked bad, by the factory or by [`mark_bad`](Self::mark_bad).
    fn is_bad(&mut self, block: Block) -> Result<bool, Self::Error>;

    /// Marks a block bad permanently. This may destroy the content of its pages: move it away before, to pages that no
    /// later program endangers.
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Self::Error>>;

    /// The number of pages of a block of the region in [`Mode::Slc`]; zero if its blocks have no such mode.
    fn slc_mode_pages(&self, region: Region) -> Option<PageCount> {
        let _ = region;
        None
    }

    /// Erases a block, and uses its cells in that mode until the next erase. [`erase`](Self::erase) is an erase into
    /// [`Mode::Full`]. In a block in SLC mode no page shares its cells with another.
    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<Self::Error>> {
        match mode {
            Mode::Full => self.erase(block).map_err(ModeError::from),
            Mode::Slc => Err(ModeError::NoModes),
        }
    }
}

/// The mode of a block's cells, from one erase to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Mode {
    /// As in the region's geometry.
    #[default]
    Full,
    /// One bit per cell: fewer pages, which are faster and endure more cycles.
    Slc,
}

impl<D: NandDevice + ?Sized> NandDevice for &mut D {
    type Error = D::Error;

    crate::forward_nand!(self => (**self); geometry read program erase is_bad mark_bad slc_mode_pages erase_into);
}

/// Implements the named methods of [`NandDevice`] by passing them on to a device inside, so that a wrapper states only
/// what it changes.
///
/// A method that is not named and not written has the trait's own implementation, if it has one: a wrapper of a device
/// that may have an SLC mode names `slc_mode_pages` and `erase_into`, too.
///
/// ```
/// use ftl_iface::*;
///
/// /// Counts erases.
/// struct Counting<D> { inner: D, erases: u64 }
///
/// impl<D: NandDevice> NandDevice for Counting<D> {
///     type Error = D::Error;
///     forward_nand!(self => self.inner; geometry read program is_bad mark_bad);
///     fn erase(&mut self, block: Block) -> Result<(), EraseError<D::Error>> {
///         self.erases += 1;
///         self.inner.erase(block)
///     }
/// }
/// ```
#[macro_export]
macro_rules! forward_nand {
    ($this:ident => $inner:expr;) => {};
    ($this:ident => $inner:expr; geometry $($rest:ident)*) => {
        #[inline]
        fn geometry(&$this) -> &$crate::Geometry {
            $inner.geometry()
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; read $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn read(
            &mut $this,
            page: $crate::Page,
            at: $crate::Bytes,
            data: &mut [u8],
            spare: &mut [u8],
        ) -> ::core::result::Result<$crate::Corrected, $crate::ReadError<Self::Error>> {
            $inner.read(page, at, data, spare)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; program $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn program(
            &mut $this,
            page: $crate::Page,
            data: &[u8],
            spare: &[u8],
        ) -> ::core::result::Result<(), $crate::ProgramError<Self::Error>> {
            $inner.program(page, data, spare)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; erase $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn erase(
            &mut $this,
            block: $crate::Block,
        ) -> ::core::result::Result<(), $crate::EraseError<Self::Error>> {
            $inner.erase(block)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; is_bad $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn is_bad(&mut $this, block: $crate::Block) -> ::core::result::Result<bool, Self::Error> {
            $inner.is_bad(block)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; mark_bad $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn mark_bad(
            &mut $this,
            block: $crate::Block,
        ) -> ::core::result::Result<(), $crate::MarkError<Self::Error>> {
            $inner.mark_bad(block)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; slc_mode_pages $($rest:ident)*) => {
        #[inline]
        fn slc_mode_pages(
            &$this,
            region: $crate::Region,
        ) -> ::core::option::Option<$crate::PageCount> {
            $inner.slc_mode_pages(region)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
    ($this:ident => $inner:expr; erase_into $($rest:ident)*) => {
        #[inline]
        #[track_caller]
        fn erase_into(
            &mut $this,
            block: $crate::Block,
            mode: $crate::Mode,
        ) -> ::core::result::Result<(), $crate::ModeError<Self::Error>> {
            $inner.erase_into(block, mode)
        }
        $crate::forward_nand!($this => $inner; $($rest)*);
    };
}

/// The number of bits that the ECC corrected in the worst codeword of a read. A part that does not report it gives
/// zero.
///
/// A page whose count gets close to the limit should be refreshed while it can still be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Corrected(u16);

impl Corrected {
    /// No bit was wrong.
    pub const NONE: Self = Self(0);

    /// This many bits were wrong.
    pub const fn bits(count: u16) -> Self {
        Self(count)
    }

    /// The plain number of bits.
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// Why a read failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ReadError<E> {
    /// More bits are wrong than the ECC corrects. The page's content is lost; other pages are not affected. The buffers
    /// hold anything.
    Uncorrectable,
    /// The driver failed. Nothing is known: stop, and mount again.
    Driver(E),
}

/// Why a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ProgramError<E> {
    /// The page failed to program. Write it elsewhere, move the block's other pages away, mark the block bad.
    Failed,
    /// The driver failed. Nothing is known: stop, and mount again.
    Driver(E),
}

/// Why an erase failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EraseError<E> {
    /// The block did not erase. Mark it bad and take another.
    Failed,
    /// The driver failed. Nothing is known: stop, and mount again.
    Driver(E),
}

/// Why a block was not erased into another mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ModeError<E> {
    /// The region's blocks have no SLC mode. Nothing was done.
    NoModes,
    /// The block did not erase. Mark it bad and take another.
    Failed,
    /// The driver failed. Nothing is known: stop, and mount again.
    Driver(E),
}

impl<E> From<EraseError<E>> for ModeError<E> {
    fn from(error: EraseError<E>) -> Self {
        match error {
            EraseError::Failed => Self::Failed,
            EraseError::Driver(error) => Self::Driver(error),
        }
    }
}

impl<E: fmt::Debug> fmt::Display for ModeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoModes => {
                f.write_str("the region's blocks have no SLC mode: erase them in their own mode")
            }
            Self::Failed => f.write_str("the block failed to erase: retire it"),
            Self::Driver(error) => {
                write!(f, "the driver failed ({error:?}): mount the device again")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ModeError<E> {}

/// Why a block could not be marked bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MarkError<E> {
    /// The mark failed, for example because the block cannot be programmed at all. Exclude it in another way, such
    /// as a list of your own.
    Failed,
    /// The driver failed. Nothing is known: stop, and mount again.
    Driver(E),
}

/// Gives an error of the device's its sentences.
macro_rules! sentences {
    ($name:ident, $variant:ident, $sentence:literal) => {
        impl<E: fmt::Debug> fmt::Display for $name<E> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::$variant => f.write_str($sentence),
                    Self::Driver(error) => {
                        write!(f, "the driver failed ({error:?}): mount the device again")
                    }
                }
            }
        }

        impl<E: fmt::Debug> core::error::Error for $name<E> {}
    };
}

sentences!(ReadError, Uncorrectable, "the page has more wrong bits than its ECC corrects");
sentences!(
    ProgramError,
    Failed,
    "the page failed to program: write it elsewhere and retire the block"
);
sentences!(EraseError, Failed, "the block failed to erase: retire it");
sentences!(MarkError, Failed, "the bad-block mark did not take: list the block elsewhere");
