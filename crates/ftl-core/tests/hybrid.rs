//! The tests of the hybrid FTL, as one program: its code is compiled for the model once, not for each file.
//! All of them take the probe that counts: with a second one everything would be compiled again.

mod at_once;
mod boundaries;
mod clean_stop;
mod clean_stop_faults;
mod configurations;
mod factors;
mod failing_blocks;
mod failures;
mod filter_bytes;
mod folds;
mod full_table;
mod lost_between;
mod lost_pages;
mod mounts;
mod properties;
mod reader;
mod refresh;
mod run_ends;
mod second_reader;
mod settling;
mod throttle;
mod trims;
mod unstable;
mod wear;
#[cfg(feature = "wide")]
mod wide;
mod world;
mod worst_case;
mod write_back;
