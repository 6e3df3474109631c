//! Random calls: in any order, with good and bad arguments, while power fails. After each, what was acknowledged is
//! there.

use std::ffi::c_void;

use fastrand::Rng;
use ftl_c::*;

use crate::model::Model;
use crate::world::{SILENT, World};

/// The host's view: what each sector holds, and what a request in flight may have made of it.
struct Host {
    sectors: Vec<u8>,
    /// The sectors of the request that power failed in, and what it was to write.
    open: Option<(u32, u32, u8)>,
    bytes: usize,
}

impl Host {
    fn done(&mut self, (first, count, fill): (u32, u32, u8), outcome: i32) {
        if outcome == OK {
            self.sectors[first as usize..(first + count) as usize].fill(fill);
        } else {
            self.open = Some((first, count, fill));
        }
    }

    /// Reads everything: each sector is as it was written, or, in the request in flight, as it was to be.
    fn compare(&mut self, device: *mut Tandem) {
        let mut data = vec![0_u8; self.bytes];
        for sector in 0..self.sectors.len() as u32 {
            // SAFETY: a mounted device and a buffer of ours.
            let outcome = unsafe { tandem_read(device, sector, 1, data.as_mut_ptr().cast()) };
            assert_eq!(outcome, OK, "{sector}");
            let held = data[0];
            assert!(data.iter().all(|byte| *byte == held), "{sector} is a mix");
            let known = &mut self.sectors[sector as usize];
            let open = self.open.is_some_and(|(first, count, fill)| {
                (first..first + count).contains(&sector) && held == fill
            });
            assert!(held == *known || open, "{sector} holds {held} and not {known}");
            *known = held;
        }
        self.open = None;
    }
}

/// One request; none if its arguments were wrong.
fn request(dice: &mut Rng, device: *mut Tandem, host: &mut Host) -> Option<i32> {
    let capacity = host.sectors.len() as u32;
    let count = dice.u32(1..=3);
    let first = dice.u32(0..=capacity - count);
    let data = vec![dice.u8(1..); count as usize * host.bytes];
    let from = data.as_ptr().cast::<c_void>();
    // SAFETY: a mounted device, and buffers of ours; what is wrong can be seen.
    unsafe {
        match dice.u32(0..20) {
            0 => {
                let wrong = tandem_write(device, capacity - count + 1, count, from);
                assert_eq!(wrong, Error::OutOfRange.number());
            }
            1 => {
                let wrong = tandem_read(device, dice.u32(..), u32::MAX, from.cast_mut());
                assert_eq!(wrong, Error::OutOfRange.number());
            }
            2 => assert_eq!(tandem_write(device, first, 1, device.cast()), Error::Overlap.number()),
            3 => assert_eq!(
                tandem_read(device.wrapping_byte_add(8), first, 1, from.cast_mut()),
                Error::NotADevice.number()
            ),
            4 => {
                let trimmed = tandem_trim(device, first, count);
                host.done((first, count, 0), trimmed);
                return Some(trimmed);
            }
            5 => return Some(tandem_maintain(device, dice.u32(0..20)).min(OK)),
            6 => return Some(tandem_scrub(device)),
            7 => return Some(tandem_stop(device)),
            _ => {
                let written = tandem_write_hinted(device, first, count, from, dice.u32(0..=4));
                host.done((first, count, data[0]), written);
                return Some(written);
            }
        }
    }
    None
}

/// Calls until power fails; then everything is mounted again and compared. Says how many cuts came.
fn play(model: Model, seed: u64, lives: u32) -> u32 {
    let mut dice = Rng::with_seed(seed);
    let mut world = World::new(model);
    let mut device = world.format();
    let mut host = Host {
        sectors: vec![0; world.config.capacity as usize],
        open: None,
        bytes: world.config.sector_bytes as usize,
    };
    let mut cuts = 0;
    for _ in 0..lives {
        let (after, fate) = (dice.u64(0..60), dice.u64(..));
        world.chip().cut_after(after, fate);
        for _ in 0..40 {
            if let Some(error) = request(&mut dice, device, &mut host)
                && error != OK
            {
                assert_eq!(error, Error::Driver.number());
                break;
            }
        }
        let mut detail = SILENT;
        // SAFETY: a mounted device.
        assert_eq!(unsafe { tandem_detail(device, &raw mut detail) }, OK);
        // A firmware that reboots does not close anything.
        cuts += u32::from(world.chip().power_again());
        device = world.mount();
        host.compare(device);
    }
    cuts
}

#[test]
fn random_calls_and_cuts_lose_nothing() {
    let lives = if cfg!(miri) { 3 } else { 60 };
    let mut cuts = 0;
    for seed in 0..(if cfg!(miri) { 1 } else { 12 }) {
        cuts += play(Model::slc(32), seed, lives);
        cuts += play(Model::tiny(), seed, lives);
    }
    assert!(cuts >= lives / 2, "{cuts} cuts");
}

/// Numbers that mean something, and numbers that do not.
fn figure(dice: &mut Rng, good: u32) -> u32 {
    match dice.u32(0..40) {
        0 => dice.u32(..),
        1 => u32::MAX - dice.u32(0..3),
        2 => dice.u32(0..4),
        3 => 1 << dice.u32(0..32),
        4 => good.wrapping_add(dice.u32(0..3)).wrapping_sub(1),
        _ => good,
    }
}

fn region(dice: &mut Rng, good: Region) -> Region {
    Region {
        blocks: figure(dice, good.blocks),
        pages_per_block: figure(dice, good.pages_per_block),
        page_bytes: figure(dice, good.page_bytes),
        spare_bytes: figure(dice, good.spare_bytes),
        cell_bits: figure(dice, good.cell_bits),
        pairing: figure(dice, good.pairing),
    }
}

/// Any geometry and configuration is planned or refused, and what is planned has a worst case.
#[test]
fn any_figures_are_planned_or_refused() {
    let mut dice = Rng::with_seed(3);
    let mut planned = 0;
    for _ in 0..(if cfg!(miri) { 60 } else { 40_000 }) {
        let good = Model::tiny().geometry();
        let geometry =
            Geometry { slc: region(&mut dice, good.slc), mlc: region(&mut dice, good.mlc) };
        let mut config = crate::world::config_for(&good);
        for field in [
            &mut config.sector_bytes,
            &mut config.capacity,
            &mut config.dirty_entries,
            &mut config.cached_leaves,
            &mut config.anchor_blocks,
            &mut config.streams,
            &mut config.level_from,
        ] {
            *field = figure(&mut dice, *field);
        }
        let (mut bytes, mut detail, mut worst) = (0, SILENT, WorstCase::default());
        let (geometry, config) = (&raw const geometry, &raw const config);
        let count = figure(&mut dice, 1).max(1);
        // SAFETY: structures of ours.
        let outcome =
            unsafe { tandem_ram_bytes(geometry, config, &raw mut bytes, &raw mut detail) };
        // SAFETY: the same.
        let bound = unsafe { tandem_worst_case(geometry, config, count, &raw mut worst) };
        assert_eq!(outcome, bound);
        planned += u32::from(outcome == OK);
    }
    assert!(cfg!(miri) || planned > 1_000, "{planned}");
}

/// The same for the hybrid.
#[test]
fn any_figures_of_the_hybrid_are_planned_or_refused() {
    let mut dice = Rng::with_seed(4);
    let mut planned = 0;
    let good = Model::tiny().geometry();
    for _ in 0..(if cfg!(miri) { 60 } else { 40_000 }) {
        let geometry =
            Geometry { slc: region(&mut dice, good.slc), mlc: region(&mut dice, good.mlc) };
        let mut config = HybridConfig::default();
        // SAFETY: a structure of ours.
        assert_eq!(unsafe { tandem_hybrid_config_two_regions(&raw mut config) }, OK);
        (config.sector_bytes, config.capacity, config.cached_maps) = (1024, 320, 4);
        for field in [
            &mut config.sector_bytes,
            &mut config.capacity,
            &mut config.log,
            &mut config.log_blocks,
            &mut config.table_entries,
            &mut config.table_probes,
            &mut config.window_blocks,
            &mut config.chain_log_blocks,
            &mut config.cached_maps,
            &mut config.sketch_halves,
            &mut config.free_blocks_low,
            &mut config.copies_per_page,
        ] {
            *field = figure(&mut dice, *field);
        }
        let (mut bytes, mut detail, mut worst) = (0, SILENT, WorstCase::default());
        let (geometry, config) = (&raw const geometry, &raw const config);
        let count = figure(&mut dice, 1).max(1);
        // SAFETY: structures of ours.
        let outcome =
            unsafe { tandem_hybrid_ram_bytes(geometry, config, &raw mut bytes, &raw mut detail) };
        // SAFETY: the same.
        let bound = unsafe { tandem_hybrid_worst_case(geometry, config, count, &raw mut worst) };
        assert_eq!(outcome, bound);
        planned += u32::from(outcome == OK);
    }
    assert!(cfg!(miri) || planned > 1_000, "{planned}");
}
