//! Something is mounted that was not formatted: it must be refused with a sentence that does not call the device
//! damaged, and without a change of the flash; or it mounts, and everything reads as it must.

use nand_model::Content;

use super::world::World;
use crate::compared::compare_told;
use crate::faults::Faults;
use crate::played::Play;
use crate::report::Breach;
use crate::subject::{Subject, Unmounted, WrongMount};
use crate::test_device::{Halt, TestDevice};
use crate::truth::Truth;
use crate::wrong_mounts;

/// A device that something else mounts.
pub(super) struct WrongMountTest<'a> {
    pub(super) world: &'a World,
    pub(super) truth: &'a Truth,
}

impl WrongMountTest<'_> {
    /// Mounts the device by mistake, and checks what that does.
    pub(super) fn run(&self, device: &mut TestDevice, seed: u64) -> Result<(), (String, Breach)> {
        let setup = &self.world.setup;
        let geometry = &setup.part.geometry;
        let Some(wrong) = wrong_mounts::draw(&*setup.subject, geometry, seed) else {
            return Ok(());
        };
        // A chip that keeps stamps is read in whole sectors alone.
        let sectors = wrong.subject.sector_bytes() == self.world.setup.subject.sector_bytes();
        if !sectors && device.chip_mut().inner().content() != Content::Bytes {
            return Ok(());
        }
        device.play(wrong.play);
        device.say(|| format!("by mistake: {}", wrong.what));
        let breach = self.mount_by_mistake(device, &wrong);
        breach.map_err(|breach| (format!("mounting by mistake: {}", wrong.what), breach))
    }

    fn mount_by_mistake(&self, device: &mut TestDevice, wrong: &WrongMount) -> Result<(), Breach> {
        let WrongMount { subject, told, .. } = wrong;
        let before = device.operations();
        device.disarm();
        device.power_on();
        device.draw_by(self.world.seed, Faults::NONE);
        device.grant(2 * (self.world.setup.mount_budget() + self.world.setup.request_budget()));
        device.tell_shape(*told);
        let known = self.reads_like(&**subject);
        let mut after = before;
        let mut compared = Ok(());
        let mounted = subject.mount(device, &mut |ftl| {
            after = ftl.device().operations();
            if known {
                let mut truth = self.truth.clone();
                compared = compare_told(&mut truth, ftl, |truth, ftl| truth.compare_all(ftl));
            }
        });
        device.tell_shape(None);
        device.switch_off();
        if device.halted() == Some(Halt::OverBudget) {
            return Err(Breach::Endless);
        }
        if after != before || mounted.is_err() && device.operations() != before {
            return Err(Breach::Invariant("a mount changed the flash".into()));
        }
        match mounted {
            Err(Unmounted::Corrupt(error)) => Err(Breach::Unmountable(error)),
            // The table may be smaller.
            Err(refused) if wrong.play == Play::OtherSettings => {
                Err(Breach::Unmountable(refused.to_string()))
            }
            Err(_) => Ok(()),
            Ok(()) if !known => Err(Breach::Invariant("it was mounted".into())),
            Ok(()) => compared.map_err(Breach::Content),
        }
    }

    /// Whether an FTL has as many sectors of the same size.
    fn reads_like(&self, other: &dyn Subject) -> bool {
        let ours = &self.world.setup.subject;
        other.capacity() == ours.capacity() && other.sector_bytes() == ours.sector_bytes()
    }
}
