//! Answers that were wrong once: each test holds one of them to what was worked out by hand.

use serde_json::Value;

mod common;

use common::{file, result};

/// Pages that were programmed for the host, in the SLC and in the MLC.
fn programmed(result: &Value) -> [u64; 2] {
    ["slc", "mlc"].map(|region| result[region]["pages"]["host_program"].as_u64().expect("pages"))
}

#[test]
fn the_filter_judges_a_request_by_its_own_size_wherever_it_lies() {
    // 124 KiB before the line of 4 MiB, and 4 KiB behind it, which alone would be hot.
    let path = file("over-a-line.csv", "0,W,4067328,131072\n");
    assert_eq!(programmed(&result(&["replay", &path])), [0, 32]);
}
