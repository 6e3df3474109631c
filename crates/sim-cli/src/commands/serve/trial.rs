//! Files that may say anything, served without sockets: they are refused, or a system works on what they hold, or says
//! that it cannot. The fuzz targets `disk_file` and `disk_headers` use this, too.

use std::sync::OnceLock;

use nand_model::power::Cut;
use sim::Failure;
use sim::engine::image::disk::Closed;
use sim::engine::image::{About, Journaled, MemoryFile, forge};
use sim::engine::systems::{Blueprint, Chosen, Ended, Live, Owner};

/// Systems whose disks are changed.
const SYSTEMS: [&str; 3] = ["hybrid", "paged", "conventional"];

/// A system, and the file of its new disk.
struct Begun {
    blueprint: Blueprint,
    file: MemoryFile,
}

thread_local! {
    static BEGUN: OnceLock<Vec<Begun>> = const { OnceLock::new() };
}

fn begin(system: &str) -> Result<Begun, Failure> {
    let (system, device) = (system.into(), "tiny".into());
    let about = About { system, device, capacity: None, slc: None, parallel: false };
    let setup = super::setup(&about)?;
    let chosen = Chosen::parse(&about.system).map_err(Failure::Arguments)?;
    let blueprint = chosen.blueprint(&setup)?;
    let mut device = super::fresh(&setup, &blueprint)?;
    let file = forge::new(&about, &mut device)?;
    Ok(Begun { blueprint, file })
}

/// An owner who writes a little.
struct Visitor(u32);

impl Owner for Visitor {
    fn next_cut(&mut self) -> Cut {
        Cut::never()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        let size = disk.sector_bytes().as_usize();
        let mut data = vec![7; size];
        for at in 0..self.0 {
            let sector = ftl_iface::Sector::new(at * 3 % disk.capacity().get());
            // What was changed may be lost, or leave no room.
            let _ = disk.read(sector, &mut data);
            let _ = disk.write(sector, &data);
        }
        Ok(Ended::Stopped)
    }
}

/// Serves a new disk of one of the systems whose journal has those records, with checks that fit. Nothing may panic,
/// and what is kept of it can be opened again.
pub fn journal(system: usize, records: &[u8]) {
    with_begun(system, |begun| {
        if let Ok(file) = forge::with_journal(&begun.file, records) {
            visit(begun, file);
        }
    });
}

/// Serves a new disk of one of the systems whose headers say other numbers: each is added to what a server wrote.
pub fn headers(system: usize, added: [u64; 6], records: &[u8]) {
    with_begun(system, |begun| {
        let Some(numbers) = forge::header(&begun.file) else { return };
        let numbers = std::array::from_fn(|at| numbers[at].wrapping_add(added[at]));
        let file = forge::with_journal(&begun.file, records);
        if let Ok(file) = file.and_then(|file| forge::with_header(&file, numbers)) {
            visit(begun, file);
        }
    });
}

/// Serves a new disk of one of the systems some of whose unused blocks, the last of the chip, have those flags, with
/// checks that fit.
pub fn flags(system: usize, flags: &[u8]) {
    with_begun(system, |begun| {
        let file = forge::with_chip(&begun.file, |chip| {
            for (block, flags) in chip.rchunks_exact_mut(UNUSED.len()).zip(flags) {
                if block == UNUSED {
                    block[FLAGS_AT] = *flags;
                }
            }
        });
        if let Ok(file) = file {
            visit(begun, file);
        }
    });
}

/// A block that was never used, in the image of a chip without modes, and where its flags are.
const UNUSED: [u8; 4 + 1 + 2] = [0; 7];
const FLAGS_AT: usize = 4;

fn with_begun(system: usize, work: impl FnOnce(&Begun)) {
    BEGUN.with(|begun| {
        let begun = begun.get_or_init(|| {
            let begun: Result<_, _> = SYSTEMS.iter().map(|system| begin(system)).collect();
            begun.unwrap_or_default()
        });
        if let Some(begun) = begun.get(system % begun.len().max(1)) {
            work(begun);
        }
    });
}

fn visit(begun: &Begun, file: MemoryFile) {
    let Some((mut disk, opened)) = forge::opened(file) else {
        return;
    };
    let mut device = Journaled::of_file(opened.device);
    let went_on = disk.go_on(&mut device).is_ok();
    assert!(went_on, "there is room in memory");
    // A system that cannot be mounted is told, and its file stays.
    if let Ok(mut device) = begun.blueprint.run(device, &mut Visitor(40)) {
        let closed = disk.close(&mut device);
        assert!(matches!(closed, Ok(Closed::Chip)), "there is room in memory");
    }
    let again = forge::opened(disk.into_store());
    assert!(again.is_some(), "what was kept can be opened");
}

#[cfg(test)]
mod tests {
    use sim::engine::image::{About, forge};
    use sim::engine::systems::Chosen;

    #[test]
    fn headers_may_say_anything() {
        let few = [0, 1, 4096, 8192, 1 << 24];
        let many = [u64::MAX, u64::MAX / 2, 1 << 63, u64::MAX - 4095, u64::MAX - 8191];
        let mut dice = fastrand::Rng::with_seed(31);
        for at in 0..6 {
            for number in few.iter().chain(&many) {
                let mut added = [0; 6];
                added[at] = *number;
                super::headers(at, added, &[]);
                added[dice.usize(..6)] = many[dice.usize(..many.len())];
                super::headers(at, added, &[0x05, b'S', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
    }

    /// What a file says about its disk is typed by nobody.
    #[test]
    fn what_a_file_says_of_its_disk_may_be_anything() {
        let begun = super::begin("hybrid").unwrap();
        let good = forge::opened(begun.file).unwrap().1.about;
        let sizes = [None, Some(0), Some(1), Some(1 << 40), Some(u64::MAX)];
        let names = ["", "hybrid", "ko", "hybrid?filter=", "no\0thing", "/dev/null", "tiny", "c3"];
        for (capacity, slc) in sizes.iter().flat_map(|one| sizes.map(|other| (*one, other))) {
            for name in names {
                let system = About { system: name.into(), capacity, slc, ..good.clone() };
                let device = About { device: name.into(), capacity, slc, ..good.clone() };
                for about in [system, device] {
                    let chosen = Chosen::parse(&about.system);
                    if let (Ok(setup), Ok(chosen)) = (crate::commands::serve::setup(&about), chosen)
                    {
                        let _ = chosen.blueprint(&setup);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_may_have_any_flags() {
        let mut dice = fastrand::Rng::with_seed(31);
        for round in 0..120 {
            let most = [1, 1, 2, 3, 255][dice.usize(..5)];
            let flags: Vec<u8> = (0..dice.usize(1..18)).map(|_| dice.u8(..=most)).collect();
            super::flags(round, &flags);
        }
    }

    #[test]
    fn a_journal_may_say_anything() {
        let mut dice = fastrand::Rng::with_seed(31);
        let kinds = [0x03, 0x05, 0x06, 0x09, 0x0A, 0x0C, 0x11, 0x12, 0x14];
        for round in 0..300 {
            let mut records = Vec::new();
            for _ in 0..dice.usize(1..60) {
                let kind = kinds[dice.usize(..kinds.len())];
                let region =
                    if [0x11, 0x12].contains(&kind) { b'-' } else { [b'S', b'M'][dice.usize(..2)] };
                let page = if kind == 0x03 || kind == 0x09 { dice.u8(0..8) } else { dice.u8(..) };
                records.extend_from_slice(&[kind, region, dice.u8(0..18), 0, 0, 0, page, 0]);
                records.extend_from_slice(&[dice.u8(0..7), dice.u8(0..4), 0, 0, 0, dice.u8(0..2)]);
                if kind == 0x03 || kind == 0x09 {
                    let length = if region == b'S' { 1024 + 32 } else { 2048 + 64 };
                    records.resize(records.len() + length, dice.u8(..));
                }
            }
            super::journal(round, &records);
        }
    }
}
