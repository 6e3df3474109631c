//! Parts of sectors, what they cost, and the faces that need no more than bytes.

use aligned::{A4, Aligned};
use ftl_adapters::{ByteStore, Cost, Error};
use ftl_iface::{BlockStore, Bytes, StoreWriteError};

use crate::world::{CAPACITY, Memory, SECTOR, World};

#[test]
fn bytes_written_anywhere_are_read_from_anywhere() {
    let (mut memory, mut buffer) = (Memory::new(16), [0; SECTOR]);
    let mut bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    let mut mirror = vec![0; 16 * SECTOR];
    let mut dice = fastrand::Rng::with_seed(4);
    for round in 0..3_000_u32 {
        let offset = dice.usize(0..mirror.len());
        let length = dice.usize(0..=(mirror.len() - offset).min(3 * SECTOR));
        let place = offset..offset + length;
        match dice.u8(0..10) {
            0..5 => {
                let data: Vec<u8> = (0..length).map(|at| (at as u8) ^ (round as u8)).collect();
                bytes.write_bytes(offset as u64, &data).unwrap();
                mirror[place].copy_from_slice(&data);
            }
            5 => {
                bytes.trim_bytes(offset as u64, length as u64).unwrap();
                let (first, end) = (offset.div_ceil(SECTOR), (offset + length) / SECTOR);
                if first < end {
                    mirror[first * SECTOR..end * SECTOR].fill(0);
                }
            }
            _ => {
                let mut data = vec![0xEE; length];
                bytes.read_bytes(offset as u64, &mut data).unwrap();
                assert!(data == mirror[place], "round {round}: {length} bytes from {offset} on");
            }
        }
    }
}

/// What writes of a device of 2-KiB sectors cost, and what the store was asked for.
fn cost(writes: &[(u64, usize)]) -> (Cost, Vec<(char, u32, usize)>) {
    let (mut memory, mut buffer) = (Memory::new(16), [0; SECTOR]);
    let mut bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    for (offset, length) in writes {
        bytes.write_bytes(*offset, &vec![7; *length]).unwrap();
    }
    let cost = bytes.cost();
    (cost, memory.asked)
}

#[test]
fn the_costs_are_those_of_the_table() {
    let (aligned, asked) = cost(&[(2048, 2048)]);
    assert_eq!(aligned, Cost { bytes_asked: 2048, sectors_covered: 1, ..Cost::default() });
    assert_eq!((aligned.bytes_written(Bytes::new(2048)), asked), (2048, vec![('W', 1, 1)]));
    let (one, asked) = cost(&[(512, 512)]);
    let part =
        Cost { bytes_asked: 512, sectors_in_part: 1, sectors_read_to_write: 1, ..Cost::default() };
    assert_eq!((one, asked), (part, vec![('R', 0, 1), ('W', 0, 1)]));
    assert_eq!(one.bytes_written(Bytes::new(2048)), 4 * 512);
    let (four, asked) = cost(&[(0, 512), (512, 512), (1024, 512), (1536, 512)]);
    assert_eq!((four.sectors_in_part, four.sectors_read_to_write), (4, 1));
    assert_eq!(asked, vec![('R', 0, 1), ('W', 0, 1), ('W', 0, 1), ('W', 0, 1), ('W', 0, 1)]);
    let (long, asked) = cost(&[(1024, 3 * 2048)]);
    assert_eq!((long.sectors_covered, long.sectors_in_part), (2, 2));
    assert_eq!(asked, vec![('R', 0, 1), ('W', 0, 1), ('W', 1, 2), ('R', 3, 1), ('W', 3, 1)]);
}

#[test]
fn the_sector_in_memory_is_forgotten_when_it_changes_below() {
    let (mut memory, mut buffer) = (Memory::new(4), [0; SECTOR]);
    let mut bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    let mut byte = [0];
    bytes.write_bytes(10, &[1]).unwrap();
    bytes.write_bytes(0, &[2; 2 * SECTOR]).unwrap();
    bytes.read_bytes(10, &mut byte).unwrap();
    assert_eq!(byte, [2]);
    bytes.trim_bytes(0, 2048).unwrap();
    bytes.read_bytes(10, &mut byte).unwrap();
    assert_eq!(byte, [0]);
}

#[test]
fn a_write_that_failed_leaves_nothing_in_memory() {
    let (mut memory, mut buffer) = (Memory::new(4), [0; SECTOR]);
    memory.read_only_from = Some(1);
    let mut bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    bytes.write_bytes(10, &[1]).unwrap();
    let refused = bytes.write_bytes(2058, &[1]);
    assert_eq!(refused, Err(Error::Write(StoreWriteError::ReadOnly)));
    let mut byte = [9];
    bytes.read_bytes(2058, &mut byte).unwrap();
    assert_eq!(byte, [0]);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (mut memory, mut buffer) = (Memory::new(4), [0; SECTOR]);
    let small = ByteStore::new(&mut memory, &mut buffer[..SECTOR - 1]).map(drop);
    assert_eq!(small, Err(Error::BufferBytes { needed: Bytes::new(2048) }));
    let mut bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    let refused = bytes.write_bytes(8191, &[1, 2]).unwrap_err();
    assert_eq!(refused, Error::OutOfRange { offset: 8191, bytes: 2, capacity: 8192 });
    assert!(refused.to_string().contains("8192"), "{refused}");
    assert!(bytes.read_bytes(u64::MAX, &mut [0]).is_err());
    assert!(bytes.trim_bytes(0, 8193).is_err());
    assert!(memory.asked.is_empty());
}

#[test]
fn embedded_storage_writes_through_to_the_ftl_and_finds_it_after_a_loss_of_power() {
    use embedded_storage::{ReadStorage, Storage};
    let mut world = World::new();
    world.with_ftl(|ftl, buffer| {
        let mut storage = ByteStore::new(ftl, buffer).unwrap();
        assert_eq!(storage.capacity(), CAPACITY as usize * SECTOR);
        Storage::write(&mut storage, 3000, b"settings of a thermostat").unwrap();
    });
    world.with_ftl(|ftl, buffer| {
        let mut storage = ByteStore::new(ftl, buffer).unwrap();
        let mut found = [0; 24];
        ReadStorage::read(&mut storage, 3000, &mut found).unwrap();
        assert_eq!(&found, b"settings of a thermostat");
    });
}

#[test]
fn an_async_host_finds_its_blocks_after_a_loss_of_power() {
    use block_device_driver::BlockDevice;
    use embassy_futures::block_on;
    type Block = Aligned<A4, [u8; 512]>;
    let mut world = World::new();
    world.with_ftl(|ftl, buffer| {
        let mut device = ByteStore::new(ftl, buffer).unwrap();
        let blocks = [1, 2, 3, 4, 5].map(|byte| -> Block { Aligned([byte; 512]) });
        block_on(device.write(6, &blocks)).unwrap();
        assert_eq!(block_on(device.size()), Ok(u64::from(CAPACITY) * SECTOR as u64));
        // Two blocks of the second sector, three of the next: each sector is written once.
        assert_eq!((device.cost().sectors_in_part, device.cost().sectors_covered), (2, 0));
    });
    world.with_ftl(|ftl, buffer| {
        let mut device = ByteStore::new(ftl, buffer).unwrap();
        let mut blocks = [Aligned([9; 512]); 7];
        block_on(device.read(5, &mut blocks)).unwrap();
        assert_eq!(blocks.map(|block: Block| block[511]), [0, 1, 2, 3, 4, 5, 0]);
        let beyond = block_on(BlockDevice::write(&mut device, CAPACITY * 4, &blocks[..1]));
        assert!(matches!(beyond, Err(Error::OutOfRange { .. })));
    });
    assert!(world.capacity_of(|ftl| ftl.capacity()).get() == CAPACITY);
}
