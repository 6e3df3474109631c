//! Whose prices a system's parts have. Prices of different papers and years are not divided by each other.

use std::fmt;

use nand_model::part::Part;

/// Where prices come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices(String);

impl Prices {
    /// Those of a device: a file that names no source is one of its own.
    pub fn of(part: &Part) -> Self {
        let unnamed = || format!("the device file of {}", part.name);
        Self(part.price_source.clone().unwrap_or_else(unnamed))
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
    use nand_model::datasheet;

    use super::*;

    #[test]
    fn every_device_of_ours_has_a_source_of_its_prices() {
        for name in datasheet::builtin_names() {
            let part = datasheet::builtin(name).unwrap();
            assert!(part.price_source.is_some(), "{name}");
        }
    }

    #[test]
    fn a_device_file_is_a_source_of_its_own_unless_it_names_another() {
        let c3 = datasheet::builtin("c3").unwrap();
        let mine = Part { name: "mine".into(), ..c3.clone() };
        assert_eq!(Prices::of(&mine), Prices::of(&c3));
        let mine = Part { price_source: None, ..mine };
        assert_eq!(Prices::of(&mine).to_string(), "the device file of mine");
    }
}
