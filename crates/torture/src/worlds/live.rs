//! Runs a world: mount after mount of one device, with everything that was drawn, compared with the truth.

use std::sync::Arc;

use ftl_iface::{Lifetime, PageCount, Sector, SectorCount, StoreWriteError, Work};
use nand_model::{Chip, Content};

use super::script::{Life, Outage};
use super::world::World;
use super::wrong_mount::WrongMountTest;
use crate::compared::compare_told;
use crate::dice::{Dice, Share, mix};
use crate::faults::Faults;
use crate::history::History;
use crate::life::{ask, owed, told_of_failure};
use crate::on_flash::Bounded;
use crate::panics;
use crate::played::{Play, Played};
use crate::report::{Breach, Tally};
use crate::reserve::Reserve;
use crate::steps::{Power, Step};
use crate::subject::{Mounted, Subject, Unchecked};
use crate::test_device::{Halt, Orders, Picks, TestDevice};
use crate::truth::{Compare, Truth, Wrong};
use crate::unreadable_pages::UnreadablePages;

/// The result of a world.
#[derive(Debug, Default)]
pub(super) struct WorldResult {
    pub(super) tally: Tally,
    /// Mounts.
    pub(super) lives: u64,
    pub(super) wrong: Option<FoundBreach>,
    /// How often a device was read-only until its next mount.
    pub(super) read_only: u64,
    pub(super) played: Played,
    /// The last operations on the device, if they are kept.
    pub(super) history: Vec<String>,
}

/// A broken promise, and when it was found.
#[derive(Clone, Debug)]
pub(super) struct FoundBreach {
    /// The life, by its number.
    pub(super) life: u32,
    /// What was running.
    pub(super) doing: String,
    pub(super) breach: Breach,
}

/// What was running, and what is wrong.
pub(super) type Fault = (String, Breach);

/// How a life ends that breaks no promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LifeEnd {
    /// Power failed, or the host switched it off.
    Usual,
    /// The device takes no more writes until it is mounted again.
    ReadOnly,
}

/// The state of a run: the truth, and whether the device has recovered.
pub(super) struct WorldRun<'a> {
    pub(super) world: &'a World,
    pub(super) truth: Truth,
    data: Vec<u8>,
    /// Whether the device has repaired the effects of the last cut. Before that it does not know how many blocks it
    /// has.
    settled: bool,
    /// A use of the device after it failed. Reported at the end, so that it hides nothing worse.
    used_after_failure: Option<FoundBreach>,
    /// How often it was read-only until its next mount.
    read_only: u64,
}

/// Runs the world, or its kept parts.
pub(super) fn live(world: &World, lives: &[Life], history: History) -> WorldResult {
    let mut lived = WorldResult::default();
    let mut device = match fresh(world) {
        Ok(device) => device.with_history(history),
        Err(error) => {
            let breach = Breach::Unmountable(error);
            lived.wrong = Some(FoundBreach { life: 0, doing: "making the device".into(), breach });
            return lived;
        }
    };
    if world
        .setup
        .subject
        .parts(&Faults::NONE)
        .iter()
        .any(|part| part.bounded == Bounded::AtOnce && part.may_fail == 0)
    {
        device.play(Play::NoSpareBlock);
    }
    if world.behaviour.cuts_in_a_row {
        device.play(Play::Storm);
    }
    let mut run = WorldRun::new(world);
    if let Err((doing, breach)) = caught(|| run.format(&mut device)) {
        lived.wrong = Some(FoundBreach { life: 0, doing, breach });
        lived.history = device.history();
        return lived;
    }
    for life in lives {
        lived.lives += 1;
        let outcome = caught(|| run.live(&mut device, life));
        let breach = outcome.as_ref().err().map(|(_, breach)| breach);
        if let Some((cause, fate)) = device.take_cut() {
            lived.tally.add(cause, fate, life.number as usize, breach);
        }
        if let Err((doing, breach)) = outcome {
            lived.wrong = Some(FoundBreach { life: life.number, doing, breach });
            break;
        }
    }
    lived.played = *device.played();
    lived.read_only = run.read_only;
    lived.wrong = lived.wrong.or(run.used_after_failure);
    lived.history = device.history();
    lived
}

/// A panic is a fault, too.
fn caught(mut run: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    let panicked = |sentence| Err(("living".into(), Breach::Panic(sentence)));
    panics::catch(&mut run).unwrap_or_else(panicked)
}

/// A device that was never formatted.
fn fresh(world: &World) -> Result<TestDevice, String> {
    let World { setup, seed, faults, .. } = world;
    let content = if world.bytes { Content::Bytes } else { setup.stamps() };
    let chip = Chip::new(&setup.part, content).map_err(|error| error.to_string())?;
    let subject = &setup.subject;
    let chip = faults.prepare(chip, &**subject, *seed).map_err(|error| error.to_string())?;
    let orders = Orders {
        seed: *seed,
        picks: Picks::Some(Share::NONE),
        lane: (0, 1),
        faults: Faults::NONE,
        lenient: false,
        forgotten: None,
        key: *seed as u32,
    };
    let reserve = Reserve::new(&**subject, faults);
    let mut device = TestDevice::new(chip, reserve, UnreadablePages::NONE, subject.clone(), orders);
    world.behaviour.apply_to(&mut device);
    Ok(device)
}

impl<'a> WorldRun<'a> {
    fn new(world: &'a World) -> Self {
        let setup = &world.setup;
        let truth = Truth::new(setup.capacity(), setup.sector_bytes(), world.compare());
        Self {
            world,
            truth,
            data: Vec::new(),
            settled: false,
            used_after_failure: None,
            read_only: 0,
        }
    }
}

impl WorldRun<'_> {
    pub(super) fn live(&mut self, device: &mut TestDevice, life: &Life) -> Result<(), Fault> {
        device.say(|| format!("life {}", life.number));
        device.disarm();
        if let Some(seed) =
            life.sudden.filter(|_| life.faulty && self.world.behaviour.pages_fail_alone)
        {
            device.lose_by_itself(seed);
            let ranges = device.unreadable_pages_mut().take_ranges();
            for range in ranges {
                self.truth.unmap(range);
            }
        }
        if let Some(seed) = life.wrong_mount {
            WrongMountTest { world: self.world, truth: &self.truth }.run(device, seed)?;
        }
        device.power_on();
        device.grant(self.world.setup.mount_budget());
        let again = device.take_cut_followed();
        self.begin(device, life, 0);
        if again && life.faulty && self.world.behaviour.cuts_after_failures {
            let seed = mix(self.world.seed, life.number.into());
            device.cut_after(mix(seed, 18) % 6, seed);
        }
        self.settled = false;
        let mut outcome = Ok(LifeEnd::Usual);
        let subject = self.subject(life);
        if !Arc::ptr_eq(&subject, &self.world.setup.subject) {
            device.play(Play::OtherSettings);
        }
        let mounted = subject.mount(device, &mut |ftl| {
            outcome = self.use_it(ftl, life);
        });
        let ended = outcome?;
        if device.has_failed_driver() {
            let in_mount = mounted.is_err();
            device.play(if in_mount { Play::DriverFailsInMount } else { Play::DriverFailsLater });
        }
        if device.has_failed_driver() && life.number.is_multiple_of(2) {
            device.switch_off();
        }
        match (mounted, device.halted()) {
            (Ok(()), None) => device.switch_off(),
            (Ok(()), Some(_)) | (Err(_), Some(Halt::PowerOff)) => {}
            (Err(_), Some(Halt::OverBudget)) => return Err(("mounting".into(), Breach::Endless)),
            (Err(error), None) => {
                return Err(("mounting".into(), Breach::Unmountable(error.to_string())));
            }
        }
        self.note_use(device, life, "mounting", &[]);
        if ended == LifeEnd::ReadOnly { self.mount_until_writable(device, life) } else { Ok(()) }
    }

    /// The FTL with the settings of that life.
    fn subject(&self, life: &Life) -> Arc<dyn Subject> {
        let usual = &self.world.setup.subject;
        let other = life.settings.and_then(|seed| usual.with_other_settings(seed));
        other.unwrap_or_else(|| usual.clone())
    }

    /// A device that is read-only before its time must take writes again after some mounts in peace.
    fn mount_until_writable(&mut self, device: &mut TestDevice, life: &Life) -> Result<(), Fault> {
        const MOUNTS: u32 = 3;
        let mut refused = None;
        for _ in 0..MOUNTS {
            device.disarm();
            device.power_on();
            device.draw_by(self.world.seed, Faults::NONE);
            device.grant(self.world.setup.mount_budget());
            let mut outcome = Ok(());
            let mounted = self.subject(life).mount(device, &mut |ftl| {
                outcome = self.mends(ftl);
            });
            let doing = || String::from("mounting a read-only device");
            mounted.map_err(|error| (doing(), Breach::Unmountable(error.to_string())))?;
            device.switch_off();
            match outcome {
                Ok(()) => return Ok(()),
                Err(Breach::Refused(error)) => refused = Some(error),
                Err(breach) => return Err((doing(), breach)),
            }
        }
        let sentence = format!("in {MOUNTS} mounts in a row, {}", refused.unwrap_or_default());
        Err(("being read-only".into(), Breach::Refused(sentence)))
    }

    fn mends(&mut self, ftl: &mut dyn Mounted) -> Result<(), Breach> {
        let write = Step::Write { first: 0, count: 1 };
        for step in [Step::Settle, Step::Maintain { budget: 50 }, write] {
            self.step(ftl, step)?;
        }
        Ok(())
    }

    /// From now on faults depend only on the world, the life and the step, not on anything before.
    fn begin(&self, device: &mut TestDevice, life: &Life, step: u32) {
        let moment = mix(mix(self.world.seed, life.number.into()), step.into());
        let faults = if life.faulty { self.world.faults } else { Faults::NONE };
        device.draw_by(moment, faults);
        if let Some(Outage { after, seed, .. }) = life.cut.filter(|cut| cut.step == step) {
            device.cut_after(after, seed);
        }
        let driver = life.driver.filter(|_| life.faulty && self.world.behaviour.driver_fails);
        if let Some(Outage { after, .. }) = driver.filter(|driver| driver.step == step) {
            device.fail_driver_after(after);
        }
    }

    fn use_it(&mut self, ftl: &mut dyn Mounted, life: &Life) -> Result<LifeEnd, Fault> {
        for (number, step) in &life.steps {
            self.begin(ftl.device_mut(), life, *number);
            match self.step(ftl, *step) {
                Ok(Power::On) => {}
                Ok(Power::Off) => {
                    let answered = self.ask_on(ftl);
                    self.note_use(ftl.device(), life, &step.to_string(), &answered);
                    return Ok(LifeEnd::Usual);
                }
                Err(Breach::Refused(_)) if self.is_read_only(ftl) => {
                    self.compare(ftl, |truth, ftl| truth.compare_all(ftl))
                        .map_err(|breach| (step.to_string(), breach))?;
                    self.read_only += 1;
                    return Ok(LifeEnd::ReadOnly);
                }
                Err(breach) => return Err((step.to_string(), breach)),
            }
        }
        Ok(LifeEnd::Usual)
    }

    /// Whether a device may be read-only until it is mounted again: one with hardly a spare block, or in a storm.
    fn is_read_only(&self, ftl: &dyn Mounted) -> bool {
        let behaviour = &self.world.behaviour;
        (behaviour.tight.is_some() || behaviour.cuts_in_a_row || behaviour.cuts_after_failures)
            && ftl.is_read_only()
    }

    fn step(&mut self, ftl: &mut dyn Mounted, step: Step) -> Result<Power, Breach> {
        ftl.device().unreadable_pages().tell(&mut self.truth);
        let setup = &self.world.setup;
        let request = self.truth.requests() + 1;
        ftl.device_mut().say(|| format!("request {request}: {step}"));
        ftl.device_mut().grant(setup.request_budget() + setup.mount_budget());
        let outcome = match step {
            Step::Read { first, count } => {
                self.compare(ftl, |truth, ftl| truth.compare(ftl, first, count))?;
                Ok(Work::Left)
            }
            Step::Compare => {
                self.compare(ftl, |truth, ftl| truth.compare_all(ftl))?;
                self.check(ftl)?;
                Ok(Work::Left)
            }
            other => ask(ftl, other, self.lifetime(request), &mut self.truth, &mut self.data),
        };
        match (outcome, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(Breach::Endless),
            (outcome, Some(Halt::PowerOff)) => told_of_failure(step, &outcome).map(|()| Power::Off),
            (Ok(work), None) => {
                self.acknowledge(ftl, step);
                match owed(ftl, work) {
                    None => Ok(Power::On),
                    Some(owed) => Err(Breach::Invariant(owed)),
                }
            }
            (Err(StoreWriteError::ReadOnly), None) if ftl.device().reserve().is_gone() => {
                self.compare(ftl, |truth, ftl| truth.compare_all(ftl))?;
                Ok(Power::On)
            }
            (Err(error), None) => Err(Breach::Refused(format!("{error}; {}", ftl.health()))),
        }
    }

    /// The lifetime that the host expects of what it writes in the request of that number.
    fn lifetime(&self, request: u32) -> Lifetime {
        match self.world.behaviour.lifetimes {
            Some(seed) => Dice::new(mix(seed, request.into())).pick(&Lifetime::ALL),
            None => Lifetime::Unknown,
        }
    }

    fn acknowledge(&mut self, ftl: &mut dyn Mounted, step: Step) {
        if let Step::Write { first, count } | Step::Trim { first, count } = step {
            self.truth.acknowledge(first, count);
        }
        let settles = !matches!(step, Step::Maintain { .. } | Step::Scrub | Step::Flush);
        self.settled |= settles;
        if self.settled {
            let at_once = ftl.at_once();
            ftl.device_mut().allow(at_once);
        }
    }

    fn compare(
        &mut self,
        ftl: &mut dyn Mounted,
        compared: impl FnMut(&mut Truth, &mut dyn Mounted) -> Result<(), Wrong>,
    ) -> Result<(), Breach> {
        let outcome = compare_told(&mut self.truth, ftl, compared);
        match (outcome, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(Breach::Endless),
            (Ok(()), _) | (Err(_), Some(Halt::PowerOff)) => Ok(()),
            (Err(wrong), None) => Err(Breach::Content(wrong)),
        }
    }

    fn check(&self, ftl: &mut dyn Mounted) -> Result<(), Breach> {
        if ftl.device().halted().is_some() {
            return Ok(());
        }
        match ftl.check() {
            Ok(()) => Ok(()),
            Err(_) if ftl.device().halted() == Some(Halt::PowerOff) => Ok(()),
            // Invariants over unreadable pages cannot be checked.
            Err(Unchecked::Unreadable(_)) if self.truth.has_unreadable() => Ok(()),
            Err(Unchecked::Broken(sentence) | Unchecked::Unreadable(sentence)) => {
                Err(Breach::Invariant(sentence))
            }
        }
    }

    /// Sends further requests to a device that has failed for good. Returns those that succeed.
    fn ask_on(&self, ftl: &mut dyn Mounted) -> Vec<&'static str> {
        let mut data = vec![0; self.world.setup.sector_bytes()];
        let last = Sector::new(self.world.setup.capacity() - 1);
        let first = Sector::new(0);
        let asked = [
            ("a read of the first sector", ftl.read(first, &mut data).is_ok()),
            ("a read of the last sector", ftl.read(last, &mut data).is_ok()),
            ("idle work", ftl.maintain(PageCount::new(20)).is_ok()),
            ("a write", ftl.write(last, &data).is_ok()),
            ("a trim", ftl.trim(first, SectorCount::new(1)).is_ok()),
            ("a stop", ftl.stop().is_ok()),
        ];
        asked.into_iter().filter(|(_, answered)| *answered).map(|(what, _)| what).collect()
    }

    fn note_use(
        &mut self,
        device: &TestDevice,
        life: &Life,
        doing: &str,
        answered: &[&'static str],
    ) {
        let asked = device.asked_while_off();
        if asked == 0 && answered.is_empty() || self.used_after_failure.is_some() {
            return;
        }
        let answered = if answered.is_empty() { "nothing".into() } else { answered.join(", ") };
        let sentence = format!("it was asked for {asked} operations, and answered {answered}");
        let breach = Breach::UsedAfterFailure(sentence);
        self.used_after_failure =
            Some(FoundBreach { life: life.number, doing: doing.into(), breach });
    }
}

impl World {
    const fn compare(&self) -> Compare {
        if self.bytes { Compare::Bytes } else { Compare::Stamps }
    }
}
