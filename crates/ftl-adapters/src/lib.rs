//! Adapters from a [`BlockStore`](ftl_iface::BlockStore), such as an FTL, to the storage traits of embedded Rust.
//!
//! ```text
//!   embedded_sdmmc     embedded_storage    block_device_driver     usbd_storage        ftl_core::Probe
//!   FAT volumes        bytes anywhere      async blocks            a disk on USB       events, decisions
//!        │ SdmmcBlocks       │                   │                      │ UsbDisk            │ LogProbe
//!        └─────────┬─────────┴───────────────────┴──────────────────────┘                    ▼
//!              ByteStore: parts of sectors, by read, change, write                        defmt
//!                  │
//!              BlockStore: whole sectors
//! ```
//!
//! Hosts use blocks of 512 bytes, the FTL sectors as large as a page. [`ByteStore`] is between them: it alone changes
//! parts of sectors, by read-modify-write, and counts what that costs.
//!
//! # Features
//!
//! None is on by default, and each adds one adapter.
//!
//! | feature | interface | type |
//! |---|---|---|
//! | `embedded-sdmmc` | `embedded_sdmmc::BlockDevice` 0.10 | `SdmmcBlocks` |
//! | `embedded-storage` | `embedded_storage::Storage` 0.3 | [`ByteStore`] |
//! | `block-device-driver` | `block_device_driver::BlockDevice<512>` 0.2, async | [`ByteStore`] |
//! | `usb` | SCSI commands of `usbd-storage` 2 | `UsbDisk` |
//! | `defmt` | events and decisions of `ftl-core` as log lines; errors log by `ftl-iface`'s feature | `LogProbe` |
//!
//! There is no adapter to `embedded_storage::nor_flash::NorFlash`: erased bytes must read as 0xFF there, and a trimmed
//! sector of the FTL reads as zeros.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod bytes;

#[cfg(feature = "block-device-driver")]
mod async_blocks;
#[cfg(feature = "defmt")]
pub mod log;
#[cfg(feature = "embedded-sdmmc")]
pub mod sdmmc;
#[cfg(feature = "embedded-storage")]
mod storage;
#[cfg(feature = "usb")]
pub mod usb;

pub use bytes::{ByteStore, Cost, Error};
#[cfg(feature = "defmt")]
pub use log::LogProbe;
#[cfg(feature = "embedded-sdmmc")]
pub use sdmmc::SdmmcBlocks;
#[cfg(feature = "usb")]
pub use usb::UsbDisk;
