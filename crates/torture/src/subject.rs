//! The subject of a test: an FTL with its configuration, as far as worlds, faults and truth need to know it.

use std::fmt;
use std::sync::Arc;

use ftl_core::Config;
use ftl_core::paged::PagedConfig;
use ftl_iface::{BlockCount, BlockStore, Geometry, StoreWriteError};

use crate::crossing::{Crossing, Halt};
use crate::on_flash::OnFlash;

/// An FTL under test. Everything else is the same for all of them.
pub(crate) trait Subject: OnFlash {
    /// Formats a device; the key distinguishes this format from others.
    fn format(&self, device: &mut Crossing, key: u32) -> Result<(), String>;

    /// Mounts a device and passes it on, if it mounts.
    fn mount(&self, device: &mut Crossing, live: &mut Live<'_>) -> Result<(), Unmounted>;

    /// The same FTL with other settings, drawn by a seed, of those that may change from one mount to the next. `None`:
    /// there are none, or these do not fit the device.
    fn with_other_settings(&self, seed: u64) -> Option<Arc<dyn Subject>>;

    /// Its configuration.
    fn configured(&self) -> Configured;
}

/// The configuration of either FTL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Configured {
    /// Of the hybrid FTL.
    Hybrid(Config),
    /// Of the page store.
    Paged(PagedConfig),
}

/// What is mounted by mistake in place of what was formatted.
#[derive(Clone, Debug)]
pub(crate) struct Stranger {
    /// What differs.
    pub(crate) what: String,
    /// The FTL with another configuration, or another FTL.
    pub(crate) subject: Arc<dyn Subject>,
    /// The shape that its driver tells, if not the device's.
    pub(crate) told: Option<Geometry>,
}

/// What is done with a mounted device.
pub(crate) type Live<'a> = dyn FnMut(&mut dyn Mounted) + 'a;

/// A mounted device.
pub(crate) trait Mounted: BlockStore<Error = Halt> {
    /// The device below.
    fn device(&self) -> &Crossing;

    /// The device below.
    fn device_mut(&mut self) -> &mut Crossing;

    /// Checks every invariant. An unreadable page may prevent that.
    fn check(&mut self) -> Result<(), Unchecked>;

    /// Repairs what a power cut may have touched.
    fn settle(&mut self) -> Result<(), StoreWriteError<Halt>>;

    /// Starts a scrub, which reads every page once in idle time.
    fn scrub(&mut self);

    /// Stops it, so that the next mount is quick.
    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>>;

    /// How many blocks may fail in the next request.
    fn at_once(&self) -> BlockCount;

    /// Whether it takes no writes.
    fn is_read_only(&self) -> bool;

    /// The state of its reserve, in readable form.
    fn health(&self) -> String;

    /// Work owed although it reports that no idle work is left, in readable form; `None` if there is none.
    fn owed(&self) -> Option<String>;
}

/// Why a device did not mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmounted {
    /// It is not formatted, or not completely.
    Blank(String),
    /// What is on it contradicts itself.
    Corrupt(String),
    /// Anything else.
    Failed(String),
}

impl fmt::Display for Unmounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Blank(error) | Self::Corrupt(error) | Self::Failed(error)) = self;
        f.write_str(error)
    }
}

/// Why the check of the invariants failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// This invariant is violated.
    Broken(String),
    /// A page cannot be read.
    Unreadable(String),
}

impl From<ftl_core::check::Violation> for Unchecked {
    fn from(violation: ftl_core::check::Violation) -> Self {
        let sentence = violation.to_string();
        if sentence.contains("Uncorrectable") {
            Self::Unreadable(sentence)
        } else {
            Self::Broken(sentence)
        }
    }
}
