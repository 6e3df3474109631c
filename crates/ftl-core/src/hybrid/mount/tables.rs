//! The lent memory, handed out to the rooms that it is for.

use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::Spares;
use crate::hybrid::mlc::MlcMemory;
use crate::hybrid::mlc::maps::MapMemory;
use crate::hybrid::ram::{Ram, TableName};
use crate::hybrid::slc::LogMemory;
use crate::table::Bits;

/// Every table of the plan, by the room that keeps it.
pub(super) struct Tables<'ram> {
    pub(super) spares: Spares<'ram>,
    pub(super) buffer: &'ram mut [u8],
    pub(super) log: LogMemory<'ram>,
    pub(super) index_low: &'ram mut [u32],
    pub(super) index_high: &'ram mut [u8],
    pub(super) mlc: MlcMemory<'ram>,
    pub(super) erase_counts: &'ram mut [u16],
    pub(super) wear_pools: &'ram mut [u8],
    pub(super) unproved: Bits<'ram, LogicalBlock>,
    pub(super) logged: Bits<'ram, LogicalBlock>,
}

impl<'ram> Tables<'ram> {
    /// Takes them in the order of the plan.
    pub(super) fn take(mut ram: Ram<'ram>) -> Self {
        let first = ram.halves(TableName::ChainFirst);
        let next = ram.halves(TableName::ChainNext);
        let erase_counts = ram.halves(TableName::EraseCounts);
        let owners = ram.halves(TableName::MapOwners);
        let next_pages = ram.halves(TableName::MapNextPages);
        let cells = ram.halves(TableName::MapCells);
        let sketches = ram.halves(TableName::Sketches);
        let index_low = ram.words(TableName::IndexLow);
        let head_codes = ram.words(TableName::HeadCodes);
        let tail_codes = ram.words(TableName::TailCodes);
        let last_notes = ram.words(TableName::MapLastNotes);
        let buffer = ram.bytes(TableName::PageBuffer);
        let log_spare = ram.bytes(TableName::LogSpare);
        let chain_spare = ram.bytes(TableName::ChainSpare);
        let read_spare = ram.bytes(TableName::ReadSpare);
        let index_high = ram.bytes(TableName::IndexHigh);
        let wear_pools = ram.bytes(TableName::WearPools);
        let bad = ram.bytes(TableName::LogBad);
        let has_data = ram.bytes(TableName::HasData);
        let recent = ram.bytes(TableName::Recent);
        let sealed = ram.bytes(TableName::Sealed);
        let unproved = Bits::new(ram.bytes(TableName::Unproved));
        let logged = Bits::new(ram.bytes(TableName::Logged));
        let flags = ram.bytes(TableName::MapFlags);
        let touched = ram.bytes(TableName::FoldTouched);
        let collected = ram.bytes(TableName::FoldCollected);

        let maps = MapMemory { owners, next_pages, last_notes, flags, cells };
        Self {
            spares: Spares { read: read_spare, log: log_spare, chain: chain_spare },
            buffer,
            log: LogMemory { bad, head_codes, tail_codes },
            index_low,
            index_high,
            mlc: MlcMemory {
                first,
                next,
                has_data,
                recent,
                sealed,
                maps,
                sketches,
                touched,
                collected,
            },
            erase_counts,
            wear_pools,
            unproved,
            logged,
        }
    }
}
