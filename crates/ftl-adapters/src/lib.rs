//! A [`BlockStore`](ftl_iface::BlockStore), an FTL say, behind the faces that embedded Rust already knows.
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
//! Hosts speak of blocks of 512 bytes, the FTL of sectors as large as a page. [`ByteStore`] is between: the one
//! place where a part of a sector is changed, and where it is counted what that costs.
//!
//! # Features
//!
//! None is on by default, and each brings one face.
//!
//! | feature | face | type |
//! |---|---|---|
//! | `embedded-sdmmc` | `embedded_sdmmc::BlockDevice` 0.10 | `SdmmcBlocks` |
//! | `embedded-storage` | `embedded_storage::Storage` 0.3 | [`ByteStore`] |
//! | `block-device-driver` | `block_device_driver::BlockDevice<512>` 0.2, async | [`ByteStore`] |
//! | `usb` | SCSI commands of `usbd-storage` 2 | `UsbDisk` |
//! | `defmt` | events and decisions of `ftl-core` as log lines; errors log by `ftl-iface`'s feature | `LogProbe` |
//!
//! `embedded_storage::nor_flash::NorFlash` is not among them: what it erases must read as 0xFF, byte by byte, and a
//! sector that the FTL forgot reads as zeros.
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
