//! Five columns of numbers, separated by blanks: `time device address length kind`. Four formats have them, and no
//! single line shows which one it is:
//!
//! | format | time | address | length |
//! |---|---|---|---|
//! | `disksim` | milliseconds | blocks of 512 bytes | blocks of 512 bytes |
//! | `mqsim` | whole nanoseconds | blocks of 512 bytes | blocks of 512 bytes |
//! | `heimdall` | milliseconds | bytes | bytes |
//! | `flashsim` | milliseconds | blocks of 512 bytes | pages of 4 KiB |
//!
//! So the lines at a file's beginning are examined together:
//!
//! - Bytes are always multiples of 512; blocks are so only by chance, or in a stream of requests of 256 KiB.
//! - Pages begin at multiples of eight blocks, and a sequential request begins at eight times the length of the one
//!   before.
//! - A decimal point, or a kind other than 0 and 1, excludes the nanosecond format.
//!
//! If that does not decide it, the file is refused until its format is named.

use std::collections::HashSet;

use super::format::lines;
use super::units::BLOCK;
use crate::input::trace::fields::Cursor;

/// The meaning of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnMeaning {
    Disksim,
    Mqsim,
    Heimdall,
    Flashsim,
}

/// The result of examining a file's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// It has no such columns.
    Other,
    /// One reading is likely; with the reason, if another one would fit, too.
    Likely(ColumnMeaning, Option<String>),
    /// More than one reading fits, and why.
    Doubt(String),
}

/// Whether that reading is the likely one for a file that begins like this.
pub(super) fn is(reading: ColumnMeaning, head: &[u8]) -> bool {
    matches!(judge(head), Judged::Likely(likely, _) if likely == reading)
}

/// One line.
struct FiveFields {
    /// In whole units, and whether there is a decimal point.
    time: u64,
    is_decimal: bool,
    device: u64,
    address: u64,
    length: u64,
    /// Whether the kind is 0 or 1.
    is_plain: bool,
}

fn line(line: &[u8]) -> Option<FiveFields> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let number = |word: &[u8]| {
        let mut cursor = Cursor::new(word);
        cursor.number().filter(|_| cursor.at_end())
    };
    let time = words.next()?;
    let mut cursor = Cursor::new(time);
    let whole = cursor.time(1)?.get();
    let [device, address, length] = [words.next()?, words.next()?, words.next()?].map(number);
    let kind = words.next()?;
    let is_hexadecimal = kind.iter().all(u8::is_ascii_hexdigit) || kind.starts_with(b"0x");
    (cursor.at_end() && words.next().is_none() && is_hexadecimal).then_some(())?;
    Some(FiveFields {
        time: whole,
        is_decimal: time.contains(&b'.'),
        device: device?,
        address: address?,
        length: length?,
        is_plain: matches!(kind, b"0" | b"1"),
    })
}

/// Lines that are examined.
const LOOKED_AT: usize = 8192;

/// From this many requests on chance is ruled out.
const MANY: usize = 100;

/// `DiskSim` reads addresses into 31 bits: no disk of its time had more than 1 TiB.
const DISKSIM_BLOCKS: u64 = 1 << 31;

/// Requests at a shorter mean interval, in nanoseconds, are faster than any host of that time.
const NANOS_A_REQUEST: u64 = 100;

/// The evidence for the unit of the times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeUnit {
    /// Some line is written as only formats with milliseconds write theirs.
    Millis,
    Untold,
}

/// Judges a file by its first lines.
pub(super) fn judge(head: &[u8]) -> Judged {
    let first = lines(head).next().and_then(line);
    let cut = head.last().is_some_and(|byte| *byte != b'\n');
    let mut seen: Vec<FiveFields> = lines(head).take(LOOKED_AT).map_while(line).collect();
    if first.is_none() {
        return Judged::Other;
    }
    // The last line of a file's first bytes may be truncated.
    if cut && seen.len() > 1 {
        seen.pop();
    }
    let told = seen.iter().any(|line| line.is_decimal || !line.is_plain);
    let unit = if told { TimeUnit::Millis } else { TimeUnit::Untold };
    match bytes(&seen) {
        Bytes::All => in_bytes(&seen, unit),
        Bytes::Nearly(other) => Judged::Doubt(format!(
            "nearly all addresses and lengths are multiples of 512, as bytes are (--format heimdall), but not those of \
             `{} {}`, as in blocks of 512 bytes (--format disksim, or mqsim where times are nanoseconds)",
            other.0, other.1
        )),
        Bytes::No => in_blocks(&seen, unit),
    }
}

/// Whether addresses and lengths may be bytes.
enum Bytes {
    All,
    /// All but a few, one of which is this address and length.
    Nearly((u64, u64)),
    No,
}

/// The fewest requests of which a few may be exceptions.
const SOME: usize = 20;

/// Of a hundred requests, those that must be multiples of 512 for the others to be exceptions.
const NEARLY_ALL: usize = 95;

fn bytes(seen: &[FiveFields]) -> Bytes {
    let whole = |line: &&FiveFields| {
        line.length.is_multiple_of(BLOCK) && line.address.is_multiple_of(BLOCK)
    };
    // A length of zero tells nothing.
    let told = || seen.iter().filter(|line| line.length > 0);
    let (all, count) = (told().count(), told().filter(whole).count());
    match told().find(|line| !whole(line)) {
        None if all == 0 => Bytes::No,
        None => Bytes::All,
        Some(other) if all >= SOME && count * 100 >= all * NEARLY_ALL => {
            Bytes::Nearly((other.address, other.length))
        }
        Some(_) => Bytes::No,
    }
}

fn in_bytes(seen: &[FiveFields], unit: TimeUnit) -> Judged {
    let are_pages = |line: &FiveFields| (line.address | line.length).is_multiple_of(4096);
    let reason = if seen.iter().all(are_pages) {
        "all of them are multiples of 4,096"
    } else if seen.iter().any(|line| line.address + line.length > DISKSIM_BLOCKS) {
        "as blocks, they would lie beyond any disk of DiskSim's day"
    } else if seen.len() >= MANY {
        "all of them are multiples of 512"
    } else {
        return Judged::Doubt(
            "addresses and lengths are multiples of 512 and may be bytes (--format heimdall) or blocks of 512 bytes \
             (--format disksim, or mqsim where times are nanoseconds)"
                .into(),
        );
    };
    if unit == TimeUnit::Millis {
        let taken = format!("addresses and lengths are taken for bytes (heimdall): {reason}");
        return Judged::Likely(ColumnMeaning::Heimdall, Some(taken));
    }
    Judged::Doubt(format!(
        "addresses and lengths seem to be bytes ({reason}), and nothing tells the unit of the times: name it, as in \
         --columns time=0:us,device=1,offset=2,length=3,op=4:1=read"
    ))
}

/// One request in so many begins where another one ends, at least, if lengths are pages.
const JOINED_ONE_IN: usize = 20;

/// Why lengths are pages.
fn as_pages_told(as_pages: usize, as_blocks: usize) -> String {
    format!(
        "lengths are taken for pages of 4 KiB (flashsim): {as_pages} requests begin where another one ends then, \
         {as_blocks} if lengths are blocks"
    )
}

fn in_blocks(seen: &[FiveFields], unit: TimeUnit) -> Judged {
    let begin_pages = seen.iter().all(|line| line.address.is_multiple_of(8));
    let end_pages = seen.iter().all(|line| line.length.is_multiple_of(8));
    if !begin_pages && unit == TimeUnit::Millis {
        // Chance joins hardly a request, and a length in pages joins those of each sequential run.
        let (as_pages, as_blocks) = (joined(seen, 8), joined(seen, 1));
        if as_pages > as_blocks && as_pages * JOINED_ONE_IN >= seen.len() {
            return Judged::Likely(
                ColumnMeaning::Flashsim,
                Some(as_pages_told(as_pages, as_blocks)),
            );
        }
    }
    if begin_pages && !end_pages {
        let (as_pages, as_blocks) = (joined(seen, 8), joined(seen, 1));
        if as_pages > as_blocks && unit == TimeUnit::Millis {
            return Judged::Likely(
                ColumnMeaning::Flashsim,
                Some(as_pages_told(as_pages, as_blocks)),
            );
        }
        if as_pages >= as_blocks {
            return Judged::Doubt(
                "lengths may be pages of 4 KiB (--format flashsim) or blocks of 512 bytes (--format disksim, or mqsim \
                 where times are nanoseconds)"
                    .into(),
            );
        }
    }
    if unit == TimeUnit::Millis && seen.iter().any(|line| line.address > DISKSIM_BLOCKS) {
        return Judged::Doubt(
            "as blocks of 512 bytes (--format disksim) requests would lie beyond 1 TiB, more than any disk of its day, \
             and as bytes (--format heimdall) they would not be whole sectors"
                .into(),
        );
    }
    if unit == TimeUnit::Millis {
        let taken = "addresses and lengths are taken for blocks of 512 bytes (disksim), since not all are multiples of \
                     512; --format flashsim takes lengths for pages of 4 KiB";
        return Judged::Likely(ColumnMeaning::Disksim, Some(taken.into()));
    }
    let times = seen.iter().map(|line| line.time);
    let lasted = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    if seen.len() >= MANY && lasted < NANOS_A_REQUEST * seen.len() as u64 {
        return Judged::Doubt(
            "times are whole numbers, too near each other for nanoseconds (--format mqsim): they may be milliseconds \
             (--format disksim), or microseconds (--columns time=0:us,device=1,offset=2:sectors,length=3,op=4:1=read)"
                .into(),
        );
    }
    let taken = "times are taken for nanoseconds (mqsim): they are whole numbers; --format disksim takes milliseconds";
    Judged::Likely(ColumnMeaning::Mqsim, Some(taken.into()))
}

/// How many requests begin where another one ends, if the unit of a length is that many blocks.
fn joined(seen: &[FiveFields], unit: u64) -> usize {
    let end = |line: &FiveFields| {
        Some((line.device, line.address.checked_add(line.length.checked_mul(unit)?)?))
    };
    let ends: HashSet<(u64, u64)> = seen.iter().filter_map(end).collect();
    seen.iter().filter(|line| ends.contains(&(line.device, line.address))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_after_eight_times_its_length_is_in_pages_wherever_it_begins() {
        let pages = "0.0 0 1001 2 0\n1.5 0 1017 1 0\n2.0 0 1025 4 1\n9.5 0 77 3 0\n";
        assert_eq!(reading(pages), Some(ColumnMeaning::Flashsim));
        let blocks = "0.0 0 1001 2 0\n1.5 0 1003 1 0\n2.0 0 1004 4 1\n9.5 0 77 3 0\n";
        assert_eq!(reading(blocks), Some(ColumnMeaning::Disksim));
        let Judged::Likely(_, Some(note)) = judge(blocks.as_bytes()) else { panic!("a note") };
        assert!(note.contains("--format flashsim") && !note.contains("offset=2:pages"), "{note}");
    }

    fn reading(text: &str) -> Option<ColumnMeaning> {
        match judge(text.as_bytes()) {
            Judged::Likely(reading, _) => Some(reading),
            _ => None,
        }
    }

    #[test]
    fn each_reading_is_told_by_its_evidence() {
        let bytes = "0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 0\n";
        assert_eq!(reading(bytes), Some(ColumnMeaning::Heimdall));
        let pages = "0.0 0 800 1 0\n1.5 0 808 16 0\n2.5 0 936 2 1\n9.5 0 80000 1 1\n";
        assert_eq!(reading(pages), Some(ColumnMeaning::Flashsim));
        let blocks = "0.0 0 800 9 0\n1.5 0 809 16 0\n";
        assert_eq!(reading(blocks), Some(ColumnMeaning::Disksim));
        let aligned = "0.0 0 800 8 0\n1.5 0 808 16 0\n";
        assert_eq!(reading(aligned), Some(ColumnMeaning::Disksim));
        assert_eq!(reading("938513000 4 264719034 16 0\n"), Some(ColumnMeaning::Mqsim));
        assert_eq!(judge(b"1 2 3 4\n"), Judged::Other);
    }

    #[test]
    fn where_two_readings_fit_it_is_refused_with_the_formats_to_name() {
        for (text, named) in [
            ("0.0 0 1024 512 0\n1.0 0 512 512 1\n", "--format heimdall"),
            ("0.0 0 800 1 0\n1.5 0 80000 3 1\n", "--format flashsim"),
            ("0 0 0 4096 0\n15 0 8192 4096 1\n", "--columns time=0:us"),
        ] {
            match judge(text.as_bytes()) {
                Judged::Doubt(why) => assert!(why.contains(named), "{why}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let near: Vec<String> = (0..200).map(|at| format!("{at} 0 {} 3 0\n", at * 7 + 1)).collect();
        let near = near.concat();
        assert!(
            matches!(judge(near.as_bytes()), Judged::Doubt(why) if why.contains("milliseconds"))
        );
    }

    #[test]
    fn a_few_odd_requests_among_bytes_are_a_doubt_and_not_blocks() {
        let with = |odd: &str, count: usize| {
            let many: Vec<String> =
                (0..count).map(|at| format!("{at}.5 0 {} 4096 0\n", at * 4096)).collect();
            [&many[..count / 2], &[odd.to_owned()], &many[count / 2 + 1..]].concat().concat()
        };
        let empty = judge(with("2500.5 0 8192 0 0\n", 5000).as_bytes());
        assert!(matches!(empty, Judged::Likely(ColumnMeaning::Heimdall, _)), "{empty:?}");
        for count in [80, 5000] {
            match judge(with("2500.5 0 8192 1000 0\n", count).as_bytes()) {
                Judged::Doubt(why) => {
                    assert!(why.contains("--format heimdall") && why.contains("`8192 "), "{why}");
                }
                other => panic!("{other:?}"),
            }
        }
        let far = format!("0.5 0 {} 3 0\n", DISKSIM_BLOCKS + 1);
        assert!(matches!(judge(far.as_bytes()), Judged::Doubt(why) if why.contains("1 TiB")));
    }

    #[test]
    fn many_multiples_of_512_are_no_chance_and_a_cut_line_is_left_out() {
        let many: Vec<String> = (0..150)
            .map(|at| format!("{at}.5 0 {} {} 0\n", at * 1536, 512 * (at % 9 + 1)))
            .collect();
        let many = many.concat();
        assert_eq!(reading(&many), Some(ColumnMeaning::Heimdall));
        assert_eq!(reading(&format!("{many}151.5 0 7")), Some(ColumnMeaning::Heimdall));
    }
}
