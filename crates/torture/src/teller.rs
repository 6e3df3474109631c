//! The probe of an FTL under torture: it tells the crossing the cause of each operation.

use ftl_core::probe::{Cause, Probe, Verb};
use ftl_iface::Region;

use crate::account::Account;

/// The probe that keeps the account.
#[derive(Clone, Debug)]
pub(crate) struct Teller(Account);

impl Teller {
    /// A probe that keeps that account.
    pub(crate) const fn new(account: Account) -> Self {
        Self(account)
    }
}

impl Probe for Teller {
    fn operation(&mut self, _: Region, _: Verb, cause: Cause) {
        self.0.set(cause);
    }
}
