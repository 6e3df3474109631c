//! Requests as Linux's block layer tells them in text: their kind in letters, and their blocks of 512 bytes.
//!
//! In the kind, D is a discard (a trim here), W a write, R a read; a request without blocks is a flush if the kind has
//! F, and otherwise does not access the medium. A flush combined with a write counts as that write.

use nand_model::part::Nanos;

use super::format::Line;
use super::units::{BLOCK, apart};
use crate::input::trace::{Op, Request};

/// The request of that kind to so many blocks from one on, of the device with that number.
#[inline]
pub(super) fn request(
    time: Nanos,
    kind: &[u8],
    (block, blocks): (u64, u64),
    device: impl FnOnce() -> Option<u64>,
) -> Option<Line> {
    let op = match kind {
        _ if blocks == 0 && kind.contains(&b'F') => {
            return Some(Line::Request(Request::new(time, Op::Flush, 0, 0)));
        }
        _ if blocks == 0 => return Some(Line::Nothing),
        _ if kind.contains(&b'D') => Op::Trim,
        _ if kind.contains(&b'W') => Op::Write,
        _ if kind.contains(&b'R') => Op::Read,
        _ => return Some(Line::Nothing),
    };
    let length = blocks.checked_mul(BLOCK)?;
    let offset = apart(device()?, block.checked_mul(BLOCK)?, length)?;
    Some(Line::Request(Request::new(time, op, offset, length)))
}
