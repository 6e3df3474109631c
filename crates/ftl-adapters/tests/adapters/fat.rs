//! A FAT volume on the FTL: formatted by one implementation, written by another, read by both, with power lost between.

use ftl_adapters::ByteStore;

use crate::volume::{content, make_volume, read_file, read_files_by_fatfs, write_file};
use crate::world::World;

#[test]
fn files_are_there_after_each_loss_of_power_for_both_readers() {
    let mut world = World::new();
    world.with_ftl(|ftl, buffer| make_volume(ByteStore::new(ftl, buffer).unwrap()));
    for newest in 0..12 {
        world.with_ftl(|ftl, buffer| {
            write_file(ByteStore::new(ftl, buffer).unwrap(), newest, &content(newest)).unwrap();
        });
        // Power was lost: a new boot, on what is on flash.
        world.with_ftl(|ftl, buffer| {
            for file in 0..=newest {
                let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
                assert!(read_file(bytes, file) == content(file), "file {file} of {newest}");
            }
        });
    }
    world.with_ftl(|ftl, buffer| {
        let all: Vec<u32> = (0..12).collect();
        let found = read_files_by_fatfs(ByteStore::new(ftl, buffer).unwrap(), &all);
        assert!(found == all.iter().map(|file| content(*file)).collect::<Vec<_>>());
    });
}

#[test]
fn a_file_written_over_and_over_wears_the_flash_and_keeps_its_neighbours() {
    let mut world = World::new();
    world.with_ftl(|ftl, buffer| make_volume(ByteStore::new(ftl, buffer).unwrap()));
    world.with_ftl(|ftl, buffer| {
        write_file(ByteStore::new(ftl, buffer).unwrap(), 0, &content(0)).unwrap();
    });
    for round in 0..40 {
        world.with_ftl(|ftl, buffer| {
            write_file(ByteStore::new(ftl, buffer).unwrap(), 1, &content(round)).unwrap();
        });
        world.with_ftl(|ftl, buffer| {
            let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
            assert!(read_file(bytes, 1) == content(round), "round {round}");
            let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
            assert!(read_file(bytes, 0) == content(0), "the neighbour, round {round}");
        });
    }
}
