//! Either FTL, by the same calls: what a program needs of one to plan, format, mount and stop it.

use core::fmt;
use core::marker::PhantomData;

use ftl_core::paged::{PageFtl, PagedConfig, PagedMountError, PagedPlan, PagedRam};
use ftl_core::{
    ChainsAlone, Config, Ftl, Lent, LogAndChains, Mechanisms, MountError, NoProbe, Plan, Ram,
    RamPlan,
};
use ftl_iface::{BlockStore, Geometry, NandDevice};

/// An FTL that is looked at or measured.
pub trait Subject: 'static {
    /// What its user chooses.
    type Config: Copy + 'static;
    /// How much memory it needs.
    type Plan: Plan + 'static;
    /// The FTL, mounted on a device.
    type Store<'ram, D: NandDevice + 'ram>: BlockStore;
    /// Why it could not be mounted.
    type Refusal<E: fmt::Debug>: fmt::Display;

    /// Formats the device.
    fn format<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &Self::Config,
        ram: Lent<'ram, Self::Plan>,
        key: u32,
    ) -> Result<Self::Store<'ram, D>, Self::Refusal<D::Error>>;

    /// Mounts what was formatted.
    fn mount<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &Self::Config,
        ram: Lent<'ram, Self::Plan>,
    ) -> Result<Self::Store<'ram, D>, Self::Refusal<D::Error>>;

    /// Ends it before the power is switched off, and tells whether it could.
    fn stop<D: NandDevice>(ftl: &mut Self::Store<'_, D>) -> bool;

    /// The device below it.
    fn device<'ftl, D: NandDevice>(ftl: &'ftl Self::Store<'_, D>) -> &'ftl D;
}

/// The hybrid FTL, built with those mechanisms.
#[derive(Clone, Copy, Debug)]
pub struct HybridOf<M>(PhantomData<M>);

/// The FTL of log and chains.
pub type Hybrid = HybridOf<LogAndChains>;

/// The FTL of chains alone.
pub type Chains = HybridOf<ChainsAlone>;

/// Chains on a chip of one bit a cell, with nothing that they can do without.
#[derive(Clone, Copy, Debug)]
pub enum Bones {}

impl Mechanisms for Bones {
    const LOG: bool = false;
    const PAIRED_PAGES: bool = false;
    const CHECKPOINTS: bool = false;
    const WEAR_LEVELING: bool = false;
    const REFRESH: bool = false;
}

/// The FTL of them.
pub type BareChains = HybridOf<Bones>;

impl<M: Mechanisms + 'static> Subject for HybridOf<M> {
    type Config = Config;
    type Plan = RamPlan;
    type Store<'ram, D: NandDevice + 'ram> = Ftl<'ram, D, NoProbe, M>;
    type Refusal<E: fmt::Debug> = MountError<E>;

    fn format<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        key: u32,
    ) -> Result<Ftl<'ram, D, NoProbe, M>, MountError<D::Error>> {
        Ftl::format_as(device, config, ram, key, NoProbe)
    }

    fn mount<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
    ) -> Result<Ftl<'ram, D, NoProbe, M>, MountError<D::Error>> {
        Ftl::mount_as(device, config, ram, NoProbe)
    }

    fn stop<D: NandDevice>(ftl: &mut Ftl<'_, D, NoProbe, M>) -> bool {
        ftl.stop().is_ok()
    }

    fn device<'ftl, D: NandDevice>(ftl: &'ftl Ftl<'_, D, NoProbe, M>) -> &'ftl D {
        ftl.device()
    }
}

/// The page store.
#[derive(Clone, Copy, Debug)]
pub struct Paged;

impl Subject for Paged {
    type Config = PagedConfig;
    type Plan = PagedPlan;
    type Store<'ram, D: NandDevice + 'ram> = PageFtl<'ram, D>;
    type Refusal<E: fmt::Debug> = PagedMountError<E>;

    fn format<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
        key: u32,
    ) -> Result<PageFtl<'ram, D>, PagedMountError<D::Error>> {
        PageFtl::format(device, config, ram, key, NoProbe)
    }

    fn mount<'ram, D: NandDevice + 'ram>(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
    ) -> Result<PageFtl<'ram, D>, PagedMountError<D::Error>> {
        PageFtl::mount(device, config, ram, NoProbe)
    }

    fn stop<D: NandDevice>(ftl: &mut PageFtl<'_, D>) -> bool {
        ftl.stop().is_ok()
    }

    fn device<'ftl, D: NandDevice>(ftl: &'ftl PageFtl<'_, D>) -> &'ftl D {
        ftl.device()
    }
}

/// The plan for that chip and configuration, in a `const`: what does not fit stops the build.
pub const fn plan(geometry: &Geometry, config: &Config) -> RamPlan {
    match RamPlan::new(geometry, config) {
        Ok(plan) => plan,
        Err(_) => panic!("the configuration does not fit the chip"),
    }
}

/// The same for the page store.
pub const fn plan_paged(geometry: &Geometry, config: &PagedConfig) -> PagedPlan {
    match PagedPlan::new(geometry, config) {
        Ok(plan) => plan,
        Err(_) => panic!("the configuration does not fit the chip"),
    }
}
