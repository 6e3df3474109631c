//! The tests of the systems, as one program: what they stand on is compiled and linked for them once.

mod disk_cache;
mod faults;
mod multi_scm;
mod page_map;
mod papers;
mod pslc;
mod schemes;
mod world;
