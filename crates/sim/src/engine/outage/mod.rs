//! Power fails in the middle of a replay: what the mount after it does, and what it finds.
//!
//! The requests are those of a replay, one after the other, on a system that can be mounted again. As in firmware,
//! pages that a cut may take with it are guarded, unless the system's name says otherwise; a replay accepts that risk.
//!
//! `cut`: when power fails. `victim`: lives on the disk until then, and reads it back in the next life. `compared`:
//! each sector with what it must hold. `found`: the result, and the fate of the operation in flight in words.

use nand_model::power::Fates;

use crate::base::Failure;
use crate::engine::systems::Chosen;
use crate::input::device::Setup;
use crate::input::trace::fit::FitChoice;
use crate::input::workload::Workload;

mod compared;
mod cut;
mod found;
mod victim;

pub use cut::Outage;
pub use found::{Findings, Hit, InFlight, Sectors};
use victim::Victim;

/// Replays the workload until power fails, mounts the system again, and reads back every sector.
pub fn run(
    workload: &Workload,
    fit: Option<FitChoice>,
    setup: &Setup,
    system: &Chosen,
    outage: Outage,
) -> Result<Findings, Failure> {
    let blueprint = system.blueprint(setup)?;
    let chip = blueprint.format(blueprint.stamped(setup)?)?;
    let mut victim = Victim::new(workload, fit, setup, outage)?;
    // Its first life ends with a clean stop, when the device is filled.
    let chip = blueprint.run(chip, &mut victim)?;
    blueprint.run(chip, &mut victim)?;
    victim.found(&blueprint.part, &Fates::from_seed(outage.seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::device::DeviceChoice;

    /// Of requests of that size.
    fn found(size: &str, system: &str, after: u64, seed: u64) -> Findings {
        let workload = format!("synth:zipf?requests=3000&size={size}&reads=20");
        let workload = Workload::synthetic(&workload).unwrap();
        let setup = DeviceChoice::named("tiny").setup().unwrap();
        let system = Chosen::parse(system).unwrap();
        run(&workload, None, &setup, &system, Outage { after, seed }).unwrap()
    }

    #[test]
    fn no_acknowledged_sector_is_lost_wherever_power_fails() {
        let (mut hits, mut as_before, mut as_requested) = (0, 0, 0);
        for system in ["paged", "hybrid", "conventional"] {
            for seed in 0..40 {
                let Findings { acknowledged, sectors, hit, in_flight, .. } =
                    found("3KiB", system, 7 * seed, seed);
                // Reads that follow are acknowledged before the next write.
                assert!((7 * seed..7 * seed + 20).contains(&acknowledged), "{acknowledged}");
                let Sectors { checked, intact, lost, wrong, .. } = sectors;
                assert_eq!((checked, lost, wrong), (320, 0, 0), "{system}, {seed}");
                assert_eq!(intact + sectors.as_before + sectors.as_requested, checked);
                assert!(in_flight.is_some_and(|request| request.op == 'W'), "{system}, {seed}");
                hits += u32::from(hit.is_some());
                as_before += sectors.as_before;
                as_requested += sectors.as_requested;
            }
        }
        assert!(hits == 120 && as_before > 0 && as_requested > 0, "{hits}");
    }

    #[test]
    fn power_that_fails_after_the_last_request_hits_nothing() {
        let found = found("3KiB", "paged", 3_000, 1);
        assert_eq!((found.acknowledged, found.sectors.intact), (3_000, 320));
        assert!(found.hit.is_none() && found.in_flight.is_none() && found.mount_us > 0.0);
        assert!(found.mount.values().any(|part| part.read > 0), "{found:?}");
    }

    #[test]
    fn pages_that_are_not_guarded_may_be_lost_with_the_one_in_flight() {
        let one = |system, seed| {
            let sectors = found("8KiB", system, 40 * seed, seed).sectors;
            sectors.lost + sectors.wrong
        };
        let lost = |system| (0..60).map(|seed| one(system, seed)).sum();
        let (guarded, accepted): (u64, u64) = (lost("hybrid"), lost("hybrid?paired-pages=accept"));
        assert!(guarded == 0 && accepted > 0, "{guarded} and {accepted}");
    }

    #[test]
    fn a_system_that_power_ends_is_refused() {
        let workload = Workload::synthetic("synth:uniform?requests=10").unwrap();
        let setup = DeviceChoice::named("tiny").setup().unwrap();
        let system = Chosen::parse("page-mlc").unwrap();
        let refused = run(&workload, None, &setup, &system, Outage { after: 1, seed: 1 });
        assert!(matches!(refused, Err(Failure::Arguments(_))), "{refused:?}");
    }
}
