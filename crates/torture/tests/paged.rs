//! The page store under torture: cuts of every kind, cuts in the lives after a cut, faults, and random worlds.

use std::ops::Range;

use torture::worlds::{Choice, Reported, worlds};
use torture::{Cuts, Faults, FtlName, Nested, Plan, Setup, Unwatched, torture};

fn nothing_is_lost(plan: &Plan) -> u64 {
    let setups = Setup::all_of(FtlName::Paged).expect("every setup is possible");
    let outcome = torture(&setups, 1..2, plan, &Unwatched);
    assert_eq!(outcome.violations, []);
    outcome.tally.total().tried
}

#[test]
fn cuts_lose_nothing() {
    let tried = nothing_is_lost(&Plan { cuts: Cuts::Sample(700), ..Plan::default() });
    assert!(tried > 4_000, "{tried}");
}

#[test]
fn cuts_within_the_lives_that_cuts_begin_lose_nothing() {
    let nested = Some(Nested::USUAL);
    let tried = nothing_is_lost(&Plan { cuts: Cuts::Sample(60), nested, ..Plan::default() });
    assert!(tried > 2_000, "{tried}");
}

#[test]
fn cuts_in_a_format_lose_nothing() {
    let plan = Plan { cuts: Cuts::Exhaustive, format: true, ..Plan::default() };
    assert!(nothing_is_lost(&plan) > 50);
}

#[test]
fn cuts_with_blocks_that_fail_lose_nothing() {
    let faults_named: String = "program,erase,mark,uncorrectable".into();
    let faults = Faults::parse(&faults_named).expect("there are such faults");
    let plan = Plan { cuts: Cuts::Sample(150), faults, faults_named, ..Plan::default() };
    assert!(nothing_is_lost(&plan) > 700);
}

/// Returns how often power failed in these worlds, none of which may break a promise.
fn cuts_in_worlds(seeds: Range<u64>) -> u64 {
    let (ftl, told) = (FtlName::Paged, Reported::Shrunk);
    let choice = Choice { ftl, seeds, kept: None, broken_max: 5, told };
    let outcome = worlds(&choice, &Unwatched).expect("worlds can be drawn");
    let broken: Vec<String> = outcome.broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    outcome.tally.total().tried
}

#[test]
fn random_worlds_break_no_promise() {
    assert!(cuts_in_worlds(20_000..20_120) > 2_000);
}

/// A header was erased although the other one had just failed. An old anchor was trusted after the erase of a newer
/// one's block was cut. A write whose program failed appeared late. In the others the last pages of victims took all
/// the space that these freed, and the device became read-only.
#[test]
fn worlds_that_were_broken_once_are_whole() {
    let read_only = [2_232, 100_038, 108_098, 1_005_537, 1_012_434, 1_015_662];
    for seed in [1_002_608, 1_015_745, 1_000_121].into_iter().chain(read_only) {
        assert!(cuts_in_worlds(seed..seed + 1) > 0, "{seed}");
    }
}
