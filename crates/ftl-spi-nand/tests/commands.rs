//! The driver's commands, byte by byte as the datasheets have them, on a bus that expects just those.

use std::collections::VecDeque;
use std::convert::Infallible;

use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use ftl_iface::{Block, Bytes, Corrected, NandDevice, Page, PageIndex, ReadError, Region};
use ftl_spi_nand::{Error, Part, SetupError, SpiNand, parts};

/// A bus with a list of transactions: what must be sent, and what is answered.
#[derive(Default)]
struct Script(VecDeque<(Vec<u8>, Vec<u8>)>);

impl Script {
    fn then(mut self, sent: &[u8], answer: &[u8]) -> Self {
        self.0.push_back((sent.to_vec(), answer.to_vec()));
        self
    }

    /// Reset, number, configuration, protection: the first conversation.
    fn setup(id: &[u8], configuration: u8) -> Self {
        let id = [id, &[0; 3]].concat();
        Self::default()
            .then(&[0xFF], &[])
            .then(&[0x0F, 0xC0], &[0])
            .then(&[0x9F, 0], &id[..3])
            .then(&[0x1F, 0xB0, configuration], &[])
            .then(&[0x0F, 0xB0], &[configuration])
            .then(&[0x1F, 0xA0, 0], &[])
            .then(&[0x0F, 0xA0], &[0])
    }
}

impl ErrorType for Script {
    type Error = Infallible;
}

impl SpiDevice for Script {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        let (expected, answer) = self.0.pop_front().expect("no more transactions are expected");
        let (mut sent, mut answer) = (Vec::new(), answer.into_iter());
        for operation in operations {
            match operation {
                Operation::Write(bytes) => sent.extend_from_slice(bytes),
                Operation::Read(bytes) => {
                    bytes.fill_with(|| answer.next().expect("a longer answer"));
                }
                other => panic!("the driver does not {other:?}"),
            }
        }
        assert_eq!(answer.next(), None, "the answer to {expected:02X?} was not read to its end");
        assert_eq!(sent, expected);
        Ok(())
    }
}

fn page(block: u32, index: u16) -> Page {
    Block::new(Region::Slc, block).page(PageIndex::new(index))
}

fn nand(part: &Part, then: impl FnOnce(Script) -> Script) -> SpiNand<'_, Script> {
    let script = then(Script::setup(part.id, part.configuration));
    SpiNand::new(script, core::slice::from_ref(part)).unwrap()
}

fn done(nand: SpiNand<'_, Script>) {
    assert!(nand.release().0.is_empty(), "transactions were left out");
}

#[test]
fn a_read_loads_the_page_looks_at_the_status_and_takes_what_it_needs() {
    // Block 3, page 5 is row 3 * 64 + 5 = 0xC5. The free spare bytes, four of each sixteen, come in one read of 56
    // bytes.
    let mut area = [0xEE; 56];
    for (number, at) in [4, 20, 36, 52].into_iter().enumerate() {
        area[at..at + 4].fill(number as u8);
    }
    let mut device = nand(&parts::W25N01GV, |script| {
        script
            .then(&[0x13, 0, 0, 0xC5], &[])
            .then(&[0x0F, 0xC0], &[0x01])
            .then(&[0x0F, 0xC0], &[0x10])
            .then(&[0x03, 0x07, 0xFE, 0], &[[1, 2].as_slice(), &area].concat())
    });
    let (mut data, mut spare) = ([0; 2], [0; 16]);
    let read = device.read(page(3, 5), Bytes::new(2046), &mut data, &mut spare);
    assert_eq!((read, data), (Ok(Corrected::bits(1)), [1, 2]));
    assert_eq!(spare, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    done(device);
}

#[test]
fn a_part_of_a_page_and_the_spare_area_are_two_reads_of_the_cache() {
    let mut device = nand(&parts::W25N01GV, |script| {
        script
            .then(&[0x13, 0, 0xFF, 0xFF], &[])
            .then(&[0x0F, 0xC0], &[0])
            .then(&[0x03, 0x01, 0x00, 0], &[9])
            .then(&[0x03, 0x08, 0x00, 0], &[7; 56])
    });
    let (mut data, mut spare) = ([0; 1], [0; 5]);
    device.read(page(1023, 63), Bytes::new(256), &mut data, &mut spare).unwrap();
    assert_eq!((data, spare), ([9], [7; 5]));
    done(device);
}

#[test]
fn a_program_sends_data_and_spare_in_one_load() {
    let mut load = vec![0x02, 0, 0];
    load.extend([0x5A; 2048]);
    load.extend([0xFF; 56]);
    for (number, at) in [4, 20, 36, 52].into_iter().enumerate() {
        load[3 + 2048 + at..][..4].fill(number as u8);
    }
    let mut device = nand(&parts::GD5F1GQ4UA, |script| {
        script
            .then(&[0x06], &[])
            .then(&load, &[])
            .then(&[0x10, 0, 0x00, 0x40], &[])
            .then(&[0x0F, 0xC0], &[0x03])
            .then(&[0x0F, 0xC0], &[0x08])
    });
    let spare = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
    let failed = device.program(page(1, 0), &[0x5A; 2048], &spare);
    assert_eq!(failed, Err(ftl_iface::ProgramError::Failed));
    done(device);
}

#[test]
fn an_erase_names_the_block_by_its_first_page_and_tells_of_a_failure() {
    let mut device = nand(&parts::GD5F2GQ5UE, |script| {
        script
            .then(&[0x06], &[])
            .then(&[0xD8, 0x01, 0xFF, 0xC0], &[])
            .then(&[0x0F, 0xC0], &[0x00])
            .then(&[0x06], &[])
            .then(&[0xD8, 0, 0, 0], &[])
            .then(&[0x0F, 0xC0], &[0x04])
    });
    device.erase(Block::new(Region::Slc, 2047)).unwrap();
    let failed = device.erase(Block::new(Region::Slc, 0));
    assert_eq!(failed, Err(ftl_iface::EraseError::Failed));
    done(device);
}

#[test]
fn marks_are_read_and_set_without_correction() {
    let off_read_on = |script: Script, mark| {
        script
            .then(&[0x1F, 0xB0, 0x08], &[])
            .then(&[0x13, 0, 0x01, 0x40], &[])
            .then(&[0x0F, 0xC0], &[0x20])
            .then(&[0x03, 0x08, 0x00, 0], &[mark])
            .then(&[0x1F, 0xB0, 0x18], &[])
    };
    let block = Block::new(Region::Slc, 5);
    for (mark, bad) in [(0xFF, false), (0xFB, false), (0x00, true), (0xFA, true), (0x0F, true)] {
        let mut device = nand(&parts::W25N01GV, |script| off_read_on(script, mark));
        assert_eq!(device.is_bad(block), Ok(bad), "a mark of {mark:#04X}");
        done(device);
    }
    for (taken, outcome) in [(0x00, Ok(())), (0xFF, Err(ftl_iface::MarkError::Failed))] {
        let mut device = nand(&parts::W25N01GV, |script| {
            script
                .then(&[0x1F, 0xB0, 0x08], &[])
                .then(&[0x06], &[])
                .then(&[0x02, 0x08, 0x00, 0x00], &[])
                .then(&[0x10, 0, 0x01, 0x40], &[])
                .then(&[0x0F, 0xC0], &[0])
                .then(&[0x13, 0, 0x01, 0x40], &[])
                .then(&[0x0F, 0xC0], &[0])
                .then(&[0x03, 0x08, 0x00, 0], &[taken])
                .then(&[0x1F, 0xB0, 0x18], &[])
        });
        assert_eq!(device.mark_bad(block), outcome);
        done(device);
    }
}

/// Reads one byte with that status, and that register of details if it is asked for. `None`: uncorrectable.
fn told(part: &Part, status: u8, detail: Option<u8>) -> Option<u16> {
    let register = part.ecc.detail.map(|detail| detail.register);
    let uncorrectable = part.ecc.verdicts[usize::from(status >> 4 & part.ecc.mask)]
        == ftl_spi_nand::EccStatus::Uncorrectable;
    let mut device = nand(part, |script| {
        let mut script = script.then(&[0x13, 0, 0, 0], &[]).then(&[0x0F, 0xC0], &[status]);
        if let Some(value) = detail {
            script = script.then(&[0x0F, register.unwrap()], &[value]);
        }
        if !uncorrectable {
            return script.then(&[0x03, 0, 0, 0], &[0x77]);
        }
        // The page is looked at without correction, and holds too many zeros to be an erased one.
        let (used, raw) = (part.configuration, part.configuration & !0x10);
        script
            .then(&[0x1F, 0xB0, raw], &[])
            .then(&[0x13, 0, 0, 0], &[])
            .then(&[0x0F, 0xC0], &[0])
            .then(&[0x03, 0, 0, 0], &[0; 64])
            .then(&[0x1F, 0xB0, used], &[])
    });
    let outcome = device.read(page(0, 0), Bytes::ZERO, &mut [0; 1], &mut []);
    done(device);
    match outcome {
        Ok(corrected) => Some(corrected.get()),
        Err(ReadError::Uncorrectable) => None,
        Err(ReadError::Driver(error)) => panic!("{error}"),
    }
}

/// Status, register of details if it is asked for, corrected bits if they could be.
type Case = (u8, Option<u8>, Option<u16>);

#[test]
fn corrected_bits_are_told_as_finely_as_the_status_has_them() {
    let cases: [(&Part, &[Case]); 6] = [
        (
            &parts::W25N01GV,
            &[(0x00, None, Some(0)), (0x10, None, Some(1)), (0x20, None, None), (0x30, None, None)],
        ),
        (
            &parts::W25N02KV,
            &[
                (0x00, None, Some(0)),
                (0x10, Some(0x10), Some(1)),
                (0x10, Some(0x8F), Some(8)),
                (0x20, None, None),
            ],
        ),
        (
            &parts::GD5F1GQ4UA,
            &[
                (0x00, None, Some(0)),
                (0x10, None, Some(7)),
                (0x20, None, None),
                (0x30, None, Some(8)),
            ],
        ),
        (
            &parts::GD5F1GQ4UE,
            &[
                (0x10, Some(0x00), Some(4)),
                (0x10, Some(0x30), Some(7)),
                (0x20, None, None),
                (0x30, None, Some(8)),
            ],
        ),
        (
            &parts::GD5F1GQ5UE,
            &[(0x10, Some(0x00), Some(1)), (0x10, Some(0xFF), Some(4)), (0x20, None, None)],
        ),
        (&parts::GD5F2GQ5UE, &[(0x10, Some(0x20), Some(3)), (0x30, None, None)]),
    ];
    for (part, cases) in cases {
        for (status, detail, expected) in cases {
            let found = told(part, *status, *detail);
            assert_eq!(found, *expected, "{}, status {status:#04X}", part.name);
        }
    }
}

#[test]
fn a_chip_of_two_planes_has_the_plane_in_its_columns() {
    // Micron's MT29F2G01 names the plane of odd blocks in bit 12 of a column.
    let part = Part { plane_bit: Some(12), name: "two planes", ..parts::W25N02KV };
    let mut device = nand(&part, |script| {
        script
            .then(&[0x13, 0, 0, 0x40], &[])
            .then(&[0x0F, 0xC0], &[0])
            .then(&[0x03, 0x10, 0x02, 0], &[1])
    });
    device.read(page(1, 0), Bytes::new(2), &mut [0; 1], &mut []).unwrap();
    done(device);
}

#[test]
fn what_the_chip_refuses_at_the_start_is_told() {
    let refused = |script| SpiNand::new(script, &parts::ALL).map(drop).unwrap_err();
    let start = || Script::default().then(&[0xFF], &[]).then(&[0x0F, 0xC0], &[0]);
    let nobody = refused(start().then(&[0x9F, 0], &[0xFF; 3]));
    assert_eq!(nobody, SetupError::UnknownPart([0xFF; 3]));
    assert!(nobody.to_string().contains("no chip answers"), "{nobody}");
    let stranger = refused(start().then(&[0x9F, 0], &[0x2C, 0x24, 0]));
    assert!(stranger.to_string().contains("2C 24 00"), "{stranger}");
    let known = || start().then(&[0x9F, 0], &[0xEF, 0xAA, 0x21]).then(&[0x1F, 0xB0, 0x18], &[]);
    let set = refused(known().then(&[0x0F, 0xB0], &[0x10]));
    assert_eq!(set, SetupError::Configuration(0x10));
    let locked = known().then(&[0x0F, 0xB0], &[0x18]).then(&[0x1F, 0xA0, 0], &[]);
    assert_eq!(refused(locked.then(&[0x0F, 0xA0], &[0x7C])), SetupError::Protected(0x7C));
}

/// A line that nobody drives.
struct Floating;

impl ErrorType for Floating {
    type Error = Infallible;
}

impl SpiDevice for Floating {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            if let Operation::Read(bytes) = operation {
                bytes.fill(0xFF);
            }
        }
        Ok(())
    }
}

#[test]
fn a_bus_without_a_chip_is_found_out() {
    let nobody = SpiNand::new(Floating, &parts::ALL).map(drop).unwrap_err();
    assert_eq!(nobody, SetupError::UnknownPart([0xFF; 3]));
}

#[test]
fn a_chip_that_is_never_ready_is_given_up() {
    let mut device = nand(&parts::W25N01GV, |script| {
        let script = script.then(&[0x06], &[]).then(&[0xD8, 0, 0, 0], &[]);
        (0..3).fold(script, |script, _| script.then(&[0x0F, 0xC0], &[0x01]))
    })
    .with_polls(3);
    let error = device.erase(Block::new(Region::Slc, 0)).unwrap_err();
    let ftl_iface::EraseError::Driver(Error::NeverReady { polls: 3, .. }) = error else {
        panic!("{error}");
    };
    done(device);
}

#[test]
fn calls_outside_the_contract_reach_no_chip() {
    let mut device = nand(&parts::W25N01GV, |script| script);
    let (mut long, mut spare) = ([0; 2049], [0; 17]);
    assert!(device.read(page(1024, 0), Bytes::ZERO, &mut [0], &mut []).is_err());
    assert!(device.read(page(0, 64), Bytes::ZERO, &mut [0], &mut []).is_err());
    assert!(device.read(page(0, 0), Bytes::ZERO, &mut long, &mut []).is_err());
    assert!(device.read(page(0, 0), Bytes::ZERO, &mut [], &mut spare).is_err());
    assert!(device.program(page(0, 0), &[0; 2047], &[0; 16]).is_err());
    assert!(device.erase(Block::new(Region::Mlc, 0)).is_err());
    done(device);
}
