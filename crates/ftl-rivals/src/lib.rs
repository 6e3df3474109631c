//! The other flash translation layers of the literature, one paper a file, on one kit of parts.
//!
//! ```text
//!      BlockStore ──▶ a paper's file ──▶ kit: map, areas, victims, lists ──▶ NandDevice
//! ```
//!
//! Each file opens with the paper, how we read it, and what the paper leaves out and we chose. The systems stand on
//! `ftl-iface` alone: they run on any [`NandDevice`](ftl_iface::NandDevice) and tell any
//! [`Probe`](ftl_iface::Probe). None of them survives a loss of power: their papers say nothing of it, and what they
//! are here for is a comparison.
//!
//! # Modules
//!
//! - [`kit`]: what page-mapped systems have in common.
//! - [`page_map`]: a page map over one kind of flash: the floor and the ceiling of the others.
//! - [`ko`]: short requests to an SLC whose pages leave it unless they are updated (Ko et al.). [`combo`]: its rival,
//!   with a hot and a warm part of the SLC (Im and Shin).
//! - [`ahdm`]: pages move to the SLC when they were written often enough (Batni and Safaei).
//! - [`density`]: blocks of the MLC in SLC mode for what is accessed often (Kgil, Roberts and Mudge, as Chang compares
//!   with it).
//! - [`disk_cache`]: SLC and MLC of one chip before a hard disk (Hong and Shin). [`kit::dram`]: its buffer.
//! - [`multi_scm`]: two byte-writable memories, a small quick one and a large one (Kinoshita, Matsui and Takeuchi).
//! - [`pslc`]: what is sold today: all writes enter a cache of blocks in SLC mode.
#![forbid(unsafe_code)]

pub mod ahdm;
pub mod combo;
pub mod density;
pub mod disk_cache;
pub mod kit;
pub mod ko;
pub mod multi_scm;
pub mod page_map;
pub mod pslc;

pub use kit::{Figure, Rival, Unfit};
