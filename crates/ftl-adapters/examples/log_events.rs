//! An FTL whose decisions go to a `defmt` log. Link it into firmware that has a logger, as `defmt-rtt`.
#![no_std]

use ftl_adapters::LogProbe;
use ftl_core::{Config, Ftl, MountError, Ram};
use ftl_iface::{BlockStore, NandDevice, Sector};

/// Mounts the device, and logs what each step does.
pub fn read_the_first_sector<D: NandDevice>(
    driver: D,
    config: &Config,
    memory: Ram<'_>,
    data: &mut [u8],
) -> Result<(), MountError<D::Error>>
where
    D::Error: defmt::Format,
{
    let mut ftl = Ftl::mount(driver, config, memory, LogProbe::<ftl_core::NoProbe>::default())?;
    if let Err(error) = ftl.read(Sector::new(0), data) {
        defmt::error!("the first sector: {}", error);
    }
    Ok(())
}
