//! Any text of columns, by a description of them: `time=0:us,op=2,offset=3:sectors,length=4`.
//!
//! A column is given by its number, counted from 0, or by its name in the file's first line. Columns are separated by
//! the first of `;`, `,` and tab that occurs in the first line, or else by blanks.

use ftl_iface::Lifetime;
use nand_model::part::Nanos;

use super::format::{Line, Lines, Parser, lines};
use super::units::{Names, apart};
use super::vscsi;
use crate::input::size;
use crate::input::trace::fields::Cursor;
use crate::input::trace::lifetime::of_word_or_number;
use crate::input::trace::{Op, Request};

/// A column: its number or name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ColumnKey {
    Number(usize),
    Name(String),
}

/// A column of numbers, with their unit in nanoseconds or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NumberColumn {
    place: ColumnKey,
    unit: u64,
}

/// How numbers encode operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operations {
    /// They do not: words do, or their first letters.
    Words,
    /// 0 reads, 1 writes.
    ZeroReads,
    /// 1 reads, 0 writes.
    OneReads,
}

/// A description of a file's columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// None: all requests arrive at once.
    time: Option<NumberColumn>,
    op: (ColumnKey, Operations),
    offset: NumberColumn,
    length: Length,
    device: Option<ColumnKey>,
    lifetime: Option<ColumnKey>,
}

/// Where the lengths of requests stand.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Length {
    In(NumberColumn),
    /// Nowhere: each request has that many bytes.
    All(u64),
}

/// The error for a wrong description.
const GRAMMAR: &str = "write time=0:us,op=2,offset=3:sectors,length=4 with the columns' numbers from 0 on, or their \
    names; units of time are s, ms, us, ns and filetime, of offset and length bytes, sectors (512), KiB and pages (4 \
    KiB), those of offset if length has none; op=2:1=read where operations are numbers; device=N where there are \
    several disks; lifetime=N where a column has short, medium, long, extreme, or the numbers of Linux's write hints; \
    length=4KiB where all requests have that size, and op=read or op=write where all are that";

impl Columns {
    /// Reads a description.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("{what}: {GRAMMAR}");
        let (mut time, mut op, mut offset, mut length) = (None, None, None, None);
        let (mut device, mut lifetime, mut length_of_all) = (None, None, None);
        for part in text.split(',') {
            let (name, rest) =
                part.split_once('=').ok_or_else(|| wrong(format!("`{part}` names no column")))?;
            if let Some(bytes) = all_alike(name, rest) {
                length_of_all = Some(bytes);
                continue;
            }
            let (place, unit) = match rest.split_once(':') {
                Some((place, unit)) => (place, Some(unit)),
                None => (rest, None),
            };
            let place = match place.parse() {
                _ if place.is_empty() => return Err(wrong(format!("`{part}` names no column"))),
                Ok(number) => ColumnKey::Number(number),
                Err(_) => ColumnKey::Name(place.into()),
            };
            let unknown = || wrong(format!("`{}` is no unit of {name}", unit.unwrap_or("")));
            let said_before = match name {
                "time" => {
                    let unit = nanos(unit).ok_or_else(unknown)?;
                    time.replace(NumberColumn { place, unit }).is_some()
                }
                "op" => op.replace((place, operations(unit).ok_or_else(unknown)?)).is_some(),
                "offset" => offset.replace((place, bytes(unit).ok_or_else(unknown)?)).is_some(),
                "length" => length.replace((place, bytes(unit).ok_or_else(unknown)?)).is_some(),
                "device" if unit.is_none() => device.replace(place).is_some(),
                "lifetime" if unit.is_none() => lifetime.replace(place).is_some(),
                _ => return Err(wrong(format!("`{part}` is not understood"))),
            };
            if said_before {
                return Err(wrong(format!("`{text}` says twice where the {name} stands")));
            }
        }
        let missing = |name| wrong(format!("`{text}` does not say where the {name} stands"));
        let (place, unit) = offset.ok_or_else(|| missing("offset"))?;
        let offset = NumberColumn { place, unit: unit.unwrap_or(1) };
        let length = match (length, length_of_all) {
            (Some((place, unit)), None) => {
                Length::In(NumberColumn { place, unit: unit.unwrap_or(offset.unit) })
            }
            (None, Some(bytes)) => Length::All(bytes),
            (None, None) => return Err(missing("length")),
            (Some(_), Some(_)) => {
                return Err(wrong(format!("`{text}` says twice where the length stands")));
            }
        };
        let op = op.ok_or_else(|| missing("op"))?;
        Ok(Self { time, op, offset, length, device, lifetime })
    }

    /// Whether requests are of several devices.
    pub(super) const fn has_devices(&self) -> bool {
        self.device.is_some()
    }

    /// A parser of a file that begins like this.
    pub(super) fn parser(&self, head: &[u8]) -> Result<Box<dyn Parser>, String> {
        let first = lines(head).next().unwrap_or_default();
        let separator = [b';', b',', b'\t'].into_iter().find(|byte| first.contains(byte));
        let names: Vec<&[u8]> = split(first, separator).collect();
        let find = |place: &ColumnKey| match place {
            ColumnKey::Number(number) => Ok(*number),
            ColumnKey::Name(name) => {
                let at = names.iter().position(|known| known.eq_ignore_ascii_case(name.as_bytes()));
                at.ok_or_else(|| {
                    let first = String::from_utf8_lossy(&first[..first.len().min(200)]);
                    format!("no column is called `{name}` in the first line, `{first}`")
                })
            }
        };
        let counted = |column: &NumberColumn| Ok::<_, String>((find(&column.place)?, column.unit));
        let layout = ColumnPlaces {
            separator,
            time: self.time.as_ref().map(counted).transpose()?,
            op: match all_of(&self.op.0, &names) {
                Some(op) => OpAt::Nowhere(op),
                None => OpAt::Column(find(&self.op.0)?, self.op.1),
            },
            offset: counted(&self.offset)?,
            length: match &self.length {
                Length::In(column) => LengthAt::Column(counted(column)?),
                Length::All(bytes) => LengthAt::Nowhere(*bytes),
            },
            device: self.device.as_ref().map(find).transpose()?,
            lifetime: self.lifetime.as_ref().map(find).transpose()?,
        };
        let (mut devices, mut may_be_heading) = (Names::default(), true);
        let expected = "the columns that --columns says, with a number, or an operation, in each";
        Ok(Lines::boxed(expected, move |line| {
            let was_first = std::mem::replace(&mut may_be_heading, false);
            match layout.request(line, &mut devices) {
                Some(request) => Some(Line::Request(request)),
                None => (was_first && layout.is_heading(line)).then_some(Line::Nothing),
            }
        }))
    }
}

/// The length that all requests have, if that is what the text says: a size with its unit.
fn all_alike(name: &str, text: &str) -> Option<u64> {
    let has_unit = text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_alphabetic());
    (name == "length" && has_unit).then(|| size::parse(text).ok()).flatten()
}

/// The operation of all requests, where it is named instead of a column.
fn all_of(place: &ColumnKey, names: &[&[u8]]) -> Option<Op> {
    let ColumnKey::Name(name) = place else { return None };
    let is_column = names.iter().any(|known| known.eq_ignore_ascii_case(name.as_bytes()));
    match name.as_str() {
        "read" if !is_column => Some(Op::Read),
        "write" if !is_column => Some(Op::Write),
        _ => None,
    }
}

fn nanos(unit: Option<&str>) -> Option<u64> {
    Some(match unit? {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        "filetime" => 100,
        _ => return None,
    })
}

/// The bytes of a unit of addresses and lengths; `Some(None)` if none is given, `None` if it is unknown.
#[allow(clippy::option_option)] // An unknown unit is not a missing one.
fn bytes(unit: Option<&str>) -> Option<Option<u64>> {
    Some(match unit {
        None => None,
        Some("bytes") => Some(1),
        Some("sectors") => Some(512),
        Some("KiB") => Some(1024),
        Some("pages") => Some(4096),
        Some(_) => return None,
    })
}

fn operations(unit: Option<&str>) -> Option<Operations> {
    Some(match unit {
        None => Operations::Words,
        Some("1=read" | "0=write") => Operations::OneReads,
        Some("0=read" | "1=write") => Operations::ZeroReads,
        Some(_) => return None,
    })
}

fn split(line: &[u8], separator: Option<u8>) -> impl Iterator<Item = &[u8]> {
    let fields = line.split(move |byte| match separator {
        Some(separator) => *byte == separator,
        None => byte.is_ascii_whitespace(),
    });
    fields.map(<[u8]>::trim_ascii).filter(move |field| separator.is_some() || !field.is_empty())
}

/// The positions of a file's columns.
struct ColumnPlaces {
    separator: Option<u8>,
    time: Option<(usize, u64)>,
    op: OpAt,
    offset: (usize, u64),
    length: LengthAt,
    device: Option<usize>,
    lifetime: Option<usize>,
}

/// Where operations stand, or the one of all requests.
enum OpAt {
    Column(usize, Operations),
    Nowhere(Op),
}

/// Where lengths stand, or the one of all requests.
enum LengthAt {
    Column((usize, u64)),
    Nowhere(u64),
}

impl ColumnPlaces {
    /// Whether a line has no numbers where others have them.
    fn is_heading(&self, line: &[u8]) -> bool {
        let fields: Vec<&[u8]> = split(line, self.separator).collect();
        let is_number = |at: usize| {
            fields.get(at).and_then(|field| field.first()).is_some_and(u8::is_ascii_digit)
        };
        let has_length = matches!(self.length, LengthAt::Column((at, _)) if is_number(at));
        !is_number(self.offset.0) && !has_length
    }

    /// The request of a line.
    fn request(&self, line: &[u8], devices: &mut Names) -> Option<Request> {
        let fields: Vec<&[u8]> = split(line, self.separator).collect();
        let field = |at: usize| fields.get(at).copied();
        let number = |(at, unit): (usize, u64)| {
            let field = field(at)?;
            let mut cursor = Cursor::new(field);
            let number = match field.strip_prefix(b"0x") {
                Some(digits) => u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?,
                None => cursor.number().filter(|_| cursor.at_end())?,
            };
            number.checked_mul(unit)
        };
        let time = match self.time {
            Some((at, unit)) => {
                let mut cursor = Cursor::new(field(at)?);
                cursor.time(unit).filter(|_| cursor.at_end())?
            }
            None => Nanos::ZERO,
        };
        let op = match self.op {
            OpAt::Column(at, operations) => op(field(at)?, operations)?,
            OpAt::Nowhere(op) => op,
        };
        let device = self.device.map_or(Some(&b""[..]), field)?;
        if op == Op::Flush {
            return Some(Request::new(time, op, 0, 0));
        }
        let length = match self.length {
            LengthAt::Column(column) => number(column)?,
            LengthAt::Nowhere(bytes) => bytes,
        };
        let offset = number(self.offset)?;
        let offset = match self.device {
            Some(_) => apart(devices.number(device)?, offset, length)?,
            None => offset,
        };
        let lifetime = match self.lifetime {
            Some(at) => of_word_or_number(field(at)?)?,
            None => Lifetime::Unknown,
        };
        Some(Request::new(time, op, offset, length).living(lifetime))
    }
}

fn op(word: &[u8], operations: Operations) -> Option<Op> {
    let word = word.trim_ascii_start().strip_prefix(b"\"").unwrap_or(word).to_ascii_lowercase();
    let reads = match operations {
        Operations::Words => None,
        Operations::ZeroReads => Some(b'0'),
        Operations::OneReads => Some(b'1'),
    };
    match (reads, word.as_slice()) {
        (Some(reads), [digit @ (b'0' | b'1')]) => {
            Some(if *digit == reads { Op::Read } else { Op::Write })
        }
        (_, [b'r', ..]) => Some(Op::Read),
        (_, [b'w', ..]) => Some(Op::Write),
        (_, [b't' | b'd' | b'u', ..]) => Some(Op::Trim),
        (_, [b'f', ..]) => Some(Op::Flush),
        _ => scsi(&word),
    }
}

/// The operation of a SCSI command in hexadecimal digits: `28`, `2a`, `0x8A`.
fn scsi(word: &[u8]) -> Option<Op> {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    let code = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?;
    vscsi::op(u8::from_str_radix(code, 16).ok()?)
}

/// The likely meaning of a name in a heading.
fn meaning(name: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &[&str]); 5] = [
        ("time", &["time", "timestamp", "ts", "issue_time", "arrival", "date"]),
        (
            "op",
            &[
                "op",
                "operation",
                "type",
                "io_type",
                "iotype",
                "rw",
                "rwbs",
                "opcode",
                "action",
                "rw_flag",
            ],
        ),
        (
            "offset",
            &["offset", "lba", "lbn", "sector", "address", "addr", "block", "blkno", "start"],
        ),
        ("length", &["length", "len", "size", "bytes", "nsect", "sectors", "count", "iosize"]),
        ("device", &["device", "dev", "disk", "volume", "lun", "disknumber", "device_id"]),
    ];
    let plain = name.split(['(', '[']).next().unwrap_or(name).trim().trim_matches('"');
    let plain = plain.to_ascii_lowercase().replace([' ', '-'], "_");
    let has = |names: &&(&str, &[&str])| names.1.contains(&plain.as_str());
    KNOWN.iter().find(has).map(|(meaning, _)| *meaning)
}

/// The likely unit of an address or a length with that name.
fn likely_unit(name: &str) -> &'static str {
    let plain = name.trim().trim_matches('"').to_ascii_lowercase();
    let is_sectors = ["lba", "lbn", "sect", "blk"].iter().any(|part| plain.contains(part));
    if is_sectors { ":sectors" } else { ":bytes" }
}

/// A hint for a file in no known format: which names of its heading are understood. `None` if the first line is not a
/// heading.
pub(super) fn heading(head: &[u8]) -> Option<String> {
    let first = lines(head).next()?;
    let separator = [b';', b',', b'\t'].into_iter().find(|byte| first.contains(byte));
    let text = std::str::from_utf8(first).ok().filter(|text| text.len() < 1000)?;
    let names: Vec<&str> = split(text.as_bytes(), separator)
        .filter_map(|name| std::str::from_utf8(name).ok())
        .collect();
    let understood: Vec<(&str, usize)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((meaning(name)?, at))).collect();
    if understood.len() < 2 {
        return None;
    }
    let told: Vec<String> = understood
        .iter()
        .map(|(meaning, at)| format!("`{}` as the {meaning}", names[*at]))
        .collect();
    let unknown = names.iter().filter(|name| meaning(name).is_none());
    let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
    let column = |wanted: &str, unit: &str| {
        let found = understood.iter().find(|(meaning, _)| *meaning == wanted);
        found.map_or(format!("{wanted}=?{unit}"), |(_, at)| format!("{wanted}={at}{unit}"))
    };
    let unit_of = |wanted: &str| {
        let found = understood.iter().find(|(meaning, _)| *meaning == wanted);
        found.map_or(":bytes", |(_, at)| likely_unit(names[*at]))
    };
    let mut columns = vec![
        column("time", ":us"),
        column("op", ""),
        column("offset", unit_of("offset")),
        column("length", unit_of("length")),
    ];
    if understood.iter().any(|(meaning, _)| *meaning == "device") {
        columns.push(column("device", ""));
    }
    let not =
        if unknown.is_empty() { String::new() } else { format!(", not {}", unknown.join(", ")) };
    Some(format!(
        "of its heading, {} are understood{not}: say --columns {} with the units that are right",
        told.join(", "),
        columns.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::trace::input::Input;

    fn read(columns: &str, text: &str) -> Vec<(u64, Op, u64, u64)> {
        let told = |Request { time, op, offset, length, .. }| (time.get(), op, offset, length);
        requests(columns, text).into_iter().map(told).collect()
    }

    fn requests(columns: &str, text: &str) -> Vec<Request> {
        let columns = Columns::parse(columns).unwrap();
        let mut input = Input::new(std::io::Cursor::new(text.as_bytes().to_vec())).unwrap();
        let mut parser = columns.parser(input.head()).unwrap();
        let mut found = Vec::new();
        while let Some(request) = parser.next(&mut input).unwrap() {
            found.push(request);
        }
        found
    }

    #[test]
    fn columns_are_found_by_number_and_by_name_whatever_sets_them_apart() {
        let expected = [(5_500, Op::Write, 4096, 8192), (7_000, Op::Read, 0, 512)];
        let numbers = "time=0:us,op=2,offset=3:sectors,length=4";
        assert_eq!(read(numbers, "5.5,x,WS,8,16\n7,y,read,0,1\n"), expected);
        assert_eq!(read(numbers, "5.5  x W 8 16\n 7 y r 0 1\n"), expected);
        let names = "time=At:us,op=Kind,offset=LBA:sectors,length=Bytes:bytes";
        assert_eq!(read(names, "at;bytes;kind;lba\n5.5;8192;W;8\n7;512;R;0x0\n"), expected);
    }

    #[test]
    fn a_column_may_say_how_long_data_lives_in_words_or_in_numbers_of_linux() {
        let text = "W 0 8 short\nW 0 8 LONG\nW 0 8 5\nW 0 8 0\nR 0 8 3\n";
        let found = requests("op=0,offset=1,length=2,lifetime=3", text);
        let lifetimes: Vec<Lifetime> = found.iter().map(|request| request.lifetime).collect();
        let none = Lifetime::Unknown;
        assert_eq!(lifetimes, [Lifetime::Short, Lifetime::Long, Lifetime::Extreme, none, none]);
    }

    #[test]
    fn a_first_line_of_numbers_is_no_heading() {
        let columns = Columns::parse("op=0,offset=1,length=2").unwrap();
        let mut input = Input::new(std::io::Cursor::new(b"7 8 16\n".to_vec())).unwrap();
        let mut parser = columns.parser(input.head()).unwrap();
        assert!(parser.next(&mut input).is_err());
    }

    #[test]
    fn numbers_are_operations_where_it_is_said_which() {
        let text = "1 0 8\n0 8 8\n";
        let found = |columns: &str| read(columns, text).iter().map(|r| r.1).collect::<Vec<Op>>();
        assert_eq!(found("op=0:1=read,offset=1,length=2"), [Op::Read, Op::Write]);
        assert_eq!(found("op=0:0=read,offset=1,length=2"), [Op::Write, Op::Read]);
    }

    #[test]
    fn operations_may_be_scsi_commands_in_hexadecimal_digits() {
        let text = "ts,op,lbn,len\n1,28,8,1\n2,2a,0,1\n3,0x8A,0,1\n4,35,0,0\n";
        let found = read("time=0:us,op=1,offset=2:sectors,length=3", text);
        let ops: Vec<Op> = found.iter().map(|request| request.1).collect();
        assert_eq!(ops, [Op::Read, Op::Write, Op::Write, Op::Flush]);
    }

    #[test]
    fn a_list_of_block_numbers_is_read_with_the_size_that_is_given() {
        let expected = [(0, Op::Write, 7 * 4096, 4096), (0, Op::Write, 0, 4096)];
        assert_eq!(read("op=write,offset=0:pages,length=4KiB", "7\n0\n"), expected);
        // A column of that name is meant, where there is one.
        assert_eq!(read("op=write,offset=lba,length=512B", "lba write\n9 R\n")[0].1, Op::Read);
        let said = Columns::parse("op=write,offset=0,length=1,length=4KiB").unwrap_err();
        assert!(said.contains("says twice where the length"), "{said}");
    }

    #[test]
    fn a_description_that_is_not_understood_is_told_how_to_write_it() {
        let said = Columns::parse("device=0,colour=1,op=2,offset=3,length=4").unwrap_err();
        assert!(said.contains("`colour=1` is not understood"), "{said}");
        for text in [
            "",
            "time=0:us",
            "op=0,offset=1:miles,length=2",
            "op=0,offset=,length=2",
            "op=0:x,offset=1,length=2",
            "op=0,offset=1,length=2,offset=3",
        ] {
            let said = Columns::parse(text).unwrap_err();
            assert!(said.contains("time=0:us,op=2"), "{text}: {said}");
        }
        let named = Columns::parse("op=rw,offset=1,length=2").unwrap();
        assert!(named.parser(b"a,b,c\n").err().unwrap().contains("`rw`"));
    }

    #[test]
    fn a_heading_is_told_what_of_it_is_understood() {
        let said = heading(b"ts,queue,rw,lba,len\n1,2,R,4,5\n").unwrap();
        assert!(said.contains("`ts` as the time") && said.contains("not `queue`"), "{said}");
        assert!(
            said.contains("--columns time=0:us,op=2,offset=3:sectors,length=4:bytes"),
            "{said}"
        );
        let said = heading(b"ts,dev,rw,lba,len\n").unwrap();
        assert!(said.contains("length=4:bytes,device=1 "), "{said}");
        assert_eq!(heading(b"hello world\n"), None);
        assert_eq!(heading(b"1,2,3\n"), None);
    }
}
