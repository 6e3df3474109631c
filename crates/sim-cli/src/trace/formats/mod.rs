//! The formats, one file each, and the table by which a file is recognised.
//!
//! A format says what it is called, whether the first bytes of a file are its own, and how its requests are parsed.
//! To add one: write its file, and name it in [`FORMATS`].

use std::io;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use self::five::Judged;
use super::Request;
use super::input::Input;

mod alibaba;
mod android;
mod biosnoop;
mod biotracer;
mod blkparse;
mod blktrace;
mod columns;
mod disksim;
mod fio;
mod fiu;
mod five;
mod flashsim;
mod heimdall;
mod mqsim;
mod msr;
mod octf;
mod plain;
mod spc;
mod srt;
mod stage;
mod systor;
mod tencent;
mod units;
mod vscsi;
mod wiscsee;
mod wpa;

pub(super) use blktrace::{RECORD, recorded};
pub use columns::Columns;

/// A format of traces.
#[derive(Debug)]
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Whether a file that begins like this is in this format.
    pub recognise: fn(head: &[u8]) -> bool,
    /// A parser of a file that begins like this.
    pub parser: fn(head: &[u8]) -> Box<dyn Parser>,
}

/// All formats, in the order in which they are tried.
pub const FORMATS: [&Format; 22] = [
    &plain::FORMAT,
    &msr::FORMAT,
    &spc::FORMAT,
    &blkparse::FORMAT,
    &blktrace::FORMAT,
    &fio::FORMAT,
    &disksim::FORMAT,
    &mqsim::FORMAT,
    &vscsi::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &systor::FORMAT,
    &heimdall::FORMAT,
    &flashsim::FORMAT,
    &biotracer::FORMAT,
    &android::FORMAT,
    &fiu::FORMAT,
    &wpa::FORMAT,
    &wiscsee::FORMAT,
    &biosnoop::FORMAT,
    &srt::FORMAT,
    &octf::FORMAT,
];

/// The names of all formats, for messages.
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

/// What a file is, by its first bytes.
#[derive(Debug)]
pub enum Recognised {
    /// In that format. Where another one would fit, too: what was taken, and why.
    As(&'static Format, Option<String>),
    /// In one of several formats, and why nobody can tell in which.
    Doubt(String),
    /// In none of them. What can be said of it, if anything can.
    Unknown(Option<String>),
}

/// The format of a file that begins like this.
pub fn recognise(head: &[u8]) -> Recognised {
    match (FORMATS.into_iter().find(|format| (format.recognise)(head)), five::judge(head)) {
        (Some(format), Judged::Likely(_, why)) => Recognised::As(format, why),
        (Some(format), _) => Recognised::As(format, None),
        (None, Judged::Doubt(why)) => Recognised::Doubt(why),
        (None, _) => Recognised::Unknown(columns::heading(head)),
    }
}

/// How a file is read, where that is not to be found out.
#[derive(Clone, Debug)]
pub enum As {
    /// In that format.
    Format(&'static Format),
    /// By that description of its columns.
    Columns(Columns),
}

impl As {
    /// A parser of a file that begins like this.
    pub(super) fn parser(&self, head: &[u8]) -> Result<Box<dyn Parser>, String> {
        match self {
            Self::Format(format) => Ok((format.parser)(head)),
            Self::Columns(columns) => columns.parser(head),
        }
    }
}

/// The format of that name.
pub fn named(name: &str) -> Result<&'static Format, String> {
    let found = FORMATS.into_iter().find(|format| format.name == name);
    found.ok_or_else(|| format!("no format is called `{name}`: give one of {}", names()))
}

/// Takes a format's name from the command line, whose help lists them all.
pub fn by_name() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS.map(|format| PossibleValue::new(format.name).help(format.title));
    PossibleValuesParser::new(names).try_map(|name| named(&name))
}

/// Why no request could be parsed.
#[derive(Debug)]
pub enum ParseError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// What stands there is not what the format has.
    Bad {
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
}

/// Takes requests from a file's bytes.
pub trait Parser {
    /// The next request, or `None` after the last. After a bad line the next call goes on behind it.
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError>;
}

/// What a line holds.
enum Line {
    Request(Request),
    /// A heading, or a comment.
    Nothing,
}

/// A parser of formats that have a request a line.
struct Lines<P> {
    /// What a line should be, for messages.
    expected: &'static str,
    /// Parses a line; `None` where it is bad.
    parse: P,
}

impl<P: FnMut(&[u8]) -> Option<Line> + 'static> Lines<P> {
    fn boxed(expected: &'static str, parse: P) -> Box<dyn Parser> {
        Box::new(Self { expected, parse })
    }
}

impl<P: FnMut(&[u8]) -> Option<Line>> Parser for Lines<P> {
    #[inline]
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        while let Some(line) = input.line().map_err(ParseError::Unreadable)? {
            match (self.parse)(line) {
                // Requests that end beyond 64 bits are refused here, once for all.
                Some(Line::Request(request))
                    if request.offset.checked_add(request.length).is_some() =>
                {
                    return Ok(Some(request));
                }
                Some(Line::Nothing) => {}
                _ if line.trim_ascii().is_empty() => {}
                _ => {
                    let found = shown(line);
                    return Err(ParseError::Bad { expected: self.expected, found });
                }
            }
        }
        Ok(None)
    }
}

/// As much of a line as a message can show.
fn shown(line: &[u8]) -> String {
    const MOST: usize = 80;
    let text = String::from_utf8_lossy(&line[..line.len().min(MOST)]);
    let dots = if line.len() > MOST { "…" } else { "" };
    format!("{}{dots}", text.escape_debug())
}

/// As much of a record as a message can show.
fn shown_record(record: &[u8]) -> String {
    const MOST: usize = 24;
    let shown = &record[..record.len().min(MOST)];
    let bytes: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    let dots = if record.len() > MOST { " …" } else { "" };
    format!("{} bytes: {}{dots}", record.len(), bytes.join(" "))
}

/// The lines with anything in them.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// A line of a file that may begin with a heading: a request, or the heading, which is none.
fn headed(line: &[u8], heading: &[u8], request: impl Fn(&[u8]) -> Option<Request>) -> Option<Line> {
    match request(line) {
        Some(request) => Some(Line::Request(request)),
        None => (line == heading).then_some(Line::Nothing),
    }
}

/// Whether the first line with anything in it is that format's: a request, or its heading. What follows a heading is
/// the format's then, and may be wrong.
fn first_line_parses(head: &[u8], parse: fn(line: &[u8]) -> Option<Line>) -> bool {
    lines(head).next().is_some_and(|line| parse(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recognises bytes as that format's, and as no other's, and parses all of them.
    pub(super) fn parse(format: &Format, bytes: impl AsRef<[u8]>) -> Vec<Request> {
        let mut input = Input::new(io::Cursor::new(bytes.as_ref().to_vec())).unwrap();
        let claimed = FORMATS.iter().filter(|format| (format.recognise)(input.head()));
        let claimed: Vec<&str> = claimed.map(|format| format.name).collect();
        assert_eq!(claimed, [format.name], "{}", shown(bytes.as_ref()));
        let mut parser = (format.parser)(input.head());
        let mut requests = Vec::new();
        while let Some(request) = parser.next(&mut input).expect("a good line") {
            requests.push(request);
        }
        requests
    }

    /// What the format finds wrong: what was expected, and what was found.
    pub(super) fn fault(format: &Format, bytes: impl AsRef<[u8]>) -> (String, String) {
        let mut input = Input::new(io::Cursor::new(bytes.as_ref().to_vec())).unwrap();
        let mut parser = (format.parser)(input.head());
        loop {
            match parser.next(&mut input) {
                Err(ParseError::Bad { expected, found }) => return (expected.into(), found),
                Ok(Some(_)) => {}
                other => panic!("`{}` gives {other:?}", shown(bytes.as_ref())),
            }
        }
    }

    pub(super) fn bad(format: &Format, line: &str) -> String {
        fault(format, line).1
    }

    #[test]
    fn formats_have_names_of_their_own() {
        for (at, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..at].iter().all(|other| other.name != format.name));
            assert_eq!(named(format.name).unwrap().name, format.name);
        }
        assert!(named("punch-cards").unwrap_err().contains("csv"));
    }

    #[test]
    fn what_no_format_has_is_not_recognised() {
        for head in
            [&b""[..], b"hello\n", b"1;2;3\n", &[0; 100], &[1; 100], b"1,W,2\n", b"1 2 3 4\n"]
        {
            assert!(matches!(recognise(head), Recognised::Unknown(_)), "{head:?}");
        }
    }
}
