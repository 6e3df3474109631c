//! Bytes at any offset of an FTL on a simulated chip, through `embedded-storage`: a counter that outlives the power.
//!
//! On a microcontroller the chip is a driver, memory is lent from statics, and everything else is the same.

use embedded_storage::Storage;
use ftl_adapters::ByteStore;
use ftl_core::NoProbe;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_iface::{Bytes, NandDevice};
use nand_model::{Chip, Content, datasheet};

/// Where the counter stands.
const BOOTS: u32 = 4_000;

/// Counts a boot, in any storage.
fn count_boot<S: Storage>(storage: &mut S) -> Result<u32, S::Error> {
    let mut number = [0; 4];
    storage.read(BOOTS, &mut number)?;
    let boots = u32::from_le_bytes(number) + 1;
    storage.write(BOOTS, &boots.to_le_bytes())?;
    Ok(boots)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut chip = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
    let config = PagedConfig { sector_bytes: Bytes::new(2048), ..PagedConfig::SMALL };
    let plan = PagedPlan::new(chip.geometry(), &config)?;
    let mut memory = OwnedPagedRam::for_plan(&plan);
    PageFtl::format(&mut chip, &config, memory.lend(), 0x5EED, NoProbe)?;
    for boot in 1..=3 {
        let mut ftl = PageFtl::mount(&mut chip, &config, memory.lend(), NoProbe)?;
        let mut sector = [0; 2048];
        let counted = count_boot(&mut ByteStore::new(&mut ftl, &mut sector)?)?;
        assert_eq!(counted, boot);
        println!("boot {counted}");
    }
    Ok(())
}
