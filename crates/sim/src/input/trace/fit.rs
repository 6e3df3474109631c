//! How addresses beyond the device are handled.
//!
//! A trace of a large disk can be replayed on a smaller device in two ways. *Wrap*: addresses continue at 0, so data
//! that was a device's size apart shares addresses. *Pack*: the extents that the trace touches are moved together in
//! order, so nothing shares addresses, and sequential data stays sequential. Packing reads the trace once before.

use std::collections::BTreeMap;

use super::{Op, Request};

/// The name in a result for addresses that are left as they are.
pub const AS_IS: &str = "as-is";

/// How addresses are to be fitted; otherwise they must lie within the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitChoice {
    /// Addresses begin again at 0 where the device ends.
    Wrap,
    /// The extents that the trace touches are moved together, their order kept.
    Pack,
    /// As they are, or packed if any lies beyond the end.
    Auto,
}

impl FitChoice {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Wrap, Self::Pack, Self::Auto];

    /// Its name on a command line, or in a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Pack => "pack",
            Self::Auto => "auto",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }

    /// The one of that name, or why there is none.
    pub fn parse(name: &str) -> Result<Self, String> {
        let unknown =
            || format!("`{name}` is no way to fit addresses: write wrap or pack, or auto");
        Self::named(name).ok_or_else(unknown)
    }

    /// What it does, for a list of all.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Wrap => "Addresses begin again at 0 where the device ends",
            Self::Pack => "The extents that the trace touches are moved together, their order kept",
            Self::Auto => "As they are, or packed if any lies beyond the end",
        }
    }
}

/// How addresses are fitted into a device.
#[derive(Debug)]
pub(crate) enum Fit {
    /// They must lie within it as they are.
    AsIs,
    /// They are taken modulo its capacity. A request may then cross the device's end and continue at 0.
    Wrap,
    /// They are moved together.
    Pack(Packing),
}

impl Fit {
    /// Its name in a result.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::AsIs => AS_IS,
            Self::Wrap => FitChoice::Wrap.name(),
            Self::Pack(_) => FitChoice::Pack.name(),
        }
    }

    /// The request's address on a device of that capacity; `None` if it does not fit.
    #[inline]
    pub(crate) fn place(&self, request: Request, capacity: u64) -> Option<Request> {
        if request.op == Op::Flush {
            return Some(Request { offset: 0, length: 0, ..request });
        }
        match self {
            Self::AsIs => (request.end() <= capacity).then_some(request),
            Self::Wrap => Some(Request {
                offset: request.offset % capacity,
                length: request.length.min(capacity),
                ..request
            }),
            Self::Pack(packing) => Some(packing.place(request)),
        }
    }
}

/// The extents that a trace touches: first collected, then moved together.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Start and end of each; no two are adjacent.
    extents: BTreeMap<u64, u64>,
    /// Extents begin and end at multiples of this, so that alignment to pages is kept.
    grain: u64,
}

impl Survey {
    pub(crate) fn new(grain: u64) -> Self {
        Self { extents: BTreeMap::new(), grain }
    }

    /// Adds the extent of a request. Trims count only where another request touches their bytes, because mkfs trims a
    /// whole disk.
    pub(crate) fn add(&mut self, request: &Request) {
        if request.length == 0 || matches!(request.op, Op::Trim | Op::Flush) {
            return;
        }
        let mut start = request.offset / self.grain * self.grain;
        let mut end = request.end().div_ceil(self.grain).saturating_mul(self.grain);
        if let Some((before, last)) = self.extents.range(..=start).next_back() {
            if *last >= end {
                return;
            }
            if *last >= start {
                start = *before;
            }
        }
        while let Some((next, last)) = self.extents.range(start..=end).next() {
            let (next, last) = (*next, *last);
            end = end.max(last);
            self.extents.remove(&next);
        }
        self.extents.insert(start, end);
    }

    /// Moves the extents together.
    pub(crate) fn pack(self) -> Packing {
        let mut packed = 0;
        let mut extents = Vec::with_capacity(self.extents.len());
        for (start, end) in self.extents {
            extents.push(TouchedExtent { start, end, packed });
            packed += end - start;
        }
        Packing { extents, touched: packed }
    }
}

#[derive(Clone, Copy, Debug)]
struct TouchedExtent {
    start: u64,
    end: u64,
    /// Where it starts on the device.
    packed: u64,
}

/// The packed extents.
#[derive(Debug)]
pub(crate) struct Packing {
    extents: Vec<TouchedExtent>,
    touched: u64,
}

impl Packing {
    /// Bytes of all extents.
    pub(crate) const fn touched(&self) -> u64 {
        self.touched
    }

    /// The new address of a byte. A byte in a gap maps to the start of the next extent, so a trim over a gap keeps its
    /// part of extents.
    fn moved(&self, byte: u64) -> u64 {
        let after = self.extents.partition_point(|extent| extent.end <= byte);
        match self.extents.get(after) {
            Some(extent) => extent.packed + byte.saturating_sub(extent.start),
            None => self.touched,
        }
    }

    fn place(&self, request: Request) -> Request {
        let offset = self.moved(request.offset);
        let length = self.moved(request.end()) - offset;
        // A request ends within its extent or at its end, which after packing equals the next extent's start.
        Request { offset, length, ..request }
    }
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::*;

    const fn request(op: Op, offset: u64, length: u64) -> Request {
        Request::new(Nanos::ZERO, op, offset, length)
    }

    fn packing(extents: &[(u64, u64)]) -> Packing {
        let mut survey = Survey::new(8);
        for (offset, length) in extents {
            survey.add(&request(Op::Write, *offset, *length));
        }
        survey.pack()
    }

    fn placed(fit: &Fit, request: Request) -> Option<(u64, u64)> {
        fit.place(request, 100).map(|request| (request.offset, request.length))
    }

    #[test]
    fn as_it_is_what_ends_beyond_the_device_does_not_fit() {
        assert_eq!(placed(&Fit::AsIs, request(Op::Read, 90, 10)), Some((90, 10)));
        assert_eq!(placed(&Fit::AsIs, request(Op::Read, 91, 10)), None);
        assert_eq!(placed(&Fit::AsIs, request(Op::Flush, 1 << 60, 0)), Some((0, 0)));
    }

    #[test]
    fn wrapped_addresses_begin_again_at_zero() {
        assert_eq!(placed(&Fit::Wrap, request(Op::Read, 250, 10)), Some((50, 10)));
        assert_eq!(placed(&Fit::Wrap, request(Op::Read, 195, 10)), Some((95, 10)));
        assert_eq!(placed(&Fit::Wrap, request(Op::Read, 195, 1000)), Some((95, 100)));
    }

    #[test]
    fn packed_extents_keep_their_order_and_their_alignment() {
        let fit = Fit::Pack(packing(&[(1000, 10), (80, 8), (1016, 1), (2003, 2)]));
        // 80..88, 1000..1024 (joined), 2000..2008.
        assert_eq!(placed(&fit, request(Op::Read, 80, 8)), Some((0, 8)));
        assert_eq!(placed(&fit, request(Op::Read, 1000, 24)), Some((8, 24)));
        assert_eq!(placed(&fit, request(Op::Read, 1017, 3)), Some((25, 3)));
        assert_eq!(placed(&fit, request(Op::Read, 2003, 2)), Some((35, 2)));
    }

    #[test]
    fn a_packed_trim_keeps_what_it_has_of_extents() {
        let fit = Fit::Pack(packing(&[(80, 8), (1000, 8)]));
        assert_eq!(placed(&fit, request(Op::Trim, 0, 5000)), Some((0, 16)));
        assert_eq!(placed(&fit, request(Op::Trim, 84, 900)), Some((4, 4)));
        assert_eq!(placed(&fit, request(Op::Trim, 2000, 900)), Some((16, 0)));
    }

    #[test]
    fn extents_that_overlap_or_touch_are_one_in_whatever_order_they_come() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let extents = [(0, 16), (16, 16), (24, 40), (128, 8)];
            let chosen: Vec<(u64, u64)> = order.iter().map(|at| extents[*at]).collect();
            let packing = packing(&chosen);
            assert_eq!(packing.extents.len(), 2, "{order:?}: {packing:?}");
            assert_eq!(packing.touched(), 72);
        }
    }
}
