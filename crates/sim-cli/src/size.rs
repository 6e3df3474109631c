//! Sizes as people type them: `256MiB`, `20GiB`, `4KiB`.

/// Units and what they hold. A bare number is bytes.
const UNITS: [(&str, u64); 6] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)];

/// Reads a size: a whole number and its unit.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let number: Option<u64> = number.parse().ok();
    match (number, scale) {
        (Some(number), Some(scale)) => {
            number.checked_mul(scale).ok_or_else(|| format!("`{text}` is more than any device has"))
        }
        _ => Err(format!("`{text}` is no size: write a whole number and B, KiB, MiB, GiB or TiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    #[test]
    fn a_size_reads_as_it_is_shown() {
        for bytes in [0, 1, 512, 1536, 4096, 256 << 20, 20 << 30, 3 << 40] {
            assert_eq!(parse(&show::size(bytes)), Ok(bytes));
        }
        assert_eq!(parse("4096"), Ok(4096));
    }

    #[test]
    fn what_is_no_size_is_told_how_to_write_one() {
        for text in ["", "GiB", "1.5GiB", "20GB", "-1", "20 GiB", "99999999999TiB"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("20GB").unwrap_err().contains("GiB"));
    }
}
