//! How many bytes the requests of a trace touch, each byte counted once: for `profile`, and for capacities that fit.

use hashbrown::HashMap;

use super::{Op, Request};

/// Bytes of a bit: real requests are whole blocks of this size.
const UNIT: u64 = 512;

/// Bits of a part.
const PART: u64 = 8192;

/// A set of numbers, in parts that are made as they are needed.
#[derive(Debug, Default)]
struct Set {
    parts: HashMap<u64, Box<[u64; (PART / 64) as usize]>>,
}

impl Set {
    /// Adds the numbers from `first` to before `end`.
    fn add(&mut self, mut first: u64, end: u64) {
        while first < end {
            let part = first / PART;
            let last = end.min((part + 1) * PART);
            let words =
                self.parts.entry(part).or_insert_with(|| Box::new([0; (PART / 64) as usize]));
            while first < last {
                let bit = first % 64;
                let count = (last - first).min(64 - bit);
                words[(first % PART / 64) as usize] |= (u64::MAX >> (64 - count)) << bit;
                first += count;
            }
        }
    }

    fn count(&self) -> u64 {
        let words = self.parts.values().flat_map(|words| words.iter());
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    fn has(&self, number: u64) -> bool {
        let words = self.parts.get(&(number / PART));
        words.is_some_and(|words| words[(number % PART / 64) as usize] >> (number % 64) & 1 == 1)
    }
}

/// What a trace touches.
#[derive(Debug)]
pub(crate) struct Touched {
    /// Whole units that were written on the device.
    written: Set,
    /// Bytes that were written of others, by byte.
    rest: Set,
    /// Pages that the trace reads or writes, at its own addresses.
    pages: Set,
    page: u64,
}

impl Touched {
    /// Nothing yet, in pages of that size.
    pub(crate) fn new(page: u64) -> Self {
        let [written, rest, pages] = std::array::from_fn(|_| Set::default());
        Self { written, rest, pages, page: page.max(1) }
    }

    /// Adds a request, as the trace has it, and as it is placed on a device of that capacity, where it may go on at 0.
    pub(crate) fn add(&mut self, own: &Request, placed: &Request, capacity: u64) {
        if matches!(own.op, Op::Trim | Op::Flush) || own.length == 0 {
            return;
        }
        self.pages.add(own.offset / self.page, own.end().div_ceil(self.page));
        if own.op == Op::Write {
            let end = placed.end().min(capacity);
            self.write(placed.offset, end);
            self.write(0, placed.end() - end);
        }
    }

    fn write(&mut self, first: u64, end: u64) {
        let (whole, last) = (first.div_ceil(UNIT), end / UNIT);
        if whole <= last {
            self.written.add(whole, last);
            self.rest.add(first, whole * UNIT);
            self.rest.add(last * UNIT, end);
        } else {
            self.rest.add(first, end);
        }
    }

    /// Bytes of the device that were written at least once.
    pub(crate) fn written(&self) -> u64 {
        let parts = self.rest.parts.iter();
        let rest = parts.flat_map(|(part, words)| {
            let bytes = words.iter().zip((part * PART..).step_by(64));
            // The words of a unit lie in it wholly.
            bytes
                .filter(|(_, byte)| !self.written.has(byte / UNIT))
                .map(|(word, _)| word.count_ones())
        });
        self.written.count() * UNIT + rest.map(u64::from).sum::<u64>()
    }

    /// Bytes of all pages that the trace reads or writes.
    pub(crate) fn packed(&self) -> u64 {
        self.pages.count() * self.page
    }
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::*;

    fn touched(requests: &[(Op, u64, u64)]) -> (u64, u64) {
        let mut touched = Touched::new(4096);
        for (op, offset, length) in requests {
            let own = Request::new(Nanos::ZERO, *op, *offset, *length);
            let placed = Request { offset: offset % (1 << 20), ..own };
            touched.add(&own, &placed, 1 << 20);
        }
        (touched.written(), touched.packed())
    }

    #[test]
    fn bytes_are_counted_once_and_a_trim_takes_none_off() {
        assert_eq!(touched(&[(Op::Write, 0, 513)]), (513, 4096));
        assert_eq!(touched(&[(Op::Write, 0, 513), (Op::Write, 100, 700)]), (800, 4096));
        assert_eq!(touched(&[(Op::Write, 10, 20), (Op::Write, 0, 512)]), (512, 4096));
        let trimmed = [(Op::Write, 0, 8192), (Op::Trim, 0, 8192), (Op::Write, 4096, 4096)];
        assert_eq!(touched(&trimmed), (8192, 8192));
        assert_eq!(touched(&[(Op::Read, 40_960, 1), (Op::Flush, 0, 0)]), (0, 4096));
        assert_eq!(touched(&[(Op::Trim, 0, 1 << 30), (Op::Write, 5 << 20, 0)]), (0, 0));
    }

    #[test]
    fn what_wraps_shares_bytes_on_the_device_and_not_in_the_trace() {
        let over =
            [(Op::Write, 0, 4096), (Op::Write, 1 << 20, 4096), (Op::Write, (1 << 20) - 512, 1024)];
        assert_eq!(touched(&over), (4096 + 512, 3 * 4096));
    }

    #[test]
    fn long_ones_cross_parts() {
        assert_eq!(touched(&[(Op::Write, 7 * 512, 900_000)]).0, 900_000);
        let mut set = Set::default();
        set.add(8000, 50_000);
        assert_eq!(
            (set.count(), set.has(49_999), set.has(50_000), set.has(7999)),
            (42_000, true, false, false)
        );
    }
}
