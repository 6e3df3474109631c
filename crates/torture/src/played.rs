//! What the devices of worlds did, counted: docs/CONTRACT.md lists the sentence of the contract that allows each.

use std::fmt;

/// Something that the contract allows a device, beside power cuts, whose outcomes are [fates](crate::Fate::ROWS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Play {
    /// A failed read leaves the buffers as they were.
    ReadUntouched,
    /// A failed read fills a part of the buffers.
    ReadPartly,
    /// A failed read leaves nearly the page.
    ReadNearly,
    /// A failed read leaves bytes that were never written.
    ReadNoise,
    /// A program fails.
    ProgramFails,
    /// An erase fails.
    EraseFails,
    /// A bad-block mark fails.
    MarkFails,
    /// A bad-block mark destroys pages.
    MarkDestroys,
    /// A page cannot be read back after it was programmed.
    PageLost,
    /// A page of host data becomes unreadable by itself.
    DataLost,
    /// A page of the map does.
    MapLost,
    /// A page that holds nothing does.
    NothingLost,
    /// An anchor or a page of a checkpoint does.
    AnchorLost,
    /// A page of a header does.
    HeaderLost,
    /// A program or an erase of an anchor's block fails.
    AnchorFails,
    /// The driver fails in a mount.
    DriverFailsInMount,
    /// The driver fails in a request.
    DriverFailsLater,
    /// Memory that is lent holds noise.
    MemoryNoise,
    /// Memory that is lent holds what the mount before left.
    MemoryLeftovers,
    /// Power fails within the first programs after mount upon mount.
    Storm,
    /// Power fails soon after a block failed or was marked.
    CutFollows,
    /// The device was formatted and used before.
    EarlierFormat,
    /// Power fails in a format.
    FormatCut,
    /// The flash is full of one byte or of noise before the format.
    Painted,
    /// The device has no block more than the plan asks for, in one area at least.
    NoSpareBlock,
    /// A mount has other settings.
    OtherSettings,
    /// Another FTL mounts the device.
    OtherFtl,
    /// The FTL mounts it with another configuration.
    OtherConfig,
    /// The driver tells another shape.
    OtherShape,
}

impl Play {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::ReadUntouched,
        Self::ReadPartly,
        Self::ReadNearly,
        Self::ReadNoise,
        Self::ProgramFails,
        Self::EraseFails,
        Self::MarkFails,
        Self::MarkDestroys,
        Self::PageLost,
        Self::DataLost,
        Self::MapLost,
        Self::NothingLost,
        Self::AnchorLost,
        Self::HeaderLost,
        Self::AnchorFails,
        Self::DriverFailsInMount,
        Self::DriverFailsLater,
        Self::MemoryNoise,
        Self::MemoryLeftovers,
        Self::Storm,
        Self::CutFollows,
        Self::EarlierFormat,
        Self::FormatCut,
        Self::Painted,
        Self::NoSpareBlock,
        Self::OtherSettings,
        Self::OtherFtl,
        Self::OtherConfig,
        Self::OtherShape,
    ];
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// How often each was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played([u64; Play::ALL.len()]);

impl Played {
    pub(crate) const fn note(&mut self, play: Play) {
        self.0[play as usize] += 1;
    }

    /// How often that was played.
    pub const fn of(&self, play: Play) -> u64 {
        self.0[play as usize]
    }

    /// Adds another world's.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}
