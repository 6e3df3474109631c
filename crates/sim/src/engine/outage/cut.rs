//! When power fails.

/// When power fails, and what that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// So many requests are acknowledged first. Power fails in the first program or erase after these; if there is
    /// none, after the last request.
    pub after: u64,
    /// Decides what becomes of that program or erase: any outcome that the contract with the device allows.
    pub seed: u64,
}
