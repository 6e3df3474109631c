//! `synth:file-system`: the streams of a laptop's disk, with each share and each size as a parameter.
//!
//! `ntfs`, `ext3` and their earlier versions are points in this space; `tandem fit` searches for others.

use super::file_system::{self, Shape};
use super::numbers;
use crate::input::spec::{Parameter, Values};

const fn parameter(name: &'static str, default: &'static str, title: &'static str) -> Parameter {
    Parameter { name, default, title }
}

/// The parameters of the streams. Shares are in thousandths.
pub(super) const STREAMS: [Parameter; 19] = [
    parameter(
        "like",
        "ntfs-1",
        "what is not given, and the sizes of requests: ntfs, ext3, or an older fit such as ntfs-1",
    ),
    parameter("used", "like", "used part of the disk, of a thousand"),
    parameter("small", "like", "writes of up to 8 sectors, of a thousand writes"),
    parameter("journal", "like", "of small writes, those to the journal, of a thousand"),
    parameter("journal_bytes", "like", "the journal's size"),
    parameter("rewrites", "like", "writes to a page of the journal before the next one"),
    parameter(
        "restarts",
        "like",
        "one write in so many to the journal goes to a restart page; 0: none",
    ),
    parameter("hot_pages", "like", "pages that small writes go to again and again"),
    parameter("clump", "like", "of them, how many lie side by side"),
    parameter("hot_area", "like", "the part of the disk in which they lie; all: anywhere"),
    parameter("hot_skew", "like", "how fast their shares fall: 1 / rank^skew"),
    parameter(
        "scattered",
        "like",
        "of small writes outside the journal, those to single pages all over, of a thousand",
    ),
    parameter("scattered_pages", "like", "such pages, written again and again"),
    parameter("scattered_skew", "like", "how fast their shares fall"),
    parameter("small_files", "like", "of the other small writes, those anywhere, of a thousand"),
    parameter("lengthened", "like", "of the rest, those that lengthen a file, of a thousand"),
    parameter("lately", "like", "files that may be lengthened"),
    parameter("continued", "like", "large writes that continue the one before, of a thousand"),
    parameter("read_skew", "like", "how unevenly reads are spread"),
];

/// The streams with these parameters.
pub(super) fn shape(values: &Values) -> Result<Shape, String> {
    let like = values.get("like", |text| {
        let unknown = || "write ntfs, ext3, or an older fit such as ntfs-1".into();
        file_system::named(text).ok_or_else(unknown)
    })?;
    let number = |name, known: u64, (least, most): (u64, u64)| {
        values.get(name, |text| match text {
            "like" => Ok(known),
            _ => text
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| format!("write a whole number from {least} to {most}")),
        })
    };
    let skew = |name, known: f64| {
        values.get(name, |text| if text == "like" { Ok(known) } else { numbers::skew(text) })
    };
    let share = (0, 1000);
    let some = (1, 1 << 20);
    let whole_pages = |text: &str| {
        let bytes = crate::input::size::parse(text)?;
        let is_whole = bytes >= 64 << 10 && bytes.is_multiple_of(4096);
        if is_whole { Ok(bytes) } else { Err("write 64KiB or more, in whole 4KiB".into()) }
    };
    let journal_bytes = values.get("journal_bytes", |text| match text {
        "like" => Ok(like.journal_bytes),
        _ => whole_pages(text),
    })?;
    let hot_area = values.get("hot_area", |text| match text {
        "like" => Ok(like.hot_area),
        "all" => Ok(u64::MAX),
        _ => whole_pages(text),
    })?;
    Ok(Shape {
        used: number("used", like.used, (50, 1000))?,
        small: number("small", like.small, share)?,
        journal: number("journal", like.journal, share)?,
        journal_bytes,
        rewrites: number("rewrites", like.rewrites, some)?,
        restarts: number("restarts", like.restarts, (0, 1 << 20))?,
        hot_pages: number("hot_pages", like.hot_pages, some)?,
        clump: number("clump", like.clump, (1, 256))?,
        hot_area,
        skew: skew("hot_skew", like.skew)?,
        scattered: number("scattered", like.scattered, share)?,
        scattered_pages: number("scattered_pages", like.scattered_pages, some)?,
        scattered_skew: skew("scattered_skew", like.scattered_skew)?,
        small_files: number("small_files", like.small_files, share)?,
        lengthened: number("lengthened", like.lengthened, share)?,
        lately: number("lately", like.lately as u64, (1, 1 << 16))? as usize,
        continued: number("continued", like.continued, share)?,
        read_skew: skew("read_skew", like.read_skew)?,
        ..like
    })
}
