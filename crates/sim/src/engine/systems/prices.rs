//! Whose prices a system's parts have. Prices of different papers and years are not divided by each other.

use std::fmt;

/// Where prices come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices(String);

/// The parts files of this repository, and the source and year of their prices.
const KNOWN: [(&[&str], &str); 4] = [
    (
        &[
            "c1",
            "c2",
            "c3",
            "k9f2g08u0a",
            "k9gag08u0m",
            "ko",
            "tiny",
            "tiny-mlc",
            "tiny-slc",
            "tiny-tlc",
            "flex",
        ],
        "Chang, Table 1 (2010)",
    ),
    (&["ahdm"], "Batni and Safaei, Table 5 (2014)"),
    (&["spi-nand-1g"], "assumption: $1.50 a chip (2018)"),
    (&["tlc-pslc"], "assumption: contract prices of TLC (early 2020s)"),
];

impl Prices {
    /// Those of the device of that name: a file of ours, or of the user's.
    pub fn of(device: &str) -> Self {
        let known = KNOWN.iter().find(|(names, _)| names.contains(&device));
        known.map_or_else(
            || Self::new(format!("the device file of {device}")),
            |(_, of)| Self::new(*of),
        )
    }

    /// Prices of that source.
    pub fn new(source: impl Into<String>) -> Self {
        Self(source.into())
    }

    /// These with a disk behind the flash.
    pub(super) fn with_disk(self) -> Self {
        Self(format!("{}, and a disk at $40 (2008)", self.0))
    }

    /// Storage class memories, by their cost in bits of TLC.
    pub(super) fn of_scm() -> Self {
        Self::new("Kinoshita et al. (2018): bits of TLC, at its price of the early 2020s")
    }
}

impl fmt::Display for Prices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_of_ours_has_a_source_of_its_prices() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(!Prices::of(name).to_string().contains("device file"), "{name}");
        }
        assert_eq!(Prices::of("mine").to_string(), "the device file of mine");
    }
}
