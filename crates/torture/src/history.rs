//! The last operations on the device, as readable lines: kept only for a replay.

use std::collections::VecDeque;

use ftl_core::probe::Cause;
use ftl_iface::Page;
use nand_model::Stamp;

use crate::account::cause_name;
use crate::on_flash::OnFlash;

/// Lines kept: enough for a mount of a small device, and some before it.
const LINES: usize = 400;

/// The last lines, if they are kept at all.
#[derive(Clone, Debug)]
pub(crate) struct History(Option<VecDeque<String>>);

impl History {
    /// No history.
    pub(crate) const NONE: Self = Self(None);

    /// An empty history that keeps lines.
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

/// A page operation, its cause, and the page's content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageOperation<'a> {
    pub(crate) page: Page,
    pub(crate) cause: Cause,
    pub(crate) data: &'a [u8],
    pub(crate) spare: &'a [u8],
    pub(crate) subject: &'a dyn OnFlash,
    pub(crate) key: u32,
}

impl PageOperation<'_> {
    /// The line.
    pub(crate) fn line(&self, verb: &str) -> String {
        let Self { page, spare, key, subject, .. } = *self;
        let sectors = self.data.chunks(subject.sector_bytes().as_usize());
        let sectors: Vec<String> = sectors.map(|sector| self.sector(sector)).collect();
        let (cause, told) = (cause_name(self.cause), subject.explain(spare, key));
        format!("{verb} {page} for {cause}: {told} [{}]", sectors.join(", "))
    }

    fn sector(&self, sector: &[u8]) -> String {
        let Some(stamp) = Stamp::read_from(sector) else {
            let filler = sector.first().filter(|first| sector.iter().all(|byte| byte == *first));
            return filler.map_or("record".into(), |byte| format!("{byte:02X}…"));
        };
        // Stamps identify sector and request.
        let capacity = self.subject.capacity();
        let (request, number) = (stamp.get() / capacity, stamp.get() % capacity);
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
