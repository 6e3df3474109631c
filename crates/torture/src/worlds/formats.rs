//! The formats of a world's device: earlier ones whose data may not be read again, and formats that power cuts.

use super::behaviour::{Before, PageFill};
use super::live::{Fault, WorldRun};
use super::script::{self, Life};
use crate::dice::{Dice, mix};
use crate::played::Play;
use crate::report::Breach;
use crate::subject::{Mounted, Unmounted};
use crate::test_device::{Halt, TestDevice};
use crate::truth::{Truth, Wrong};

/// Keys among which the one is chosen that takes most pages of earlier formats for its own.
const KEYS: u32 = 32;

/// Cuts of a format in a row, at most.
const CUTS_MAX: u32 = 3;

impl WorldRun<'_> {
    /// Formats the device, after the earlier formats of this world.
    pub(super) fn format(&mut self, device: &mut TestDevice) -> Result<(), Fault> {
        let seed = self.world.seed;
        let earlier = match self.world.behaviour.before {
            Before::Formats(earlier) => earlier,
            Before::Painted(paint) => {
                self.paint(device, paint)?;
                0
            }
            Before::Fresh => 0,
        };
        if earlier == 0 {
            return self.format_with(device, seed as u32);
        }
        device.play(Play::EarlierFormat);
        for nth in 0..earlier {
            let mut dice = Dice::new(mix(mix(seed, 27), nth.into()));
            self.format_with(device, dice.next() as u32)?;
            let number = 1 + dice.below(4);
            for life in script::calm_lives(dice.next(), number, self.world.extent()) {
                self.live_before(device, &life)?;
            }
        }
        let mut dice = Dice::new(mix(seed, 28));
        let key = worst_key(device, &mut dice);
        if dice.percent(50) {
            self.format_cut(device, key, &mut dice)?;
        }
        self.format_with(device, key)
    }

    /// Fills the flash. What is there is no device.
    fn paint(&self, device: &mut TestDevice, paint: PageFill) -> Result<(), Fault> {
        device.play(Play::Painted);
        let kept = self.world.setup.subject.spare_used().as_usize();
        let mut dice = Dice::new(self.world.seed);
        let mut fill = |bytes: &mut [u8]| match paint {
            PageFill::Byte(byte) => bytes.fill(byte),
            PageFill::Noise => bytes.iter_mut().for_each(|byte| *byte = dice.next() as u8),
        };
        device.program_all(|data, spare| {
            fill(data);
            // A chip that keeps stamps keeps these spare bytes alone.
            let kept = kept.min(spare.len());
            fill(&mut spare[..kept]);
        });
        device.power_on();
        self.grant(device);
        let before = device.operations();
        let mounted = self.world.setup.subject.mount(device, &mut |_| ());
        let doing = || String::from("mounting flash that was never formatted");
        match mounted {
            _ if device.operations() != before => {
                Err((doing(), Breach::Invariant("a mount changed the flash".into())))
            }
            Ok(()) => Err((doing(), Breach::Invariant("it was mounted".into()))),
            Err(Unmounted::Corrupt(error)) => Err((doing(), Breach::Unmountable(error))),
            Err(_) if device.halted().is_some() => Err((doing(), Breach::Endless)),
            Err(_) => Ok(()),
        }
    }

    fn live_before(&mut self, device: &mut TestDevice, life: &Life) -> Result<(), Fault> {
        let of_before = |(doing, breach)| (format!("{doing}, in an earlier format"), breach);
        self.live(device, life).map_err(of_before)
    }

    fn format_with(&mut self, device: &mut TestDevice, key: u32) -> Result<(), Fault> {
        device.disarm();
        device.power_on();
        self.grant(device);
        device.say(|| format!("a format with key {key:08x}"));
        device.set_key(key);
        self.truth = self.truth.formatted_anew();
        let formatted = self.world.setup.subject.format(device, key);
        formatted.map_err(|error| unformatted(device, error))
    }

    /// More calls than a format makes: it erases every block, and reads no page more than a few times.
    fn grant(&self, device: &mut TestDevice) {
        device.grant(self.world.setup.mount_budget() + self.world.setup.request_budget());
    }

    /// Power fails in a format, and again when it is repeated. In between there is no device, an empty one, or the one
    /// before with all that it held.
    fn format_cut(
        &mut self,
        device: &mut TestDevice,
        key: u32,
        dice: &mut Dice,
    ) -> Result<(), Fault> {
        for _ in 0..=dice.below(CUTS_MAX) {
            device.power_on();
            self.grant(device);
            let most = dice.pick(&[4, 8, 100]);
            device.cut_after(dice.below(most).into(), dice.next());
            let formatted = self.world.setup.subject.format(device, key);
            if formatted.is_ok() {
                return Ok(());
            }
            if device.halted() != Some(Halt::PowerOff) {
                return Err(unformatted(device, formatted.err().unwrap_or_default()));
            }
            device.play(Play::FormatCut);
            let _ = device.take_cut();
            self.look_after_a_cut(device)?;
        }
        Ok(())
    }

    fn look_after_a_cut(&self, device: &mut TestDevice) -> Result<(), Fault> {
        device.disarm();
        device.power_on();
        self.grant(device);
        let mut compared = Ok(());
        let mounted = self.world.setup.subject.mount(device, &mut |ftl| {
            compared = self.old_or_empty(ftl);
        });
        let doing = || String::from("mounting after a cut in the format");
        match mounted {
            Ok(()) => compared.map_err(|wrong| (doing(), Breach::Content(wrong))),
            Err(Unmounted::Blank(_)) => Ok(()),
            Err(_) if device.halted() == Some(Halt::OverBudget) => Err((doing(), Breach::Endless)),
            Err(error) => Err((doing(), Breach::Unmountable(error.to_string()))),
        }
    }

    fn old_or_empty(&self, ftl: &mut dyn Mounted) -> Result<(), Wrong> {
        let mut empty: Truth = self.truth.formatted_anew();
        if empty.compare_all(ftl).is_ok() {
            return Ok(());
        }
        self.truth.clone().compare_all(ftl)
    }
}

/// A format that fails, or does not end.
fn unformatted(device: &TestDevice, error: String) -> Fault {
    let is_endless = device.halted() == Some(Halt::OverBudget);
    let breach = if is_endless { Breach::Endless } else { Breach::Unmountable(error) };
    ("formatting".into(), breach)
}

/// Of some keys the one that takes most pages of earlier formats for its own: the worst that a host may happen to draw.
fn worst_key(device: &mut TestDevice, dice: &mut Dice) -> u32 {
    let keys: Vec<u32> = (0..KEYS).map(|_| dice.next() as u32).collect();
    let mut counts = vec![0; keys.len()];
    device.of_store(|subject, data, spare| {
        for (count, key) in counts.iter_mut().zip(&keys) {
            *count += u32::from(subject.stamp(data, spare, *key).is_some());
        }
    });
    let worst = counts.iter().zip(&keys).max_by_key(|(count, _)| **count);
    worst.map_or(0, |(_, key)| *key)
}
