//! Blocks of 512 bytes of an FTL on a simulated chip, through `block-device-driver`, as asynchronous firmware asks for
//! them.

use aligned::{A4, Aligned};
use block_device_driver::BlockDevice;
use embassy_futures::block_on;
use ftl_adapters::ByteStore;
use ftl_core::NoProbe;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_iface::{Bytes, NandDevice};
use nand_model::{Chip, Content, datasheet};

/// Copies a block, on any device whose blocks stand at words.
async fn copy_block<D: BlockDevice<512, Align = A4>>(
    device: &mut D,
    from: u32,
    to: u32,
) -> Result<(), D::Error> {
    let mut block = [Aligned([0; 512])];
    device.read(from, &mut block).await?;
    device.write(to, &block).await
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chip = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
    let config = PagedConfig { sector_bytes: Bytes::new(2048), ..PagedConfig::SMALL };
    let plan = PagedPlan::new(chip.geometry(), &config)?;
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;
    let mut sector = [0; 2048];
    let mut device = ByteStore::new(ftl, &mut sector)?;

    let mut block = [Aligned([7; 512])];
    block_on(device.write(6, &block))?;
    block_on(copy_block(&mut device, 6, 9))?;
    block_on(device.read(9, &mut block))?;
    assert_eq!(*block[0], [7; 512]);
    // Two blocks of 512 bytes, each a part of a sector of 2,048: what that cost.
    println!("{:?}", device.cost());
    Ok(())
}
