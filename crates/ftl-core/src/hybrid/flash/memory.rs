//! The lent memory of the flash access layer: its tables, and how it takes them.

use crate::hybrid::shape::Shape;
use crate::layout;
use crate::memory::{Declared, Lent, Plan};

/// The page buffer and the spare areas of the flash access layer. They come before tables of any length, so that they
/// are word-aligned if the memory is: copying them takes several times as long otherwise.
#[derive(Debug)]
pub struct FlashMemory<'ram> {
    /// As long as the longest page.
    pub(super) buffer: &'ram mut [u8],
    pub(super) spares: Spares<'ram>,
}

/// The spare areas: one to read into, and one per part to program from.
#[derive(Debug)]
pub(super) struct Spares<'ram> {
    /// As long as the spare area of the first region (meta and log).
    pub(super) log: &'ram mut [u8],
    /// As long as the spare area of the chains' region.
    pub(super) chain: &'ram mut [u8],
    /// As long as the longest tag.
    pub(super) read: &'ram mut [u8],
}

impl<'ram> FlashMemory<'ram> {
    /// What it is, in the order in which it is taken.
    pub const TABLES: [Declared; 4] = [
        Declared::bytes("page buffer"),
        Declared::bytes("spare area, log"),
        Declared::bytes("spare area, chains"),
        Declared::bytes("tag read last"),
    ];

    /// How many elements each has.
    pub const fn lengths(shape: &Shape) -> [usize; 4] {
        let (meta, chain) = (&shape.meta, &shape.chain);
        let page = if chain.page_bytes.get() > meta.page_bytes.get() { chain } else { meta };
        let slots = if meta.slots > chain.slots { meta.slots } else { chain.slots };
        [
            page.page_bytes.as_usize(),
            meta.spare_bytes.as_usize(),
            chain.spare_bytes.as_usize(),
            layout::tag_bytes(slots),
        ]
    }

    /// Takes it.
    pub fn take<P: Plan>(ram: &mut Lent<'ram, P>) -> Self {
        let buffer = ram.next_bytes();
        let (log, chain, read) = (ram.next_bytes(), ram.next_bytes(), ram.next_bytes());
        Self { buffer, spares: Spares { log, chain, read } }
    }
}
