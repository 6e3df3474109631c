//! Every part, as a model of the chip at the level of SPI bytes over simulated cells with their faults.

use std::time::Duration;

use ftl_conformance::{Examiner, memory_bytes};
use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, PageIndex,
    ProgramError, ReadError, Region, forward_nand,
};
use ftl_spi_nand::model::{BusError, Misuse, ModelError, SpiNandModel, Times};
use ftl_spi_nand::wire::Command;
use ftl_spi_nand::{Error, Part, Run, SpiNand, parts};
use nand_model::faults::{FaultInjector, When};
use nand_model::{Chip, Content, datasheet};

/// The cells of a part, with faults to come.
type Cells = FaultInjector<Chip>;
type Nand<'p> = SpiNand<'p, SpiNandModel<'p, Cells>>;

/// The fastest clock of all these parts, on one line.
const HERTZ: u32 = 104_000_000;

fn cells(geometry: Geometry) -> Cells {
    let part = datasheet::builtin("spi-nand-1g").unwrap();
    let part = nand_model::part::Part { geometry, ..part };
    FaultInjector::new(Chip::new(&part, Content::Bytes).unwrap(), 3)
}

/// A page with all spare bytes of any part, for the rest of the test.
fn cache() -> &'static mut [u8] {
    vec![0; 2048 + 128].leak()
}

fn model(part: &'static Part) -> SpiNandModel<'static, Cells> {
    SpiNandModel::new(part, cells(part.geometry), Times::W25N01GV, HERTZ, cache()).unwrap()
}

fn nand(part: &'static Part) -> Nand<'static> {
    SpiNand::new(model(part), std::slice::from_ref(part)).unwrap()
}

/// Hands the chip's cells out and sets the chip up again: a cycle of power.
fn with_cells(nand: Nand<'_>, change: impl FnOnce(&mut Cells)) -> Nand<'_> {
    let part = nand.part();
    let mut cells = nand.release().into_cells();
    change(&mut cells);
    let model = SpiNandModel::new(part, cells, Times::W25N01GV, HERTZ, cache()).unwrap();
    SpiNand::new(model, std::slice::from_ref(part)).unwrap()
}

/// Micron's MT29F2G01ABAGD, to have a part of two planes: plane in bit 12 of a column.
static TWO_PLANES: Part = Part { plane_bit: Some(12), name: "two planes", ..parts::W25N02KV };

fn every_part() -> impl Iterator<Item = &'static Part> {
    static ALL: [Part; 6] = parts::ALL;
    ALL.iter().chain([&TWO_PLANES])
}

fn block(number: u32) -> Block {
    Block::new(Region::Slc, number)
}

fn page(number: u32, index: u16) -> Page {
    block(number).page(PageIndex::new(index))
}

#[test]
fn every_part_keeps_the_contract_through_its_bytes() {
    for part in every_part() {
        let blocks = [0, 1, part.geometry.slc().unwrap().blocks.get() - 1].map(block);
        let mut memory = vec![0; memory_bytes(2048, 64)];
        let mut nand = nand(part);
        let mut examiner = Examiner::new(&mut nand, &blocks, &mut memory).unwrap();
        examiner.examine().unwrap_or_else(|why| panic!("{}: {why}", part.name));
        examiner.examine_marks().unwrap_or_else(|why| panic!("{}: {why}", part.name));
        let good = &blocks[..2];
        Examiner::new(&mut nand, good, &mut memory).unwrap().before_power_off().unwrap();
        let mut nand = with_cells(nand, |_| {});
        let mut examiner = Examiner::new(&mut nand, good, &mut memory).unwrap();
        examiner.after_power_off(&blocks[2..]).unwrap_or_else(|why| panic!("{}: {why}", part.name));
    }
}

#[test]
fn every_part_is_found_by_its_number_among_all() {
    static ALL: [Part; 6] = parts::ALL;
    for part in &ALL {
        assert_eq!(SpiNand::new(model(part), &ALL).unwrap().part().name, part.name);
    }
}

/// A NAND device whose reads all report so many corrected bits.
struct Flipping(Cells, u16);

impl NandDevice for Flipping {
    type Error = <Cells as NandDevice>::Error;

    forward_nand!(self => self.0; geometry program erase is_bad mark_bad);

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        self.0.read(page, at, data, spare).map(|_| Corrected::bits(self.1))
    }
}

#[test]
fn corrected_bits_come_up_from_the_cells_as_finely_as_the_part_tells() {
    // What each part makes of 0 to 8 corrected bits.
    let told: [(&'static Part, &[u16]); 5] = [
        (&parts::W25N01GV, &[0, 1]),
        (&parts::W25N02KV, &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (&parts::GD5F1GQ4UA, &[0, 7, 7, 7, 7, 7, 7, 7, 8]),
        (&parts::GD5F1GQ4UE, &[0, 4, 4, 4, 4, 5, 6, 7, 8]),
        (&parts::GD5F1GQ5UE, &[0, 1, 2, 3, 4]),
    ];
    for (part, told) in told {
        for (bits, told) in told.iter().enumerate() {
            let cells = Flipping(cells(part.geometry), bits as u16);
            let model = SpiNandModel::new(part, cells, Times::W25N01GV, HERTZ, cache()).unwrap();
            let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
            let read = nand.read(page(3, 0), Bytes::ZERO, &mut [0; 4], &mut []);
            assert_eq!(read, Ok(Corrected::bits(*told)), "{}, {bits} bits", part.name);
        }
    }
}

#[test]
fn an_uncorrectable_page_is_an_error_and_its_neighbours_are_not() {
    for part in every_part() {
        let mut nand = nand(part);
        let spare = vec![0x11; part.geometry.slc().unwrap().spare_bytes.as_usize()];
        for index in 0..3 {
            nand.program(page(9, index), &[index as u8; 2048], &spare).unwrap();
        }
        let mut nand = with_cells(nand, |cells| cells.uncorrectable(page(9, 1)));
        for index in [0, 1, 2, 1] {
            let mut data = [0xEE; 2048];
            let read = nand.read(page(9, index), Bytes::ZERO, &mut data, &mut []);
            if index == 1 {
                assert_eq!(read, Err(ReadError::Uncorrectable), "{}", part.name);
            } else {
                assert_eq!((read, data), (Ok(Corrected::NONE), [index as u8; 2048]));
            }
        }
    }
}

#[test]
fn an_erased_page_with_flipped_bits_reads_as_erased_and_one_with_more_does_not() {
    for part in every_part() {
        let most = u16::from(part.ecc.correctable_bits);
        for (bits, erased) in [(1, true), (most, true), (most + 1, false)] {
            let mut model = model(part);
            model.flip_erased(7 * 64 + 2, bits);
            let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
            let (mut data, mut spare) = ([0; 2048], [0; 4]);
            let read = nand.read(page(7, 2), Bytes::ZERO, &mut data, &mut spare);
            if erased {
                assert_eq!(read, Ok(Corrected::bits(bits)), "{}", part.name);
                assert_eq!((data, spare), ([0xFF; 2048], [0xFF; 4]));
            } else {
                assert_eq!(read, Err(ReadError::Uncorrectable), "{}, {bits} bits", part.name);
            }
        }
    }
}

#[test]
fn factory_marks_and_own_marks_are_seen_and_a_mark_that_does_not_take_is_told() {
    for part in every_part() {
        let mut nand = with_cells(nand(part), |cells| {
            cells.factory_bad(block(4));
            cells.fail_mark(block(6));
        });
        nand.mark_bad(block(5)).unwrap();
        assert_eq!(nand.mark_bad(block(6)), Err(MarkError::Failed));
        let mut nand = with_cells(nand, |_| {});
        let bad: Vec<u32> = (0..8).filter(|number| nand.is_bad(block(*number)).unwrap()).collect();
        assert_eq!(bad, [4, 5], "{}", part.name);
    }
}

#[test]
fn failures_of_programs_and_erases_come_up_and_are_gone_with_the_next_success() {
    let mut nand = with_cells(nand(&parts::GD5F1GQ5UE), |cells| {
        cells.fail_program(page(2, 0), When::Always);
        cells.fail_erase(block(3), When::Always);
    });
    let program = |nand: &mut Nand<'_>, at| nand.program(at, &[1; 2048], &[2; 48]);
    assert_eq!(program(&mut nand, page(2, 0)), Err(ProgramError::Failed));
    assert_eq!(program(&mut nand, page(4, 0)), Ok(()));
    assert_eq!(nand.erase(block(3)), Err(EraseError::Failed));
    assert_eq!(nand.erase(block(4)), Ok(()));
}

#[test]
fn a_chip_tells_of_itself_though_copies_are_damaged() {
    for part in every_part() {
        for damaged in 0..=3 {
            let mut model = model(part);
            model.damage_parameter_copies(damaged);
            let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
            let told = nand.parameter_page().unwrap();
            assert_eq!(told.is_some(), damaged < 3, "{}, {damaged} damaged", part.name);
            let Some(told) = told else { continue };
            assert!(told.agrees_with(part), "{}: {told:?}", part.name);
            assert!(every_part().any(|other| !told.agrees_with(other)), "{}", part.name);
            // The array is read again, not what lies beside it.
            let mut data = [0; 4];
            nand.read(page(0, 1), Bytes::ZERO, &mut data, &mut []).unwrap();
            assert_eq!(data, [0xFF; 4]);
        }
    }
}

#[test]
fn a_parameter_page_without_correction_may_be_told_as_uncorrectable_and_is_right() {
    use embedded_hal::spi::{Operation, SpiDevice};
    use ftl_spi_nand::wire;
    let status_of_the_page = |configuration: u8| {
        let mut model = model(&parts::W25N01GV);
        model.judge_parameters();
        for command in
            [&[0x1F, wire::CONFIGURATION, configuration][..], &wire::with_row(Command::PageRead, 1)]
        {
            model.transaction(&mut [Operation::Write(command)]).unwrap();
        }
        let mut status = [wire::BUSY];
        while status[0] & wire::BUSY != 0 {
            let ask = [Operation::Write(&[0x0F, wire::STATUS]), Operation::Read(&mut status)];
            model.transaction(&mut { ask }).unwrap();
        }
        status[0]
    };
    assert_eq!(status_of_the_page(wire::OTP_ENABLE | wire::ECC_ENABLE), 0x20);
    assert_eq!(status_of_the_page(wire::OTP_ENABLE), 0);
    let mut model = model(&parts::W25N01GV);
    model.judge_parameters();
    let mut nand = SpiNand::new(model, std::slice::from_ref(&parts::W25N01GV)).unwrap();
    assert!(nand.parameter_page().unwrap().is_some());
    let page = page(0, 1);
    assert_eq!(nand.read(page, Bytes::ZERO, &mut [0; 4], &mut []), Ok(Corrected::NONE));
}

#[test]
fn each_command_takes_the_time_of_its_bytes_and_of_the_chip() {
    let mut nand = nand(&parts::W25N01GV);
    nand.program(page(1, 0), &[0; 2048], &[0; 16]).unwrap();
    nand.read(page(1, 0), Bytes::ZERO, &mut [0; 2048], &mut [0; 16]).unwrap();
    nand.erase(block(1)).unwrap();
    let model = nand.release();
    let tally = model.tally();
    let of = |command| tally.of(command);
    // A byte takes 8 / 104 MHz = 76.9 ns. Load and read: a head, 2,048 bytes, spare bytes up to the 56th.
    let load = of(Command::ProgramLoad);
    assert_eq!((load.count, load.bytes, load.busy), (1, 3 + 2048 + 56, Duration::ZERO));
    assert_eq!(load.bus(), Duration::from_nanos(162_076));
    let read = of(Command::ReadCache);
    assert_eq!((read.count, read.bytes), (1, 4 + 2048 + 56));
    assert_eq!(of(Command::PageRead).busy, Duration::from_micros(60));
    assert_eq!(of(Command::ProgramExecute).busy, Duration::from_micros(250));
    assert_eq!(of(Command::BlockErase).busy, Duration::from_millis(2));
    assert_eq!(of(Command::BlockErase).bytes, 4);
    // Polls fill the time that the chip is busy, and the clock is the sum of it all.
    let polls = of(Command::GetFeature);
    assert!((polls.count - 3).abs_diff(10_035) < 40, "{} polls", polls.count);
    let bytes: u64 = Command::ALL.iter().map(|command| of(*command).bytes).sum();
    let bus: Duration = Command::ALL.iter().map(|command| of(*command).bus()).sum();
    assert!(model.now().abs_diff(bus) < Duration::from_nanos(20), "{bytes} bytes, {bus:?}");
    assert!(model.now() > Duration::from_micros(60 + 250 + 2000 + 160 + 160));
}

#[test]
fn the_model_refuses_what_a_chip_would_garble() {
    use embedded_hal::spi::SpiDevice;
    let misuse = |before: &[&[u8]], sent: &[u8]| {
        let mut chip = model(&parts::W25N01GV);
        for bytes in before {
            chip.write(bytes).unwrap();
        }
        let Err(BusError::Misuse(misuse)) = chip.write(sent) else { panic!("{sent:02X?} passes") };
        misuse
    };
    let free: &[u8] = &[0x1F, 0xA0, 0];
    assert_eq!(misuse(&[], &[0x33]), Misuse::UnknownCommand(0x33));
    assert_eq!(misuse(&[], &[0x13, 0, 0]), Misuse::Length(Command::PageRead));
    assert_eq!(misuse(&[], &[0x06, 0]), Misuse::Length(Command::WriteEnable));
    assert_eq!(misuse(&[], &[0xD8, 0, 0, 0]), Misuse::NotEnabled(Command::BlockErase));
    assert_eq!(misuse(&[&[0x13, 0, 0, 0]], &[0x06]), Misuse::Busy(Command::WriteEnable));
    assert_eq!(misuse(&[], &[0x13, 1, 0, 0]), Misuse::NoSuchRow(0x1_0000));
    assert_eq!(misuse(&[], &[0x02, 0x08, 0x40, 0]), Misuse::LoadedBeyondThePage);
    let loaded: &[&[u8]] = &[free, &[0x06], &[0x02, 0x08, 0x00, 0]];
    assert_eq!(misuse(loaded, &[0x10, 0, 0, 0]), Misuse::ForeignSpareBytes);
    let raw: &[&[u8]] = &[free, &[0x1F, 0xB0, 0x08], &[0x06], &[0x02, 0, 0, 0]];
    assert_eq!(misuse(raw, &[0x10, 0, 0, 0]), Misuse::ProgramWithoutCorrection);
    assert_eq!(misuse(&[&[0x1F, 0xB0, 0x10]], &[0x03, 0, 0, 0, 0]), Misuse::ContinuousRead);
    let beside: &[&[u8]] = &[free, &[0x1F, 0xB0, 0x58], &[0x06]];
    assert_eq!(misuse(beside, &[0xD8, 0, 0, 0]), Misuse::OtpIsReadOnly);
}

#[test]
fn a_protected_chip_fails_programs_and_erases() {
    use embedded_hal::spi::SpiDevice;
    let mut chip = model(&parts::GD5F1GQ4UE);
    chip.write(&[0x06]).unwrap();
    chip.write(&[0xD8, 0, 0, 0]).unwrap();
    let mut status = [0, 0, 0];
    while {
        chip.transfer(&mut status, &[0x0F, 0xC0, 0]).unwrap();
        status[2] & 1 == 1
    } {}
    assert_eq!(status[2] & 0x04, 0x04);
}

#[test]
fn a_model_is_made_of_what_fits() {
    let part = &parts::W25N01GV;
    let refused = |cells, hertz, bytes: usize| {
        let mut cache = vec![0; bytes];
        SpiNandModel::new(part, cells, Times::W25N01GV, hertz, &mut cache).map(drop).unwrap_err()
    };
    let other = cells(parts::W25N02KV.geometry);
    assert_eq!(refused(other, HERTZ, 2176), ModelError::OtherGeometry);
    let small = refused(cells(part.geometry), HERTZ, 2111);
    assert_eq!(small, ModelError::CacheBytes { needed: 2112 });
    assert_eq!(refused(cells(part.geometry), 0, 2112), ModelError::Unsound);
}

#[test]
fn a_description_that_contradicts_itself_is_found_unsound() {
    assert!(every_part().all(Part::is_sound));
    let sound = parts::W25N01GV;
    let over_the_mark: &[Run] = &[Run { at: 0, length: 16 }];
    let too_few: &[Run] = &[Run { at: 4, length: 4 }];
    let overlapping: &[Run] = &[Run { at: 4, length: 8 }, Run { at: 8, length: 8 }];
    let beyond: &[Run] = &[Run { at: 50, length: 16 }];
    for runs in [over_the_mark, too_few, overlapping, beyond] {
        assert!(!Part { spare_runs: runs, ..sound }.is_sound(), "{runs:?}");
    }
    assert!(!Part { plane_bit: Some(11), ..sound }.is_sound());
    assert!(!Part { id: &[0xEF], ..sound }.is_sound());
    let nand = SpiNand::new(
        model(&parts::W25N01GV),
        &[Part { id: &[0xEF, 0xAA, 0x21], plane_bit: Some(3), ..sound }],
    )
    .map(drop);
    assert!(nand.unwrap_err().to_string().contains("is inconsistent"));
}

/// Something that a driver is asked to do.
type Operation = fn(&mut Nand<'_>);

#[test]
fn operations_take_the_times_of_the_table() {
    const TABLE: &str = include_str!("../src/lib.rs");
    let operations: [(&str, Operation); 6] = [
        ("a page with its spare bytes", |nand| {
            nand.read(page(1, 0), Bytes::ZERO, &mut [0; 2048], &mut [0; 16]).unwrap();
        }),
        ("512 bytes of a page", |nand| {
            nand.read(page(1, 0), Bytes::ZERO, &mut [0; 512], &mut []).unwrap();
        }),
        ("spare bytes alone", |nand| {
            nand.read(page(1, 0), Bytes::ZERO, &mut [], &mut [0; 16]).unwrap();
        }),
        ("a bad-block mark", |nand| assert!(!nand.is_bad(block(1)).unwrap())),
        ("program of a page", |nand| nand.program(page(2, 0), &[0; 2048], &[0; 16]).unwrap()),
        ("erase of a block", |nand| nand.erase(block(1)).unwrap()),
    ];
    let mut rows = String::new();
    for (name, operation) in operations {
        let mut row = format!("//! | {name} |");
        for hertz in [104_000_000, 24_000_000] {
            let part = &parts::W25N01GV;
            let cells = cells(part.geometry);
            let model = SpiNandModel::new(part, cells, Times::W25N01GV, hertz, cache()).unwrap();
            let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
            let start = nand.bus().now();
            operation(&mut nand);
            let took = nand.bus().now().saturating_sub(start);
            row = format!("{row} {} |", took.as_micros());
        }
        rows += &row;
        rows.push('\n');
    }
    assert!(TABLE.contains(&rows), "the table must be\n{rows}");
}

#[test]
fn what_power_cuts_leave_is_judged_as_promised_through_the_bytes() {
    use ftl_conformance::power::InFlight;
    use nand_model::power::{Cut, PowerCut};
    let blocks = [block(3), block(8), block(9)];
    let mut memory = [0; memory_bytes(2048, 64)];
    for part in every_part() {
        let mut cells = cells(part.geometry);
        for number in 0..10 {
            let what = if number % 3 == 0 { InFlight::Erases } else { InFlight::Programs };
            let boot = |cells| {
                let cache = cache();
                SpiNandModel::new(part, cells, Times::W25N01GV, 8_000_000, cache).unwrap()
            };
            let mut nand = SpiNand::new(boot(cells), std::slice::from_ref(part)).unwrap();
            let mut examiner = Examiner::new(&mut nand, &blocks, &mut memory).unwrap();
            examiner.before_power_fails(what).unwrap();
            let cut = PowerCut::new(nand.release().into_cells(), Cut::seeded(number * 7, 21));
            let model = SpiNandModel::new(part, cut, Times::W25N01GV, 8_000_000, cache()).unwrap();
            let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
            let mut examiner = Examiner::new(&mut nand, &blocks, &mut memory).unwrap();
            examiner.until_power_fails(what, 100).unwrap();
            let cut = nand.release().into_cells();
            assert!(!cut.is_on(), "{}, cut {number} did not happen", part.name);
            let mut nand =
                SpiNand::new(boot(cut.into_inner()), std::slice::from_ref(part)).unwrap();
            let mut examiner = Examiner::new(&mut nand, &blocks, &mut memory).unwrap();
            examiner
                .after_power_failed(what)
                .unwrap_or_else(|why| panic!("{}, cut {number}: {why}", part.name));
            cells = nand.release().into_cells();
        }
    }
}

#[test]
fn power_that_fails_in_a_program_ends_every_call_of_the_driver() {
    use nand_model::power::{Cut, PowerCut};
    let part = &parts::W25N01GV;
    let cut = PowerCut::new(cells(part.geometry), Cut::seeded(1, 5));
    let model = SpiNandModel::new(part, cut, Times::W25N01GV, HERTZ, cache()).unwrap();
    let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
    nand.program(page(1, 0), &[1; 2048], &[1; 16]).unwrap();
    let cut = nand.program(page(1, 1), &[1; 2048], &[1; 16]);
    assert_eq!(cut, Err(ProgramError::Driver(Error::Bus(BusError::PoweredOff))));
    assert_eq!(nand.is_bad(block(1)), Err(Error::Bus(BusError::PoweredOff)));
    let cells = nand.release().into_cells().into_inner();
    let model = SpiNandModel::new(part, cells, Times::W25N01GV, HERTZ, cache()).unwrap();
    let mut nand = SpiNand::new(model, std::slice::from_ref(part)).unwrap();
    let mut data = [0; 2048];
    nand.read(page(1, 0), Bytes::ZERO, &mut data, &mut []).unwrap();
    assert_eq!(data, [1; 2048]);
}
