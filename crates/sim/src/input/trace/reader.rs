//! A file's requests, one by one.

use std::io::{self, Read};
use std::path::PathBuf;

use nand_model::part::Nanos;

use super::formats::{self, As, ParseError, Parser, Recognised};
use super::input::{BytesRead, Counted, Input};
use super::merge;
use super::{LASTS_MOST, Op, Position, Request, TraceError};

/// The longest read or write, far beyond those of any host: a line that says more would take all memory.
const LENGTH_MOST: u64 = 32 << 20;

/// Reads a file in one of the formats.
pub struct Reader {
    name: String,
    input: Input,
    position: BytesRead,
    parser: Box<dyn Parser>,
    lenient: bool,
    skipped: u64,
    /// Requests of length zero, which ask for nothing.
    empty: u64,
    /// The time of the first request, from which all others are counted.
    beginning: Option<Nanos>,
    taken: Option<String>,
    has_volumes: bool,
    /// Why its compression ended early, if bad lines are skipped and it did.
    cut: Option<io::Error>,
}

impl Reader {
    /// Opens a file, or blktrace's files of each processor, and detects its format unless it is given. Errors call it
    /// `name`. Bad lines are skipped and counted if `lenient`.
    pub fn open(
        paths: &[PathBuf],
        name: &str,
        format: Option<&As>,
        lenient: bool,
    ) -> Result<Self, TraceError> {
        let unreadable = |reason| TraceError::Unreadable { name: name.into(), reason };
        let (input, position) = merge::open(paths).map_err(unreadable)?;
        Self::with_input(input, position, name, format, lenient)
    }

    /// Reads bytes from any source.
    pub fn new(
        source: impl Read + 'static,
        name: &str,
        format: Option<&As>,
        lenient: bool,
    ) -> Result<Self, TraceError> {
        let unreadable = |reason| TraceError::Unreadable { name: name.into(), reason };
        let position = BytesRead::default();
        let counted = Counted { inner: source, position: position.clone() };
        let input = Input::new(counted).map_err(unreadable)?;
        Self::with_input(input, position, name, format, lenient)
    }

    fn with_input(
        input: Input,
        position: BytesRead,
        name: &str,
        format: Option<&As>,
        lenient: bool,
    ) -> Result<Self, TraceError> {
        let name = String::from(name);
        let head = input.head();
        let mut taken = None;
        let (parser, has_volumes) = match format {
            Some(format) => {
                let parser = format
                    .parser(head)
                    .map_err(|reason| TraceError::Columns { name: name.clone(), reason })?;
                (parser, format.has_volumes())
            }
            None if head.trim_ascii().is_empty() => return Err(TraceError::Empty(name)),
            None => match formats::recognise(head) {
                Recognised::As(format, why) => {
                    taken = why;
                    ((format.parser)(head), As::Format(format).has_volumes())
                }
                Recognised::Doubt(why) => return Err(TraceError::InDoubt { name, why }),
                Recognised::Unknown(hint) => {
                    let begins = beginning(head);
                    return Err(TraceError::UnknownFormat { name, begins, hint });
                }
            },
        };
        Ok(Self {
            name,
            input,
            position,
            parser,
            lenient,
            skipped: 0,
            empty: 0,
            beginning: None,
            taken,
            has_volumes,
            cut: None,
        })
    }

    /// The next request, or `None` after the last. Its time is counted from the first one's; a clock that was set back
    /// below it counts as zero.
    pub fn next_request(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            match self.parser.next(&mut self.input) {
                Ok(Some(request)) if request.length == 0 && request.op != Op::Flush => {
                    self.empty += 1;
                }
                Ok(Some(request)) => {
                    let beginning = *self.beginning.get_or_insert(request.time);
                    let request = Request { time: request.time.since(beginning), ..request };
                    match excess(&request) {
                        None => return Ok(Some(request)),
                        Some(_) if self.lenient => self.skipped += 1,
                        Some((expected, found)) => return Err(self.bad(expected, found)),
                    }
                }
                Ok(None) => return self.ended(),
                Err(ParseError::Bad { .. }) if self.lenient => self.skipped += 1,
                Err(ParseError::Bad { expected, found }) => {
                    return Err(self.bad(format!("{expected}{}", too_large(&found)), found));
                }
                Err(ParseError::Unreadable(reason)) => {
                    return Err(TraceError::Unreadable { name: self.name.clone(), reason });
                }
            }
        }
    }

    fn bad(&self, expected: String, found: String) -> TraceError {
        TraceError::Line { name: self.name.clone(), place: self.place(), expected, found }
    }

    /// The end of the file; an error, unless bad lines are skipped, if its compression was cut short before.
    fn ended(&mut self) -> Result<Option<Request>, TraceError> {
        match self.input.take_cut() {
            None => Ok(None),
            Some(error) if self.lenient => {
                self.cut = Some(error);
                Ok(None)
            }
            Some(error) => {
                let reason = format!("it is cut short ({error}); --lenient reads what is before");
                let reason = io::Error::new(io::ErrorKind::UnexpectedEof, reason);
                Err(TraceError::Unreadable { name: self.name.clone(), reason })
            }
        }
    }

    /// The file's name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// If more than one format fitted the file: which was taken, and why.
    pub fn taken(&self) -> Option<&str> {
        self.taken.as_deref()
    }

    /// After the last request, if the file was cut short and bad lines are skipped: that it was, in a sentence.
    pub fn cut(&self) -> Option<String> {
        let (name, error) = (&self.name, self.cut.as_ref()?);
        Some(format!("{name} is cut short ({error}): what is before that is read"))
    }

    /// Whether addresses are those of numbered volumes, and not of one device as they stand.
    pub const fn has_volumes(&self) -> bool {
        self.has_volumes
    }

    /// The position of the last request.
    pub fn place(&self) -> Position {
        self.input.place()
    }

    /// Bad lines skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Requests of length zero so far, which were passed over.
    pub const fn empty(&self) -> u64 {
        self.empty
    }

    /// Bytes of the file read so far.
    pub fn position(&self) -> u64 {
        self.position.get()
    }
}

/// What to add for a line whose form may be right, and a number of it beyond any disk's end.
fn too_large(line: &str) -> &'static str {
    const DIGITS_MOST: usize = 16;
    let is_long = |digits: &str| digits.trim_start_matches('0').len() > DIGITS_MOST;
    if line.split(|letter: char| !letter.is_ascii_digit()).any(is_long) {
        ", and each number below 2^64 bytes"
    } else {
        ""
    }
}

/// What is expected, and what was found instead, if a request is longer or later than any host's. Trims may cover a
/// whole disk, and take no memory.
pub(crate) fn excess(request: &Request) -> Option<(String, String)> {
    let Request { time, op, length, .. } = request;
    if *length > LENGTH_MOST && matches!(op, Op::Read | Op::Write) {
        let expected = format!("a request of at most {LENGTH_MOST} bytes");
        return Some((expected, format!("{length} bytes")));
    }
    (*time > LASTS_MOST).then(|| {
        let found = format!("{} seconds after it", time.get() / 1_000_000_000);
        ("a time at most 100 years after the first request".into(), found)
    })
}

/// How a file begins, for messages: its first line, if it is text.
fn beginning(head: &[u8]) -> String {
    /// As much of a line as a message has room for.
    const SHOWN: usize = 60;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let line = String::from_utf8_lossy(line);
    let shown: String = line.chars().take(SHOWN).collect();
    let is_odd = |char: char| char == char::REPLACEMENT_CHARACTER || char.is_control();
    if shown.replace('\t', " ").contains(is_odd) {
        return "line 1, which is no text,".into();
    }
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("line 1, `{shown}{more}`,")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A recording as a server that is killed leaves it: flushed, and without its end.
    fn cut_short(text: &str) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        packed.flush().unwrap();
        packed.get_ref().clone()
    }

    /// The same, as `tandem serve --record` packs it.
    #[cfg(feature = "compression")]
    fn cut_short_by_zstd(text: &str) -> Vec<u8> {
        let mut packed = zstd::Encoder::new(Vec::new(), 3).unwrap();
        packed.write_all(text.as_bytes()).unwrap();
        packed.flush().unwrap();
        packed.get_ref().clone()
    }

    #[test]
    fn what_is_cut_short_is_read_to_the_last_whole_line_if_asked() {
        let text = "5,R,0,512\n9,W,512,1024\n12,W,0,40";
        let packings = [
            cut_short(text),
            #[cfg(feature = "compression")]
            cut_short_by_zstd(text),
        ];
        for packed in packings {
            let read = |lenient| {
                let source = io::Cursor::new(packed.clone());
                let mut reader = Reader::new(source, "cut.csv", None, lenient).unwrap();
                let mut requests = Vec::new();
                loop {
                    match reader.next_request() {
                        Ok(Some(request)) => requests.push(request.length),
                        Ok(None) => return (requests, reader.cut()),
                        Err(error) => return (requests, Some(error.to_string())),
                    }
                }
            };
            let (requests, told) = read(true);
            let told = told.unwrap();
            assert_eq!(requests, [512, 1024]);
            assert!(told.contains("cut.csv is cut short") && !told.contains("--lenient"), "{told}");
            let (requests, told) = read(false);
            let told = told.unwrap();
            assert_eq!(requests, [512, 1024]);
            assert!(told.contains("cut.csv") && told.contains("--lenient"), "{told}");
        }
    }

    #[test]
    fn a_line_that_asks_for_more_than_any_host_is_told_and_skipped_if_asked() {
        let text =
            "5,R,0,512\n7,W,0,9223372036854775807\n8,R,0,1099511627776\n9,T,0,1099511627776\n";
        let mut strict = reader(text, false).unwrap();
        strict.next_request().unwrap();
        let told = strict.next_request().unwrap_err().to_string();
        assert!(told.contains("some.csv, line 2") && told.contains("33554432"), "{told}");
        let mut lenient = reader(text, true).unwrap();
        assert_eq!(lenient.next_request().unwrap().unwrap().op, Op::Read);
        assert_eq!(lenient.next_request().unwrap().unwrap().op, Op::Trim);
        assert_eq!((lenient.next_request().unwrap(), lenient.skipped()), (None, 2));
    }

    #[test]
    fn a_line_of_a_time_that_no_clock_counts_is_told_and_skipped_if_asked() {
        let text = "5,R,0,512\n18446744073709551,W,0,512\n9,T,0,512\n";
        let mut strict = reader(text, false).unwrap();
        strict.next_request().unwrap();
        let told = strict.next_request().unwrap_err().to_string();
        assert!(told.contains("some.csv, line 2") && told.contains("100 years"), "{told}");
        let mut lenient = reader(text, true).unwrap();
        assert_eq!(lenient.next_request().unwrap().unwrap().op, Op::Read);
        assert_eq!(lenient.next_request().unwrap().unwrap().op, Op::Trim);
        assert_eq!(lenient.skipped(), 1);
    }

    #[test]
    fn a_number_that_no_disk_has_is_told_beside_the_form() {
        let said = |line: &str| {
            let mut reader = reader(&format!("5,R,0,512\n{line}\n"), false).unwrap();
            reader.next_request().unwrap();
            reader.next_request().unwrap_err().to_string()
        };
        assert!(said("7,W,18446744073709551616,512").contains("each number below 2^64"));
        assert!(!said("7,X,1844674407370,512").contains("2^64"));
    }

    fn reader(text: &str, lenient: bool) -> Result<Reader, TraceError> {
        Reader::new(io::Cursor::new(text.as_bytes().to_vec()), "some.csv", None, lenient)
    }

    const TEXT: &str = "5,R,0,512\nrubbish\n7.5,W,512,1024\n3,F,0,0\n";

    #[test]
    fn a_bad_line_is_told_with_file_line_and_what_was_expected() {
        let mut strict = reader(TEXT, false).unwrap();
        strict.next_request().unwrap();
        let message = strict.next_request().unwrap_err().to_string();
        for part in ["some.csv, line 2:", "expected `time_us,op,offset,length`", "found `rubbish`"]
        {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn in_a_file_that_is_no_text_a_record_is_told() {
        let record: Vec<u8> = [0x0000_0200_0000_0007_u64, 0x0100_002A_0000_0001, 8, 5]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        let cut = [&record[..], &record, &record[..9]].concat();
        let mut reader = Reader::new(io::Cursor::new(cut), "a.vscsi", None, false).unwrap();
        assert!(reader.next_request().unwrap().is_some());
        assert!(reader.next_request().unwrap().is_some());
        let message = reader.next_request().unwrap_err().to_string();
        assert!(message.starts_with("a.vscsi, record 3: expected a vscsi record"), "{message}");
        assert!(message.contains("found `9 bytes: 07 00"), "{message}");
    }

    #[test]
    fn lenience_skips_and_counts_and_times_start_at_zero() {
        let mut lenient = reader(TEXT, true).unwrap();
        let mut requests = Vec::new();
        while let Some(request) = lenient.next_request().unwrap() {
            requests.push((request.time.get(), request.op));
        }
        assert_eq!(requests, [(0, Op::Read), (2_500, Op::Write), (0, Op::Flush)]);
        assert_eq!(lenient.skipped(), 1);
    }

    #[test]
    fn a_request_for_nothing_is_passed_over_and_counted() {
        let mut all = reader("0,R,0,0\n1,W,512,512\n2,W,0,0\n3,F,0,0\n", false).unwrap();
        let mut ops = Vec::new();
        while let Some(request) = all.next_request().unwrap() {
            ops.push(request.op);
        }
        assert_eq!((ops, all.empty()), (vec![Op::Write, Op::Flush], 2));
    }

    #[test]
    fn a_file_of_no_format_and_an_empty_one_are_told_apart() {
        let unknown = reader("hello\n", false).err().unwrap().to_string();
        assert!(unknown.contains("--format") && unknown.contains("csv, msr"), "{unknown}");
        assert!(unknown.contains("as line 1, `hello`, shows"), "{unknown}");
        let of = |text: &str| reader(text, false).err().unwrap().to_string();
        assert!(of(&format!("a{}", "é".repeat(99))).contains("line 1, `aéé"));
        assert!(of("\u{1}\u{2}\n").contains("line 1, which is no text"));
        assert!(matches!(reader(" \n", false), Err(TraceError::Empty(_))));
    }
}
