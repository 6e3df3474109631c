//! Four drives of which a fill curve is published: tests in which a copy in requests of 1 MB by a single thread fills
//! an erased drive.

/// A drive as sold.
pub(super) struct SoldDrive {
    pub(super) name: &'static str,
    /// Its file of charts.
    pub(super) short: &'static str,
    /// The text of its device file, [`DIVISOR`] times smaller.
    pub(super) file: &'static str,
    pub(super) system: &'static str,
    /// Gigabytes that it exports.
    pub(super) gigabytes: f64,
    /// The published phases of a fill.
    pub(super) phases: &'static [Phase],
    /// The published mean of a fill, in gigabytes per second.
    pub(super) mean: f64,
}

/// A phase of a fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phase {
    /// Gigabytes per second.
    pub(super) speed: f64,
    /// Gigabytes that are written at its end, if there is another one and its beginning is known.
    pub(super) until: Option<f64>,
}

/// The device files describe a drive that is so many times smaller.
pub(super) const DIVISOR: f64 = 64.0;

const fn phase(speed: f64, until: Option<f64>) -> Phase {
    Phase { speed, until }
}

pub(super) const DRIVES: [SoldDrive; 4] = [
    SoldDrive {
        name: "Samsung 980 Pro 1 TB",
        short: "980-pro",
        file: include_str!("../../../../../parts/980-pro-1tb.toml"),
        system: "pslc?static=0&dynamic=310&fold=25",
        gigabytes: 1000.0,
        phases: &[phase(4.0, Some(113.0)), phase(1.5, None)],
        mean: 1.9,
    },
    SoldDrive {
        name: "MSI Spatium M480 Play 2 TB",
        short: "m480-play",
        file: include_str!("../../../../../parts/spatium-m480-play-2tb.toml"),
        system: "pslc?static=0&dynamic=275",
        gigabytes: 2000.0,
        phases: &[phase(5.0, Some(200.0)), phase(3.5, Some(1600.0)), phase(1.5, None)],
        mean: 3.1,
    },
    SoldDrive {
        name: "Lexar NM800 Pro 2 TB",
        short: "nm800-pro",
        file: include_str!("../../../../../parts/nm800-pro-2tb.toml"),
        system: "pslc?static=0&dynamic=805",
        gigabytes: 2000.0,
        phases: &[phase(3.5, Some(592.0)), phase(2.2, None), phase(1.0, None)],
        mean: 1.51,
    },
    SoldDrive {
        name: "XPG Atom 50 1 TB",
        short: "atom-50",
        file: include_str!("../../../../../parts/xpg-atom-50-1tb.toml"),
        system: "pslc?static=0&dynamic=760&full=direct",
        gigabytes: 1000.0,
        phases: &[phase(4.5, Some(280.0)), phase(2.0, Some(500.0)), phase(0.5, None)],
        mean: 0.8,
    },
];
