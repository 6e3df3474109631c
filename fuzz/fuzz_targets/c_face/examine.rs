//! The examination of a driver, on a chip of its own: a driver that keeps the contract is not blamed.

use std::ptr;

use ftl_c::*;
use torture::script::Script;

use crate::driver::{Driver, table};
use crate::face::Face;
use crate::memory::{Memory, Placing, filled};
use crate::starts::needed;
use crate::truth::Trust;
use crate::world::{World, words};

/// Blocks that are lent at most.
const LENT: u32 = 5;

/// What is lent, which may be wrong.
struct Loan {
    numbers: Memory,
    memory: Memory,
    lent: Lent,
    /// What is wrong with it, if only one thing is.
    error: Option<Error>,
}

impl<F: Face> World<F> {
    pub(crate) fn examine(&self, source: &mut Script<'_>) {
        let geometry = self.nand.geometry;
        let mut driver = Driver::new(&geometry);
        driver.trust = Trust::Exact;
        let is_good = source.byte().is_multiple_of(2);
        if !is_good {
            driver.arm(source);
        }
        let blocks = driver.chip.blocks();
        let driver = Box::into_raw(Box::new(driver));
        let nand = table(driver, geometry, None);
        let Loan { numbers, memory, lent, error } = lend(&geometry, blocks, source);
        let what = source.below(12);
        let (code, shown) = filled(Shown::NOTHING, |shown| {
            // SAFETY: structures of ours, and a table whose driver and memory stay; what is wrong can be seen.
            unsafe { tandem_examine(&raw const nand, &raw const lent, what, shown) }
        });
        numbers.check();
        memory.check();
        words(shown.seen);
        words(shown.sentence);
        let found = Error::of(code);
        let is_lasting = [Examine::PowerHolds, Examine::Marks].map(|step| step as u32);
        let is_chip = needed::<F>(&geometry, &F::usual(&geometry, 0)) != Err(Error::Geometry);
        match error {
            // Of two wrong arguments either may be told.
            _ if !is_chip => assert!(found.is_some(), "no chip has that shape"),
            _ if what > Examine::AfterErasesFailed as u32 => assert_eq!(found, Some(Error::Value)),
            Some(error) => assert_eq!(found, Some(error)),
            // A good driver keeps every clause that shows while power holds.
            None if is_good && is_lasting.contains(&what) => assert_eq!(code, OK, "{shown:?}"),
            // The other steps look for what the step before has left, and power did not fail in it.
            None => {
                let is_shown = (OK..=EXAMINED_BLOCK_FAILED).contains(&code);
                assert!(is_shown || found == Some(Error::Driver) && !is_good, "{code}");
            }
        }
        let odd = ptr::without_provenance_mut(1 + 2 * what as usize);
        for (nowhere, error) in [(ptr::null_mut(), Error::Null), (odd, Error::Misaligned)] {
            // SAFETY: as before.
            let code = unsafe { tandem_examine(&raw const nand, &raw const lent, what, nowhere) };
            assert_eq!(code, error.number());
        }
        // SAFETY: that of above, and no call is at work.
        drop(unsafe { Box::from_raw(driver) });
    }
}

/// Some blocks, and enough memory for the largest page of each region.
fn lend(geometry: &Geometry, blocks: u32, source: &mut Script<'_>) -> Loan {
    let choice = source.below(16);
    let count = 2 + source.below(LENT - 1);
    let first = source.below(blocks - LENT);
    let mut list: Vec<u32> = (first..first + count).collect();
    match choice {
        0 => list[1] = first,
        1 => list[1] = blocks + source.below(3),
        _ => {}
    }
    let numbers = Memory::new(4 * list.len(), Placing::ALIGNED);
    for (spot, number) in list.iter().enumerate() {
        numbers.put(4 * spot, &number.to_ne_bytes());
    }
    let Geometry { slc, mlc } = geometry;
    let most = slc.page_bytes.max(mlc.page_bytes) + slc.spare_bytes.max(mlc.spare_bytes);
    let memory = Memory::new(most as usize + 8 * list.len(), Placing { fence: 0, skew: 0 });
    let (blocks, memory_bytes) = (numbers.at().cast::<u32>().cast_const(), memory.bytes());
    let mut lent = Lent { blocks, count, memory: memory.at(), memory_bytes };
    let error = spoil(&mut lent, choice, source);
    Loan { numbers, memory, lent, error }
}

/// Makes something wrong with a loan, and says which error that is. The first two choices are wrong already.
fn spoil(lent: &mut Lent, choice: u32, source: &mut Script<'_>) -> Option<Error> {
    let skew = 1 + source.below(3) as usize;
    Some(match choice {
        0 | 1 => Error::Value,
        2 => {
            lent.count = source.below(2);
            Error::Value
        }
        3 => {
            // The blocks alone take more.
            lent.memory_bytes = source.below(8 * lent.count) as usize;
            Error::RamTooSmall
        }
        4 => {
            lent.memory = lent.memory.wrapping_byte_add(skew);
            Error::Misaligned
        }
        5 => {
            lent.memory = ptr::null_mut();
            Error::Null
        }
        6 => {
            lent.blocks = ptr::null();
            Error::Null
        }
        7 => {
            lent.blocks = lent.blocks.wrapping_byte_add(skew);
            Error::Misaligned
        }
        8 => {
            lent.blocks = lent.memory.cast::<u32>().cast_const();
            Error::Overlap
        }
        _ => return None,
    })
}
