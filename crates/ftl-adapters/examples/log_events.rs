//! An FTL whose decisions go to a `defmt` log. Link it into firmware that has a logger, as `defmt-rtt`.
#![no_std]

use ftl_adapters::LogProbe;
use ftl_core::NoProbe;
use ftl_core::paged::{PageFtl, PagedConfig, PagedMountError, PagedRam};
use ftl_iface::{BlockStore, NandDevice, Sector};

/// Mounts the device, and logs what each step does.
pub fn read_the_first_sector<D: NandDevice>(
    driver: D,
    config: &PagedConfig,
    memory: PagedRam<'_>,
    data: &mut [u8],
) -> Result<(), PagedMountError<D::Error>>
where
    D::Error: defmt::Format,
{
    let mut ftl = PageFtl::mount(driver, config, memory, LogProbe::<NoProbe>::default())?;
    if let Err(error) = ftl.read(Sector::new(0), data) {
        defmt::error!("the first sector: {}", error);
    }
    Ok(())
}
