//! Synthetic requests, from a rule and a seed: `synth:zipf?requests=1000000&seed=1`.
//!
//! The generator is PCG64-MCG, and floating-point functions come from the same library on every machine, so that a name
//! gives the same requests everywhere and for ever.
//!
//! # Modules
//!
//! - `numbers`: drawn ones, and those that are typed. `places`: where a request goes:
//!   uniform, sequential, zipf. `zipf`: ranks whose shares fall as 1 / rank^skew, and where on the disk they lie.
//!   `file_system`: ntfs and ext3, sizes and places of the paper's laptop. `streams`: the same, each share a
//!   parameter. `kind`: what every name has. `loads`: published traces by
//!   their names, made by these rules.

use ftl_iface::Lifetime;
use nand_model::datasheet;
use nand_model::part::Nanos;
use rand_pcg::Pcg64Mcg;

use crate::input::spec::{self, Parameter};
use crate::input::trace::output::Fields;
use crate::input::trace::{Op, Request};

mod file_system;
mod kind;
mod loads;
mod numbers;
mod places;
mod streams;
mod zipf;

use file_system::Shape;
use kind::{COMMON, LoadKind, SKEWED, WRITERS};
use numbers::{below, skew, spread};
use places::{Placed, Places};

/// The prefix of a synthetic workload's name.
pub const PREFIX: &str = "synth:";

/// Workloads of file systems choose the sizes of their requests themselves.
const FILE_SYSTEM: [Parameter; 5] = {
    let [requests, seed, _, footprint, _, interval] = COMMON;
    let reads =
        Parameter { name: "reads", default: "40", title: "percent of the requests that are reads" };
    [requests, seed, footprint, reads, interval]
};

/// All of the streams.
const STREAMS: [Parameter; 24] = {
    let [requests, seed, footprint, reads, interval] = FILE_SYSTEM;
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = streams::STREAMS;
    [
        requests, seed, footprint, reads, interval, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p,
        q, r, s,
    ]
};

const RULES: [LoadKind; 11] = [
    LoadKind {
        name: "ntfs",
        rule: "ntfs",
        title: "a laptop's disk under Windows XP, as Chang describes it",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "ext3",
        rule: "ext3",
        title: "the same under a new Linux, whose files fill a ninth of the disk",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "ntfs-1",
        rule: "ntfs-1",
        title: "the first fit of ntfs, for older results",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "ext3-1",
        rule: "ext3-1",
        title: "the same for ext3",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "ntfs-2",
        rule: "ntfs-2",
        title: "the second fit of ntfs, for older results",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "ext3-2",
        rule: "ext3-2",
        title: "the same for ext3",
        parameters: &FILE_SYSTEM,
    },
    LoadKind {
        name: "file-system",
        rule: "file-system",
        title: "the streams that make up these workloads, as parameters: see tandem fit",
        parameters: &STREAMS,
    },
    LoadKind {
        name: "uniform",
        rule: "uniform",
        title: "all addresses equally likely",
        parameters: &COMMON,
    },
    LoadKind {
        name: "zipf",
        rule: "zipf",
        title: "few addresses get most requests",
        parameters: &SKEWED,
    },
    LoadKind {
        name: "sequential",
        rule: "sequential",
        title: "consecutive addresses, again and again",
        parameters: &COMMON,
    },
    LoadKind {
        name: "writers",
        rule: "writers",
        title: "two writers, each rewriting its half in order, one faster than the other",
        parameters: &WRITERS,
    },
];

/// The rules, and the loads made with them.
fn kinds() -> impl Iterator<Item = &'static LoadKind> {
    static ALL: [&[LoadKind]; 2] = [&RULES, &loads::LOADS];
    ALL.into_iter().flatten()
}

/// Two writers: how many times as much the first writes, and how long each says that its data lives.
#[derive(Clone, Copy, Debug)]
struct TwoWriters {
    speed: u64,
    lifetimes: [Lifetime; 2],
}

/// A synthetic workload, as it was named.
#[derive(Clone, Debug)]
pub struct Synth {
    /// The name as typed.
    pub name: String,
    rule: &'static str,
    /// The number of requests.
    pub requests: u64,
    /// The seed.
    pub seed: u64,
    /// The size of each request; for file systems, of the largest.
    size: u64,
    /// `None` is the whole device.
    footprint: Option<u64>,
    reads: u8,
    interval: Nanos,
    skew: f64,
    /// Of two writers.
    writers: Option<TwoWriters>,
    /// Of a file system, its streams.
    shape: Option<Box<Shape>>,
}

impl Synth {
    /// Parses a name, with or without the prefix.
    pub fn parse(name: &str) -> Result<Self, String> {
        let text = name.strip_prefix(PREFIX).unwrap_or(name);
        let base = spec::base(text);
        let kind = kinds().find(|kind| kind.name == base).ok_or_else(|| unknown(base))?;
        let values = spec::parse(text, kind.parameters)?;
        let in_name = |reason| format!("`{name}`: {reason}");
        let shape = match kind.rule {
            "file-system" => Some(streams::shape(&values).map_err(in_name)?),
            rule => file_system::named(rule),
        };
        let shape = shape.map(Box::new);
        let synth = Self {
            name: name.into(),
            rule: kind.rule,
            requests: values.number("requests").map_err(in_name)?,
            seed: values.number("seed").map_err(in_name)?,
            size: if shape.is_some() {
                file_system::LARGEST
            } else {
                values.size("size").map_err(in_name)?
            },
            footprint: values.get("footprint", footprint).map_err(in_name)?,
            reads: if kind.rule == "writers" {
                0
            } else {
                values.get("reads", percent).map_err(in_name)?
            },
            interval: values.get("interval_us", interval).map_err(in_name)?,
            skew: if kind.rule == "zipf" {
                values.get("skew", skew).map_err(in_name)?
            } else {
                0.0
            },
            writers: (kind.rule == "writers")
                .then(|| writers(&values))
                .transpose()
                .map_err(in_name)?,
            shape,
        };
        if synth.size == 0 || synth.requests == 0 {
            return Err(in_name("a size and a number of requests of at least 1 are needed".into()));
        }
        Ok(synth)
    }

    /// Its requests, on a device of that capacity.
    pub fn requests(&self, capacity: u64) -> Result<Generator, String> {
        let footprint = self.footprint.unwrap_or(capacity);
        let slots = footprint / self.size;
        if slots == 0 {
            let reason =
                format!("a footprint of {footprint} bytes holds no request of {}", self.size);
            return Err(format!("`{}`: {reason}: give more, or a smaller size", self.name));
        }
        if self.shape.is_some() && footprint < file_system::LEAST {
            let least = file_system::LEAST;
            let reason = format!("{footprint} bytes are too small a disk: give at least {least}");
            return Err(format!("`{}`: {reason}", self.name));
        }
        if self.writers.is_some() && slots < 2 {
            let reason = format!("a footprint of {footprint} bytes has no half for each writer");
            return Err(format!("`{}`: {reason}: give more, or a smaller size", self.name));
        }
        let places = match (self.writers, &self.shape, self.rule) {
            (Some(TwoWriters { speed, lifetimes }), ..) => Places::writers(slots, speed, lifetimes),
            (_, Some(shape), _) => Places::file_system(**shape, footprint, self.seed),
            (.., "sequential") => Places::sequential(slots),
            (.., "zipf") => Places::zipf(slots, self.skew, self.seed),
            _ => Places::uniform(slots),
        };
        // The multiplicative generator's state must be odd; it sets the lowest two bits itself.
        let dice = Pcg64Mcg::new(spread(self.seed));
        Ok(Generator { dice, places, synth: self.clone(), next: 0 })
    }
}

/// All names and their parameters, each with its meaning.
pub fn list() -> Vec<[String; 2]> {
    let mut rows: Vec<[String; 2]> =
        kinds().map(|kind| [format!("{PREFIX}{}", kind.name), kind.title.into()]).collect();
    for parameter in &SKEWED {
        let of = match parameter.name {
            "skew" => " (zipf; loads have their own, as of size and reads)",
            "size" => " (ntfs and ext3 have sizes of their own)",
            "reads" => " (ntfs and ext3: 40)",
            _ => "",
        };
        let shown = format!("  {}={}", parameter.name, parameter.default);
        rows.push([shown, format!("  {}{of}", parameter.title)]);
    }
    for parameter in &WRITERS[5..] {
        let shown = format!("  {}={}", parameter.name, parameter.default);
        rows.push([shown, format!("  {} (writers)", parameter.title)]);
    }
    for parameter in &streams::STREAMS {
        let shown = format!("  {}={}", parameter.name, parameter.default);
        rows.push([shown, format!("  {} (file-system)", parameter.title)]);
    }
    rows
}

/// The names of all workloads.
pub fn names() -> impl Iterator<Item = &'static str> {
    kinds().map(|kind| kind.name)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = names().collect();
    let meant = datasheet::meant(name, names.iter().copied());
    format!("no synthetic workload is called `{name}`: {meant}give one of {}", names.join(", "))
}

fn footprint(text: &str) -> Result<Option<u64>, String> {
    if text == "all" { Ok(None) } else { crate::input::size::parse(text).map(Some) }
}

fn percent(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|percent| *percent <= 100);
    number.ok_or_else(|| "write a whole number from 0 to 100".into())
}

fn writers(values: &spec::Values) -> Result<TwoWriters, String> {
    /// One write of the second writer in a million.
    const MOST: u64 = 1_000_000;
    let speed: u64 = values.number("speed")?;
    if !(1..=MOST).contains(&speed) {
        return Err(format!("speed is a whole number from 1 to {MOST}"));
    }
    let lifetimes = if values.is_on("hints")? {
        [Lifetime::Short, Lifetime::Long]
    } else {
        [Lifetime::Unknown; 2]
    };
    Ok(TwoWriters { speed, lifetimes })
}

fn interval(text: &str) -> Result<Nanos, String> {
    /// An hour.
    const MOST: u64 = 3_600_000_000;
    let micros = text.parse().ok().filter(|micros| *micros <= MOST);
    micros.map(Nanos::from_micros).ok_or_else(|| format!("write microseconds from 0 to {MOST}"))
}

/// Generates the requests, one by one.
#[derive(Clone, Debug)]
pub struct Generator {
    dice: Pcg64Mcg,
    places: Places,
    synth: Synth,
    next: u64,
}

impl Generator {
    /// The fields of a file that tells all of its requests.
    pub const fn fields(&self) -> Fields {
        match self.synth.writers {
            Some(TwoWriters { lifetimes: [Lifetime::Short, _], .. }) => Fields::WithLifetime,
            _ => Fields::Four,
        }
    }

    /// How many there are in all.
    pub const fn total(&self) -> u64 {
        self.synth.requests
    }

    /// How many were generated.
    pub const fn made(&self) -> u64 {
        self.next
    }
}

impl Iterator for Generator {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        if self.next == self.synth.requests {
            return None;
        }
        let op = match self.synth.reads {
            0 => Op::Write,
            reads if below(&mut self.dice, 100) < u64::from(reads) => Op::Read,
            _ => Op::Write,
        };
        let Placed { offset, length, lifetime } =
            self.places.next(op, self.synth.size, &mut self.dice);
        // Whoever takes it says that it is too late.
        let time = Nanos::new(self.synth.interval.get().saturating_mul(self.next));
        self.next += 1;
        Some(Request::new(time, op, offset, length).living(lifetime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(name: &str) -> Vec<Request> {
        Synth::parse(name).unwrap().requests(1 << 30).unwrap().collect()
    }

    fn offsets(name: &str) -> Vec<u64> {
        requests(name).iter().map(|request| request.offset / 4096).collect()
    }

    #[test]
    fn a_seed_gives_the_same_requests_for_good() {
        // Recorded once; a change here changes all users' results.
        assert_eq!(offsets("synth:uniform?requests=4&seed=1"), GOLDEN_UNIFORM);
        assert_eq!(offsets("synth:zipf?requests=4&seed=1"), GOLDEN_ZIPF);
        assert_ne!(offsets("synth:uniform?requests=4&seed=2"), GOLDEN_UNIFORM);
    }

    const GOLDEN_UNIFORM: [u64; 4] = [13_612, 176_191, 160_774, 223_222];
    const GOLDEN_ZIPF: [u64; 4] = [129_477, 25_337, 44_336, 112_250];

    #[test]
    fn a_load_is_its_rule_with_what_is_published_of_it() {
        let load = offsets("synth:prxy_0?requests=50&seed=3");
        assert_eq!(load, offsets("synth:zipf?requests=50&seed=3&reads=3&size=4KiB&skew=0.99"));
        assert_ne!(load, offsets("synth:prxy_0?requests=50&seed=3&skew=0.6"));
        let reads = requests("synth:proj_3?requests=10000");
        let reads = reads.iter().filter(|request| request.op == Op::Read).count();
        assert!((9_400..9_600).contains(&reads), "{reads}");
    }

    #[test]
    fn two_writers_rewrite_their_halves_in_order_and_say_how_long_their_data_lives() {
        let name = "writers?requests=8&footprint=40KiB&speed=3";
        assert_eq!(offsets(name), [0, 1, 2, 5, 3, 4, 0, 6]);
        let lifetimes = |name| requests(name).iter().map(|one| one.lifetime).collect::<Vec<_>>();
        let (short, long) = (Lifetime::Short, Lifetime::Long);
        assert_eq!(lifetimes(name)[..5], [short, short, short, long, short]);
        let without = lifetimes("writers?requests=8&footprint=40KiB&speed=3&hints=off");
        assert_eq!(without, [Lifetime::Unknown; 8]);
        for wrong in ["writers?speed=0", "writers?hints=maybe", "writers?reads=5"] {
            Synth::parse(wrong).unwrap_err();
        }
        let little = Synth::parse("writers?footprint=4KiB").unwrap().requests(1 << 30);
        assert!(little.unwrap_err().contains("no half for each writer"));
    }

    #[test]
    fn sequential_requests_follow_each_other_round_and_round() {
        assert_eq!(offsets("sequential?requests=5&footprint=12KiB&interval_us=7"), [0, 1, 2, 0, 1]);
        let times: Vec<u64> = requests("sequential?requests=3&interval_us=7")
            .iter()
            .map(|request| request.time.get())
            .collect();
        assert_eq!(times, [0, 7_000, 14_000]);
    }

    #[test]
    fn the_share_of_reads_is_kept_and_no_request_leaves_the_footprint() {
        let requests = requests("uniform?requests=10000&reads=30&size=8KiB&footprint=1MiB");
        let reads = requests.iter().filter(|request| request.op == Op::Read).count();
        assert!((2_800..3_200).contains(&reads), "{reads}");
        assert!(requests.iter().all(|request| request.end() <= 1 << 20));
    }

    #[test]
    fn what_cannot_be_is_told_what_can() {
        for (name, part) in [
            (
                "synth:fat",
                "ntfs, ext3, ntfs-1, ext3-1, ntfs-2, ext3-2, file-system, uniform, zipf, sequential",
            ),
            ("synth:file-system?small=1001", "from 0 to 1000"),
            ("synth:ntfs?size=4KiB", "reads=40"),
            ("synth:uniform?skew=1", "requests=1000000"),
            ("synth:uniform?reads=101", "0 to 100"),
            ("synth:uniform?size=4XB", "20GiB"),
            ("synth:uniform?requests=0", "at least 1"),
        ] {
            let message = Synth::parse(name).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
        let small = Synth::parse("ext3").unwrap().requests(1 << 20).unwrap_err();
        assert!(small.contains("1048576 bytes") && small.contains("67108864"), "{small}");
        let none = Synth::parse("uniform?footprint=1KiB").unwrap().requests(1 << 30).unwrap_err();
        assert!(none.contains("holds no request"), "{none}");
    }

    #[test]
    fn the_list_names_every_kind_and_every_parameter() {
        let list = list().concat().join("\n");
        for kind in kinds() {
            assert!(list.contains(kind.name), "{list}");
            assert!(kind.parameters.iter().all(|parameter| list.contains(parameter.name)));
        }
    }
}
