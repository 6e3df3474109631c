//! Any numbers in the headers of a disk's file, and any records, with checks that fit, as of one who wants to do harm:
//! refused, or served without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim_cli::commands::serve::trial;

fuzz_target!(|input: (u8, [u64; 6], &[u8])| {
    let (system, added, records) = input;
    trial::headers(system.into(), added, records);
});
