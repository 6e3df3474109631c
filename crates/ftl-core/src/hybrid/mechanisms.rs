//! The mechanisms an FTL is built with. A type lists them; the compiler leaves out all others.
//!
//! A configuration chooses among mechanisms when a device is formatted, so one program can serve many devices, and then
//! contains all of them. Firmware serves one device: it names the mechanisms it needs, and links only those.
//!
//! ```
//! use ftl_core::{ChainsAlone, Config, Ftl, NoProbe, OwnedRam, RamPlan};
//! use ftl_iface::{Bytes, NandDevice};
//! use nand_model::{Chip, Content, datasheet};
//!
//! let chip = Chip::new(&datasheet::builtin("tiny")?, Content::Bytes)?;
//! let config = Config { sector_bytes: Bytes::new(1024), ..Config::CONVENTIONAL };
//! let plan = RamPlan::new(chip.geometry(), &config)?;
//! let mut memory = OwnedRam::for_plan(&plan);
//! let ftl: Ftl<'_, _, _, ChainsAlone> = Ftl::format_as(chip, &config, memory.lend(), 7, NoProbe)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;
use core::marker::PhantomData;

use ftl_iface::Pairing;

use crate::config::{Config, Refresh};
use crate::hybrid::shape::Shape;
use crate::hybrid::slc::Log;

/// Which mechanisms an FTL is built with. A configuration that asks for one that is not there is refused.
///
/// What is on flash does not depend on it: a device that was formatted by one type can be mounted by any other that
/// has what its configuration asks for. [`LogAndChains`] has everything; a type of one's own says what is not needed:
///
/// ```
/// use ftl_core::Mechanisms;
///
/// /// Chains on a chip of one bit a cell that never stops cleanly.
/// enum Logger {}
///
/// impl Mechanisms for Logger {
///     const LOG: bool = false;
///     const PAIRED_PAGES: bool = false;
///     const CHECKPOINTS: bool = false;
/// }
/// ```
pub trait Mechanisms {
    /// The circular log, its hash table, and its decision rules: filter, throttle and write-back. Without it the
    /// configuration must be [`LogRegion::None`](crate::LogRegion::None).
    const LOG: bool = true;
    /// Protection of paired pages, by backups. Without it the cells must store one bit,
    /// or the configuration must [accept](crate::PairedPages::Accept) the loss.
    const PAIRED_PAGES: bool = true;
    /// Checkpoints. Without them [`Ftl::stop`](crate::Ftl::stop) writes none, and every mount scans.
    const CHECKPOINTS: bool = true;
    /// Wear leveling of the chains. Without it the configuration must not enable it.
    const WEAR_LEVELING: bool = true;
    /// The refresh of weak pages, and the scrub. Without it the configuration must be
    /// [`NEVER`](crate::config::Refresh::NEVER).
    const REFRESH: bool = true;
}

/// Everything: one program for hybrid devices, split chips and devices without a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAndChains {}

impl Mechanisms for LogAndChains {}

/// Chains without a log: Chang's conventional device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainsAlone {}

impl Mechanisms for ChainsAlone {
    const LOG: bool = false;
}

/// A mechanism that a configuration needs and the FTL is not built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The log.
    Log,
    /// Protection of paired pages.
    PairedPages,
    /// Wear leveling.
    WearLeveling,
    /// The refresh of weak pages.
    Refresh,
}

impl Missing {
    /// The first mechanism that a configuration needs and that is missing, if any.
    pub(crate) fn of<M: Mechanisms>(config: &Config, shape: &Shape) -> Option<Self> {
        if !M::LOG && shape.log.is_some() {
            Some(Self::Log)
        } else if !M::PAIRED_PAGES && !matches!(shape.guarded, Pairing::None) {
            Some(Self::PairedPages)
        } else if !M::WEAR_LEVELING && config.wear_leveling.enabled {
            Some(Self::WearLeveling)
        } else if !M::REFRESH && config.refresh != Refresh::NEVER {
            Some(Self::Refresh)
        } else {
            None
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "a log: configure none",
            Self::PairedPages => {
                "protection of paired pages: accept the loss, or use a chip of one bit per cell"
            }
            Self::WearLeveling => "wear leveling: disable it",
            Self::Refresh => "the refresh of weak pages: set its limits to never",
        })
    }
}

/// The log, if the FTL is built with one and its device has one. If the type has none, the compiler sees that the log
/// never exists, and leaves out all code that uses it.
pub(crate) struct MaybeLog<'ram, M> {
    log: Option<Log<'ram>>,
    built_with: PhantomData<fn() -> M>,
}

impl<'ram, M: Mechanisms> MaybeLog<'ram, M> {
    pub(crate) fn new(log: Option<Log<'ram>>) -> Self {
        Self { log: if M::LOG { log } else { None }, built_with: PhantomData }
    }

    /// Shared access to the log.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Log<'ram>> {
        if M::LOG { self.log.as_ref() } else { None }
    }

    /// Exclusive access to the log.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut Log<'ram>> {
        if M::LOG { self.log.as_mut() } else { None }
    }
}

impl<M> fmt::Debug for MaybeLog<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.log.fmt(f)
    }
}
