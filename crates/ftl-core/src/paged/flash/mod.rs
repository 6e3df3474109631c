//! Every operation on the device.
//!
//! - [`door`]: the flash access layer.
//! - [`weak`](self): weak blocks that it finds.

pub mod door;

pub(crate) mod weak;
