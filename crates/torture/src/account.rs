//! On whose account a device is asked, and how people call it.

use std::cell::Cell;
use std::rc::Rc;

use ftl_core::probe::Cause;

/// The cause of what the FTL does now. Shared by the FTL's probe, which is told, and the crossing, which
/// asks.
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

/// How people call an account.
pub const fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Host => "host",
        Cause::Gc => "reclaim and fold",
        Cause::WearLeveling => "wear leveling",
        Cause::Scan => "scan",
        Cause::WriteBack => "write back",
        Cause::Meta => "records",
        Cause::Mount => "mount",
        Cause::Backup => "backup",
        Cause::Scrub => "scrub",
        #[allow(unreachable_patterns)]
        // Accounts may be added; they are counted under their number.
        _ => "other",
    }
}
