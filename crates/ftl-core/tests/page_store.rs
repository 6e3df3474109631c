//! The tests of the page store, as one program: its code is compiled for the model once, not for each file.
//! All of them take the probe that counts: with a second one everything would be compiled again.

mod page_reader;
mod paged;
mod paged_bound;
mod paged_bursts;
mod paged_golden;
mod paged_hints;
mod paged_history;
mod paged_mount;
mod paged_reader;
mod paged_refresh;
mod paged_wear;
mod paged_wide;
mod world;
