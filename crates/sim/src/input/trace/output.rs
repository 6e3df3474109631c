//! Traces of our own format, written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Request;

/// The first line.
const HEADING: &str = "time_us,op,offset,length";

/// A file; a name in .gz or .zst is compressed.
pub(crate) enum Output {
    Plain(BufWriter<File>),
    Gz(BufWriter<GzEncoder<BufWriter<File>>>),
    Zst(zstd::Encoder<'static, BufWriter<File>>),
}

impl Output {
    /// Makes the file, or empties it.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Self::over(File::create(path)?, path)
    }

    /// Like [`create`](Self::create), over an open file, compressed as that name's ending says.
    pub(crate) fn over(file: File, path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(file);
        Ok(match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gz(BufWriter::new(GzEncoder::new(file, Compression::default()))),
            Some("zst") => Self::Zst(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            _ => Self::Plain(file),
        })
    }

    /// Writes the rest, and the end of the compression.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Gz(packed) => packed.into_inner()?.finish()?.flush(),
            Self::Zst(packed) => packed.finish()?.flush(),
        }
    }

    fn inner(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(file) => file,
            Self::Gz(packed) => packed,
            Self::Zst(packed) => packed,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner().flush()
    }
}

/// Writes the heading.
pub(crate) fn begin(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADING}")
}

/// Writes a request.
pub(crate) fn put(request: &Request, out: &mut dyn Write) -> io::Result<()> {
    let Request { time, op, offset, length } = request;
    // Whole microseconds, because intervals are multiples of them.
    let micros = time.get() / 1_000;
    writeln!(out, "{micros},{},{offset},{length}", op.letter())
}
