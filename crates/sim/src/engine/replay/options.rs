//! How a workload is replayed.

use std::num::NonZeroU32;

use crate::engine::result::BYTES_A_DAY;
use crate::input::trace::fit::FitChoice;

/// When requests are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// At their recorded times, not when the previous one completes.
    pub open_loop: bool,
    /// Otherwise, how many are outstanding: the next one is issued when one of them completes.
    pub queue_depth: NonZeroU32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { open_loop: false, queue_depth: NonZeroU32::MIN }
    }
}

/// What the recorded times mean where a next request is issued when one completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// Nothing.
    #[default]
    Ignored,
    /// Where they move on, the host waits for all answers, and then rests for so long.
    Rests,
}

/// How often a workload is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// So many times.
    Times(NonZeroU32),
    /// Until the write amplification is stable: five rounds within 10 % of their mean, and without a slope of more, as
    /// SNIA's performance test has it. The figures are of these five; it ends after 25 rounds.
    UntilSteady,
}

/// How a workload is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do with addresses beyond the end of the device; `None`: they are an error.
    pub fit: Option<FitChoice>,
    /// How often.
    pub passes: Passes,
    /// When requests are issued.
    pub pace: Pace,
    /// What the recorded times mean, if requests are not issued at them.
    pub gaps: Gaps,
    /// The bytes that a host writes each day, for lifetimes.
    pub bytes_a_day: u64,
    /// Whether the data for charts is wanted, too.
    pub details: bool,
    /// Whether every response time and the wear of every block are wanted, too.
    pub record: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fit: None,
            passes: Passes::Times(NonZeroU32::MIN),
            pace: Pace::default(),
            gaps: Gaps::default(),
            bytes_a_day: BYTES_A_DAY,
            details: false,
            record: false,
        }
    }
}
