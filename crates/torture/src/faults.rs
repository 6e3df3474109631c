//! Faults that strike beside the cuts: which, how often, and how many a device must bear.

use ftl_iface::{Block, BlockCount, Region};
use nand_model::Chip;
use nand_model::faults::{Ageing, BitErrorsError, FaultInjector};
use nand_model::part::Ecc;

use crate::dice::{Dice, mix};
use crate::subject::{Bounded, Injury, Part, Subject};

/// Faults, and how often they strike: once in so many operations, never at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Faults {
    /// Programs that fail.
    pub program: u32,
    /// Erases that fail.
    pub erase: u32,
    /// Bad-block marks that do not take.
    pub mark: u32,
    /// Programs and erases of a block that has failed before.
    pub again: u32,
    /// Pages of the host's data that cannot be read back.
    pub uncorrectable: u32,
    /// Bad blocks of each region when the device comes from the factory.
    pub factory_bad: u32,
    /// Whether bits decay, as many as the error correction corrects.
    pub bits: bool,
    /// Whether blocks go on failing when the reserve is gone.
    pub beyond_reserve: bool,
}

/// A name of faults that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no faults \"{0}\": take some of program, erase, mark, uncorrectable, factory, bits, beyond, all, \
         with commas between them"
)]
pub struct NoSuchFaults(String);

impl Faults {
    /// No fault.
    pub const NONE: Self = Self {
        program: 0,
        erase: 0,
        mark: 0,
        again: 0,
        uncorrectable: 0,
        factory_bad: 0,
        bits: false,
        beyond_reserve: false,
    };

    /// The faults of these names, with commas between them.
    pub fn parse(names: &str) -> Result<Self, NoSuchFaults> {
        let mut faults = Self::NONE;
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "none" => {}
                "program" => faults.program = 300,
                "erase" => faults.erase = 40,
                "mark" => faults.mark = 2,
                "uncorrectable" => faults.uncorrectable = 60,
                "factory" => faults.factory_bad = 1,
                "bits" => faults.bits = true,
                "beyond" => faults.beyond_reserve = true,
                "all" => {
                    faults = Self { beyond_reserve: faults.beyond_reserve, ..Self::parse(ALL)? }
                }
                other => return Err(NoSuchFaults(other.into())),
            }
        }
        Ok(faults)
    }

    /// Puts onto a fresh chip what is there from the beginning.
    pub(crate) fn prepare(
        self,
        chip: Chip,
        subject: &dyn Subject,
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

/// What `all` stands for: all that a device must bear without losing anything but what cannot be read.
const ALL: &str = "program,erase,mark,uncorrectable,factory,bits";

/// A few wrong bits in a codeword on average, so that some pages are worth a refresh: 3e-4 of 4096 bits are 1.2.
const WEAK_CELLS: Ageing =
    Ageing { floor: 3e-4, wear: (0.0, 1.0), retention: (0.0, 1.0, 1.0), disturb: (0.0, 1.0, 1.0) };

/// An error correction that always succeeds: what cannot be read is another fault.
const STRONG_ECC: Ecc = Ecc { correctable_bits: 1_000, codeword_bytes: 512 };

/// What an operation was chosen to suffer.
#[derive(Clone, Debug)]
pub(crate) enum Blow {
    None,
    Fails,
    Unreadable(Injury),
}

/// Blocks that have failed, and how many may.
#[derive(Clone, Debug)]
pub(crate) struct Reserve {
    failed: Vec<Block>,
    parts: Vec<Part>,
    /// Those that take no mark, and how many may.
    unmarked: (Vec<Block>, usize),
    /// Blocks of bounded parts that have failed since the FTL said how many may at once, and how many it said.
    at_once: (Vec<Block>, usize),
    unlimited: bool,
    /// Whether more failed at once than the FTL said that it bears, or more took no mark.
    overwhelmed: bool,
}

impl Reserve {
    pub(crate) fn new(subject: &dyn Subject, faults: &Faults) -> Self {
        Self {
            failed: Vec::new(),
            parts: subject.parts(faults),
            unmarked: (Vec::new(), subject.unmarked_max()),
            at_once: (Vec::new(), 0),
            unlimited: faults.beyond_reserve,
            overwhelmed: false,
        }
    }

    /// The FTL says how many blocks of bounded parts may fail in what it is asked for next.
    pub(crate) fn allow(&mut self, at_once: BlockCount) {
        self.at_once = (Vec::new(), at_once.as_usize());
    }

    /// Whether this block may fail: its part can still do without it, and the FTL bears so many at once.
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
        let bounded = |part: &Part| part.bounded == Bounded::AtOnce && part.holds(block);
        if self.parts.iter().any(bounded) {
            add(&mut self.at_once.0, block);
            self.overwhelmed |= self.at_once.0.len() > self.at_once.1;
        }
    }

    /// Whether this block may take no mark: it did not before, or there may be one more.
    pub(crate) fn may_take_no_mark(&self, block: Block) -> bool {
        let (unmarked, most) = &self.unmarked;
        self.unlimited || unmarked.contains(&block) || unmarked.len() < *most
    }

    pub(crate) fn take_no_mark(&mut self, block: Block) {
        add(&mut self.unmarked.0, block);
        self.overwhelmed |= self.unmarked.0.len() > self.unmarked.1;
    }

    /// Whether the device may refuse writes: more blocks have failed than it said that it bears.
    pub(crate) fn is_gone(&self) -> bool {
        let failed = |part: &Part| self.failed.iter().filter(|block| part.holds(**block)).count();
        self.overwhelmed || self.parts.iter().any(|part| failed(part) > part.may_fail)
    }
}

fn add(blocks: &mut Vec<Block>, block: Block) {
    if !blocks.contains(&block) {
        blocks.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_and_a_wrong_name_is_told() {
        assert_eq!(Faults::parse("").unwrap(), Faults::NONE);
        assert_eq!(Faults::parse("program,bits").unwrap().program, 300);
        assert!(Faults::parse("all,beyond").unwrap().beyond_reserve);
        assert!(Faults::parse("thunder").unwrap_err().to_string().contains("\"thunder\""));
    }
}
