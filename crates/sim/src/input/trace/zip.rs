//! The one file of a zip archive (APPNOTE.TXT of PKWARE, section 4.3): its entries are read one after the other,
//! without the directory at the end, so that an archive may come from a pipe.

use std::io::{self, BufRead, Read, Take};

use flate2::bufread::DeflateDecoder;

/// First bytes of an entry, and of an archive.
pub(super) const ENTRY: &[u8] = b"PK\x03\x04";

/// First bytes of what may follow the content of an entry: its lengths.
const LENGTHS: &[u8] = b"PK\x07\x08";

/// Bytes of an entry's header before its name.
const HEADER: usize = 30;

/// In its flags: the lengths follow the content.
const LENGTHS_FOLLOW: u16 = 1 << 3;

/// In its flags: it is encrypted.
const ENCRYPTED: u16 = 1;

/// What is read of an entry.
enum Content<R> {
    /// Nothing more.
    Between(R),
    Stored(Take<R>),
    Deflated(DeflateDecoder<R>),
    Ended,
    /// An error ended it: whoever reads on hears of it again.
    Broken,
}

/// A zip archive.
pub(super) struct Zip<R> {
    content: Content<R>,
    /// Whether lengths follow the present entry.
    lengths_follow: bool,
    /// The name of the file that was taken.
    taken: Option<String>,
}

/// Whether another file of an archive was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum NextFile {
    Begun,
    /// The archive has no more.
    None,
}

/// What a header says.
struct ZipEntry {
    flags: u16,
    method: u16,
    packed: u64,
    name: String,
}

impl<R: BufRead> Zip<R> {
    pub(super) const fn new(packed: R) -> Self {
        Self { content: Content::Between(packed), lengths_follow: false, taken: None }
    }

    /// Begins the next file, after the present content.
    fn advance(&mut self) -> io::Result<NextFile> {
        let mut packed = match std::mem::replace(&mut self.content, Content::Broken) {
            Content::Between(packed) => packed,
            Content::Stored(content) => content.into_inner(),
            Content::Deflated(content) => content.into_inner(),
            Content::Ended => {
                self.content = Content::Ended;
                return Ok(NextFile::None);
            }
            Content::Broken => return Err(cut()),
        };
        if std::mem::take(&mut self.lengths_follow) {
            pass_lengths(&mut packed)?;
        }
        loop {
            let Some(entry) = entry(&mut packed)? else {
                self.content = Content::Ended;
                return Ok(NextFile::None);
            };
            if entry.name.ends_with('/') || entry.name.starts_with("__MACOSX/") {
                io::copy(&mut packed.by_ref().take(entry.packed), &mut io::sink())?;
                continue;
            }
            if let Some(first) = self.taken.replace(entry.name.clone()) {
                let name = entry.name;
                return Err(invalid(&format!(
                    "the zip archive holds several files ({first}, {name}): unpack it, and name them or their folder"
                )));
            }
            self.lengths_follow = entry.flags & LENGTHS_FOLLOW != 0;
            self.content = match entry.method {
                _ if entry.flags & ENCRYPTED != 0 => {
                    return Err(invalid("the zip archive is encrypted"));
                }
                0 if !self.lengths_follow => Content::Stored(packed.take(entry.packed)),
                8 => Content::Deflated(DeflateDecoder::new(packed)),
                method => {
                    let reason = format!("the zip archive is packed by method {method}: unpack it");
                    return Err(invalid(&reason));
                }
            };
            return Ok(NextFile::Begun);
        }
    }
}

impl<R: BufRead> Read for Zip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = match &mut self.content {
                Content::Stored(content) => match content.read(buffer)? {
                    0 if content.limit() > 0 && !buffer.is_empty() => return Err(cut()),
                    count => count,
                },
                Content::Deflated(content) => content.read(buffer)?,
                Content::Between(_) | Content::Ended | Content::Broken => 0,
            };
            if count > 0 || buffer.is_empty() || self.advance()? == NextFile::None {
                return Ok(count);
            }
        }
    }
}

/// Reads the header of an entry; `None` if the directory comes.
fn entry(packed: &mut impl BufRead) -> io::Result<Option<ZipEntry>> {
    let mut header = [0; HEADER];
    packed.read_exact(&mut header[..4]).map_err(|_| cut())?;
    if !header.starts_with(ENTRY) {
        return Ok(None);
    }
    packed.read_exact(&mut header[4..]).map_err(|_| cut())?;
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
    let mut name = vec![0; short(26).into()];
    packed.read_exact(&mut name).map_err(|_| cut())?;
    let mut extra = vec![0; short(28).into()];
    packed.read_exact(&mut extra).map_err(|_| cut())?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let packed = match long(18) {
        // The other length comes first, if it is there, too.
        u32::MAX => wide_length(&extra, if long(22) == u32::MAX { 8 } else { 0 }),
        length => length.into(),
    };
    Ok(Some(ZipEntry { flags: short(6), method: short(8), packed, name }))
}

/// The packed length of an entry of more than 4 GiB, at that place of its field (section 4.5.3).
fn wide_length(extra: &[u8], at: usize) -> u64 {
    let mut rest = extra;
    while let [id @ .., _, _] = rest.get(..4).unwrap_or_default() {
        let length = usize::from(u16::from_le_bytes([rest[2], rest[3]]));
        let field = rest.get(4..4 + length).unwrap_or_default();
        if id == [1, 0] {
            return field
                .get(at..)
                .and_then(<[u8]>::first_chunk)
                .map_or(0, |b| u64::from_le_bytes(*b));
        }
        rest = rest.get(4 + length..).unwrap_or_default();
    }
    0
}

/// Skips the lengths after a content: a check and two lengths, of four bytes each or of eight.
fn pass_lengths(packed: &mut impl BufRead) -> io::Result<()> {
    let mut lengths = [0; 12];
    packed.read_exact(&mut lengths[..4]).map_err(|_| cut())?;
    let rest = if lengths.starts_with(LENGTHS) { 12 } else { 8 };
    packed.read_exact(&mut lengths[..rest]).map_err(|_| cut())?;
    // Those of eight bytes are followed by eight more: what comes next begins with its mark.
    if !packed.fill_buf()?.starts_with(b"PK") {
        packed.read_exact(&mut lengths[..8]).map_err(|_| cut())?;
    }
    Ok(())
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the zip archive is cut short")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    /// An entry with that content, packed by that method, its lengths before or after it.
    fn entry(name: &str, method: u16, content: &[u8], flags: u16) -> Vec<u8> {
        let packed = if method == 8 { deflated(content) } else { content.to_vec() };
        let lengths =
            [[0; 4], (packed.len() as u32).to_le_bytes(), (content.len() as u32).to_le_bytes()]
                .concat();
        let is_after = flags & LENGTHS_FOLLOW != 0;
        let before = if is_after { vec![0; 12] } else { lengths.clone() };
        let after = if is_after { [LENGTHS, &lengths].concat() } else { Vec::new() };
        let words = [20, flags, method, 0, 0].map(u16::to_le_bytes).concat();
        let names = [(name.len() as u16).to_le_bytes(), 0_u16.to_le_bytes()].concat();
        [ENTRY, &words, &before, &names, name.as_bytes(), &packed, &after].concat()
    }

    fn read(archive: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Zip::new(io::Cursor::new(archive)).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn the_one_file_of_an_archive_is_read_however_it_is_packed() {
        let text = "0,R,0,512\n".repeat(1000);
        for (method, flags) in [(0, 0), (8, 0), (8, LENGTHS_FOLLOW)] {
            let folder = entry("folder/", 0, b"", 0);
            let file = entry("folder/a.csv", method, text.as_bytes(), flags);
            let archive = [&folder[..], &file, b"PK\x01\x02 and so on"].concat();
            assert_eq!(read(&archive).unwrap(), text);
        }
    }

    #[test]
    fn what_is_cut_short_encrypted_or_more_than_a_file_is_told() {
        let whole = entry("a.csv", 0, b"0,R,0,512\n", 0);
        let short = read(&whole[..whole.len() - 3]).unwrap_err();
        assert_eq!(short.kind(), io::ErrorKind::UnexpectedEof, "{short}");
        let two = read(&[whole.clone(), entry("b.csv", 8, b"1", 0)].concat()).unwrap_err();
        assert!(two.to_string().contains("several files (a.csv, b.csv)"), "{two}");
        for (method, flags, told) in [(0, ENCRYPTED, "encrypted"), (12, 0, "method 12")] {
            let said = read(&entry("a.csv", method, b"x", flags)).unwrap_err().to_string();
            assert!(said.contains(told), "{said}");
        }
    }
}
