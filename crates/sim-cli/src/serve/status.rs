//! A line a second on standard error, where somebody sees it.

use ftl_iface::{Block, Region};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nand_model::Chip;

use crate::replay::Served;
use crate::show;

/// The line.
pub(super) struct Status {
    bar: ProgressBar,
}

impl Status {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Writes the line anew.
    pub(super) fn tell(&self, chip: &Chip, served: &Served, cuts: u64, rs: Option<f64>) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(line(chip, served, cuts, rs));
        self.bar.tick();
    }

    /// Whether nobody sees it.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Takes the line away.
    pub(super) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

fn line(chip: &Chip, served: &Served, cuts: u64, rs: Option<f64>) -> String {
    let requests = served.requests();
    let (all, writes) = (show::count(requests.total()), show::count(requests.writes));
    let rs = rs.map(|rs| format!("RS {rs:.2}"));
    let slc = slc_in_use(chip).map(|share| format!("SLC {:.0} % programmed", share * 100.0));
    let wear = Region::ALL
        .map(|region| Some(format!("{} {:.2} erases a block", region.name(), wear(chip, region)?)));
    let cuts = (cuts > 0).then(|| format!("{} power cuts", show::count(cuts)));
    let parts = [Some(format!("{all} requests ({writes} writes)")), rs, slc];
    let parts: Vec<String> = parts.into_iter().chain(wear).chain([cuts]).flatten().collect();
    parts.join(", ")
}

/// Pages of the SLC that are programmed, as a share; none where it is all there is, or there is none.
#[allow(clippy::cast_precision_loss)] // A line shows two digits.
fn slc_in_use(chip: &Chip) -> Option<f64> {
    let geometry = &chip.part().geometry;
    let slc = geometry.slc().filter(|_| geometry.mlc().is_some())?;
    let blocks = (0..slc.blocks.get()).map(|index| Block::new(Region::Slc, index));
    let pages: u64 = blocks.map(|block| u64::from(chip.next_page(block))).sum();
    Some(pages as f64 / slc.pages() as f64)
}

/// Mean erases of a block.
#[allow(clippy::cast_precision_loss)]
fn wear(chip: &Chip, region: Region) -> Option<f64> {
    let shape = chip.part().geometry.region(region)?;
    let erases: u64 = chip.erase_counts(region).map(u64::from).sum();
    Some(erases as f64 / f64::from(shape.blocks.get()))
}
