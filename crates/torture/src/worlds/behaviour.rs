//! What a world's device does beyond failing blocks and power cuts: the worst cases that the contract allows.

use nand_model::faults::{Chance, FailedRead, FailingPart};

use crate::dice::{Dice, mix};
use crate::memory::{Held, Memory};
use crate::played::Play;
use crate::test_device::TestDevice;

/// How a world uses what the contract leaves open.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn apart from the others")]
pub(super) struct Behaviour {
    /// What failed reads leave in the caller's buffers.
    failed_reads: FailedRead,
    /// Which reads of an unreadable page fail.
    failing_part: FailingPart,
    /// How often bad-block marks destroy pages of their block.
    destroying_marks: Chance,
    /// What lent memory holds before a mount.
    held: Held,
    /// Whether pages become unreadable by themselves between lives.
    pub(super) pages_fail_alone: bool,
    /// Whether power fails again and again within the first programs after a mount.
    pub(super) cuts_in_a_row: bool,
    /// Whether power that failed soon after a block failed does so again within the first programs after the mount.
    pub(super) cuts_after_failures: bool,
    /// Whether drivers fail.
    pub(super) driver_fails: bool,
    /// Whether settings change between mounts.
    pub(super) settings_change: bool,
    /// Whether blocks of anchors, or of checkpoints, fail often.
    ring_fails_often: bool,
    /// Draws how few blocks a device has.
    pub(super) tight: Option<u64>,
    /// What the flash held before the format.
    pub(super) before: Before,
    /// Draws how long the host expects its data to live, if it says so.
    pub(super) lifetimes: Option<u64>,
}

/// What the flash held before the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Fresh,
    /// A device of the same shape that was used, formatted that often.
    Formats(u32),
    /// The same on every page.
    Painted(PageFill),
}

/// What every page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageFill {
    /// One byte.
    Byte(u8),
    /// Noise.
    Noise,
}

impl Behaviour {
    /// The behaviour in the world with that seed.
    pub(super) fn draw(seed: u64) -> Self {
        let (mut dice, mut lifetimes) = (Dice::new(mix(seed, 24)), Dice::new(mix(seed, 27)));
        let failed_reads = match dice.below(20) {
            0..9 => FailedRead::Untouched,
            9..13 => FailedRead::Nearly,
            13..16 => FailedRead::Partly,
            _ => FailedRead::Noise,
        };
        let failing_part = FailingPart::Page;
        let destroying_marks = if dice.percent(75) { Chance::one_in(2) } else { Chance::NEVER };
        let held = dice.pick(&[Held::Zeros, Held::Noise, Held::Leftovers]);
        let before = match dice.below(100) {
            0..16 => Before::Formats(1),
            16..20 => Before::Formats(2),
            20..22 => Before::Painted(PageFill::Noise),
            22..25 => Before::Painted(PageFill::Byte(dice.pick(&[0, 0xFF, 0x5A]))),
            _ => Before::Fresh,
        };
        Self {
            failed_reads,
            failing_part,
            destroying_marks,
            held,
            pages_fail_alone: dice.percent(20),
            cuts_in_a_row: dice.percent(15),
            cuts_after_failures: dice.percent(25),
            driver_fails: dice.percent(30),
            settings_change: dice.percent(30),
            ring_fails_often: dice.percent(20),
            tight: dice.percent(20).then(|| dice.next()),
            before,
            lifetimes: lifetimes.percent(20).then(|| lifetimes.next()),
        }
    }

    /// Makes a device behave so.
    pub(super) fn apply_to(&self, device: &mut TestDevice) {
        let chip = device.chip_mut();
        chip.fail_reads_of(self.failing_part);
        chip.destroy_by_marks(self.destroying_marks);
        device.leave_in_buffers(self.failed_reads);
        match self.held {
            Held::Zeros => {}
            Held::Noise => device.play(Play::MemoryNoise),
            Held::Leftovers => device.play(Play::MemoryLeftovers),
        }
        device.let_ring_fail_often(self.ring_fails_often);
        device.give_memory(Memory::holding(self.held));
    }
}
