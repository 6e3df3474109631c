//! Where requests come from.

use std::io::Cursor;
use std::sync::Arc;

use super::reading::Reading;
#[cfg(feature = "files")]
use super::stdin::{KeptInput, STDIN, length_of};
use crate::input::synth::Synth;
#[cfg(feature = "files")]
use crate::input::trace::names::Files;
use crate::input::trace::reader::Reader;
use crate::input::trace::{Request, TraceError};

/// One source of a workload.
#[derive(Debug)]
pub(super) enum Origin {
    Synth(Synth),
    Requests {
        name: String,
        requests: Arc<[Request]>,
    },
    /// A file's content.
    Bytes {
        name: String,
        bytes: Arc<[u8]>,
    },
    #[cfg(feature = "files")]
    File(Files),
    /// Standard input, and its temporary copy if it must be read more than once.
    #[cfg(feature = "files")]
    Stdin(Option<KeptInput>),
}

impl Origin {
    /// Its length in bytes or requests; `None` if that is not known before the end.
    #[cfg_attr(not(feature = "files"), allow(clippy::unnecessary_wraps))] // It is of files.
    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Synth(synth) => Some(synth.requests),
            Self::Requests { requests, .. } => Some(requests.len() as u64),
            Self::Bytes { bytes, .. } => Some(bytes.len() as u64),
            #[cfg(feature = "files")]
            Self::File(files) => files.paths.iter().map(|path| length_of(path)).sum(),
            #[cfg(feature = "files")]
            Self::Stdin(kept) => length_of(kept.as_ref()?.path()),
        }
    }

    /// A reader of its bytes; a source without bytes has no requests in them.
    pub(super) fn reader(&self, reading: &Reading) -> Result<Reader, TraceError> {
        let Reading { format, lenient } = reading;
        let (format, lenient) = (format.as_ref(), *lenient);
        match self {
            Self::Bytes { name, bytes } => {
                Reader::new(Cursor::new(Arc::clone(bytes)), name, format, lenient)
            }
            #[cfg(feature = "files")]
            Self::File(files) => Reader::open(&files.paths, &files.name, format, lenient),
            #[cfg(feature = "files")]
            Self::Stdin(Some(kept)) => Reader::open(&[kept.path().into()], STDIN, format, lenient),
            #[cfg(feature = "files")]
            Self::Stdin(None) => Reader::new(std::io::stdin(), STDIN, format, lenient),
            Self::Synth(Synth { name, .. }) | Self::Requests { name, .. } => {
                Err(TraceError::Empty(name.clone()))
            }
        }
    }
}
