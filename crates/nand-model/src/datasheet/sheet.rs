//! The shape of a device file, key by key.
//!
//! What is checked here is each key by itself: its type, its unit, its range. How keys agree is
//! [`check`](super::check)'s.

use std::fmt;

use ftl_iface::{Cell, Pairing};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::units;
use crate::part::{Nanos, Stripe};

/// A whole device file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) title: String,
    #[serde(deserialize_with = "units::size")]
    pub(super) exported: u64,
    #[serde(deserialize_with = "units::size")]
    pub(super) sector: u64,
    /// Whose the prices are, and of which year.
    pub(super) price_source: Option<String>,
    pub(super) power: PowerSheet,
    pub(super) layout: Option<LayoutSheet>,
    pub(super) slc: Option<RegionSheet>,
    pub(super) mlc: Option<RegionSheet>,
}

/// The section `[power]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PowerSheet {
    #[serde(deserialize_with = "units::millivolts")]
    pub(super) supply: u32,
    #[serde(deserialize_with = "units::microamps")]
    pub(super) active: u32,
    #[serde(deserialize_with = "units::microamps")]
    pub(super) standby: u32,
}

/// The section `[layout]`; without it the device is one die on one bus. Or `[slc.layout]` and `[mlc.layout]`; without
/// them the region lies on the device's dies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayoutSheet {
    #[serde(deserialize_with = "units::some")]
    pub(super) channels: u32,
    #[serde(deserialize_with = "units::some")]
    pub(super) dies_per_channel: u32,
    #[serde(deserialize_with = "units::some")]
    pub(super) planes_per_die: u32,
    /// May be left out, where a block lies on one plane.
    #[serde(default)]
    pub(super) stripe: Stripe,
}

/// One of the sections `[slc]` and `[mlc]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegionSheet {
    /// May be left out in `[slc]`, where there is no choice.
    pub(super) cell: Option<Cell>,
    #[serde(deserialize_with = "units::some")]
    pub(super) blocks: u32,
    #[serde(deserialize_with = "units::some")]
    pub(super) pages_per_block: u32,
    #[serde(deserialize_with = "units::size")]
    pub(super) page: u64,
    #[serde(deserialize_with = "units::size")]
    pub(super) spare: u64,
    pub(super) pairing: PairingSheet,
    #[serde(deserialize_with = "units::time")]
    pub(super) read: Nanos,
    #[serde(deserialize_with = "units::time")]
    pub(super) program: Nanos,
    #[serde(deserialize_with = "units::time")]
    pub(super) erase: Nanos,
    #[serde(deserialize_with = "units::picos_per_byte")]
    pub(super) bus_per_byte: u64,
    #[serde(deserialize_with = "units::some")]
    pub(super) endurance: u32,
    #[serde(deserialize_with = "units::any")]
    pub(super) ecc_bits: u32,
    #[serde(deserialize_with = "units::size")]
    pub(super) ecc_codeword: u64,
    #[serde(deserialize_with = "units::any")]
    pub(super) factory_bad_blocks_max: u32,
    #[serde(deserialize_with = "units::dollars")]
    pub(super) dollars_per_gib: f64,
    pub(super) slc_mode: Option<SlcModeSheet>,
    pub(super) layout: Option<LayoutSheet>,
}

/// The section `[mlc.slc_mode]`; without it blocks have one mode.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlcModeSheet {
    #[serde(deserialize_with = "units::some")]
    pub(super) pages_per_block: u32,
    #[serde(deserialize_with = "units::time")]
    pub(super) read: Nanos,
    #[serde(deserialize_with = "units::time")]
    pub(super) program: Nanos,
    #[serde(deserialize_with = "units::time")]
    pub(super) erase: Nanos,
    #[serde(deserialize_with = "units::some")]
    pub(super) endurance: u32,
}

/// The key `pairing`: the name of a scheme, or the part's own table.
pub(super) enum PairingSheet {
    Named(Pairing),
    Table(Vec<u16>),
}

/// The schemes that a file can name.
pub(super) const SCHEMES: [(&str, Pairing); 5] = [
    ("none", Pairing::None),
    ("adjacent2", Pairing::Adjacent2),
    ("adjacent3", Pairing::Adjacent3),
    ("distance3", Pairing::Distance3),
    ("distance6", Pairing::Distance6),
];

impl<'de> Deserialize<'de> for PairingSheet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PairingVisitor)
    }
}

struct PairingVisitor;

impl<'de> Visitor<'de> for PairingVisitor {
    type Value = PairingSheet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, _) in SCHEMES {
            write!(f, "\"{name}\", ")?;
        }
        f.write_str("or a list with the number of each page's word line, such as [0, 1, 0, 1]")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PairingSheet, E> {
        match SCHEMES.iter().find(|(name, _)| *name == text) {
            Some((_, scheme)) => Ok(PairingSheet::Named(*scheme)),
            None => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PairingSheet, A::Error> {
        let mut lines = Vec::new();
        while let Some(line) = list.next_element()? {
            lines.push(line);
        }
        Ok(PairingSheet::Table(lines))
    }
}
