//! Power fails while both headers of a device are rewritten, and again during the next rewrite; in between, a page of a
//! header may die. One header must be left.

use ftl_iface::{Block, Bytes, NandDevice, Page, Region};
use nand_model::Fork;
use nand_model::power::{Cut, Fates, PageFate, PowerCut};

use super::Dice;
use super::fading::{Fading, days};

/// What became of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounted {
    Yes,
    No,
}

/// An FTL on a device without data, so that only the headers are refreshed.
pub trait Headers {
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
fn copies(device: &Fading) -> Vec<Page> {
    let geometry = device.geometry();
    let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
    let pairing = geometry.region(region).expect("it has that region").pairing;
    let copy = |block, line| Block::new(region, block).page(pairing.nth_first_page(line));
    (0..4).map(|at| copy(at / 2, at as u16 % 2)).collect()
}

/// Cuts power in each of two refreshes of a device, at every operation of either, and lets no page or one of a header
/// die in between. Returns the number of pairs of cuts.
pub fn cut_twice(device: &mut Fading, ftl: &impl Headers, seed: u64) -> u32 {
    let mut dice = Dice::new(seed);
    let mut cuts = 0;
    let copies = copies(device);
    let deaths: Vec<Option<Page>> =
        [None].into_iter().chain(copies.into_iter().map(Some)).collect();
    for first in 0.. {
        let Some(mut once) = after_a_cut(device, first, ftl, &mut dice) else { break };
        for dead in &deaths {
            let mut once = once.fork();
            if let Some(page) = *dead {
                if is_erased(&mut once, page) {
                    continue;
                }
                once.lose(page);
            }
            for second in 0.. {
                let twice = after_a_cut(&mut once, second, ftl, &mut dice);
                let Some(mut twice) = twice else { break };
                cuts += 1;
                // By now the pages left by either cut are read.
                for life in 0..3 {
                    let mounted = ftl.refresh(&mut twice);
                    assert_eq!(
                        mounted,
                        Mounted::Yes,
                        "seed {seed}: cuts {first} and {second}, dead {dead:?}, life {life}"
                    );
                    twice.age(days(1));
                }
            }
        }
    }
    cuts
}
