//! The format of `FlashSim` and its kin: lines of `time device block pages op`, separated by blanks. The time is
//! milliseconds, the address counts blocks of 512 bytes, the length pages of 4 KiB; op 1 is a read, 0 a write.
//!
//! `five` distinguishes it from other formats with the same columns.

use super::five::{self, ColumnMeaning};
use super::format::{Format, Line, Lines};
use super::heimdall;
use super::units::BLOCK;

pub(super) const FORMAT: Format = Format {
    name: "flashsim",
    title: "FlashSim: time device block pages op; milliseconds, blocks of 512 bytes, pages of 4 KiB",
    recognise: |head| five::is(ColumnMeaning::Flashsim, head),
    parser: |_| Lines::boxed("`milliseconds device block pages op`, op 0 or 1", parse),
};

const PAGE: u64 = 4096;

fn parse(line: &[u8]) -> Option<Line> {
    heimdall::request(line, BLOCK, PAGE).map(Line::Request)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bad, parse as parse_all};
    use super::*;
    use crate::input::trace::Op;

    #[test]
    fn addresses_are_blocks_and_lengths_are_pages() {
        let text = "0.026\t0\t303568\t1\t0\n0.111\t0\t303576\t16\t1\n";
        let found: Vec<(Op, u64, u64)> =
            parse_all(&FORMAT, text).iter().map(|r| (r.op, r.offset, r.length)).collect();
        let expected = [(Op::Write, 303_568 * 512, 4096), (Op::Read, 303_576 * 512, 16 * 4096)];
        assert_eq!(found, expected);
        assert_eq!(bad(&FORMAT, "0.1 0 8 1 2"), "0.1 0 8 1 2");
    }
}
