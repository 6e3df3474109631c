//! Something is mounted that was not formatted: it must be refused with a sentence that does not call the device
//! damaged, and without a change of the flash; or it mounts, and everything reads as it must.

use nand_model::Content;

use super::world::World;
use crate::compared::compare_told;
use crate::crossing::{Crossing, Halt};
use crate::faults::Faults;
use crate::played::Play;
use crate::report::Breach;
use crate::strangers;
use crate::subject::{Stranger, Subject, Unmounted};
use crate::truth::Truth;

/// A device that something else mounts.
pub(super) struct Mistaken<'a> {
    pub(super) world: &'a World,
    pub(super) truth: &'a Truth,
}

impl Mistaken<'_> {
    /// Lets a stranger mount the device.
    pub(super) fn meet(&self, crossing: &mut Crossing, seed: u64) -> Result<(), (String, Breach)> {
        let setup = &self.world.setup;
        let geometry = &setup.part.geometry;
        let Some(stranger) = strangers::to(&*setup.subject, geometry, seed) else {
            return Ok(());
        };
        // A chip that keeps stamps is read in whole sectors alone.
        let sectors = stranger.subject.sector_bytes() == self.world.setup.subject.sector_bytes();
        if !sectors && crossing.chip_mut().inner().content() != Content::Bytes {
            return Ok(());
        }
        crossing.play(stranger.play);
        crossing.say(|| format!("by mistake: {}", stranger.what));
        let breach = self.mount_by_mistake(crossing, &stranger);
        breach.map_err(|breach| (format!("mounting by mistake: {}", stranger.what), breach))
    }

    fn mount_by_mistake(&self, crossing: &mut Crossing, stranger: &Stranger) -> Result<(), Breach> {
        let Stranger { subject, told, .. } = stranger;
        let before = crossing.operations();
        crossing.disarm();
        crossing.power_on();
        crossing.draw_by(self.world.seed, Faults::NONE);
        crossing.grant(2 * (self.world.setup.mount_budget() + self.world.setup.request_budget()));
        crossing.tell_shape(*told);
        let known = self.reads_like(&**subject);
        let mut after = before;
        let mut compared = Ok(());
        let mounted = subject.mount(crossing, &mut |ftl| {
            after = ftl.device().operations();
            if known {
                let mut truth = self.truth.clone();
                compared = compare_told(&mut truth, ftl, |truth, ftl| truth.compare_all(ftl));
            }
        });
        crossing.tell_shape(None);
        crossing.switch_off();
        if crossing.halted() == Some(Halt::OverBudget) {
            return Err(Breach::Endless);
        }
        if after != before || mounted.is_err() && crossing.operations() != before {
            return Err(Breach::Invariant("a mount changed the flash".into()));
        }
        match mounted {
            Err(Unmounted::Corrupt(error)) => Err(Breach::Unmountable(error)),
            // The table may be smaller.
            Err(refused) if stranger.play == Play::OtherSettings => {
                Err(Breach::Unmountable(refused.to_string()))
            }
            Err(_) => Ok(()),
            Ok(()) if !known => Err(Breach::Invariant("it was mounted".into())),
            Ok(()) => compared.map_err(Breach::Content),
        }
    }

    /// Whether a stranger has as many sectors of the same size.
    fn reads_like(&self, stranger: &dyn Subject) -> bool {
        let ours = &self.world.setup.subject;
        stranger.capacity() == ours.capacity() && stranger.sector_bytes() == ours.sector_bytes()
    }
}
