//! A FAT volume on the FTL, with power that fails inside programs and erases: a file that was closed before is there
//! afterwards, byte for byte.

use std::collections::BTreeMap;

use fastrand::Rng;
use ftl_adapters::ByteStore;
use nand_model::power::Cut;

use crate::volume::{make_volume, read_file, read_files_by_fatfs, write_file};
use crate::world::{Torn, World};

/// Files of the volume. Each is written over now and then.
const FILES: u32 = 10;
/// How often power fails.
const CUTS: u64 = 150;
/// Programs, erases and marks until it does, at most, in most lives; a file takes about forty.
const LONGEST_LIFE: u64 = 900;
/// The same in one life of four: power fails again before what it did is settled.
const SHORT_LIFE: u64 = 6;

/// The files as they were when they were closed. The one that power failed in is not among them.
type Closed = BTreeMap<u32, Vec<u8>>;

fn content(dice: &mut Rng) -> Vec<u8> {
    let length = dice.usize(0..9_000);
    (0..length).map(|_| dice.u8(..)).collect()
}

/// Writes files until power fails.
fn live(world: &mut World, cut: Cut, closed: &mut Closed, dice: &mut Rng) {
    world.with_cut(cut, |ftl, buffer| {
        loop {
            let (file, data) = (dice.u32(0..FILES), content(dice));
            closed.remove(&file);
            let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
            match write_file(bytes, file, &data) {
                Ok(()) => closed.insert(file, data),
                Err(_) if !ftl.device().is_on() => return,
                Err(why) => panic!("file {file} could not be written with power on: {why:?}"),
            };
        }
    });
}

/// Compares every closed file with what is on the volume.
fn compare(world: &mut World, closed: &Closed, cut: u64) {
    world.with_ftl(|ftl, buffer| {
        for (file, data) in closed {
            let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
            assert!(read_file(bytes, *file) == *data, "file {file} after cut {cut}");
        }
    });
}

fn power_fails_again_and_again(mut world: World) -> Torn {
    world.with_ftl(|ftl, buffer| make_volume(ByteStore::new(ftl, buffer).unwrap()));
    let (mut closed, mut dice) = (Closed::new(), Rng::with_seed(21));
    let mut compared = 0;
    for number in 0..CUTS {
        let length = if number % 4 == 3 { SHORT_LIFE } else { LONGEST_LIFE };
        let cut = Cut::seeded(dice.u64(0..length), number);
        live(&mut world, cut, &mut closed, &mut dice);
        if number % 4 != 2 {
            compare(&mut world, &closed, number);
            compared += closed.len();
        }
    }
    assert!(compared > CUTS as usize * FILES as usize / 2, "only {compared} files were closed");
    let names: Vec<u32> = closed.keys().copied().collect();
    world.with_ftl(|ftl, buffer| {
        let found = read_files_by_fatfs(ByteStore::new(ftl, buffer).unwrap(), &names);
        assert!(found.iter().eq(closed.values()), "fatfs reads something else");
    });
    world.torn()
}

#[test]
fn closed_files_survive_cuts_inside_programs_and_erases_on_a_plain_chip() {
    let torn = power_fails_again_and_again(World::new());
    assert!(torn.programs >= 100 && torn.erases >= 10, "{torn:?}");
}

#[test]
fn closed_files_survive_cuts_that_ruin_pages_sharing_cells() {
    let torn = power_fails_again_and_again(World::hybrid());
    assert!(torn.programs >= 100 && torn.erases >= 5, "{torn:?}");
}
