//! The subject of a test: an FTL with its configuration, as far as worlds, faults and truth need to know it.

use std::borrow::{Borrow, BorrowMut};
use std::fmt;
use std::sync::Arc;

use ftl_core::paged::PagedConfig;
use ftl_core::{Config, FtlKind, MountedFtl, Refusal, Refused};
use ftl_iface::{BlockCount, BlockStore, Geometry, StoreWriteError};

use crate::cause_probe::CauseProbe;
use crate::on_flash::OnFlash;
use crate::played::Play;
use crate::test_device::{Halt, TestDevice};

/// An FTL under test. Everything else is the same for all of them.
pub(crate) trait Subject: OnFlash {
    /// Formats a device; the key distinguishes this format from others.
    fn format(&self, device: &mut TestDevice, key: u32) -> Result<(), String>;

    /// Mounts a device and passes it on, if it mounts.
    fn mount(&self, device: &mut TestDevice, live: &mut Live<'_>) -> Result<(), Unmounted>;

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
pub(crate) struct WrongMount {
    /// What differs.
    pub(crate) play: Play,
    /// The same in words.
    pub(crate) what: String,
    /// The FTL with another configuration, or another FTL.
    pub(crate) subject: Arc<dyn Subject>,
    /// The shape that its driver tells, if not the device's.
    pub(crate) told: Option<Geometry>,
}

/// What is done with a mounted device.
pub(crate) type Live<'a> = dyn FnMut(&mut dyn Mounted) + 'a;

/// Formats a device as an FTL of that kind.
pub(crate) fn format<K: FtlKind>(
    device: &mut TestDevice,
    config: &K::Config,
    plan: &K::Plan,
    key: u32,
) -> Result<(), String> {
    let mut memory = device.take_memory();
    let (ram, probe) = (memory.lend(plan), CauseProbe::new(device.account()));
    let formatted = K::format(&mut *device, config, ram, key, probe);
    let formatted = formatted.map(drop).map_err(|error| error.to_string());
    device.give_memory(memory);
    formatted
}

/// Mounts an FTL of that kind, and passes it on.
pub(crate) fn mount<K: FtlKind>(
    device: &mut TestDevice,
    config: &K::Config,
    plan: &K::Plan,
    live: &mut Live<'_>,
) -> Result<(), Unmounted> {
    let mut memory = device.take_memory();
    let (ram, probe) = (memory.lend(plan), CauseProbe::new(device.account()));
    let mounted = match K::mount(&mut *device, config, ram, probe) {
        Ok(mut ftl) => {
            live(&mut ftl);
            Ok(())
        }
        Err(error) => Err(match error.refused() {
            Refused::Blank => Unmounted::Blank(error.to_string()),
            Refused::Corrupt => Unmounted::Corrupt(error.to_string()),
            Refused::Other | Refused::Failed => Unmounted::Failed(error.to_string()),
        }),
    };
    device.give_memory(memory);
    mounted
}

/// A mounted device.
pub(crate) trait Mounted: BlockStore<Error = Halt> {
    /// The device below.
    fn device(&self) -> &TestDevice;

    /// The device below.
    fn device_mut(&mut self) -> &mut TestDevice;

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

impl<F> Mounted for F
where
    F: MountedFtl<Error = Halt>,
    F::Device: BorrowMut<TestDevice>,
{
    fn device(&self) -> &TestDevice {
        MountedFtl::device(self).borrow()
    }

    fn device_mut(&mut self) -> &mut TestDevice {
        MountedFtl::device_mut(self).borrow_mut()
    }

    fn check(&mut self) -> Result<(), Unchecked> {
        Ok(MountedFtl::check(self)?)
    }

    fn settle(&mut self) -> Result<(), StoreWriteError<Halt>> {
        MountedFtl::settle(self)
    }

    fn scrub(&mut self) {
        MountedFtl::scrub(self);
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>> {
        MountedFtl::stop(self)
    }

    fn at_once(&self) -> BlockCount {
        MountedFtl::health(self).at_once
    }

    fn is_read_only(&self) -> bool {
        MountedFtl::health(self).read_only
    }

    fn health(&self) -> String {
        let health = MountedFtl::health(self);
        let (left, reserve) = (health.reserve_left.get(), health.reserve.get());
        let (at_once, unmarked) = (health.at_once.get(), health.unmarked_left.get());
        let state = if health.read_only { "read-only" } else { "writable" };
        format!(
            "it is {state}, {left} of {reserve} blocks of reserve are left, {at_once} may fail at once, \
             {unmarked} may take no mark"
        )
    }

    fn owed(&self) -> Option<String> {
        let health = MountedFtl::health(self);
        let bears = health.read_only || health.reserve_left.is_zero() || !health.at_once.is_zero();
        (!bears).then(|| format!("no block may fail next; {}", Mounted::health(self)))
    }
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
