//! The report of a run: how many cuts were tried, and each violation.

use std::fmt;

use ftl_core::probe::Cause;

use crate::fate::{Cut, Fate};
use crate::plan::Plan;
use crate::setup::{FtlName, Setup, System};
use crate::truth::Wrong;

pub use crate::account::cause_name;
pub use crate::truth::ReadBack;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A sector does not hold what was acknowledged.
    Content(Wrong),
    /// The device does not mount any more: all of it is lost.
    Unmountable(String),
    /// It mounts, but refuses valid requests.
    Refused(String),
    /// A request or a mount does not end.
    Endless,
    /// An invariant is violated.
    Invariant(String),
    /// The FTL broke a rule of the device, or panicked.
    Panic(String),
    /// The device was used after it had failed for good, or requests succeeded after that.
    UsedAfterFailure(String),
}

impl Breach {
    /// Whether the device is stuck after it; otherwise data is lost.
    pub const fn is_stuck(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Endless)
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content(Wrong { sector, expected, found }) => {
                write!(f, "{sector}: expected {expected}, found {found}")
            }
            Self::Unmountable(error) => write!(f, "the device does not mount: {error}"),
            Self::Refused(error) => write!(f, "a request was refused: {error}"),
            Self::Endless => f.write_str("it never finishes"),
            Self::Invariant(sentence) => write!(f, "an invariant does not hold: {sentence}"),
            Self::Panic(sentence) => write!(f, "panic: {sentence}"),
            Self::UsedAfterFailure(sentence) => {
                write!(f, "after the device had failed permanently: {sentence}")
            }
        }
    }
}

/// A broken promise, with all that is needed to reproduce it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The device.
    pub device: String,
    /// The FTL.
    pub ftl: FtlName,
    /// The system.
    pub system: System,
    /// The seed.
    pub seed: u64,
    /// The cuts before it, each in the life that the previous one began; none in the run's own life.
    pub cuts: Vec<Cut>,
    /// The cause of the last cut operation.
    pub cause: Option<Cause>,
    /// What was running when it was found.
    pub doing: String,
    /// The broken promise.
    pub breach: Breach,
    /// Arguments that do not follow from the fields above.
    pub flags: String,
    /// The last operations on the device, in a replay; else empty.
    pub history: Vec<String>,
}

impl Violation {
    pub(crate) fn new(
        setup: &Setup,
        plan: &Plan,
        seed: u64,
        doing: String,
        breach: Breach,
    ) -> Self {
        Self {
            device: setup.device.clone(),
            ftl: setup.ftl,
            system: setup.system,
            seed,
            cuts: Vec::new(),
            cause: None,
            doing,
            breach,
            flags: plan.flags(),
            history: Vec::new(),
        }
    }

    /// The command that reproduces it.
    pub fn replay(&self) -> String {
        let system = match self.system {
            System::Usual => String::new(),
            other => format!(" --system {}", other.name()),
        };
        let cuts: Vec<String> = self.cuts.iter().map(Cut::to_string).collect();
        let cuts =
            if cuts.is_empty() { " --cuts 0".into() } else { format!(" --at {}", cuts.join(",")) };
        let Self { device, seed, flags, .. } = self;
        let ftl = self.ftl.flag();
        format!("tandem torture{ftl} --device {device}{system} --seed {seed}{flags}{cuts}")
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, system, seed, doing, breach, .. } = self;
        write!(f, "{device} ({}), seed {seed}", system.name())?;
        for cut in &self.cuts {
            write!(f, ", cut at {cut}")?;
        }
        if let Some(cause) = self.cause {
            write!(f, " ({})", cause_name(cause))?;
        }
        write!(f, ", {doing}: {breach}\n  {}", self.replay())
    }
}

/// Cuts of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// Tried.
    pub tried: u64,
    /// Of those, how many lost data.
    pub lost: u64,
    /// Of those, how many left the device stuck.
    pub stuck: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.tried += other.tried;
        self.lost += other.lost;
        self.stuck += other.stuck;
    }
}

/// All cuts, by the cause of the cut operation and by its fate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [[Count; Fate::ROWS.len()]; Cause::ALL.len()],
    /// Cuts within the life that another cut began.
    pub nested: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, cause: Cause, fate: Fate, depth: usize, breach: Option<&Breach>) {
        let count = &mut self.counts[cause as usize][fate.row()];
        count.tried += 1;
        match breach {
            Some(breach) if breach.is_stuck() => count.stuck += 1,
            Some(_) => count.lost += 1,
            None => {}
        }
        self.nested += u64::from(depth > 0);
    }

    /// The cuts of operations with that cause.
    pub fn by_cause(&self, cause: Cause) -> Count {
        sum(self.counts[cause as usize].iter())
    }

    /// The cuts whose fate is in that row of [`Fate::ROWS`].
    pub fn by_fate(&self, row: usize) -> Count {
        sum(self.counts.iter().map(|fates| &fates[row]))
    }

    /// All cuts.
    pub fn total(&self) -> Count {
        sum(self.counts.iter().flatten())
    }

    /// Adds another run's cuts.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *mine += *theirs;
        }
        self.nested += other.nested;
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a Count>) -> Count {
    let mut total = Count::default();
    counts.for_each(|count| total += *count);
    total
}
