//! The cause of the FTL's present operation, for the report of a power cut in it, and its printed name.

use std::cell::Cell;
use std::rc::Rc;

use ftl_core::probe::Cause;

/// The cause of the FTL's present operation. Shared by the FTL's probe, which sets it, and the device, which reads
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Account(Rc<Cell<Cause>>);

impl Account {
    pub(crate) fn new() -> Self {
        Self(Rc::new(Cell::new(Cause::Mount)))
    }

    pub(crate) fn get(&self) -> Cause {
        self.0.get()
    }

    pub(crate) fn set(&self, cause: Cause) {
        self.0.set(cause);
    }
}

/// The printed name of a cause.
pub const fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Host => "host",
        Cause::Gc => "reclaim and fold",
        Cause::WearLeveling => "wear leveling",
        Cause::Scan => "scan",
        Cause::Map => "map",
        Cause::WriteBack => "write back",
        Cause::Meta => "records",
        Cause::Mount => "mount",
        Cause::Backup => "backup",
        Cause::Scrub => "scrub",
    }
}
