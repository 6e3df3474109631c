//! What a run does.

use crate::dice::Share;
use crate::fate::Cut;
use crate::faults::Faults;

/// Which cuts are tried in a run's own life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// Each fate of each operation.
    Exhaustive,
    /// About this many of them, picked by the seed.
    Sample(u64),
    /// Only these, each in the life that the previous one began: a replay.
    At(Vec<Cut>),
}

impl Cuts {
    /// All of them, or that many.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "exhaustive" => Ok(Self::Exhaustive),
            number => number
                .parse()
                .map(Self::Sample)
                .map_err(|_| "give a number of cuts, or `exhaustive`".into()),
        }
    }
}

/// Which cuts are tried in the lives after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nested {
    /// How many cuts may follow the first, each in the life of the previous one.
    pub depth: u32,
    /// The share of the pairs of an operation of the mount and a fate.
    pub mount: Share,
    /// The share of the pairs of an operation after the mount and a fate.
    pub after: Share,
}

impl Nested {
    /// A few in each mount, one in some of the lives after it.
    pub const USUAL: Self = Self { depth: 3, mount: Share::of(1, 24), after: Share::of(1, 600) };

    /// Every fate of every operation of each mount, and none after it.
    pub const EVERY_MOUNT: Self = Self { depth: 1, mount: Share::ALL, after: Share::NONE };

    /// Those of that name.
    pub fn parse(how: &str) -> Result<Self, String> {
        match how {
            "some" => Ok(Self::USUAL),
            "every" => Ok(Self::EVERY_MOUNT),
            other => Err(format!("`{other}` is neither `some` nor `every`")),
        }
    }
}

/// What a run does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Requests of the run's own life.
    pub requests: u32,
    /// Cuts in the run's own life.
    pub cuts: Cuts,
    /// Cuts in the lives after them.
    pub nested: Option<Nested>,
    /// Faults besides the cuts.
    pub faults: Faults,
    /// Requests after each cut and its mount, at most.
    pub after: u32,
    /// Whether the device stores every byte, or only stamps.
    pub bytes: bool,
    /// Whether the cuts are in the format before the run's own life, and not in that life.
    pub format: bool,
    /// A program that the device acknowledges but does not do, counted among all operations: the run must detect it.
    pub forgotten: Option<u64>,
    /// Whether a violation lists the operations before it: only for replays, because it takes time.
    pub history: bool,
    /// Violations after which a run ends.
    pub violations_max: usize,
    /// The argument given for `faults`, for the line that replays a failure.
    pub faults_named: String,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            requests: 300,
            cuts: Cuts::Exhaustive,
            nested: None,
            faults: Faults::NONE,
            after: 12,
            bytes: false,
            format: false,
            forgotten: None,
            history: false,
            violations_max: 20,
            faults_named: String::new(),
        }
    }
}

impl Plan {
    /// The arguments, besides device and seed, with which a command does the same.
    pub(crate) fn flags(&self) -> String {
        let usual = Self::default();
        let requests = format!(" --requests {}", self.requests);
        let faults = format!(" --faults {}", self.faults_named);
        let flags = [
            (self.requests != usual.requests, requests.as_str()),
            (!self.faults_named.is_empty(), faults.as_str()),
            (self.bytes, " --bytes"),
            (self.format, " --format"),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_for_cuts_is_a_number_or_all_of_them() {
        assert_eq!(Cuts::parse("exhaustive"), Ok(Cuts::Exhaustive));
        assert_eq!(Cuts::parse("500"), Ok(Cuts::Sample(500)));
        assert!(Cuts::parse("many").is_err());
        assert!(Nested::parse("all").is_err());
    }
}
