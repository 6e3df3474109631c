//! The formats, one file each, and the table by which a file is recognised.
//!
//! A format has a name, a test for the first bytes of a file, and a parser. To add one: write its file, and name it in
//! [`FORMATS`].

use self::five::Judged;

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
mod format;
mod ftrace;
mod heimdall;
mod mqsim;
mod msr;
mod octf;
mod oracle;
mod plain;
mod rwbs;
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
pub use format::{Format, ParseError, Parser};
pub(super) use units::SPAN;

/// All formats, in the order in which they are tried.
pub const FORMATS: [&Format; 24] = [
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
    &ftrace::FORMAT,
    &oracle::FORMAT,
];

/// The names of all formats, for messages.
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

/// The format of a file, by its first bytes.
#[derive(Debug)]
pub enum Recognised {
    /// One format. If another one would fit, too, with a note which was taken, and why.
    As(&'static Format, Option<String>),
    /// One of several formats, with the reason why it is undecided.
    Doubt(String),
    /// No known format, with a hint, if there is one.
    Unknown(Option<String>),
}

/// The format of a file that begins like this.
pub fn recognise(head: &[u8]) -> Recognised {
    match (FORMATS.into_iter().find(|format| (format.recognise)(head)), five::judge(head)) {
        (Some(format), _) if format.name == oracle::FORMAT.name => {
            Recognised::As(format, Some(oracle::NOTE.into()))
        }
        (Some(format), Judged::Likely(_, why)) => Recognised::As(format, why),
        (Some(format), _) => Recognised::As(format, None),
        (None, Judged::Doubt(why)) => Recognised::Doubt(why),
        (None, _) => Recognised::Unknown(columns::heading(head)),
    }
}

/// How a file is read, if its format is not detected.
#[derive(Clone, Debug)]
pub enum As {
    /// In that format.
    Format(&'static Format),
    /// By that description of its columns.
    Columns(Columns),
}

impl As {
    /// Whether it numbers the volumes of a trace. Our own has the addresses of one device.
    pub(super) fn has_volumes(&self) -> bool {
        match self {
            Self::Format(format) => format.name != plain::FORMAT.name,
            Self::Columns(columns) => columns.has_devices(),
        }
    }

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

#[cfg(test)]
mod tests {
    use std::io;

    use super::format::shown;
    use super::*;
    use crate::input::trace::Request;
    use crate::input::trace::input::Input;

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

    /// The format's error: what was expected, and what was found.
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
