//! Systems that are given to a run as values, not named: those that are made while the program runs.

use std::fmt::Debug;

use super::system::Session;
use crate::base::Failure;
use crate::input::device::Setup;

/// A system that is made while the program runs.
pub trait Given: Debug + Send + Sync {
    /// Whether the SLC's size makes a difference to it.
    fn uses_slc(&self) -> bool;

    /// Builds it on that device, and runs the session on it: once for each run, each time from the beginning.
    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure>;
}
