//! A request on the wire: 28 bytes, and their meaning.

use super::export::{Access, Durability, Export, PAYLOAD_MOST, Zeroing, be16, be32, be64};
use super::reply::Errno;

/// The magic number of a request.
const MAGIC: u32 = 0x2560_9513;

/// A request before its payload.
pub(super) const HEADER_BYTES: usize = 28;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

const FUA: u16 = 1 << 0;
const NO_HOLE: u16 = 1 << 1;
const DO_NOT_FRAGMENT: u16 = 1 << 2;

/// A range of bytes of the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) offset: u64,
    pub(super) bytes: u32,
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NbdCommand {
    Read(Range),
    Write(Range, Durability),
    Trim(Range, Durability),
    Zero(Range, Zeroing, Durability),
    Flush,
    /// None: an error is sent after that many bytes of payload were skipped.
    Refused(Errno, u32),
    /// The client disconnects.
    Disconnect,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The client's identifier of it.
    pub(super) cookie: u64,
    pub(super) asked: NbdCommand,
    /// Whether a read must be answered in one piece.
    pub(super) whole: bool,
}

/// The stream cannot be parsed any more, and must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

impl Request {
    /// Reads a header and checks it against the export. Returns the operation; an error ends the connection.
    pub(super) fn parse(header: &[u8; HEADER_BYTES], export: Export) -> Result<Self, Unreadable> {
        if be32(header, 0) != MAGIC {
            return Err(Unreadable);
        }
        let (flags, kind, cookie) = (be16(header, 4), be16(header, 6), be64(header, 8));
        let range = Range { offset: be64(header, 16), bytes: be32(header, 24) };
        if kind == WRITE && range.bytes > PAYLOAD_MOST {
            return Err(Unreadable);
        }
        let payload = if kind == WRITE { range.bytes } else { 0 };
        let asked = asked(kind, flags, range, export);
        let asked = asked.unwrap_or_else(|errno| NbdCommand::Refused(errno, payload));
        Ok(Self { cookie, asked, whole: flags & DO_NOT_FRAGMENT != 0 })
    }
}

fn asked(kind: u16, flags: u16, range: Range, export: Export) -> Result<NbdCommand, Errno> {
    let allowed = match kind {
        READ => FUA | DO_NOT_FRAGMENT,
        WRITE_ZEROES => FUA | NO_HOLE,
        _ => FUA,
    };
    if flags & !allowed != 0 && kind != DISCONNECT {
        return Err(Errno::Invalid);
    }
    let changes = matches!(kind, WRITE | TRIM | WRITE_ZEROES);
    if changes && export.access == Access::ReadOnly {
        return Err(Errno::Permission);
    }
    let kept = if flags & FUA != 0 { Durability::AtOnce } else { Durability::Flushed };
    match kind {
        READ if range.bytes > PAYLOAD_MOST => Err(Errno::Overflow),
        READ => Ok(NbdCommand::Read(within(range, export, Errno::Invalid)?)),
        WRITE => Ok(NbdCommand::Write(within(range, export, Errno::NoSpace)?, kept)),
        TRIM => Ok(NbdCommand::Trim(within(range, export, Errno::Invalid)?, kept)),
        WRITE_ZEROES => {
            let how = if flags & NO_HOLE != 0 { Zeroing::MustWrite } else { Zeroing::MayForget };
            Ok(NbdCommand::Zero(within(range, export, Errno::NoSpace)?, how, kept))
        }
        FLUSH => Ok(NbdCommand::Flush),
        DISCONNECT => Ok(NbdCommand::Disconnect),
        _ => Err(Errno::Invalid),
    }
}

/// The range, if it is within the export.
fn within(range: Range, export: Export, otherwise: Errno) -> Result<Range, Errno> {
    let end = range.offset.checked_add(range.bytes.into());
    end.filter(|end| *end <= export.bytes).map(|_| range).ok_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: Export =
        Export { bytes: 1 << 20, preferred_block: 4096, access: Access::ReadWrite };

    fn header(flags: u16, kind: u16, offset: u64, bytes: u32) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC.to_be_bytes());
        header[4..6].copy_from_slice(&flags.to_be_bytes());
        header[6..8].copy_from_slice(&kind.to_be_bytes());
        header[8..16].copy_from_slice(&7_u64.to_be_bytes());
        header[16..24].copy_from_slice(&offset.to_be_bytes());
        header[24..].copy_from_slice(&bytes.to_be_bytes());
        header
    }

    fn parsed(flags: u16, kind: u16, offset: u64, bytes: u32) -> NbdCommand {
        let request = Request::parse(&header(flags, kind, offset, bytes), EXPORT).unwrap();
        assert_eq!(request.cookie, 7);
        request.asked
    }

    #[test]
    fn ranges_end_with_the_export() {
        let last = Range { offset: (1 << 20) - 512, bytes: 512 };
        assert_eq!(parsed(0, READ, last.offset, 512), NbdCommand::Read(last));
        assert_eq!(parsed(0, READ, last.offset, 513), NbdCommand::Refused(Errno::Invalid, 0));
        assert_eq!(parsed(0, READ, u64::MAX, 2), NbdCommand::Refused(Errno::Invalid, 0));
        let beyond = NbdCommand::Refused(Errno::NoSpace, 513);
        assert_eq!(parsed(0, WRITE, last.offset, 513), beyond, "its payload is passed over");
        assert_eq!(parsed(0, READ, 0, u32::MAX), NbdCommand::Refused(Errno::Overflow, 0));
        assert_eq!(parsed(0, TRIM, 0, u32::MAX), NbdCommand::Refused(Errno::Invalid, 0));
        assert_eq!(parsed(0, WRITE_ZEROES, 0, u32::MAX), NbdCommand::Refused(Errno::NoSpace, 0));
    }

    #[test]
    fn an_export_that_is_only_read_refuses_changes() {
        let export = Export { access: Access::ReadOnly, ..EXPORT };
        let parsed = |kind| Request::parse(&header(0, kind, 0, 512), export).unwrap().asked;
        let payload = |kind| if kind == WRITE { 512 } else { 0 };
        for kind in [WRITE, TRIM, WRITE_ZEROES] {
            assert_eq!(parsed(kind), NbdCommand::Refused(Errno::Permission, payload(kind)));
        }
        assert_eq!(parsed(READ), NbdCommand::Read(Range { offset: 0, bytes: 512 }));
        assert_eq!(parsed(FLUSH), NbdCommand::Flush);
    }

    #[test]
    fn what_is_unknown_is_an_error_and_what_is_unreadable_the_end() {
        assert_eq!(parsed(0, 99, 0, u32::MAX), NbdCommand::Refused(Errno::Invalid, 0));
        assert_eq!(parsed(1 << 9, READ, 0, 1), NbdCommand::Refused(Errno::Invalid, 0));
        assert!(Request::parse(&header(0, WRITE, 0, PAYLOAD_MOST + 1), EXPORT).is_err());
        assert!(Request::parse(&[0; HEADER_BYTES], EXPORT).is_err());
    }

    #[test]
    fn flags_say_how() {
        let range = Range { offset: 0, bytes: 512 };
        assert_eq!(parsed(FUA, WRITE, 0, 512), NbdCommand::Write(range, Durability::AtOnce));
        let zero = NbdCommand::Zero(range, Zeroing::MustWrite, Durability::Flushed);
        assert_eq!(parsed(NO_HOLE, WRITE_ZEROES, 0, 512), zero);
        let read = Request::parse(&header(DO_NOT_FRAGMENT, READ, 0, 512), EXPORT).unwrap();
        assert!(read.whole);
    }
}
