//! What the plans of lent memory share.

use core::fmt;

/// One line of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanRow {
    /// What the table is for.
    pub name: &'static str,
    /// How many elements it has.
    pub elements: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
}

/// The first elements, and those after them.
pub(crate) fn split<T>(slice: &mut [T], length: usize) -> (&mut [T], &mut [T]) {
    let length = length.min(slice.len());
    slice.split_at_mut_checked(length).unwrap_or((&mut [], &mut []))
}

/// The lent slices do not have the plan's lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLength {
    /// Elements of 16, 32 and 8 bits that the plan needs.
    pub needed: [usize; 3],
    /// Elements that were lent.
    pub lent: [usize; 3],
}

impl fmt::Display for WrongLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([half, word, byte], [lent_half, lent_word, lent_byte]) = (self.needed, self.lent);
        write!(
            f,
            "the plan needs {half} halves, {word} words and {byte} bytes, but {lent_half}, {lent_word} and \
             {lent_byte} were lent: size the arrays by the plan"
        )
    }
}

impl core::error::Error for WrongLength {}
