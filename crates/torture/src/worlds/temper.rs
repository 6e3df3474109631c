//! What a world's device does beyond failing blocks and power cuts: the worst cases that the contract allows.

use nand_model::faults::{Chance, FailedRead, FailingPart};

use crate::crossing::Crossing;
use crate::dice::{Dice, mix};
use crate::memory::{Held, Memory};
use crate::played::Play;

/// How a world uses what the contract leaves open.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn apart from the others")]
pub(super) struct Temper {
    /// What failed reads leave in the caller's buffers.
    failed_reads: FailedRead,
    /// Which reads of an unreadable page fail.
    failing_part: FailingPart,
    /// How often bad-block marks destroy pages of their block.
    destroying_marks: Chance,
    /// What lent memory holds before a mount.
    held: Held,
    /// Whether pages become unreadable by themselves between lives.
    pub(super) is_sudden: bool,
    /// Whether power fails again and again within the first programs after a mount.
    pub(super) is_stormy: bool,
    /// Whether power that failed soon after a block failed does so again within the first programs after the mount.
    pub(super) is_relentless: bool,
    /// Whether drivers fail.
    pub(super) has_weak_driver: bool,
    /// Whether settings change between mounts.
    pub(super) is_resettled: bool,
    /// Whether blocks of anchors, or of checkpoints, fail often.
    is_ring_sickly: bool,
    /// Draws how few blocks a device has.
    pub(super) tight: Option<u64>,
    /// What the flash held before the format.
    pub(super) before: Before,
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

impl Temper {
    /// The temper of the world with that seed.
    pub(super) fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(mix(seed, 24));
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
            is_sudden: dice.percent(20),
            is_stormy: dice.percent(15),
            is_relentless: dice.percent(25),
            has_weak_driver: dice.percent(30),
            is_resettled: dice.percent(30),
            is_ring_sickly: dice.percent(20),
            tight: dice.percent(20).then(|| dice.next()),
            before,
        }
    }

    /// Gives a device that temper.
    pub(super) fn give(&self, crossing: &mut Crossing) {
        let chip = crossing.chip_mut();
        chip.fail_reads_of(self.failing_part);
        chip.destroy_by_marks(self.destroying_marks);
        crossing.leave_in_buffers(self.failed_reads);
        match self.held {
            Held::Zeros => {}
            Held::Noise => crossing.play(Play::MemoryNoise),
            Held::Leftovers => crossing.play(Play::MemoryLeftovers),
        }
        crossing.sicken_ring(self.is_ring_sickly);
        crossing.give_memory(Memory::holding(self.held));
    }
}
