//! The description of a format, and the common parser of formats with one request per line.

use std::io;

use crate::input::trace::Request;
use crate::input::trace::input::Input;

/// A format of traces.
#[derive(Debug)]
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Its description, in one line.
    pub title: &'static str,
    /// Whether a file that begins like this is in this format.
    pub recognise: fn(head: &[u8]) -> bool,
    /// A parser of a file that begins like this.
    pub parser: fn(head: &[u8]) -> Box<dyn Parser>,
}

/// Why no request could be parsed.
#[derive(Debug)]
pub enum ParseError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The content does not match the format.
    Bad {
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

/// Takes requests from a file's bytes.
pub trait Parser {
    /// The next request, or `None` after the last. After a bad line the next call continues after it.
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError>;
}

/// What a line holds.
pub(super) enum Line {
    Request(Request),
    /// A heading, or a comment.
    Nothing,
}

/// A parser of formats with one request per line.
pub(super) struct Lines<P> {
    /// What a line should be, for messages.
    expected: &'static str,
    /// Parses a line; `None` if it is bad.
    parse: P,
}

impl<P: FnMut(&[u8]) -> Option<Line> + 'static> Lines<P> {
    pub(super) fn boxed(expected: &'static str, parse: P) -> Box<dyn Parser> {
        Box::new(Self { expected, parse })
    }
}

impl<P: FnMut(&[u8]) -> Option<Line>> Parser for Lines<P> {
    #[inline]
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        while let Some(line) = input.line().map_err(ParseError::Unreadable)? {
            match (self.parse)(line) {
                // Requests that end beyond 64 bits are refused here, for all formats.
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
pub(super) fn shown(line: &[u8]) -> String {
    const MOST: usize = 80;
    let text = String::from_utf8_lossy(&line[..line.len().min(MOST)]);
    let dots = if line.len() > MOST { "…" } else { "" };
    format!("{}{dots}", text.escape_debug())
}

/// As much of a record as a message can show.
pub(super) fn shown_record(record: &[u8]) -> String {
    const MOST: usize = 24;
    let shown = &record[..record.len().min(MOST)];
    let bytes: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    let dots = if record.len() > MOST { " …" } else { "" };
    format!("{} bytes: {}{dots}", record.len(), bytes.join(" "))
}

/// The lines that are not empty.
pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// A line of a file that may begin with a heading: a request or the heading.
pub(super) fn headed(
    line: &[u8],
    heading: &[u8],
    request: impl Fn(&[u8]) -> Option<Request>,
) -> Option<Line> {
    match request(line) {
        Some(request) => Some(Line::Request(request)),
        None => (line == heading).then_some(Line::Nothing),
    }
}

/// Whether the first non-empty line matches that format: a request, or its heading. After a heading the file counts as
/// that format, even if a line is wrong.
pub(super) fn first_line_parses(head: &[u8], parse: fn(line: &[u8]) -> Option<Line>) -> bool {
    lines(head).next().is_some_and(|line| parse(line).is_some())
}
