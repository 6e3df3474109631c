//! Power fails while both headers of a device are rewritten, and again during the next rewrite. In between, a page of a
//! header dies, or power fails a third time afterwards. One header must be left.

use ftl_iface::{Block, Bytes, NandDevice, Page, Region};
use nand_model::faults::{Ageing, FaultInjector};
use nand_model::part::{Ecc, Nanos};
use nand_model::power::{Cut, Fates, PageFate, PowerCut};
use nand_model::{Chip, Content, Fork, datasheet};
use torture::dice::Dice;

/// A chip whose data fades, so that headers are refreshed.
pub(crate) type Fading = FaultInjector<Chip>;

/// Wrong bits in proportion to the days since the block was written: one per codeword in four days.
const BY_THE_DAY: Ageing = Ageing {
    floor: 0.0,
    wear: (0.0, 0.0),
    retention: (0.25 / 4096.0, 0.0, 1.0),
    disturb: (0.0, 0.0, 0.0),
};

/// Returns this many days.
pub(crate) const fn days(count: u64) -> Nanos {
    Nanos::new(count * 86_400_000_000_000)
}

/// Returns a built-in chip whose data fades.
fn fading(name: &str, seed: u64) -> Fading {
    let part = datasheet::builtin(name).expect("known");
    let mut device = FaultInjector::new(Chip::new(&part, Content::Bytes).expect("a chip"), seed);
    for region in Region::ALL.into_iter().filter(|region| part.geometry.region(*region).is_some()) {
        let ecc = Ecc { correctable_bits: 8, codeword_bytes: 512 };
        device.age_region(region, BY_THE_DAY, ecc).expect("the region is there");
    }
    device
}

/// What became of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mounted {
    Yes,
    No,
}

/// An FTL on a device without data, so that only the headers are refreshed.
pub(crate) trait Headers {
    /// Formats.
    fn format<D: NandDevice>(&self, device: &mut D);

    /// Mounts, reads everything once and refreshes what is weak.
    fn refresh<D: NandDevice>(&self, device: &mut D) -> Mounted;
}

/// Returns the effect of a power cut in the operation with this number: one in two erases leaves pages that are
/// readable for a while, and one in two programs leaves such a page.
fn cut(at: u64, dice: &mut Dice) -> Cut {
    let drawn = Cut::seeded(at, dice.below(u32::MAX).into());
    let mut fates: Fates = *drawn.fates();
    if dice.below(2) == 0 {
        fates.page = PageFate::Unstable { reads: dice.below(6) };
    }
    Cut::chosen(at, fates)
}

/// Returns a device after a power cut in a refresh and some idle days.
fn after_a_cut(
    device: &mut Fading,
    at: u64,
    ftl: &impl Headers,
    dice: &mut Dice,
) -> Option<Fading> {
    let mut device = PowerCut::new(device.fork(), cut(at, dice));
    ftl.refresh(&mut device);
    if device.is_on() {
        return None;
    }
    let mut device = device.into_inner();
    device.age(days(1));
    Some(device)
}

/// Whether a page reads as erased: such a page does not die.
fn is_erased(device: &mut Fading, page: Page) -> bool {
    let mut start = [0; 16];
    let read = device.fork().read(page, Bytes::ZERO, &mut start, &mut []);
    read.is_ok() && start == [0xFF; 16]
}

/// Returns the four pages for a copy of the header.
fn copies(device: &Fading) -> [Page; 4] {
    let geometry = device.geometry();
    let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
    let pairing = geometry.region(region).expect("it has that region").pairing;
    let copy = |block, line| Block::new(region, block).page(pairing.nth_first_page(line));
    [copy(0, 0), copy(0, 1), copy(1, 0), copy(1, 1)]
}

/// Operations in which power fails a third time: a header is erased and programmed twice.
const THIRD_CUTS: u64 = 4;

/// What a device has gone through.
#[derive(Clone, Copy)]
struct Past {
    seed: u64,
    /// The operation of the first cut.
    cut: u64,
    dead: Option<Page>,
}

/// Mounts a device after all cuts, a few times, so that the pages left by any are read.
fn mounts(mut device: Fading, ftl: &impl Headers, past: Past) -> Result<(), String> {
    let found = (0..3).all(|_| {
        let mounted = ftl.refresh(&mut device);
        device.age(days(1));
        mounted == Mounted::Yes
    });
    let Past { seed, cut, dead } = past;
    if found { Ok(()) } else { Err(format!("seed {seed}, first cut {cut}, dead {dead:?}")) }
}

/// Cuts power in each operation of another refresh, and again where no page died. Returns the number of cuts.
fn cut_again(
    mut once: Fading,
    ftl: &impl Headers,
    dice: &mut Dice,
    past: Past,
) -> Result<u32, String> {
    let mut cuts = 0;
    for second in 0.. {
        let Some(mut twice) = after_a_cut(&mut once, second, ftl, dice) else { break };
        for third in (0..THIRD_CUTS).filter(|_| past.dead.is_none()) {
            let Some(thrice) = after_a_cut(&mut twice, third, ftl, dice) else { break };
            mounts(thrice, ftl, past)?;
        }
        mounts(twice, ftl, past)?;
        cuts += 1;
    }
    Ok(cuts)
}

/// Cuts power in each of two refreshes of a device, at every operation of either, and lets no page or one of a header
/// die in between. Returns the number of pairs of cuts.
fn cut_twice(device: &mut Fading, ftl: &impl Headers, seed: u64) -> Result<u32, String> {
    let mut dice = Dice::new(seed);
    let mut pairs = 0;
    let copies = copies(device).into_iter().map(Some);
    let deaths: Vec<Option<Page>> = [None].into_iter().chain(copies).collect();
    for cut in 0.. {
        let Some(mut once) = after_a_cut(device, cut, ftl, &mut dice) else { break };
        for dead in &deaths {
            let mut once = once.fork();
            match *dead {
                Some(page) if is_erased(&mut once, page) => continue,
                Some(page) => once.lose(page),
                None => {}
            }
            pairs += cut_again(once, ftl, &mut dice, Past { seed, cut, dead: *dead })?;
        }
    }
    Ok(pairs)
}

/// Returns the number of pairs of cuts, on so many devices of that name, or what went wrong.
pub(crate) fn pairs_of_cuts(name: &str, devices: u64, ftl: &impl Headers) -> Result<u32, String> {
    let cut = |seed| {
        let mut device = fading(name, seed);
        ftl.format(&mut device);
        device.age(days(4));
        cut_twice(&mut device, ftl, seed).map_err(|told| format!("{name}: {told}"))
    };
    (0..devices).map(cut).sum()
}

/// A device of which one header block is bad from the factory: the only header loses a page, and power fails in
/// whatever the next life does about it.
pub(crate) fn only_header(name: &str, seed: u64, ftl: &impl Headers) -> Result<(), String> {
    let mut device = fading(name, seed);
    let [first, _, other, _] = copies(&device);
    device.mark_bad(other.block()).expect("marked");
    ftl.format(&mut device);
    device.lose(first);
    let mut dice = Dice::new(seed);
    for cut in 0..THIRD_CUTS {
        let Some(cut_once) = after_a_cut(&mut device, cut, ftl, &mut dice) else { break };
        mounts(cut_once, ftl, Past { seed, cut, dead: Some(first) })?;
    }
    mounts(device, ftl, Past { seed, cut: 0, dead: Some(first) })
}
