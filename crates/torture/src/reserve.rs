//! The effect of faults on a device: initial bad blocks, failed operations, and how many blocks may fail.

use ftl_iface::{Block, BlockCount, Region};
use nand_model::Chip;
use nand_model::faults::{Ageing, BitErrorsError, FaultInjector};
use nand_model::part::Ecc;

use crate::dice::{Dice, mix};
use crate::faults::Faults;
use crate::on_flash::{Area, Bounded, OnFlash, UnreadablePage};

impl Faults {
    /// Sets up the initial faults of a new chip.
    pub(crate) fn prepare(
        self,
        chip: Chip,
        subject: &dyn OnFlash,
        seed: u64,
    ) -> Result<FaultInjector<Chip>, BitErrorsError> {
        let mut device = FaultInjector::new(chip, mix(seed, 1));
        let mut dice = Dice::new(mix(seed, 2));
        for part in subject.parts(&self) {
            for _ in 0..self.factory_bad.min(part.factory_bad_max) {
                let index = part.first + dice.below(part.blocks);
                device.factory_bad(Block::new(part.region, index));
            }
        }
        if self.bits {
            for region in [Region::Slc, Region::Mlc] {
                match device.age_region(region, WEAK_CELLS, STRONG_ECC) {
                    Ok(()) | Err(BitErrorsError::NoRegion(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(device)
    }
}

/// A few wrong bits in a codeword on average, so that some pages are worth a refresh: 3e-4 of 4096 bits are 1.2.
const WEAK_CELLS: Ageing =
    Ageing { floor: 3e-4, wear: (0.0, 1.0), retention: (0.0, 1.0, 1.0), disturb: (0.0, 1.0, 1.0) };

/// An error correction that always succeeds: unreadable pages are a separate fault.
const STRONG_ECC: Ecc = Ecc { correctable_bits: 1_000, codeword_bytes: 512 };

/// The fault drawn for an operation.
#[derive(Clone, Debug)]
pub(crate) enum DrawnFault {
    None,
    Fails,
    Unreadable(UnreadablePage),
}

/// Blocks that have failed, and how many may.
#[derive(Clone, Debug)]
pub(crate) struct Reserve {
    failed: Vec<Block>,
    parts: Vec<Area>,
    /// Blocks that cannot be marked, and how many may be.
    unmarked: (Vec<Block>, usize),
    /// Blocks of bounded parts that have failed since the FTL last reported how many may at once, and that number.
    at_once: (Vec<Block>, usize),
    unlimited: bool,
    /// Whether more blocks failed at once, or could not be marked, than the FTL tolerates.
    overwhelmed: bool,
}

impl Reserve {
    pub(crate) fn new(subject: &dyn OnFlash, faults: &Faults) -> Self {
        Self {
            failed: Vec::new(),
            parts: subject.parts(faults),
            unmarked: (Vec::new(), subject.unmarked_max()),
            at_once: (Vec::new(), 0),
            unlimited: faults.beyond_reserve,
            overwhelmed: false,
        }
    }

    /// Sets how many blocks of bounded parts may fail in the next request, as reported by the FTL.
    pub(crate) fn allow(&mut self, at_once: BlockCount) {
        self.at_once = (Vec::new(), at_once.as_usize());
    }

    /// Whether this block may fail: its part has spare blocks left, and the FTL tolerates one more at once.
    pub(crate) fn may_fail(&self, block: Block) -> bool {
        if self.unlimited {
            return true;
        }
        let mut with_it = self.clone();
        with_it.fail(block);
        !with_it.is_gone()
    }

    /// Whether it has failed before.
    pub(crate) fn has_failed(&self, block: Block) -> bool {
        self.failed.contains(&block)
    }

    pub(crate) fn fail(&mut self, block: Block) {
        add(&mut self.failed, block);
        let bounded = |part: &Area| part.bounded == Bounded::AtOnce && part.holds(block);
        if self.parts.iter().any(bounded) {
            add(&mut self.at_once.0, block);
            self.overwhelmed |= self.at_once.0.len() > self.at_once.1;
        }
    }

    /// Whether marking this block may fail: it failed before, or one more such block is allowed.
    pub(crate) fn may_take_no_mark(&self, block: Block) -> bool {
        let (unmarked, most) = &self.unmarked;
        self.unlimited || unmarked.contains(&block) || unmarked.len() < *most
    }

    pub(crate) fn take_no_mark(&mut self, block: Block) {
        add(&mut self.unmarked.0, block);
        self.overwhelmed |= self.unmarked.0.len() > self.unmarked.1;
    }

    /// Whether the device may refuse writes: more blocks have failed than it tolerates.
    pub(crate) fn is_gone(&self) -> bool {
        let failed = |part: &Area| self.failed.iter().filter(|block| part.holds(**block)).count();
        self.overwhelmed || self.parts.iter().any(|part| failed(part) > part.may_fail)
    }
}

fn add(blocks: &mut Vec<Block>, block: Block) {
    if !blocks.contains(&block) {
        blocks.push(block);
    }
}
