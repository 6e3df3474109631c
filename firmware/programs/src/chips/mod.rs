//! Chips in RAM, which take the place of a driver and its bus.

mod black_box;
mod meter;
mod plain;
mod ram;
mod supply;
mod tags;

pub use black_box::BlackBox;
pub use meter::{Asked, Meter};
pub use plain::PlainChip;
pub use ram::RamChip;
pub use supply::Cut;
pub use tags::{FILLER, HEAD, TagChip};

/// Why a chip did not do as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub enum ChipError {
    /// The power is gone. Every call fails until it is back.
    NoPower,
    /// The caller broke its promise, which is written on the face `NandDevice`.
    Breach(Breach),
    /// More pages hold payload of the FTL's own than this chip has room for.
    NoRoomForPayload,
}

/// Promises of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub enum Breach {
    /// The address lies outside the geometry.
    Address,
    /// A buffer is not of the size that it must be.
    Length,
    /// The page was programmed already, or one after it.
    Order,
    /// The block was half erased when power failed, and must be erased before it is programmed.
    HalfErased,
}
