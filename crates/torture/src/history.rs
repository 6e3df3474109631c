//! What the device was asked last, in lines that people read: kept for a replay alone.

use std::collections::VecDeque;

use ftl_core::layout::{self, FormatKey};
use ftl_core::probe::Cause;
use ftl_iface::Page;
use nand_model::Stamp;

use crate::report::cause_name;

/// Lines that are kept: a mount of a small device, and what came before it.
const LINES: usize = 400;

/// The last lines, if they are kept at all.
#[derive(Clone, Debug)]
pub(crate) struct History(Option<VecDeque<String>>);

impl History {
    /// None.
    pub(crate) const NONE: Self = Self(None);

    /// A history that is kept.
    pub(crate) fn kept() -> Self {
        Self(Some(VecDeque::new()))
    }

    /// Adds a line.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.0 {
            if lines.len() == LINES {
                lines.pop_front();
            }
            lines.push_back(line());
        }
    }

    /// The lines, from the oldest on.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().flatten().cloned().collect()
    }
}

/// A page's operation, on whose account it was done, and what the page holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked<'a> {
    pub(crate) page: Page,
    pub(crate) cause: Cause,
    pub(crate) data: &'a [u8],
    pub(crate) spare: &'a [u8],
    pub(crate) sector_bytes: usize,
    /// Sectors of the device, by which stamps are told apart.
    pub(crate) capacity: u32,
    pub(crate) key: FormatKey,
}

impl Looked<'_> {
    /// The line.
    pub(crate) fn line(&self, verb: &str) -> String {
        let Self { page, spare, key, .. } = *self;
        let sectors: Vec<String> =
            self.data.chunks(self.sector_bytes).map(|sector| self.sector(sector)).collect();
        let lengths = [1, 2, 4, 8, 16].map(layout::tag_bytes);
        let tags = lengths.into_iter().filter_map(|length| spare.get(..length));
        let tag = tags.rev().find_map(|spare| layout::tag(spare, key));
        let told = match tag {
            Some(tag) => format!("{tag:?}"),
            None if spare.iter().all(|byte| *byte == 0xFF) => "erased".into(),
            None => "no tag".into(),
        };
        format!("{verb} {page} for {}: {told} [{}]", cause_name(self.cause), sectors.join(", "))
    }

    fn sector(&self, sector: &[u8]) -> String {
        let Some(stamp) = Stamp::read_from(sector) else {
            let filler = sector.first().filter(|first| sector.iter().all(|byte| byte == *first));
            return filler.map_or("record".into(), |byte| format!("{byte:02X}…"));
        };
        let (request, number) = (stamp.get() / self.capacity, stamp.get() % self.capacity);
        format!("sector {number} of request {request}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_where_any_are() {
        let mut none = History::NONE;
        none.note(|| unreachable!("nobody reads it"));
        assert!(none.lines().is_empty());
        let mut kept = History::kept();
        (0..LINES + 2).for_each(|number| kept.note(|| number.to_string()));
        assert_eq!((kept.lines().len(), kept.lines()[0].as_str()), (LINES, "2"));
    }
}
