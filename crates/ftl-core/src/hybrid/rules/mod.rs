//! The rules by which no acknowledged write is lost, each a small function, so that the path which keeps it reads as
//! the rule. Each has in it the seeded bug that breaks it ([`bugs`](crate::bugs)). `docs/RULES.md` lists them.
//!
//! They decide on the few values that they are given, and know no table and no FTL.
//! - [`log`](self): the circular log, at run time and after a mount.
//! - [`newest`](self): the newest copy of a sector, after a mount: the log's or the chain's.
//! - [`chains`](self): the blocks of a chain, and free ones.
//! - [`folds`](self): folds, and whether one was finished.
//! - [`pairs`](self): pages that share their cells.
//! - [`copies`](self): rescue copies.
//! - [`device`](self): programs, erases, checkpoints and headers.

mod log;

mod newest;

mod chains;

mod folds;

mod pairs;

mod copies;

mod device;

pub(super) use chains::*;
pub(super) use copies::*;
pub(super) use device::*;
pub(super) use folds::*;
pub(super) use log::*;
pub(super) use newest::*;
pub(super) use pairs::*;
