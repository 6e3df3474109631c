//! The judge as C programs use it: every chip's driver passes, and each mistake is named with its clause and command.

mod driver;
mod store;

use std::ffi::{CStr, CString};
use std::ptr;

use ftl_judge::*;
use ftl_spi_nand::wire::Command;

use driver::{Driver, Flaw, PARTS, start};

fn figures(name: &str) -> JudgeChip {
    let (name, mut chip) = (CString::new(name).unwrap(), JudgeChip::default());
    // SAFETY: a text, and a structure.
    assert_eq!(unsafe { tandem_judge_chip(name.as_ptr(), &raw mut chip) }, 0);
    chip
}

/// What the judge says: the breach, if there is one.
fn judged(chip: &JudgeChip, flaw: Option<Flaw>) -> Option<Breach> {
    // SAFETY: a structure.
    let judge = unsafe { tandem_judge_new(chip) };
    assert!(!judge.is_null(), "the figures are sound");
    let mut driver = Driver { judge, flaw, nand: None, operations: 0 };
    let under_test = JudgeDriver { context: (&raw mut driver).cast(), start: Some(start) };
    let mut breach = std::mem::MaybeUninit::<Breach>::uninit();
    // SAFETY: all of it lives until the judge is freed, and the breach is there if it is told.
    unsafe {
        let outcome = tandem_judge_driver(judge, &raw const under_test, breach.as_mut_ptr());
        tandem_judge_free(judge);
        assert!(outcome == 0 || outcome == JUDGE_BREACH, "{outcome}");
        (outcome == JUDGE_BREACH).then(|| breach.assume_init())
    }
}

fn text(breach: &Breach) -> String {
    // SAFETY: a text with a zero at its end.
    unsafe { CStr::from_ptr(breach.text.as_ptr()) }.to_string_lossy().into_owned()
}

#[test]
fn the_driver_of_every_chip_passes() {
    for part in &PARTS {
        let breach = judged(&figures(part.name), None);
        assert!(
            breach.is_none(),
            "{}: {}",
            part.name,
            breach.map(|it| text(&it)).unwrap_or_default()
        );
    }
}

const fn own(clause: JudgeClause) -> (i32, &'static str) {
    (clause as i32, clause.sentence())
}

/// One of the contract's.
const ERASED: (i32, &str) = (
    ftl_c::Clause::ErasedReadsAsOnes as i32,
    ftl_conformance::Clause::ErasedReadsAsOnes.sentence(),
);

/// Each mistake, its clause, and the command at fault, with whether it was missing.
const NAMED: [(Flaw, (i32, &str), Command); 14] = [
    (Flaw::DoesNotStart, own(JudgeClause::SetsUpAGoodChip), Command::GetFeature),
    (Flaw::HalfTheChip, own(JudgeClause::GeometryIsTheChips), Command::GetFeature),
    (Flaw::NeverEnables, own(JudgeClause::CommandsAreTheChips), Command::BlockErase),
    (Flaw::ErasesTheNextBlock, ERASED, Command::BlockErase),
    (Flaw::StatusIgnored, own(JudgeClause::UncorrectableIsTold), Command::GetFeature),
    (Flaw::TooManyBits, own(JudgeClause::CorrectedReadsWell), Command::GetFeature),
    (
        Flaw::ErasedFlipsUncorrectable,
        own(JudgeClause::ErasedWithFlipsReadsAsOnes),
        Command::GetFeature,
    ),
    (Flaw::FailsForNothing, own(JudgeClause::SuccessIsTold), Command::ProgramExecute),
    (Flaw::ProgramFailuresMissed, own(JudgeClause::FailedProgramIsTold), Command::GetFeature),
    (Flaw::EraseFailuresMissed, own(JudgeClause::FailedEraseIsTold), Command::GetFeature),
    (Flaw::MarkFailuresMissed, own(JudgeClause::FailedMarkIsTold), Command::GetFeature),
    (Flaw::MarksNotSeen, own(JudgeClause::FactoryMarkIsSeen), Command::ReadCache),
    (Flaw::BusFailuresMissed, own(JudgeClause::BusFailureIsTold), Command::BlockErase),
    (Flaw::ReturnsNonsense, own(JudgeClause::ReturnsWhatIsListed), Command::ProgramExecute),
];

#[test]
fn each_mistake_is_named_with_its_clause_and_the_command_at_fault() {
    let chip = figures("W25N01GV");
    for (flaw, (clause, sentence), command) in NAMED {
        let breach = judged(&chip, Some(flaw)).unwrap_or_else(|| panic!("{flaw:?} passes"));
        let told = text(&breach);
        assert_eq!(breach.clause, clause, "{flaw:?}: {told}");
        assert_eq!(breach.command, u32::from(command.code()), "{flaw:?}: {told}");
        assert!(told.contains(sentence), "{flaw:?}: {told}");
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let good = figures("GD5F1GQ4UE");
    let spoilt: [fn(&mut JudgeChip); 7] = [
        |chip| chip.spare[0].at = 0,
        |chip| chip.id_bytes = 4,
        |chip| chip.blocks = 8,
        |chip| chip.page_bytes = 1000,
        |chip| chip.ecc = [0; 8],
        |chip| chip.configuration = 0x100,
        |chip| chip.plane_bit = 300,
    ];
    for (number, spoil) in spoilt.into_iter().enumerate() {
        let mut chip = good;
        spoil(&mut chip);
        // SAFETY: a structure.
        let judge = unsafe { tandem_judge_new(&raw const chip) };
        assert!(judge.is_null(), "number {number}");
    }
}

#[test]
fn a_chip_of_two_planes_is_judged_as_one() {
    // Its driver does not put the plane into columns: the first odd block is the first breach.
    let chip = JudgeChip { plane_bit: 12, ..figures("W25N01GV") };
    let breach = judged(&chip, None).expect("a breach");
    assert_eq!(breach.clause, JudgeClause::CommandsAreTheChips as i32, "{}", text(&breach));
    assert!(text(&breach).contains("the column is of another plane"), "{}", text(&breach));
}

/// One transfer of a test's own. Returns what the bus did, and what was received where it was sent from.
fn transfer(judge: *mut Judge, sent: &[u8], wanted: usize) -> (i32, Vec<u8>) {
    let mut buffer = sent.to_vec();
    buffer.resize(sent.len().max(wanted), 0);
    let at = buffer.as_mut_ptr();
    let what = JudgeTransfer {
        head: at.cast(),
        head_bytes: sent.len(),
        out: ptr::null(),
        out_bytes: 0,
        into: at.cast(),
        into_bytes: wanted,
    };
    // SAFETY: a judge, and as many bytes as are told.
    let outcome = unsafe { tandem_judge_transfer(judge, &raw const what) };
    buffer.truncate(wanted);
    (outcome, buffer)
}

#[test]
fn a_driver_may_wait_and_a_bus_refuses_what_comes_too_early() {
    // SAFETY: a structure.
    let judge = unsafe { tandem_judge_new(&figures("W25N01GV")) };
    assert_eq!(transfer(judge, &[0x9F, 0], 3), (0, vec![0xEF, 0xAA, 0x21]));
    assert_eq!(transfer(judge, &[0x13, 0, 0, 7], 0).0, 0);
    assert_eq!(transfer(judge, &[0x03, 0, 0, 0], 2), (JUDGE_REFUSED, vec![0; 2]));
    // SAFETY: a judge.
    unsafe { tandem_judge_wait(judge, 100) };
    assert_eq!(transfer(judge, &[0x03, 0, 0, 0], 2), (0, vec![0xFF; 2]));
    assert_eq!(transfer(judge, &[], 2).0, ftl_c::Error::Value.number());
    let null = ptr::null_mut();
    assert_eq!(transfer(null, &[0xFF], 0).0, ftl_c::Error::Null.number());
    // SAFETY: null pointers are what is tried.
    unsafe {
        assert_eq!(tandem_judge_transfer(judge, ptr::null()), ftl_c::Error::Null.number());
        assert_eq!(tandem_judge_driver(judge, ptr::null(), ptr::null_mut()), -1);
        assert_eq!(tandem_judge_chip(c"none".as_ptr(), &mut figures("W25N01GV")), -22);
        tandem_judge_free(judge);
        tandem_judge_free(null);
    }
}
