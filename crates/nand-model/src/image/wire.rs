//! Bytes in and out, summed for the check at the end.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

use super::error::{ImageError, VERSION};

/// Writes, and sums the check.
pub(super) struct Out<W> {
    to: W,
    check: Hasher,
}

impl<W: Write> Out<W> {
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), ImageError> {
        self.check.update(bytes);
        self.to.write_all(bytes).map_err(ImageError::Io)
    }

    pub(super) fn start(to: W, magic: [u8; 8], payload: &[u8]) -> Result<Self, ImageError> {
        let mut out = Self { to, check: Hasher::new() };
        out.put(&magic)?;
        out.put(&VERSION.to_le_bytes())?;
        let length = u32::try_from(payload.len());
        out.put(&length.map_err(|_| ImageError::Damaged("too much to save"))?.to_le_bytes())?;
        out.put(payload)?;
        Ok(out)
    }

    pub(super) fn finish(self) -> Result<W, ImageError> {
        let Self { mut to, check } = self;
        to.write_all(&check.finalize().to_le_bytes()).map_err(ImageError::Io)?;
        Ok(to)
    }
}

/// Reads, and sums the check.
pub(super) struct In<R> {
    from: R,
    check: Hasher,
}

impl<R: Read> In<R> {
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ImageError> {
        self.from.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ImageError::Truncated,
            _ => ImageError::Io(error),
        })?;
        self.check.update(bytes);
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ImageError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Checks magic and version, and reads the payload that follows.
    pub(super) fn start(
        from: R,
        magic: [u8; 8],
        kind: &'static str,
        length_max: u32,
    ) -> Result<(Self, Vec<u8>), ImageError> {
        let mut input = Self { from, check: Hasher::new() };
        if input.array::<8>()? != magic {
            return Err(ImageError::Foreign(kind));
        }
        let found = u16::from_le_bytes(input.array()?);
        if found != VERSION {
            return Err(ImageError::Version { found });
        }
        let length = u32::from_le_bytes(input.array()?);
        if length > length_max {
            return Err(ImageError::Damaged("an impossible length"));
        }
        let payload = input.take(length)?;
        Ok((input, payload))
    }

    /// So many bytes; memory grows as they arrive.
    pub(super) fn take(&mut self, length: u32) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        self.from
            .by_ref()
            .take(u64::from(length))
            .read_to_end(&mut bytes)
            .map_err(ImageError::Io)?;
        if bytes.len() < length as usize {
            return Err(ImageError::Truncated);
        }
        self.check.update(&bytes);
        Ok(bytes)
    }

    pub(super) fn finish(mut self) -> Result<R, ImageError> {
        let expected = self.check.clone().finalize();
        let found = u32::from_le_bytes(self.array()?);
        let matches = found == expected;
        if matches { Ok(self.from) } else { Err(ImageError::Damaged("its check does not match")) }
    }
}
