//! Figures as a device file writes them: a number and its unit in one string, or a count within limits.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

use crate::part::Nanos;

/// A kind of quantity: how people call it, and its units in terms of the smallest one.
struct Quantity {
    noun: &'static str,
    example: &'static str,
    /// The largest figure that can be meant, in the smallest unit. What lies above is a slip of the pen, and would
    /// overflow sums over long runs.
    max: u64,
    max_text: &'static str,
    units: &'static [(&'static str, u64)],
}

/// An hour: no operation of a chip takes a second.
const TIME: Quantity = Quantity {
    noun: "a time",
    example: "25us",
    max: 3_600_000_000_000,
    max_text: "3600s",
    units: &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
};

/// A millisecond a byte: a bus of one kilobyte a second.
const BUS: Quantity = Quantity {
    noun: "a time a byte",
    example: "1.25ns",
    max: 1_000_000_000,
    max_text: "1ms",
    units: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000)],
};

const SIZE: Quantity = Quantity {
    noun: "a size",
    example: "2KiB",
    max: 1 << 60,
    max_text: "1048576TiB",
    units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)],
};

/// Above the 18 V or so that a chip makes for itself.
const VOLTAGE: Quantity = Quantity {
    noun: "a voltage",
    example: "3.3V",
    max: 100_000,
    max_text: "100V",
    units: &[("mV", 1), ("V", 1_000)],
};

const CURRENT: Quantity = Quantity {
    noun: "a current",
    example: "15mA",
    max: 100_000_000,
    max_text: "100A",
    units: &[("uA", 1), ("mA", 1_000), ("A", 1_000_000)],
};

pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    from.deserialize_str(Text(&TIME)).map(Nanos::new)
}

pub(super) fn picos_per_byte<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_str(Text(&BUS))
}

pub(super) fn size<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_str(Text(&SIZE))
}

pub(super) fn millivolts<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    from.deserialize_str(Text(&VOLTAGE)).map(|millivolts| millivolts as u32)
}

pub(super) fn microamps<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    from.deserialize_str(Text(&CURRENT)).map(|microamps| microamps as u32)
}

/// A count of which there must be at least one.
pub(super) fn some<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    from.deserialize_u32(WholeNumber { least: 1 })
}

/// A count that may be zero.
pub(super) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    from.deserialize_u32(WholeNumber { least: 0 })
}

/// A price in US dollars.
pub(super) fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    from.deserialize_f64(Dollars)
}

impl Quantity {
    /// Reads a decimal number and its unit exactly, in integers: `1.5ms` is 1,500,000 ns.
    fn parse(&self, text: &str) -> Result<u64, String> {
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let unit = unit.trim();
        let Some(scale) = self.units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| scale)
        else {
            let known: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
            return Err(if number.is_empty() {
                format!("`{text}` does not start with a number: write {}", self.form())
            } else {
                format!(
                    "`{text}` has no unit of {}: end it with one of {}",
                    self.noun,
                    known.join(", ")
                )
            });
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
            return Err(format!("`{text}` is no decimal number: write {}", self.form()));
        }
        let too_large = || format!("`{text}` is too large: give at most {}", self.max_text);
        // Twenty digits each cannot overflow 128 bits, and no figure needs more.
        if whole.len() > 20 || fraction.len() > 18 {
            return Err(format!("`{text}` has too many digits: write {}", self.form()));
        }
        let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
        let divisor = 10_u128.pow(fraction.len() as u32);
        let scaled = digits.checked_mul(u128::from(*scale)).ok_or_else(too_large)?;
        if !scaled.is_multiple_of(divisor) {
            let smallest = self.units[0].0;
            return Err(format!(
                "`{text}` is finer than 1{smallest}: round it to whole {smallest}"
            ));
        }
        match u64::try_from(scaled / divisor) {
            Ok(value) if value <= self.max => Ok(value),
            _ => Err(too_large()),
        }
    }

    fn form(&self) -> String {
        format!("{} with its unit, such as \"{}\"", self.noun, self.example)
    }
}

/// Visits a string that holds a quantity.
struct Text(&'static Quantity);

impl Visitor<'_> for Text {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.form())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        self.0.parse(text).map_err(E::custom)
    }
}

/// Visits a whole number within 32 bits.
struct WholeNumber {
    least: u32,
}

impl Visitor<'_> for WholeNumber {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.least, u32::MAX)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        match u32::try_from(number) {
            Ok(count) if count >= self.least => Ok(count),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        match u32::try_from(number) {
            Ok(count) if count >= self.least => Ok(count),
            _ => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }
}

/// Visits a price.
struct Dollars;

/// More than any memory has cost since core.
const DOLLARS_MAX: f64 = 1e6;

impl Visitor<'_> for Dollars {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a price in US dollars from 0 to {DOLLARS_MAX}")
    }

    fn visit_f64<E: Error>(self, price: f64) -> Result<f64, E> {
        if (0.0..=DOLLARS_MAX).contains(&price) {
            Ok(price)
        } else {
            Err(E::invalid_value(Unexpected::Float(price), &self))
        }
    }

    // Whole dollars may be written without a point; what a float cannot hold exactly is out of range anyway.
    fn visit_i64<E: Error>(self, price: i64) -> Result<f64, E> {
        match i32::try_from(price) {
            Ok(price) => self.visit_f64(f64::from(price)),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(price), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_exactly_in_their_smallest_unit() {
        assert_eq!(TIME.parse("25us"), Ok(25_000));
        assert_eq!(TIME.parse("1.5ms"), Ok(1_500_000));
        assert_eq!(TIME.parse("1.5 ms"), Ok(1_500_000));
        assert_eq!(TIME.parse("0ns"), Ok(0));
        assert_eq!(BUS.parse("19.231ns"), Ok(19_231));
        assert_eq!(SIZE.parse("2KiB"), Ok(2048));
        assert_eq!(SIZE.parse("20GiB"), Ok(20 << 30));
        assert_eq!(SIZE.parse("0.5KiB"), Ok(512));
        assert_eq!(VOLTAGE.parse("3.3V"), Ok(3_300));
        assert_eq!(CURRENT.parse("15mA"), Ok(15_000));
    }

    #[test]
    fn a_figure_without_its_unit_or_with_a_foreign_one_is_refused() {
        for text in ["25", "25 V", "25Us", "25kb", "us"] {
            let reason = TIME.parse(text).expect_err(text);
            assert!(reason.contains("ns, us, ms, s") || reason.contains("\"25us\""), "{reason}");
        }
    }

    #[test]
    fn a_negative_huge_or_broken_figure_is_refused() {
        for text in ["-25us", "1.2.3us", ".5us", "5.us", "1e3us", "", "²us"] {
            assert!(TIME.parse(text).is_err(), "{text}");
        }
        assert!(TIME.parse("0.5ns").unwrap_err().contains("finer than 1ns"));
        assert!(TIME.parse("3601s").unwrap_err().contains("at most 3600s"));
        assert!(TIME.parse("99999999999999999999s").unwrap_err().contains("at most"));
        assert!(TIME.parse("999999999999999999999s").unwrap_err().contains("too many digits"));
    }
}
