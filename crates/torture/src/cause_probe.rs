//! The probe of an FTL under test: it passes the cause of each operation to the device.

use ftl_core::probe::{Cause, Probe, Verb};
use ftl_iface::Region;

use crate::account::Account;

/// The probe that updates the account.
#[derive(Clone, Debug)]
pub(crate) struct CauseProbe(Account);

impl CauseProbe {
    /// A probe that updates that account.
    pub(crate) const fn new(account: Account) -> Self {
        Self(account)
    }
}

impl Probe for CauseProbe {
    fn operation(&mut self, _: Region, _: Verb, cause: Cause) {
        self.0.set(cause);
    }
}
