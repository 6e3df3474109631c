//! A driver is examined on its blocks: sound ones pass, and each mistake is told with its clause and place.

use std::ffi::{CStr, c_void};
use std::ptr;

use ftl_c::*;

use crate::model::{Model, table};

/// Memory for an examination of a page of 512 bytes with 16 spare bytes.
#[repr(align(8))]
struct Memory([u8; BYTES]);

const BYTES: usize = 512 + 16 + 8 * 4;

/// The same for every page of a chip of two regions.
#[repr(align(8))]
struct Large([u8; 16 << 10]);

/// What is shown, and what was returned.
struct Outcome {
    code: i32,
    shown: Shown,
}

impl Outcome {
    fn sentence(&self) -> &str {
        // SAFETY: it is never null, and a text.
        unsafe { CStr::from_ptr(self.shown.sentence) }.to_str().expect("English")
    }
}

fn examine(nand: *const Nand, lent: *const Lent, what: u32) -> Outcome {
    let mut shown = std::mem::MaybeUninit::<Shown>::uninit();
    // SAFETY: what the callers of this have made, and a structure for the outcome, which is always written.
    unsafe {
        let code = tandem_examine(nand, lent, what, shown.as_mut_ptr());
        Outcome { code, shown: shown.assume_init() }
    }
}

fn on_blocks(nand: &Nand, blocks: &[u32], what: Examine) -> Outcome {
    let mut memory = Memory([0; BYTES]);
    let lent = Lent {
        blocks: blocks.as_ptr(),
        count: blocks.len() as u32,
        memory: memory.0.as_mut_ptr().cast(),
        memory_bytes: memory.0.len(),
    };
    examine(nand, &raw const lent, what as u32)
}

#[test]
fn a_sound_driver_passes_whenever_power_fails() {
    let mut model = Model::slc(16);
    let nand = table(&raw mut model);
    let pass = |what| {
        let outcome = on_blocks(&nand, &[0, 7, 14], what);
        assert_eq!(outcome.code, OK, "{what:?}: {}", outcome.sentence());
        assert_eq!(outcome.shown.clause, 0);
    };
    pass(Examine::PowerHolds);
    pass(Examine::BeforePowerOff);
    model.power_again();
    pass(Examine::AfterPowerOff);
    for cut in 0..30 {
        let [before, until, after] = if cut % 3 == 0 {
            [Examine::BeforeErasesFail, Examine::UntilErasesFail, Examine::AfterErasesFailed]
        } else {
            [Examine::BeforeProgramsFail, Examine::UntilProgramsFail, Examine::AfterProgramsFailed]
        };
        pass(before);
        model.cut_after(cut, cut);
        pass(until);
        assert!(model.power_again(), "cut {cut} came");
        pass(after);
    }
    pass(Examine::Marks);
}

unsafe extern "C" fn erases_nothing(_: *mut c_void, _: u32) -> i32 {
    0
}

unsafe extern "C" fn erase_fails(_: *mut c_void, block: u32) -> i32 {
    if block == 7 { NAND_FAILED } else { 0 }
}

unsafe extern "C" fn nonsense(_: *mut c_void, _: u32) -> i32 {
    -77
}

#[test]
fn a_mistake_is_told_with_its_clause_its_place_and_the_byte() {
    let mut model = Model::slc(16);
    let nand = Nand { erase: Some(erases_nothing), ..table(&raw mut model) };
    let outcome = on_blocks(&nand, &[0, 7], Examine::PowerHolds);
    assert_eq!(outcome.code, EXAMINED_BREACH);
    let Shown { clause, block, page, at, expected, found, .. } = outcome.shown;
    assert_eq!((clause, block, page), (Clause::ErasedReadsAsOnes as i32, 0, 0));
    assert_eq!((at, expected), (0, 0xFF));
    assert_ne!(found, 0xFF);
    assert_eq!(outcome.sentence(), "after an erase every byte of the block reads as 0xFF");
}

#[test]
fn a_block_that_fails_is_no_breach_and_a_driver_that_does_is_told_with_its_number() {
    let mut model = Model::slc(16);
    let nand = Nand { erase: Some(erase_fails), ..table(&raw mut model) };
    let outcome = on_blocks(&nand, &[0, 7], Examine::PowerHolds);
    assert_eq!((outcome.code, outcome.shown.block), (EXAMINED_BLOCK_FAILED, 7));
    let nand = Nand { erase: Some(nonsense), ..table(&raw mut model) };
    let outcome = on_blocks(&nand, &[0, 7], Examine::PowerHolds);
    assert_eq!((outcome.code, outcome.shown.driver), (Error::Driver.number(), -77));
}

#[test]
fn blocks_of_one_page_are_examined_and_nothing_behind_it() {
    let mut model = Model::slc_of(16, 1);
    let nand = table(&raw mut model);
    for what in [Examine::PowerHolds, Examine::BeforePowerOff, Examine::AfterPowerOff] {
        let outcome = on_blocks(&nand, &[0, 7, 14], what);
        assert_eq!(outcome.code, OK, "{what:?}: {}", outcome.sentence());
    }
}

#[test]
fn blocks_of_both_regions_have_the_numbers_of_the_driver() {
    let mut model = Model::tiny();
    let slc = model.geometry().slc.blocks;
    let nand = Nand { erase: Some(erases_nothing), ..table(&raw mut model) };
    let mut memory = Large([0; 16 << 10]);
    let blocks = [slc + 1, 2];
    let lent = Lent {
        blocks: blocks.as_ptr(),
        count: 2,
        memory: memory.0.as_mut_ptr().cast(),
        memory_bytes: memory.0.len(),
    };
    let outcome = examine(&raw const nand, &raw const lent, 0);
    assert_eq!((outcome.code, outcome.shown.block), (EXAMINED_BREACH, slc + 1));
}

#[test]
fn what_is_lent_wrongly_is_refused() {
    let mut model = Model::slc(16);
    let nand = table(&raw mut model);
    let refused = |blocks: &[u32]| on_blocks(&nand, blocks, Examine::PowerHolds).code;
    let value = Error::Value.number();
    assert_eq!([refused(&[1]), refused(&[1, 2, 1]), refused(&[1, 16])], [value; 3]);
    let (mut memory, blocks) = (Memory([0; BYTES]), [1, 2]);
    let at = memory.0.as_mut_ptr();
    let good =
        Lent { blocks: blocks.as_ptr(), count: 2, memory: at.cast(), memory_bytes: memory.0.len() };
    let with = |lent: Lent| examine(&raw const nand, &raw const lent, 0).code;
    assert_eq!(with(good), OK);
    assert_eq!(with(Lent { blocks: ptr::null(), ..good }), Error::Null.number());
    assert_eq!(with(Lent { memory: ptr::null_mut(), ..good }), Error::Null.number());
    let odd = at.wrapping_add(1).cast();
    assert_eq!(with(Lent { memory: odd, ..good }), Error::Misaligned.number());
    assert_eq!(with(Lent { memory_bytes: 500, ..good }), Error::RamTooSmall.number());
    assert_eq!(with(Lent { count: u32::MAX, ..good }), Error::Overlap.number());
    let within = at.wrapping_add(64).cast_const().cast();
    assert_eq!(with(Lent { blocks: within, ..good }), Error::Overlap.number());
    assert_eq!(examine(&raw const nand, &raw const good, 10).code, value);
    assert_eq!(examine(ptr::null(), &raw const good, 0).code, Error::Null.number());
    assert_eq!(examine(&raw const nand, ptr::null(), 0).code, Error::Null.number());
    let odd = ptr::without_provenance_mut(2);
    for (nowhere, error) in [(ptr::null_mut(), Error::Null), (odd, Error::Misaligned)] {
        // SAFETY: what is wrong with the pointer can be seen.
        let code = unsafe { tandem_examine(&raw const nand, &raw const good, 0, nowhere) };
        assert_eq!(code, error.number());
    }
}

#[test]
fn every_clause_has_its_own_number() {
    let numbers = ftl_conformance::Clause::ALL.map(|promise| Clause::from(promise) as i32);
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=18).collect::<Vec<_>>());
}
