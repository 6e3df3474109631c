//! Which device, and how large.

use sim::Failure;
use sim::input::device::{DeviceChoice, Setup};
use sim::input::size;

/// Which device, and how large.
#[derive(Clone, Debug, clap::Args)]
pub struct DeviceArgs {
    /// The device: a built-in name (`tandem devices` lists them) or the path of a device file
    #[arg(long, default_value = "c3", value_name = "DEVICE")]
    pub(crate) device: String,
    /// Bytes exported to the host, in whole sectors (20GiB or 20G; 20GB are powers of 1000); the device's share of
    /// spare blocks is kept
    #[arg(long, value_parser = size::parse, value_name = "SIZE")]
    pub(crate) capacity: Option<u64>,
    /// Bytes of SLC (256MiB); on a device with one region, the part that the log takes; 0: no log
    #[arg(long, value_parser = size::parse, value_name = "SIZE")]
    pub(crate) slc: Option<u64>,
    /// Let channels, dies and planes work in parallel; otherwise operations run one after the other, as in the paper
    #[arg(long)]
    pub(crate) parallel: bool,
}

impl DeviceArgs {
    /// The device that these flags select.
    pub(crate) fn setup(&self) -> Result<Setup, Failure> {
        let Self { device, capacity, slc, parallel } = self.clone();
        DeviceChoice { device, capacity, slc, parallel }.setup()
    }
}
