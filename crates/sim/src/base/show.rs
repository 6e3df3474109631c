//! Figures in readable form.

use std::borrow::Borrow;

use nand_model::Energy;
use nand_model::part::Nanos;

const UNITS: [(&str, u64); 7] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
];

/// A size in the first unit that makes it a whole number, as commands take it: `256MiB`, `20GB`.
pub fn size(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale));
    match unit {
        Some((name, scale)) => format!("{}{name}", bytes / scale),
        None => format!("{bytes}B"),
    }
}

/// A size in a sentence: as commands take it where that is short, else rounded.
pub fn short(bytes: u64) -> String {
    const LONGEST: usize = 8;
    let exact = size(bytes);
    if exact.len() <= LONGEST { exact } else { about(bytes) }
}

/// A list in a sentence: `a, b or c`.
pub fn listed<T: Borrow<str>>(things: impl IntoIterator<Item = T>, last: &str) -> String {
    let things: Vec<T> = things.into_iter().collect();
    match things.as_slice() {
        [] => String::new(),
        [one] => one.borrow().into(),
        [others @ .., end] => format!("{} {last} {}", others.join(", "), end.borrow()),
    }
}

/// A time in microseconds.
pub fn micros(time: Nanos) -> String {
    format!("{:.3} us", time.as_micros_f64())
}

/// An energy in microjoules.
pub fn microjoules(energy: Energy) -> String {
    format!("{:.3} uJ", energy.as_microjoules_f64())
}

/// A rate in megabytes (10^6) per second, as in datasheets.
#[allow(clippy::cast_precision_loss)] // A table shows one digit after the point.
pub fn rate(bytes: u64, time: Nanos) -> String {
    format!("{:.1} MB/s", bytes as f64 / time.as_micros_f64())
}

/// A time given in microseconds, in a readable unit.
pub fn time(micros: f64) -> String {
    match micros {
        0.0 => "0".into(),
        micros if micros < 1e3 => format!("{micros:.1} us"),
        micros if micros < 1e6 => format!("{:.2} ms", micros / 1e3),
        micros => format!("{:.2} s", micros / 1e6),
    }
}

/// An energy given in millijoules, in a readable unit.
pub fn energy(millijoules: f64) -> String {
    match millijoules {
        millijoules if millijoules < 1e3 => format!("{millijoules:.2} mJ"),
        millijoules => format!("{:.2} J", millijoules / 1e3),
    }
}

/// Names in a heading, shortened, because those of a month's files would fill a page.
pub fn names(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names {
        [first, .., last] if names.len() > SHOWN => {
            format!("{first} to {last} ({} traces)", names.len())
        }
        few => few.join(" "),
    }
}

/// A share: `59.6 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A price, in cents, or exactly enough if it is below one.
pub fn dollars(price: f64) -> String {
    if price > 0.0 && price < 0.1 { format!("${price:.4}") } else { format!("${price:.2}") }
}

/// A lifetime, in days if it is short, and capped at a century.
pub fn years(years: f64) -> String {
    match years {
        years if years > 100.0 => "more than 100 years".into(),
        years if years >= 10.0 => format!("{years:.0} years"),
        years if years < 1.0 / 365.25 => "less than a day".into(),
        years if years < 1.5 / 365.25 => "1 day".into(),
        years if years < 1.0 => format!("{:.0} days", years * 365.25),
        years => format!("{years:.1} years"),
    }
}

/// A write rate in gigabytes (10^9), as disk makers count.
#[allow(clippy::cast_precision_loss)] // As above.
pub fn bytes_a_day(bytes: u64) -> String {
    let gigabytes = (bytes as f64 / 1e6).round() / 1e3;
    if gigabytes > 0.0 { format!("{gigabytes} GB a day") } else { format!("{bytes} bytes a day") }
}

/// A size in binary units with two digits after the point: `6.76 GiB`.
#[allow(clippy::cast_precision_loss)] // A table shows few digits.
pub fn about(bytes: u64) -> String {
    match UNITS.iter().find(|(_, scale)| bytes >= *scale) {
        Some((name, scale)) => format!("{:.2} {name}", bytes as f64 / *scale as f64),
        None => format!("{bytes} B"),
    }
}

/// A figure that may not have been measured.
pub fn maybe(figure: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    figure.map_or("-".into(), shown)
}

/// A sentence wrapped to a width. A number and its unit stay together.
pub fn folded(sentence: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = sentence.split(' ').peekable();
    while let Some(word) = words.next() {
        let mut word = word.to_owned();
        if word.ends_with(|end: char| end.is_ascii_digit())
            && let Some(unit) = words.next_if(|next| is_unit(next))
        {
            word = format!("{word} {unit}");
        }
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn is_unit(word: &str) -> bool {
    const ALL: [&str; 13] =
        ["us", "ms", "s", "%", "J", "mJ", "GB", "KiB", "MiB", "GiB", "years", "days", "day"];
    ALL.contains(&word.trim_end_matches([',', ';', '.', ')']))
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,%".contains(letter);
    match word {
        plain if !plain.is_empty() && plain.chars().all(is_plain) => plain.into(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A count with thousands separators: `43,008`.
pub fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them() {
        assert_eq!(quoted("/a/b-1.toml"), "/a/b-1.toml");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn a_size_is_shown_as_it_is_typed() {
        assert_eq!(size(256 << 20), "256MiB");
        assert_eq!(size(21 << 30), "21GiB");
        assert_eq!(size(1536), "1536B");
        assert_eq!(size(0), "0B");
    }

    #[test]
    fn a_size_with_many_digits_is_rounded_in_a_sentence() {
        let sizes = [256 << 20, 1_101_312 << 10, 4_999_999_488, 20_000_000_000, 1536];
        assert_eq!(sizes.map(short), ["256MiB", "1.05 GiB", "4.66 GiB", "20GB", "1536B"]);
    }

    #[test]
    fn a_number_stands_on_the_line_of_its_unit() {
        assert_eq!(
            folded("it takes 281.7 us, and more", 15),
            ["it takes", "281.7 us, and", "more"]
        );
        assert_eq!(folded("it takes 281.7 us", 10), ["it takes", "281.7 us"]);
    }

    #[test]
    fn a_count_has_its_thousands_apart() {
        assert_eq!(count(999_u32), "999");
        assert_eq!(count(43_008_u32), "43,008");
        assert_eq!(count(1_000_000_u32), "1,000,000");
    }

    #[test]
    fn a_time_is_shown_in_the_unit_that_leaves_it_readable() {
        assert_eq!([time(0.0), time(200.0)], ["0", "200.0 us"]);
        assert_eq!(time(1_500.0), "1.50 ms");
        assert_eq!(time(12_340_000.0), "12.34 s");
        assert_eq!((energy(17.25), energy(17_874.2)), ("17.25 mJ".into(), "17.87 J".into()));
        assert_eq!(maybe(None, time), "-");
        assert_eq!(
            [0.001, 0.02, 0.25, 12.4, 250.0].map(years),
            ["less than a day", "7 days", "91 days", "12 years", "more than 100 years"]
        );
        assert_eq!((percent(0.5961), dollars(70.375)), ("59.6 %".into(), "$70.38".into()));
        assert_eq!(about(1536), "1.50 KiB");
    }

    #[test]
    fn many_names_are_told_by_the_first_and_the_last() {
        let files = |count: u32| (1..=count).map(|at| format!("{at}.csv")).collect::<Vec<_>>();
        assert_eq!(names(&files(3)), "1.csv 2.csv 3.csv");
        assert_eq!(names(&files(39)), "1.csv to 39.csv (39 traces)");
    }

    #[test]
    fn a_rate_counts_as_datasheets_do() {
        assert_eq!(rate(4096, Nanos::from_micros(800)), "5.1 MB/s");
    }
}
