//! The page store under torture: cuts of every kind, cuts within the lives that cuts begin, faults, and random worlds.

use torture::worlds::{Choice, Told, worlds};
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
    let faults = Faults::parse("program,erase,mark").expect("there are such faults");
    let faults_named = "program,erase,mark".into();
    let plan = Plan { cuts: Cuts::Sample(150), faults, faults_named, ..Plan::default() };
    assert!(nothing_is_lost(&plan) > 700);
}

#[test]
fn random_worlds_break_no_promise() {
    let (ftl, told) = (FtlName::Paged, Told::Shrunk);
    let choice = Choice { ftl, seeds: 20_000..20_120, kept: None, broken_max: 5, told };
    let outcome = worlds(&choice, &Unwatched).expect("worlds can be drawn");
    let broken: Vec<String> = outcome.broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(outcome.tally.total().tried > 2_000);
}
