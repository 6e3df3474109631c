//! Wrappers stack, pass on what they do not change, and give the inner device back.

use crate::support::{byte, chip, mlc, page, program, read, slc, try_program};
use ftl_iface::{EraseError, NandDevice, ReadError};
use nand_model::faults::{FaultInjector, When};
use nand_model::power::{BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut};
use nand_model::tracer::Tracer;
use nand_model::{Chip, Timed, Truth};

#[test]
fn a_tracer_over_a_power_cut_over_faults_over_a_chip_is_a_device() {
    let mut lines = Vec::new();
    let mut faulty = FaultInjector::new(chip(), 1);
    faulty.uncorrectable(page(mlc(1), 0));
    let fates = Fates {
        page: PageFate::Complete,
        pair: PairFate::Kept,
        block: BlockFate::Erased,
        mark: MarkFate::Untouched,
    };
    let cut = PowerCut::new(faulty, Cut::chosen(2, fates));
    let mut device = Tracer::new(cut, |line: &str| lines.push(line.to_owned())).timed();
    program(&mut device, page(mlc(1), 0), 1);
    assert_eq!(read(&mut device, page(mlc(1), 0)), Err(ReadError::Uncorrectable));
    program(&mut device, page(slc(1), 0), 1);
    assert!(!device.is_bad(slc(2)).unwrap());
    let _ = device.erase(slc(2));
    let _ = read(&mut device, page(mlc(1), 0));
    assert_eq!(device.operations(), 6);
    let chip: Chip = device.into_inner().into_inner().into_inner();
    assert_eq!(chip.erase_count(slc(2)), 1);
    assert_eq!(
        lines.concat(),
        "      0 program  MLC block 1, page 0: ok, done at 800.000 us\n\
         \u{20}     1 read     MLC block 1, page 0, 1024 bytes from 0, 32 spare: the page has more \
         wrong bits than its ECC corrects, done at 850.000 us\n\
         \u{20}     2 program  SLC block 1, page 0: ok, done at 1050.000 us\n\
         \u{20}     3 is_bad   SLC block 2: no, done at 1050.000 us\n\
         \u{20}     4 erase    SLC block 2: the driver failed (PoweredOff): mount the device again, \
         done at 2550.000 us\n\
         \u{20}     5 read     MLC block 1, page 0, 1024 bytes from 0, 32 spare: the driver failed \
         (PoweredOff): mount the device again, done at 2550.000 us\n"
    );
}

#[test]
fn a_tracer_below_the_cut_tells_the_fate_of_what_was_in_flight() {
    let mut lines = String::new();
    let tracer = Tracer::new(FaultInjector::new(chip(), 1), |line: &str| lines += line);
    let fates = Fates {
        page: PageFate::ReadsErased,
        pair: PairFate::Lost,
        block: BlockFate::Untouched,
        mark: MarkFate::Set,
    };
    let mut device = PowerCut::new(tracer, Cut::chosen(1, fates));
    device.mark_bad(mlc(0)).unwrap();
    let _ = try_program(&mut device, page(mlc(1), 0), 1);
    let mut device = device.into_inner().into_inner();
    assert_eq!(byte(&mut device, page(mlc(1), 0)), 0xFF);
    assert_eq!(
        lines,
        "      0 mark_bad MLC block 0: ok\n\
         \u{20}     1 program  MLC block 1, page 0: power failed, page ReadsErased, pair Lost\n"
    );
}

#[test]
fn faults_over_a_tracer_show_what_reaches_the_chip() {
    let mut lines = String::new();
    let mut device = FaultInjector::new(Tracer::new(chip(), |line: &str| lines += line), 1);
    device.fail_erase(mlc(3), When::Nth(1));
    assert_eq!(device.erase(mlc(3)), Err(EraseError::Failed));
    device.erase(mlc(3)).unwrap();
    assert_eq!(device.erase_count(mlc(3)), 2);
    let _ = device.into_inner();
    assert_eq!(
        lines,
        "      0 erase    MLC block 3: attempted in vain\n      1 erase    MLC block 3: ok\n"
    );
}

#[test]
fn corrected_bits_stand_in_the_trace() {
    use nand_model::faults::Ageing;
    use nand_model::part::Ecc;
    let mut lines = String::new();
    let mut faulty = FaultInjector::new(chip(), 1);
    let ageing = Ageing { floor: 2e-3, ..Ageing::MLC };
    let ecc = Ecc { correctable_bits: 100, codeword_bytes: 512 };
    faulty.age_region(ftl_iface::Region::Mlc, ageing, ecc).unwrap();
    let mut device = Tracer::new(faulty, |line: &str| lines += line);
    program(&mut device, page(mlc(0), 0), 1);
    let (_, corrected) = read(&mut device, page(mlc(0), 0)).unwrap();
    let _ = device.into_inner();
    assert!(corrected.get() > 0);
    assert!(lines.contains(&format!("ok, {} bits corrected", corrected.get())), "{lines}");
}

#[test]
fn a_borrowed_device_is_a_device_with_its_time_and_its_truth() {
    let mut chip = chip();
    {
        let mut device = PowerCut::new(FaultInjector::new(&mut chip, 1), Cut::never());
        program(&mut device, page(mlc(0), 0), 1);
        assert_eq!(device.now().get(), 800_000);
        assert!(device.inner().is_programmed(page(mlc(0), 0)));
    }
    assert_eq!(byte(&mut chip, page(mlc(0), 0)), 1);
}
