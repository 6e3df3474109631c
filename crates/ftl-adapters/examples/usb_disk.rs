//! A disk on USB: the loop of firmware that has a bus, a store and nothing else to do.
#![no_std]

use ftl_adapters::{ByteStore, UsbDisk};
use ftl_iface::{BlockStore, PageCount};
use usb_device::bus::{UsbBus, UsbBusAllocator};
use usb_device::device::UsbDeviceState;
use usb_device::device::{UsbDeviceBuilder, UsbVidPid};
use usbd_storage::subclass::scsi::Scsi;

/// Serves the store to the host for as long as there is power.
pub fn run<B: UsbBus, S: BlockStore>(
    bus: &UsbBusAllocator<B>,
    bytes: ByteStore<'_, S>,
) -> Option<()> {
    let (mut packets, mut staged) = ([0; 1024], [0; 4096]);
    let mut scsi = Scsi::new(bus, 64, 0, packets.as_mut_slice()).ok()?;
    let mut disk = UsbDisk::new(bytes, &mut staged)?;
    let mut device = UsbDeviceBuilder::new(bus, UsbVidPid(0x16C0, 0x27DD)).build();
    loop {
        if device.poll(&mut [&mut scsi]) {
            // A command that cannot go on now does so at the next poll.
            let _ = scsi.poll(|command| disk.serve(command));
        } else if device.state() == UsbDeviceState::Configured {
            // The host has nothing to ask: take work out of its way. What fails here fails again in its next write.
            let _ = disk.bytes().maintain(PageCount::new(1));
        } else {
            disk.reset();
        }
    }
}
