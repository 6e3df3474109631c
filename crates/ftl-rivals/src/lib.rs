//! Flash translation layers of other papers, one file per paper, built from one kit of parts.
//!
//! ```text
//!      BlockStore ──▶ a paper's file ──▶ kit: map, areas, victims, lists ──▶ NandDevice
//! ```
//!
//! Each file begins with the paper, how we read it, and what we chose where the paper is silent. The systems depend
//! only on `ftl-iface`: they run on any [`NandDevice`](ftl_iface::NandDevice) and report to any
//! [`Probe`](ftl_iface::Probe). They are for comparison: none survives a power loss, which their papers do not cover.
//!
//! # Modules
//!
//! - [`kit`]: what page-mapped systems have in common.
//! - [`page_map`]: a page map over one kind of flash: the lower and the upper bound of the others.
//! - [`ko`]: short requests go to an SLC, which evicts pages that are not updated (Ko et al.). [`combo`]: its rival,
//!   with a hot and a warm part of the SLC (Im and Shin).
//! - [`ahdm`]: pages that are written often enough move to the SLC (Batni and Safaei).
//! - [`density`]: blocks of the MLC in SLC mode for what is accessed often (Kgil, Roberts and Mudge, as Chang compares
//!   with it).
//! - [`disk_cache`]: SLC and MLC of one chip in front of a hard disk (Hong and Shin). [`kit::dram`]: its buffer.
//! - [`multi_scm`]: two byte-writable memories, a small fast one and a large one (Kinoshita, Matsui and Takeuchi).
//! - [`d_choices`]: the least valid of a few blocks drawn at random is collected (Van Houdt).
//! - [`sep_bit`]: data that is replaced soon lies apart (Wang et al.). [`fk`]: its reference, which knows the future.
//! - [`midas`]: a chain of groups by age, sized by a model (Oh et al.).
//! - [`pslc`]: what is sold today: all writes enter a cache of blocks in SLC mode.
#![forbid(unsafe_code)]

pub mod ahdm;
pub mod combo;
pub mod d_choices;
pub mod density;
pub mod disk_cache;
pub mod fk;
pub mod kit;
pub mod ko;
pub mod midas;
pub mod multi_scm;
pub mod page_map;
pub mod pslc;
pub mod sep_bit;

pub use kit::{Figure, Rival, Unfit};
