//! Traces of our own format, written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ftl_iface::Lifetime;

use super::library::Zst;
use super::{Request, lifetime};

/// Which fields the lines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Time, operation, offset and length.
    Four,
    /// Also how long the data is expected to live.
    WithLifetime,
}

impl Fields {
    /// The fields that tell all of those requests.
    pub fn of(requests: &[Request]) -> Self {
        let tells = |request: &Request| request.lifetime != Lifetime::Unknown;
        if requests.iter().any(tells) { Self::WithLifetime } else { Self::Four }
    }
}

/// A file; a name in .gz or .zst is compressed.
pub struct Output(Packed);

enum Packed {
    Plain(BufWriter<File>),
    Gz(BufWriter<GzEncoder<BufWriter<File>>>),
    Zst(Zst),
}

impl Output {
    /// Makes the file. One that is there already must be empty, or no regular file, such as a pipe.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::check(path)?;
        // Not emptied: another program may have written to it since.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        Self::over(file, path)
    }

    /// Whether [`create`](Self::create) would overwrite something: that is an error.
    pub fn check(path: &Path) -> io::Result<()> {
        match fs::metadata(path) {
            Ok(data) if data.is_file() && data.len() > 0 => {
                let reason = "it is there and not empty: name another file, or move it away";
                Err(io::Error::new(ErrorKind::AlreadyExists, reason))
            }
            _ => Ok(()),
        }
    }

    /// Writes to an open file, compressed as that name's ending says.
    pub fn over(file: File, path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(file);
        Ok(Self(match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Packed::Gz(BufWriter::new(GzEncoder::new(file, Compression::default()))),
            Some("zst") => Packed::Zst(Zst::new(file)?),
            _ => Packed::Plain(file),
        }))
    }

    /// Writes the rest, and the end of the compression.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Packed::Plain(mut file) => file.flush(),
            Packed::Gz(packed) => packed.into_inner()?.finish()?.flush(),
            Packed::Zst(packed) => packed.finish(),
        }
    }

    fn inner(&mut self) -> &mut dyn Write {
        match &mut self.0 {
            Packed::Plain(file) => file,
            Packed::Gz(packed) => packed,
            Packed::Zst(packed) => packed,
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
pub fn begin(fields: Fields, out: &mut dyn Write) -> io::Result<()> {
    let more = if fields == Fields::WithLifetime { ",lifetime" } else { "" };
    writeln!(out, "time_us,op,offset,length{more}")
}

/// Writes a request.
pub fn put(request: &Request, fields: Fields, out: &mut dyn Write) -> io::Result<()> {
    let Request { time, op, offset, length, lifetime } = request;
    // Whole microseconds, because intervals are multiples of them.
    let micros = time.get() / 1_000;
    write!(out, "{micros},{},{offset},{length}", op.letter())?;
    match fields {
        Fields::Four => writeln!(out),
        Fields::WithLifetime => writeln!(out, ",{}", lifetime::word(*lifetime)),
    }
}
