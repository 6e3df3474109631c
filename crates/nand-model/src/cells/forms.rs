//! Blocks whose pages are not kept as records: those that are preset or packed, and how they become plain.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ftl_iface::{Block, PageIndex};

use super::Cells;
use super::block::{Form, Storage};
use super::rows::Rows;
use crate::preset::{Preset, PresetError};

impl Cells {
    /// Makes blocks whole, with what the formula tells.
    pub(crate) fn preset(
        &mut self,
        blocks: Range<u32>,
        formula: Arc<dyn Preset>,
    ) -> Result<(), PresetError> {
        if self.format.sector_bytes() == 0 {
            return Err(PresetError::Bytes);
        }
        if self.preset.is_some() {
            return Err(PresetError::Another(self.region));
        }
        let (first, range) = (blocks.start, blocks.start as usize..blocks.end as usize);
        let cells = self.blocks.get_mut(range).ok_or(PresetError::OutOfRange(self.region))?;
        if let Some(at) = cells.iter().position(|cells| cells.next > 0 || cells.bad) {
            return Err(PresetError::InUse(Block::new(self.region, first + at as u32)));
        }
        for cells in cells {
            (cells.form, cells.next) = (Form::Preset, self.pages);
        }
        self.preset = Some(formula);
        Ok(())
    }

    /// From now on, packs blocks where that can be.
    pub(crate) fn pack(&mut self) {
        if self.rows.is_none() {
            let rows = |packing| Rows::new(packing, self.blocks.len(), self.pages);
            self.rows = self.format.packing().map(rows);
        }
    }

    /// The records of a block's pages; as many as are programmed, at least.
    pub(crate) fn records(&self, block: u32) -> Cow<'_, [u8]> {
        let cells = &self.blocks[block as usize];
        let write = |record: &mut [u8], page: u16| match (cells.form, &self.preset, &self.rows) {
            (Form::Preset, Some(preset), _) => {
                let page = Block::new(self.region, block).page(PageIndex::new(page));
                self.format.store_preset(record, preset.as_ref(), page);
            }
            (Form::Packed(place), _, Some(rows)) => {
                rows.packing.unpack(rows.get(place), page, record);
            }
            _ => {}
        };
        if cells.form == Form::Plain {
            return Cow::Borrowed(cells.held());
        }
        let mut records = vec![0; usize::from(cells.next) * self.format.record()];
        for (record, page) in records.chunks_exact_mut(self.format.record()).zip(0..) {
            write(record, page);
        }
        Cow::Owned(records)
    }

    /// Gives a packed block records, since a page does not fit its rows.
    #[cold]
    #[inline(never)]
    pub(super) fn make_plain(&mut self, block: u32) {
        let records = self.records(block).into_owned();
        let cells = &mut self.blocks[block as usize];
        let form = std::mem::replace(&mut cells.form, Form::Plain);
        cells.storage = Storage::Own(records.into());
        if let (Form::Packed(place), Some(rows)) = (form, &mut self.rows) {
            rows.give_back(place);
        }
    }
}
