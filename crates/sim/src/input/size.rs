//! Sizes as typed: `256MiB`, `20G`, `4KiB`, `20GB`.

/// Units and their factors, as in GNU's tools. A bare number is bytes.
const UNITS: [(&str, u64); 14] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("T", 1 << 40),
    ("G", 1 << 30),
    ("M", 1 << 20),
    ("K", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
    ("", 1),
];

/// Reads a size: a whole number and its unit.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let scale = scale.map(|(_, scale)| *scale);
    let number: Option<u64> = number.parse().ok();
    match (number, scale) {
        (Some(number), Some(scale)) => {
            number.checked_mul(scale).ok_or_else(|| format!("`{text}` is more than any device has"))
        }
        _ => Err(format!(
            "`{text}` is no size: write a whole number and K, M, G or T, as in 20GiB or 20G (of 1024) or 20GB (of 1000)"
        )),
    }
}

/// Bytes a day: a life at none would never end.
pub fn a_day(text: &str) -> Result<u64, String> {
    match parse(text)? {
        0 => Err("a host that writes nothing wears nothing: give what it writes a day, as in 20GB"
            .into()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::show;

    #[test]
    fn a_size_reads_as_it_is_shown() {
        for bytes in
            [0, 1, 512, 1536, 4096, 256 << 20, 20 << 30, 3 << 40, 20_000_000_000, 999_999_488]
        {
            assert_eq!(parse(&show::size(bytes)), Ok(bytes));
        }
        assert_eq!([show::size(20_000_000_000), show::size(20 << 30)], ["20GB", "20GiB"]);
        assert_eq!(parse("4096"), Ok(4096));
    }

    #[test]
    fn short_units_are_powers_of_1024_and_those_of_disks_of_1000() {
        assert_eq!(
            [parse("20G"), parse("20g"), parse("20gib")],
            [Ok(20 << 30), Ok(20 << 30), Ok(20 << 30)]
        );
        assert_eq!([parse("20GB"), parse("256MB")], [Ok(20_000_000_000), Ok(256_000_000)]);
        assert_eq!([parse("4K"), parse("4kB"), parse("1T")], [Ok(4096), Ok(4000), Ok(1 << 40)]);
    }

    #[test]
    fn what_is_no_size_is_told_how_to_write_one() {
        for text in ["", "GiB", "1.5GiB", "20GX", "-1", "20 GiB", "99999999999TiB"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("100PiB").unwrap_err().contains("K, M, G or T, as in 20GiB"));
    }
}
