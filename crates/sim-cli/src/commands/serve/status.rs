//! Two status lines on standard error, updated each second, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim::engine::replay::Served;
use sim::engine::systems::{PartState, System};
use sim::show;

/// The lines.
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

    /// Rewrites the lines.
    pub(super) fn tell(&self, system: &dyn System, served: &Served, cuts: u64, rs: Option<f64>) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(lines(system, served, cuts, rs));
        self.bar.tick();
    }

    /// Whether they are hidden.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Erases the lines.
    pub(super) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

fn lines(system: &dyn System, served: &Served, cuts: u64, rs: Option<f64>) -> String {
    let requests = served.requests();
    let (all, writes) = (show::count(requests.total()), show::count(requests.writes));
    let rs = rs.map(|rs| format!("RS {rs:.2}"));
    let hardware = system.hardware();
    // The programmed bytes matter for a memory in front of others.
    let front = hardware.parts.iter().filter(|part| hardware.parts.len() > 1 && part.is_front());
    let in_use = front.map(|part| format!("{} {:.0} % programmed", part.name, 100.0 * share(part)));
    let worn = hardware.parts.iter().filter(|part| !part.wear.is_empty());
    let wear: Vec<String> =
        worn.map(|part| format!("{} {:.2}", part.name, mean(&part.wear))).collect();
    let wear = (!wear.is_empty()).then(|| format!("erases a block: {}", wear.join(", ")));
    let cuts = (cuts > 0).then(|| format!("{} power cuts", show::count(cuts)));
    let host = [Some(format!("{all} requests, {writes} writes")), rs, cuts].into_iter().flatten();
    let flash = in_use.chain(wear);
    // Two lines, each of which fits 60 columns.
    [host.collect::<Vec<_>>().join(", "), flash.collect::<Vec<_>>().join(", ")].join("\n")
}

#[allow(clippy::cast_precision_loss)] // A line shows two digits.
fn share(part: &PartState) -> f64 {
    part.programmed as f64 / part.bytes.max(1) as f64
}

#[allow(clippy::cast_precision_loss)]
fn mean(wear: &[u32]) -> f64 {
    let erases: u64 = wear.iter().copied().map(u64::from).sum();
    erases as f64 / wear.len() as f64
}
