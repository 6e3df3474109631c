//! Compressions by libraries of their own: bzip2, xz, Zstandard. A build without the feature `compression` knows them
//! by their first bytes, and says so.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};

/// First bytes of a Zstandard frame (RFC 8878, section 3.1.1).
const ZSTANDARD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// First bytes of a bzip2 stream: its name, and a block size of 1 to 9.
const BZIP2: &[u8] = b"BZh";

/// First bytes of an xz stream (its file format, section 2.1.1.1).
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

/// The library that unpacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    Bzip2,
    Xz,
    Zstandard,
}

impl Library {
    /// That of a file that begins like this.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let is_block_size = |size: &u8| (b'1'..=b'9').contains(size);
        if head.starts_with(ZSTANDARD) {
            Some(Self::Zstandard)
        } else if head.starts_with(BZIP2) && head.get(BZIP2.len()).is_some_and(is_block_size) {
            Some(Self::Bzip2)
        } else {
            head.starts_with(XZ).then_some(Self::Xz)
        }
    }

    /// What the bytes are unpacked to.
    #[cfg(feature = "compression")]
    pub(super) fn unpacked(self, packed: impl BufRead + 'static) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Self::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(packed)),
            Self::Zstandard => Box::new(zstd::Decoder::with_buffer(packed)?),
        })
    }

    /// That they cannot be.
    #[cfg(not(feature = "compression"))]
    pub(super) fn unpacked(self, _: impl BufRead + 'static) -> io::Result<Box<dyn Read>> {
        Err(self.left_out())
    }

    #[cfg(not(feature = "compression"))]
    fn left_out(self) -> io::Error {
        let name = match self {
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard => "Zstandard",
        };
        let reason = format!("this build was made without {name}: take a file that is not packed");
        io::Error::new(io::ErrorKind::Unsupported, reason)
    }
}

/// A file that is packed by Zstandard.
#[cfg(feature = "compression")]
pub(super) struct Zst(zstd::Encoder<'static, BufWriter<File>>);

#[cfg(feature = "compression")]
impl Zst {
    pub(super) fn new(file: BufWriter<File>) -> io::Result<Self> {
        zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL).map(Self)
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.0.finish()?.flush()
    }
}

#[cfg(feature = "compression")]
impl Write for Zst {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// None can be made.
#[cfg(not(feature = "compression"))]
pub(super) enum Zst {}

#[cfg(not(feature = "compression"))]
impl Zst {
    pub(super) fn new(_: BufWriter<File>) -> io::Result<Self> {
        Err(Library::Zstandard.left_out())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {}
    }
}

#[cfg(not(feature = "compression"))]
impl Write for Zst {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}
