//! The hybrid, the paper's FTL, on a simulated chip: 64 of its 1,024 blocks are the log, which takes small hot writes.
//!
//! All other examples use the page store, which is called in the same way.

use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{BlockStore, Bytes, NandDevice, Sector};
use nand_model::{Chip, Content, datasheet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chip = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
    let config = Config { sector_bytes: Bytes::new(2048), ..Config::one_region(64) };
    let plan = RamPlan::new(chip.geometry(), &config)?;

    let mut memory = OwnedRam::for_plan(&plan);
    let mut ftl = Ftl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;
    ftl.write(Sector::new(7), &[0xA5; 2048])?;
    let (chip, _) = ftl.into_parts();

    // Everything in RAM is gone; the chip has all that is needed.
    let mut memory = OwnedRam::for_plan(&plan);
    let mut ftl = Ftl::mount(chip, &config, memory.lend(), NoProbe)?;
    let mut data = [0; 2048];
    ftl.read(Sector::new(7), &mut data)?;
    assert_eq!(data, [0xA5; 2048]);
    println!("the sector is there after a mount, {} bytes of RAM", plan.total_bytes());
    Ok(())
}
