//! Devices that are switched off only at rest: nothing may be wrong with them, so that an error after a cut is caused
//! by the cut.

use torture::{Cuts, FtlName, Plan, Setup, Step, Unwatched, Workload, follow_script, torture};

/// Every setup of both FTLs.
fn all() -> impl Iterator<Item = Setup> {
    let all = [FtlName::Hybrid, FtlName::Paged].map(Setup::all_of);
    all.into_iter().flat_map(|all| all.expect("every setup is possible"))
}

/// Returns a workload whose cuts come between requests.
fn at_rest(seed: u64, capacity: u32, requests: u32) -> impl Iterator<Item = Step> {
    Workload::whole(seed, capacity, requests).map(|step| match step {
        Step::Cut { .. } => Step::Rest,
        other => other,
    })
}

#[test]
fn a_device_that_is_switched_off_at_rest_keeps_everything() {
    for bytes in [false, true] {
        let plan = Plan { bytes, ..Plan::default() };
        for setup in all() {
            for seed in 0..3 {
                let steps = at_rest(seed, setup.capacity(), 800);
                let outcome = follow_script(&setup, &plan, seed, steps);
                assert_eq!(outcome.violations, [], "{} {:?}", setup.device, setup.system);
                assert!(outcome.operations > 800, "{}", outcome.operations);
            }
        }
    }
}

#[test]
fn a_device_that_forgets_a_program_is_found_out() {
    for setup in all() {
        let found = |forgotten: &u64| {
            let plan = Plan { forgotten: Some(*forgotten), ..Plan::default() };
            let steps = at_rest(1, setup.capacity(), 300);
            !follow_script(&setup, &plan, 1, steps).violations.is_empty()
        };
        // A forgotten operation is not noticed if it is an erase, or if its data is overwritten before it is read, or
        // copied by the next mount.
        let tried = (0..100).map(|nth| 1 + nth * 7);
        let count = tried.filter(found).count();
        assert!(count >= 20, "{} {:?}: {count} of 100", setup.device, setup.system);
    }
}

#[test]
fn a_run_is_the_same_each_time() {
    let setups = [Setup::hybrid("tiny", torture::System::Usual).expect("it is possible")];
    let plan =
        Plan { cuts: Cuts::Sample(300), requests: 100, violations_max: 1_000, ..Plan::default() };
    let run = || {
        let mut outcome = torture(&setups, 7..8, &plan, &Unwatched);
        outcome.violations.sort_by_key(ToString::to_string);
        outcome
    };
    let first = run();
    assert!(first.tally.total().tried > 200);
    assert_eq!(first, run());
}
