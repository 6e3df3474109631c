//! The script of a world: lives, each with its requests and its power cut, drawn before anything is run.
//!
//! Each life, and each step of it, is drawn only by its number, so that it stays the same when others are removed.

use super::behaviour::Behaviour;
use crate::dice::{Dice, mix};
use crate::steps::Step;

/// Lives of a world.
const LIVES: u32 = 60;

/// One mount of the device, and its steps until power fails.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// Its number among all lives drawn.
    pub(super) number: u32,
    /// Whether the world's faults, failing blocks and unreadable pages, occur in it.
    pub(super) faulty: bool,
    /// Where power fails; `None`: at rest.
    pub(super) cut: Option<Outage>,
    /// Where the driver fails.
    pub(super) driver: Option<Outage>,
    /// With this seed pages become unreadable before it.
    pub(super) sudden: Option<u64>,
    /// The settings of this mount, if others than those of the format.
    pub(super) settings: Option<u64>,
    /// With this seed something else is mounted before it, by mistake.
    pub(super) wrong_mount: Option<u64>,
    /// The steps, with their numbers, from one on.
    pub(super) steps: Vec<(u32, Step)>,
}

/// Where power fails, or the driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    /// The step from whose start operations are counted: the mount, which is step 0, or another.
    pub(super) step: u32,
    /// This many operations succeed: programs, erases and marks until power fails, calls of any kind until the driver
    /// does.
    pub(super) after: u64,
    /// The seed of the operation's fate.
    pub(super) seed: u64,
}

/// The size of a device for a host: its sectors, and the sectors of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) capacity: u32,
    pub(super) block: u32,
}

/// All lives of the world with that seed.
pub(super) fn lives(seed: u64, extent: Extent, behaviour: &Behaviour) -> Vec<Life> {
    let mut settings = None;
    let drawn = |number| {
        let mut life = life(seed, number, extent);
        let mut dice = Dice::new(mix(mix(seed, 25), number.into()));
        // Power fails within the first programs after each mount, but for a few lives now and then.
        if behaviour.cuts_in_a_row && number % 20 > 4 {
            let (after, seed) = (dice.below(5).into(), dice.next());
            life.cut = Some(Outage { step: 0, after, seed });
        }
        // Once changed, settings stay until they change again.
        if behaviour.settings_change && dice.percent(15) {
            settings = Some(dice.next());
        }
        life.settings = settings;
        life
    };
    (0..LIVES).map(drawn).collect()
}

/// The first lives of a device that is formatted anew afterwards: nothing fails in them.
pub(super) fn calm_lives(seed: u64, number: u32, extent: Extent) -> Vec<Life> {
    let calm = |life: Life| Life { cut: None, faulty: false, wrong_mount: None, ..life };
    (0..number).map(|number| calm(life(seed, number, extent))).collect()
}

fn life(seed: u64, number: u32, extent: Extent) -> Life {
    let mut dice = Dice::new(mix(mix(seed, 21), number.into()));
    let count = match dice.below(10) {
        0..3 => 1 + dice.below(3),
        3..7 => 3 + dice.below(10),
        _ => 10 + dice.below(20),
    };
    let host = Targets::new(seed, number, extent);
    let mut steps: Vec<Step> = Vec::new();
    if number == 0 && seed.is_multiple_of(2) {
        let run = extent.block.clamp(1, 40);
        let fill = (0..extent.capacity).step_by(run as usize);
        steps.extend(fill.map(|first| host.write(first, run)));
    }
    steps.push(host.first(&mut dice));
    steps.extend((0..count).map(|_| host.usual(&mut dice)));
    if dice.percent(12) {
        steps.push(Step::Stop);
    }
    let last = steps.len() as u32;
    let cut = match dice.below(20) {
        0..2 => Some(0),
        2..12 => Some(1),
        12..19 => Some(1 + dice.below(last)),
        _ => None,
    };
    let after = match dice.below(10) {
        0..3 => dice.below(4),
        3..7 => dice.below(16),
        7 | 8 => dice.below(64),
        _ => dice.below(300),
    };
    let cut = cut.map(|step| Outage { step, after: after.into(), seed: dice.next() });
    let faulty = dice.percent(70);
    let steps = (1..).zip(steps).collect();
    let mut dice = Dice::new(mix(mix(seed, 26), number.into()));
    let driver = dice.percent(25).then(|| driver_failure(&mut dice, last));
    let sudden = dice.percent(40).then(|| dice.next());
    let wrong_mount = dice.percent(4).then(|| dice.next());
    Life { number, faulty, cut, driver, sudden, settings: None, wrong_mount, steps }
}

/// Half of the time in the mount, and anywhere else.
fn driver_failure(dice: &mut Dice, last: u32) -> Outage {
    let step = if dice.percent(50) { 0 } else { 1 + dice.below(last) };
    let most = dice.pick(&[20, 200, 2_000]);
    Outage { step, after: dice.below(most).into(), seed: dice.next() }
}

/// The targets of the host's requests in a life.
#[derive(Clone, Copy, Debug)]
struct Targets {
    extent: Extent,
    /// Sectors that are rewritten often.
    hot: (u32, u32),
    /// A logical block or two that are written in long runs.
    warm: u32,
}

impl Targets {
    /// The targets stay the same for some lives.
    fn new(seed: u64, number: u32, extent: Extent) -> Self {
        let mut dice = Dice::new(mix(mix(seed, 22), u64::from(number / 8)));
        let hot = (dice.below(extent.capacity), 4 + dice.below(14));
        Self { extent, hot, warm: dice.below(extent.capacity) }
    }

    fn write(&self, first: u32, count: u32) -> Step {
        let (first, count) = self.within(first, count);
        Step::Write { first, count }
    }

    fn within(&self, first: u32, count: u32) -> (u32, u32) {
        let first = first % self.extent.capacity;
        (first, count.min(self.extent.capacity - first))
    }

    fn hot(&self, dice: &mut Dice, most: u32) -> Step {
        self.write(self.hot.0 + dice.below(self.hot.1), 1 + dice.below(most))
    }

    fn warm(&self, dice: &mut Dice) -> Step {
        let most = (2 * self.extent.block).min(80);
        self.write(self.warm + dice.below(2 * self.extent.block), 1 + dice.below(most))
    }

    fn cold(&self, dice: &mut Dice, most: u32) -> Step {
        self.write(dice.below(self.extent.capacity), 1 + dice.below(most))
    }

    fn trim(&self, dice: &mut Dice) -> Step {
        let near = self.hot.0 + dice.below(self.hot.1);
        let far = dice.below(self.extent.capacity);
        let at = if dice.percent(50) { near } else { far };
        let most = if dice.percent(25) { 3 * self.extent.block } else { 6 };
        let (first, count) = self.within(at, 1 + dice.below(most));
        Step::Trim { first, count }
    }

    fn read(&self, dice: &mut Dice) -> Step {
        let (first, count) = self.within(dice.below(self.extent.capacity), 1 + dice.below(24));
        Step::Read { first, count }
    }

    fn idle(dice: &mut Dice) -> Step {
        Step::Maintain { budget: dice.pick(&[1, 2, 5, 20, 1_000]) }
    }

    /// The first step after a mount: any step, rarely a comparison.
    fn first(&self, dice: &mut Dice) -> Step {
        match dice.below(16) {
            0 | 1 => self.trim(dice),
            2..5 => self.hot(dice, 8),
            5 | 6 => self.cold(dice, 4),
            7 | 8 => self.warm(dice),
            9 | 10 => Self::idle(dice),
            11 => Step::Stop,
            12 => Step::Scrub,
            13 => Step::Settle,
            14 => self.read(dice),
            _ => Step::Compare,
        }
    }

    fn usual(&self, dice: &mut Dice) -> Step {
        match dice.below(100) {
            0..36 => self.hot(dice, 3),
            36..44 => self.hot(dice, 8),
            44..56 => self.cold(dice, 4),
            56..62 => self.cold(dice, 40),
            62..72 => self.warm(dice),
            72..81 => self.trim(dice),
            81..86 => self.read(dice),
            86..93 => Self::idle(dice),
            93 => Step::Scrub,
            94 => Step::Flush,
            95 => Step::Stop,
            96 => Step::Settle,
            _ => Step::Compare,
        }
    }
}
