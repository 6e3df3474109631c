//! Any bytes as requests with faults and power cuts among them: nothing that was acknowledged is lost.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use torture::script;
use torture::{FtlName, Setup};

fuzz_target!(|bytes: &[u8]| {
    static SETUPS: OnceLock<Vec<Setup>> = OnceLock::new();
    let setups = SETUPS.get_or_init(|| {
        let all = [FtlName::Hybrid, FtlName::Paged].map(Setup::all_of);
        all.into_iter().flat_map(|all| all.expect("the small devices are possible")).collect()
    });
    let outcome = script::follow(setups, bytes);
    if let Some(violation) = outcome.violations.first() {
        panic!("{violation}");
    }
});
