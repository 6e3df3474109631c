//! Why a chip could not be saved or loaded.

use std::io;

use ftl_iface::GeometryError;

use crate::chip::ChipError;

/// Raised with every change of what is written.
pub(super) const VERSION: u16 = 4;

/// Why an image could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file or stream failed.
    #[error("the image could not be read or written ({0}): check the file")]
    Io(#[source] io::Error),
    /// It is no image of the kind that was asked for.
    #[error("this is not a {0} image: give a file that was saved as one")]
    Foreign(&'static str),
    /// It was saved by another version of this program.
    #[error("the image has version {found}, this program reads version {VERSION}: save it again")]
    Version {
        /// The image's version.
        found: u16,
    },
    /// It ends too early.
    #[error("the image is cut short: copy it again, or save it again")]
    Truncated,
    /// Its check does not match, or it has impossible content.
    #[error("the image is damaged ({0}): copy it again, or save it again")]
    Damaged(&'static str),
    /// Its part cannot be simulated.
    #[error("the image holds an impossible part: {0}")]
    Part(#[from] ChipError),
    /// Its part has an impossible shape.
    #[error("the image holds an impossible part: {0}")]
    Geometry(#[from] GeometryError),
}
