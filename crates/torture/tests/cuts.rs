//! Power cuts of the hybrid (`paged.rs` has those of the page store), with further cuts in the lives after them:
//! nothing that was acknowledged is lost, and no device is stuck. `./ci torture` is a larger run; these few thousand
//! cuts are part of every test run.

use torture::{Cuts, Faults, FtlName, Nested, Plan, Setup, Unwatched, torture};

/// Runs the plan, which must find no violation.
fn all_goes_well(plan: &Plan, at_least: u64) {
    let setups = Setup::all_of(FtlName::Hybrid).expect("every setup is possible");
    let outcome = torture(&setups, 1..2, plan, &Unwatched);
    let told: Vec<String> = outcome.violations.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{} violations, the first:\n{}", told.len(), told[0]);
    assert!(outcome.tally.total().tried >= at_least, "{:?}", outcome.tally.total());
}

#[test]
fn every_fate_of_an_operation_loses_nothing() {
    all_goes_well(&Plan { cuts: Cuts::Sample(300), ..Plan::default() }, 600);
}

#[test]
fn cuts_within_the_mount_and_right_after_it_lose_nothing() {
    let nested = Some(Nested::USUAL);
    all_goes_well(&Plan { cuts: Cuts::Sample(2), requests: 30, nested, ..Plan::default() }, 500);
}

#[test]
fn every_byte_of_every_sector_is_as_it_was_written() {
    all_goes_well(&Plan { cuts: Cuts::Sample(200), bytes: true, ..Plan::default() }, 400);
}

#[test]
fn a_format_cut_short_leaves_an_empty_device_or_none_that_mounts() {
    all_goes_well(
        &Plan { format: true, cuts: Cuts::Sample(40), after: 10, ..Plan::default() },
        200,
    );
}

#[test]
fn blocks_that_fail_beside_the_cuts_lose_nothing_and_the_device_goes_on() {
    let named = "program,erase,mark";
    let faults = Faults::parse(named).expect("these faults exist");
    let faults_named = named.into();
    all_goes_well(&Plan { cuts: Cuts::Sample(100), faults, faults_named, ..Plan::default() }, 500);
}
