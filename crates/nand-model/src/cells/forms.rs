//! Blocks whose pages are not stored as records: preset or packed ones.

use std::ops::Range;
use std::sync::Arc;

use ftl_iface::Block;

use super::Cells;
use super::block::Form;
use super::packing::Packing;
use super::rows::Rows;
use crate::preset::{Preset, PresetError};

impl Cells {
    /// Writes out the content that the formula gives for blocks.
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
            self.rows = Packing::of(&self.format).map(rows);
        }
    }
}
