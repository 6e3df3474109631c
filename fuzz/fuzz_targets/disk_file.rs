//! Any records as the journal of a disk's file, with checks that fit, as of one who wants to do harm: replayed and
//! served by each system that keeps a disk, without a panic, and what is kept can be opened again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim_cli::commands::serve::trial;

fuzz_target!(|input: (u8, &[u8])| {
    let (system, records) = input;
    trial::journal(system.into(), records);
});
