//! What is known about each logical block's sectors in the log.

use crate::hybrid::address::LogicalBlock;
use crate::hybrid::shape::Shape;
use crate::memory::{Declared, Lent, Plan};
use crate::table::{Bits, word};

/// A bit a logical block, of each kind; none without a log.
#[derive(Debug)]
pub(crate) struct LoggedMemory<'ram> {
    /// Its sectors in the log are not proved newest yet.
    pub(crate) unproved: Bits<'ram, LogicalBlock>,
    /// The log may hold some of its sectors.
    pub(crate) logged: Bits<'ram, LogicalBlock>,
}

impl<'ram> LoggedMemory<'ram> {
    /// What it is, in the order in which it is taken.
    pub(crate) const TABLES: [Declared; 2] = [
        Declared::bytes("chains not yet proved"),
        Declared::bytes("chains with sectors in the log"),
    ];

    /// How many elements each has.
    pub(crate) const fn lengths(shape: &Shape) -> [usize; 2] {
        match &shape.log {
            Some(_) => [Bits::<LogicalBlock>::bytes_for(word(shape.logical_blocks)); 2],
            None => [0; 2],
        }
    }

    /// Takes it.
    pub(crate) fn take<P: Plan>(ram: &mut Lent<'ram, P>) -> Self {
        Self { unproved: Bits::new(ram.next_bytes()), logged: Bits::new(ram.next_bytes()) }
    }
}
