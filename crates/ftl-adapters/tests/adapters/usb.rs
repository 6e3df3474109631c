//! The disk on USB, from the host's packets to the flash and back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ftl_adapters::{ByteStore, UsbDisk};
use ftl_iface::BlockStore;
use usb_device::bus::{PollResult, UsbBus, UsbBusAllocator};
use usb_device::device::{UsbDeviceBuilder, UsbVidPid};
use usb_device::endpoint::{EndpointAddress, EndpointType};
use usb_device::{UsbDirection, UsbError};
use usbd_storage::subclass::scsi::Scsi;

use crate::world::{CAPACITY, Memory, SECTOR, World};

const PACKET: usize = 64;
const BULK: u8 = 1;

/// Packets under way in each direction.
#[derive(Default)]
struct Wire {
    to_device: VecDeque<Vec<u8>>,
    to_host: VecDeque<Vec<u8>>,
    stalled: u32,
}

/// A bus with a host at its other end. It holds one packet to the host at a time, as hardware does.
#[derive(Clone, Default)]
struct Bus(Arc<Mutex<Wire>>);

impl UsbBus for Bus {
    fn alloc_ep(
        &mut self,
        direction: UsbDirection,
        _: Option<EndpointAddress>,
        kind: EndpointType,
        _: u16,
        _: u8,
    ) -> usb_device::Result<EndpointAddress> {
        let number = if kind == EndpointType::Bulk { BULK } else { 0 };
        Ok(EndpointAddress::from_parts(number.into(), direction))
    }

    fn enable(&mut self) {}
    fn reset(&self) {}
    fn set_device_address(&self, _: u8) {}
    fn suspend(&self) {}
    fn resume(&self) {}

    fn write(&self, _: EndpointAddress, packet: &[u8]) -> usb_device::Result<usize> {
        let mut wire = self.0.lock().unwrap();
        if !wire.to_host.is_empty() {
            return Err(UsbError::WouldBlock);
        }
        wire.to_host.push_back(packet.to_vec());
        Ok(packet.len())
    }

    fn read(&self, _: EndpointAddress, buffer: &mut [u8]) -> usb_device::Result<usize> {
        let packet = self.0.lock().unwrap().to_device.pop_front().ok_or(UsbError::WouldBlock)?;
        buffer[..packet.len()].copy_from_slice(&packet);
        Ok(packet.len())
    }

    fn set_stalled(&self, _: EndpointAddress, stalled: bool) {
        self.0.lock().unwrap().stalled += u32::from(stalled);
    }

    fn is_stalled(&self, _: EndpointAddress) -> bool {
        false
    }

    fn poll(&self) -> PollResult {
        PollResult::None
    }
}

/// A command of the host's: its block, data to the device, bytes it expects.
struct UsbCommand<'a> {
    block: &'a [u8],
    sent: &'a [u8],
    expected: u32,
}

/// Serves commands of the host's from a store, and says what came back: data and status of each.
fn answers<S: BlockStore>(bytes: ByteStore<'_, S>, asked: &[UsbCommand<'_>]) -> Vec<(Vec<u8>, u8)> {
    let bus = Bus::default();
    let allocator = UsbBusAllocator::new(bus.clone());
    let (mut packets, mut staged) = ([0; 512], [0; 2 * SECTOR]);
    let mut scsi = Scsi::new(&allocator, PACKET as u16, 0, packets.as_mut_slice()).unwrap();
    let _device = UsbDeviceBuilder::new(&allocator, UsbVidPid(1, 2)).build();
    let mut disk = UsbDisk::new(bytes, &mut staged).unwrap();
    let mut answers = Vec::new();
    for command in asked {
        // The wrapper: signature, tag, length, direction, unit, block.
        let to_host = command.sent.is_empty() && command.expected > 0;
        let length = command.expected.max(command.sent.len() as u32);
        let mut wrapper = b"USBC\x07\0\0\0".to_vec();
        wrapper.extend(length.to_le_bytes());
        wrapper.extend([u8::from(to_host) << 7, 0, command.block.len() as u8]);
        wrapper.extend(command.block);
        wrapper.resize(31, 0);
        let mut send: VecDeque<Vec<u8>> = VecDeque::from([wrapper]);
        send.extend(command.sent.chunks(PACKET).map(<[u8]>::to_vec));
        let mut came: Vec<u8> = Vec::new();
        let mut status = None;
        for _ in 0..100_000 {
            let mut wire = bus.0.lock().unwrap();
            if wire.to_device.is_empty() {
                wire.to_device.extend(send.pop_front());
            }
            if let Some(packet) = wire.to_host.pop_front() {
                if packet.len() == 13 && packet.starts_with(b"USBS") {
                    status = Some(packet[12]);
                    break;
                }
                came.extend(packet);
            }
            drop(wire);
            scsi.poll(|command| disk.serve(command)).unwrap();
        }
        answers.push((came, status.expect("a status in the end")));
    }
    answers
}

fn read(first: u32, count: u16) -> Vec<u8> {
    [&[0x28, 0][..], &first.to_be_bytes(), &[0], &count.to_be_bytes(), &[0]].concat()
}

fn write(first: u32, count: u16) -> Vec<u8> {
    [&[0x2A, 0][..], &first.to_be_bytes(), &[0], &count.to_be_bytes(), &[0]].concat()
}

#[test]
fn a_host_writes_blocks_and_finds_them_after_a_loss_of_power() {
    let mut world = World::new();
    let data: Vec<u8> = (0..40 * 512_u32).map(|at| (at >> 3) as u8 ^ at as u8).collect();
    world.with_ftl(|ftl, buffer| {
        let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
        let written = write(5, 40);
        let asked = [UsbCommand { block: &written, sent: &data, expected: 0 }];
        assert_eq!(answers(bytes, &asked), [(vec![], 0)]);
    });
    world.with_ftl(|ftl, buffer| {
        let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
        let (all, some) = (read(5, 40), read(7, 1));
        let asked = [
            UsbCommand { block: &all, sent: &[], expected: 40 * 512 },
            UsbCommand { block: &some, sent: &[], expected: 512 },
        ];
        let answers = answers(bytes, &asked);
        assert!(answers[0] == (data.clone(), 0));
        assert!(answers[1] == (data[1024..1536].to_vec(), 0));
    });
}

#[test]
fn the_disk_tells_what_it_is_and_why_a_command_failed() {
    let mut world = World::new();
    world.with_ftl(|ftl, buffer| {
        let bytes = ByteStore::new(&mut *ftl, &mut *buffer).unwrap();
        let blocks = CAPACITY * (SECTOR as u32 / 512);
        let beyond = read(blocks, 1);
        let sense = [0x03, 0, 0, 0, 18, 0];
        let asked = [
            UsbCommand { block: &[0x00; 6], sent: &[], expected: 0 },
            UsbCommand { block: &[0x12, 0, 0, 0, 36, 0], sent: &[], expected: 36 },
            UsbCommand { block: &[0x25; 10], sent: &[], expected: 8 },
            UsbCommand { block: &beyond, sent: &[], expected: 512 },
            UsbCommand { block: &sense, sent: &[], expected: 18 },
            UsbCommand { block: &sense, sent: &[], expected: 18 },
            UsbCommand { block: &[0xEE; 6], sent: &[], expected: 0 },
            UsbCommand { block: &sense, sent: &[], expected: 18 },
        ];
        let answers = answers(bytes, &asked);
        assert_eq!(answers[0], (vec![], 0));
        assert_eq!(&answers[1].0[8..16], b"TANDEM  ");
        let capacity = [(blocks - 1).to_be_bytes(), 512_u32.to_be_bytes()].concat();
        assert_eq!(answers[2], (capacity, 0));
        assert_eq!(answers[3].1, 1, "a read beyond the end fails");
        let sense = |answer: &(Vec<u8>, u8)| (answer.0[2], answer.0[12]);
        assert_eq!(sense(&answers[4]), (0x05, 0x21));
        assert_eq!(sense(&answers[5]), (0, 0), "a failure is told once");
        assert_eq!(answers[6].1, 1, "an unknown command fails");
        assert_eq!(sense(&answers[7]), (0x05, 0x20));
    });
}

#[test]
fn a_store_that_fails_is_told_to_the_host() {
    let (mut memory, mut buffer) = (Memory::new(8), [0; SECTOR]);
    memory.read_only_from = Some(2);
    let bytes = ByteStore::new(&mut memory, &mut buffer).unwrap();
    let (good, bad) = (write(0, 4), write(8, 8));
    let asked = [
        UsbCommand { block: &good, sent: &[1; 2048], expected: 0 },
        UsbCommand { block: &bad, sent: &[2; 4096], expected: 0 },
        UsbCommand { block: &[0x03, 0, 0, 0, 18, 0], sent: &[], expected: 18 },
    ];
    let answers = answers(bytes, &asked);
    assert_eq!((answers[0].1, answers[1].1), (0, 1));
    assert_eq!((answers[2].0[2], answers[2].0[12]), (0x03, 0x03));
    // The first write covered a sector, and went down in one request.
    assert_eq!(memory.asked[0], ('W', 0, 1));
}
