//! Why a configuration does not fit a device.

use core::fmt;

use super::feature::Feature;

/// Why a configuration does not fit a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PagedShapeError {
    /// The sector size is not a power of two between 512 bytes and the smaller page.
    SectorBytes,
    /// The spare area is too small for a page's tag.
    SpareBytes,
    /// A block has more than 8,190 sectors.
    BlockSlots,
    /// The device has more than 2^30 sectors.
    Places,
    /// The table of dirty entries is smaller than the sectors of two blocks, or larger than 2^24.
    Table,
    /// The cache has fewer than two pages.
    Cache,
    /// There is one block for anchors: while it is erased no anchor would stand.
    Anchors,
    /// Blocks of the area that holds the map have a single word line: a header takes two.
    WordLines,
    /// It asks for a feature that this build leaves out.
    NotBuilt(Feature),
    /// The device is too small for the capacity.
    Capacity {
        /// Blocks that it takes in the main area.
        main: u32,
        /// Blocks that it takes in the fast area.
        fast: u32,
    },
}

impl fmt::Display for PagedShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SectorBytes => {
                f.write_str("the sector must be a power of two from 512 bytes to the smaller page")
            }
            Self::SpareBytes => {
                f.write_str("the spare area is too small for a tag: choose larger sectors")
            }
            Self::BlockSlots => {
                f.write_str("a block has more than 8190 sectors: choose larger sectors")
            }
            Self::Places => {
                f.write_str("the device has more than 2^30 sectors: choose larger sectors")
            }
            Self::Table => f.write_str(
                "the table of dirty entries must hold those of two blocks, and at most 2^24",
            ),
            Self::Cache => f.write_str("the map cache needs two pages"),
            Self::Anchors => f.write_str("anchors need two blocks or more, or none"),
            Self::WordLines => f.write_str(
                "blocks that hold headers need two word lines, and the device's have one",
            ),
            Self::NotBuilt(feature) => write!(f, "this build of the page store lacks {feature}"),
            Self::Capacity { main, fast } => write!(
                f,
                "the capacity needs {main} blocks of the main area and {fast} of the fast one, more than the device \
                 has of one of them: ask for less, or add blocks"
            ),
        }
    }
}

impl core::error::Error for PagedShapeError {}
