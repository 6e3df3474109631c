//! Format 1, which both FTLs write: what the first bytes of a header say of it, and what another version may have put
//! there.
//!
//! ```text
//!  0       8         10       12    16             20         24         28         32
//!  ├───────┼─────────┼────────┼─────┼──────────────┼──────────┼──────────┼──────────┼─ …
//!  │ magic │ version │ blocks │ key │ sector bytes │ capacity │ features │ optional │
//!  └───────┴─────────┴────────┴─────┴──────────────┴──────────┴──────────┴──────────┴─ …
//! ```
//!
//! Behind it each FTL has settings of its own. The check is in the last four of 96 bytes; those before it that are left
//! are zero until a feature needs them.

use core::fmt;

use super::{copy_low_bytes, word};

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 96;
/// Format 1 in a header. The versions before it, which were made while the format still changed, are below 256.
pub const FORMAT: u16 = 1 << 8;
const FEATURES_AT: usize = 24;
const OPTIONAL_AT: usize = 28;
const SETTINGS_AT: usize = 32;

/// Writes what both FTLs' headers have of features: those that a version must have, and optional ones.
pub(crate) fn put_features(header: &mut [u8], needed: u32, optional: u16) {
    copy_low_bytes(header.get_mut(FEATURES_AT..OPTIONAL_AT), needed.into());
    copy_low_bytes(header.get_mut(OPTIONAL_AT..SETTINGS_AT), optional.into());
}

/// The optional features in a header: a version without them keeps their bits.
pub(crate) fn optional_features(header: &[u8]) -> u16 {
    header.get(OPTIONAL_AT..).map_or(0, word) as u16
}

/// Why this version does not mount what another one has formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherFormat {
    /// It was formatted before format 1, in the format of this number.
    Earlier(u8),
    /// Its format is later than format 1. This is what the header has for a version.
    Later(u16),
    /// Its format is 1, with these features that this version does not have.
    Features(u32),
}

impl OtherFormat {
    /// Looks at the version of a header.
    pub(crate) fn by_version(version: u16) -> Option<Self> {
        match version {
            FORMAT => None,
            0..FORMAT => Some(Self::Earlier(version as u8)),
            _ => Some(Self::Later(version)),
        }
    }

    /// Looks at the features of a header, of which this version has those.
    pub(crate) fn by_features(header: &[u8], known: u32) -> Option<Self> {
        let unknown = features(header) & !known;
        (unknown > 0).then_some(Self::Features(unknown))
    }
}

/// The features that a version must have to mount the device.
pub(super) fn features(header: &[u8]) -> u32 {
    header.get(FEATURES_AT..).map_or(0, word)
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Earlier(version) => write!(
                f,
                "the device was formatted by a version before format 1 (its format is {version}): \
                 read its data with that version, or format the device"
            ),
            Self::Later(version) => write!(
                f,
                "the device has a later format than 1 ({version:#06x} in its header): mount it with a newer version"
            ),
            Self::Features(unknown) => {
                f.write_str("the device needs features that this version does not have (bit")?;
                for bit in (0..u32::BITS).filter(|bit| unknown >> bit & 1 > 0) {
                    write!(f, " {bit}")?;
                }
                f.write_str("): mount it with a newer version")
            }
        }
    }
}
