//! What a build of the page store may leave out. No promise needs it, but for what each says. Each is a feature of this
//! crate, and all are on by default.

use core::fmt;

/// A feature of this crate, which a build of the page store may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Anchors. Without them each mount reads every block.
    Anchors,
    /// The fast area: the SLC region of a device that has both regions. Without it only one region can be used.
    FastArea,
    /// The age of replaced data decides where a large write goes.
    History,
    /// The fast area takes large writes while it has space.
    Bursts,
    /// The throttle, which keeps the fast area from wearing out first.
    Throttle,
    /// Streams and victims by how long data lives. Without it there are at most two streams, and victims are those with
    /// the fewest valid sectors.
    Lifetimes,
    /// Protection of paired pages. Without it cells must store one bit, or the loss is accepted.
    PairedPages,
    /// The refresh of weak pages, and the scrub.
    Refresh,
    /// Wear leveling. Without it, and without what else needs erase counts, none are kept: health shows zeros, and a
    /// later build counts from there.
    WearLeveling,
}

/// Whether something asks when a block was written, or for its stream.
pub(crate) const KEEPS_TIMES: bool =
    Feature::Lifetimes.is_built() || Feature::History.is_built() || Feature::FastArea.is_built();

/// Whether something asks how often a block was erased.
pub(crate) const KEEPS_WEAR: bool =
    Feature::WearLeveling.is_built() || Feature::Throttle.is_built() || Feature::Bursts.is_built();

impl Feature {
    /// Whether this build has it. The compiler knows it, and leaves out what depends on it.
    pub const fn is_built(self) -> bool {
        match self {
            Self::Anchors => cfg!(feature = "anchors"),
            Self::FastArea => cfg!(feature = "fast-area"),
            Self::History => cfg!(feature = "history"),
            Self::Bursts => cfg!(feature = "bursts"),
            Self::Throttle => cfg!(feature = "throttle"),
            Self::Lifetimes => cfg!(feature = "lifetimes"),
            Self::PairedPages => cfg!(feature = "paired-pages"),
            Self::Refresh => cfg!(feature = "refresh"),
            Self::WearLeveling => cfg!(feature = "wear-leveling"),
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anchors => "anchors: configure none, or build it with the feature `anchors`",
            Self::FastArea => "a fast area: use one region, or build it with the feature `fast-area`",
            Self::History => "the history of data: ignore it, or build it with the feature `history`",
            Self::Bursts => "bursts: send them to the main area, or build it with the feature `bursts`",
            Self::Throttle => "a throttle: configure none, or build it with the feature `throttle`",
            Self::Lifetimes => {
                "lifetimes of data: choose greedy victims and at most two streams, or build it with the feature \
                 `lifetimes`"
            }
            Self::PairedPages => {
                "protection of paired pages: accept the loss, use cells of one bit, or build it with the feature \
                 `paired-pages`"
            }
            Self::Refresh => {
                "the refresh of weak pages: set its limits to never, or build it with the feature \
                 `refresh`"
            }
            Self::WearLeveling => "wear leveling: disable it, or build it with the feature `wear-leveling`",
        })
    }
}
