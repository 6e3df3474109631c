//! Faults besides the cuts: which, and how often.

use nand_model::datasheet;

/// Faults, and how often they occur: once in this many operations, never at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Faults {
    /// Programs that fail.
    pub program: u32,
    /// Erases that fail.
    pub erase: u32,
    /// Bad-block marks that fail.
    pub mark: u32,
    /// Programs and erases of a block that has failed before.
    pub again: u32,
    /// Failures of blocks that a power cut follows some operations later.
    pub then_cut: u32,
    /// Pages of host data that cannot be read back.
    pub uncorrectable: u32,
    /// Bad blocks of each region when the device leaves the factory.
    pub factory_bad: u32,
    /// Whether bits flip, as many as the error correction corrects.
    pub bits: bool,
    /// Whether blocks keep failing when the reserve is used up.
    pub beyond_reserve: bool,
}

/// An unknown name of faults.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no faults `{0}`: {meant}take some of {all}, with commas between them",
    meant = datasheet::meant(.0, Faults::NAMES),
    all = Faults::NAMES.join(", ")
)]
pub struct NoSuchFaults(String);

impl Faults {
    /// The names that [`parse`](Self::parse) accepts.
    pub const NAMES: [&str; 8] =
        ["program", "erase", "mark", "uncorrectable", "factory", "bits", "beyond", "all"];

    /// No fault.
    pub const NONE: Self = Self {
        program: 0,
        erase: 0,
        mark: 0,
        again: 0,
        then_cut: 0,
        uncorrectable: 0,
        factory_bad: 0,
        bits: false,
        beyond_reserve: false,
    };

    /// The faults of these names, separated by commas.
    pub fn parse(names: &str) -> Result<Self, NoSuchFaults> {
        let mut faults = Self::NONE;
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "none" => {}
                "program" => faults.program = 300,
                "erase" => faults.erase = 40,
                "mark" => faults.mark = 2,
                "uncorrectable" => faults.uncorrectable = 60,
                "factory" => faults.factory_bad = 1,
                "bits" => faults.bits = true,
                "beyond" => faults.beyond_reserve = true,
                "all" => {
                    faults = Self { beyond_reserve: faults.beyond_reserve, ..Self::parse(ALL)? }
                }
                other => return Err(NoSuchFaults(other.into())),
            }
        }
        Ok(faults)
    }
}

/// The meaning of `all`: every fault that a device must tolerate without losing anything but unreadable data.
const ALL: &str = "program,erase,mark,uncorrectable,factory,bits";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_and_a_wrong_name_is_told() {
        assert_eq!(Faults::parse("").unwrap(), Faults::NONE);
        assert_eq!(Faults::parse("program,bits").unwrap().program, 300);
        assert!(Faults::parse("all,beyond").unwrap().beyond_reserve);
        for name in Faults::NAMES {
            assert_ne!(Faults::parse(name).unwrap(), Faults::NONE, "{name}");
        }
        let near = Faults::parse("progam").unwrap_err().to_string();
        assert!(near.contains("did you mean `program`?"), "{near}");
        assert!(Faults::parse("thunder").unwrap_err().to_string().contains("`thunder`: take"));
    }
}
