//! What the headers call the chip: what is said about the disk, and the chip with what befell it.
//!
//! ```text
//!   chip  length u32 | about the disk, JSON | CRC-32 of both | the image of a chip under faults
//! ```

use std::io::{self, BufReader, BufWriter, Read, Write};

use crc32fast::Hasher;
use ftl_iface::{Block, Mode, NandDevice, Region};
use nand_model::Content;
use nand_model::image::ImageError;
use serde::{Deserialize, Serialize};

use super::device::Device;
use super::digest::Digest;
use super::refusal::Refusal;
use super::slot::{Header, Identity};
use super::store::{AT_ONCE, Amount, Extent, FileStore, StoreBytes, fill};

/// The longest text about a disk.
const ABOUT_MOST: u32 = 64 << 10;

/// The settings needed to use the chip of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The system that formatted the chip, with its parameters.
    pub system: String,
    /// The device, as it was named.
    pub device: String,
    /// The requested capacity.
    pub capacity: Option<u64>,
    /// The requested SLC size.
    pub slc: Option<u64>,
    /// Whether dies work at the same time.
    pub parallel: bool,
}

/// Bytes on their way, summed for the check.
struct Summed<T> {
    inner: T,
    digest: Digest,
    bytes: u64,
}

impl<T> Summed<T> {
    fn new(inner: T, identity: Identity) -> Self {
        let mut digest = Digest::default();
        digest.update(&identity.0);
        Self { inner, digest, bytes: 0 }
    }

    fn sum(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.sum(&bytes[..count]);
        Ok(count)
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn put(about: &About, device: &Device, out: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_vec(about)?;
    let length = (text.len() as u32).to_le_bytes();
    let check = about_check(length, &text);
    for part in [&length[..], &text, &check] {
        out.write_all(part)?;
    }
    device.save(out).map_err(|error| match error {
        // Its kind says what can be done: a full disk, for one.
        ImageError::Io(reason) => reason,
        error => io::Error::other(error),
    })
}

fn about_check(length: [u8; 4], text: &[u8]) -> [u8; 4] {
    let mut hasher = Hasher::new();
    hasher.update(&length);
    hasher.update(text);
    hasher.finalize().to_le_bytes()
}

/// How many bytes it takes.
pub(super) fn bytes(about: &About, device: &Device) -> io::Result<u64> {
    let mut counted = Summed::new(io::sink(), Identity::default());
    put(about, device, &mut counted)?;
    Ok(counted.bytes)
}

/// Writes it, and returns its check.
pub(super) fn write<S: FileStore>(
    (about, device): (&About, &Device),
    identity: Identity,
    to: (&S, Extent),
) -> io::Result<u64> {
    let out = BufWriter::with_capacity(1 << 20, StoreBytes::over(to.0, to.1));
    let mut out = Summed::new(out, identity);
    put(about, device, &mut out)?;
    out.flush()?;
    Ok(out.digest.finish())
}

/// Reads it. Whatever it says that no server can have written is refused.
pub(super) fn read<S: FileStore>(store: &S, header: &Header) -> Result<(About, Device), Refusal> {
    let Extent { at, .. } = header.chip;
    if checked(store, header)? != header.check {
        return Err(Refusal::Check { at, end: header.chip.end() });
    }
    let mut input = BufReader::with_capacity(AT_ONCE, StoreBytes::over(store, header.chip));
    let about = take_about(&mut input)?.ok_or(Refusal::About { at })?;
    let device = Device::load(&mut input).map_err(|reason| Refusal::Chip { at, reason })?;
    match misfit(&device) {
        Some(reason) => Err(Refusal::NoServers { at, reason }),
        None => Ok((about, device)),
    }
}

/// The check of what is there.
pub(super) fn checked<S: FileStore>(store: &S, header: &Header) -> io::Result<u64> {
    let mut input = Summed::new(StoreBytes::over(store, header.chip), header.identity);
    let mut buffer = vec![0; AT_ONCE];
    while input.read(&mut buffer)? > 0 {}
    Ok(input.digest.finish())
}

fn take_about(input: &mut impl Read) -> Result<Option<About>, Refusal> {
    let mut length = [0; 4];
    if fill(input, &mut length)? == Amount::Short || u32::from_le_bytes(length) > ABOUT_MOST {
        return Ok(None);
    }
    let mut text = vec![0; u32::from_le_bytes(length) as usize];
    let mut check = [0; 4];
    if fill(input, &mut text)? == Amount::Short || fill(input, &mut check)? == Amount::Short {
        return Ok(None);
    }
    let matches = about_check(length, &text) == check;
    Ok(serde_json::from_slice(&text).ok().filter(|_| matches))
}

/// Why no server can have left that chip: systems that are served store bytes, and use no block in SLC mode.
pub(super) fn misfit(device: &Device) -> Option<&'static str> {
    let chip = device.inner();
    if chip.content() != Content::Bytes {
        return Some("it stores stamps instead of bytes");
    }
    let in_slc_mode = Region::ALL.into_iter().any(|region| {
        let blocks = device.geometry().region(region).map_or(0, |shape| shape.blocks.get());
        (0..blocks).any(|index| chip.mode(Block::new(region, index)) == Mode::Slc)
    });
    in_slc_mode.then_some("it has blocks in SLC mode")
}
