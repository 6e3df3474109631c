//! The formats, one file each, and the table by which a file is recognised.
//!
//! A format says what it is called, whether the first bytes of a file are its own, and how its requests are parsed.
//! To add one: write its file, and name it in [`FORMATS`].

use std::io;

use super::Request;
use super::input::Input;

mod msr;
mod plain;
mod spc;

/// A format of traces.
#[derive(Debug)]
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Whether a file that begins like this is in this format.
    pub recognise: fn(head: &[u8]) -> bool,
    /// A parser of such a file.
    pub parser: fn() -> Box<dyn Parser>,
}

/// All formats, in the order in which they are tried.
pub const FORMATS: [&Format; 3] = [&plain::FORMAT, &msr::FORMAT, &spc::FORMAT];

/// The names of all formats, for messages.
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

/// The format of a file that begins like this.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| (format.recognise)(head))
}

/// The format of that name.
pub fn named(name: &str) -> Result<&'static Format, String> {
    let found = FORMATS.into_iter().find(|format| format.name == name);
    found.ok_or_else(|| format!("no format is called `{name}`: give one of {}", names()))
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
struct Lines {
    /// What a line should be, for messages.
    expected: &'static str,
    /// Parses a line; `None` where it is bad.
    parse: fn(line: &[u8]) -> Option<Line>,
}

impl Parser for Lines {
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

/// Whether the first line with anything in it is a request of that format, or, if it is a heading, the next one is.
fn first_line_parses(head: &[u8], parse: fn(line: &[u8]) -> Option<Line>) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    for line in lines.filter(|line| !line.is_empty()) {
        match parse(line) {
            Some(Line::Request(_)) => return true,
            Some(Line::Nothing) => {}
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn parse(format: &Format, text: &str) -> Vec<Request> {
        let mut input = Input::new(io::Cursor::new(text.as_bytes().to_vec())).unwrap();
        let found = recognise(input.head()).expect("a format");
        assert_eq!(found.name, format.name, "{text}");
        let mut parser = (format.parser)();
        let mut requests = Vec::new();
        while let Some(request) = parser.next(&mut input).expect("a good line") {
            requests.push(request);
        }
        requests
    }

    pub(super) fn bad(format: &Format, line: &str) -> String {
        let mut input = Input::new(io::Cursor::new(line.as_bytes().to_vec())).unwrap();
        match (format.parser)().next(&mut input) {
            Err(ParseError::Bad { found, .. }) => found,
            other => panic!("`{line}` gives {other:?}"),
        }
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
        for head in [&b""[..], b"hello\n", b"1;2;3\n", &[0; 100], b"1,W,2\n"] {
            assert!(recognise(head).is_none(), "{head:?}");
        }
    }
}
