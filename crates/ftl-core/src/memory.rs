//! Memory that the caller lends: what the plans of both FTLs share, and how it is lent.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::mem::take;

/// A plan of memory: how many elements each table has. [`RamPlan`](crate::RamPlan) and
/// [`PagedPlan`](crate::paged::PagedPlan) are such.
pub trait Plan: Copy {
    /// Elements of 16, 32 and 8 bits, over all tables.
    fn elements(&self) -> [usize; 3];

    /// Elements of one table, by its number in the order of the plan.
    fn length(&self, table: usize) -> usize;

    /// Bytes of all lent memory. The FTL itself is additional; `size_of` gives its size.
    fn total_bytes(&self) -> usize {
        let [halves, words, bytes] = self.elements();
        halves * 2 + words * 4 + bytes
    }
}

/// Elements of the tables from the one to before the other, or to the last.
#[inline]
pub(crate) const fn sum(lengths: &[usize], from: usize, to: usize) -> usize {
    let mut sum = 0;
    let mut at = from;
    while at < to && at < lengths.len() {
        sum += lengths[at];
        at += 1;
    }
    sum
}

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

/// A table as a module declares it: the module also gives its length, and takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    pub(crate) name: &'static str,
    pub(crate) element_bytes: usize,
}

impl Declared {
    /// A table of 16-bit elements.
    pub const fn halves(name: &'static str) -> Self {
        Self { name, element_bytes: 2 }
    }

    /// A table of 32-bit elements.
    pub const fn words(name: &'static str) -> Self {
        Self { name, element_bytes: 4 }
    }

    /// A table of bytes.
    pub const fn bytes(name: &'static str) -> Self {
        Self { name, element_bytes: 1 }
    }
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

/// Lent memory, of exactly the lengths of a plan.
#[derive(Debug)]
pub struct Lent<'ram, P> {
    plan: P,
    halves: &'ram mut [u16],
    words: &'ram mut [u32],
    bytes: &'ram mut [u8],
    next: usize,
}

impl<'ram, P: Plan> Lent<'ram, P> {
    /// Lends memory for that plan.
    pub fn lend(
        plan: &P,
        halves: &'ram mut [u16],
        words: &'ram mut [u32],
        bytes: &'ram mut [u8],
    ) -> Result<Self, WrongLength> {
        let lent = [halves.len(), words.len(), bytes.len()];
        let needed = plan.elements();
        if lent == needed {
            Ok(Self { plan: *plan, halves, words, bytes, next: 0 })
        } else {
            Err(WrongLength { needed, lent })
        }
    }

    /// The plan that the memory was lent for.
    pub const fn plan(&self) -> &P {
        &self.plan
    }

    fn length(&mut self, table: impl Into<usize>) -> usize {
        let table = table.into();
        debug_assert_eq!(table, self.next, "tables are taken in their order");
        self.next += 1;
        self.plan.length(table)
    }

    /// Takes the next table of 16-bit elements.
    pub(crate) fn halves(&mut self, table: impl Into<usize>) -> &'ram mut [u16] {
        let length = self.length(table);
        let (taken, rest) = split(take(&mut self.halves), length);
        self.halves = rest;
        taken
    }

    /// Takes the next table of 32-bit elements.
    pub(crate) fn words(&mut self, table: impl Into<usize>) -> &'ram mut [u32] {
        let length = self.length(table);
        let (taken, rest) = split(take(&mut self.words), length);
        self.words = rest;
        taken
    }

    /// Takes the next table of bytes.
    pub(crate) fn bytes(&mut self, table: impl Into<usize>) -> &'ram mut [u8] {
        let length = self.length(table);
        let (taken, rest) = split(take(&mut self.bytes), length);
        self.bytes = rest;
        taken
    }
}

impl<'ram, P: Plan> Lent<'ram, P> {
    /// Takes the next table, which is one of 16-bit elements.
    #[inline(never)]
    pub(crate) fn next_halves(&mut self) -> &'ram mut [u16] {
        self.halves(self.next)
    }

    /// Takes the next table, which is one of 32-bit elements.
    #[inline(never)]
    pub(crate) fn next_words(&mut self) -> &'ram mut [u32] {
        self.words(self.next)
    }

    /// Takes the next table, which is one of bytes.
    #[inline(never)]
    pub(crate) fn next_bytes(&mut self) -> &'ram mut [u8] {
        self.bytes(self.next)
    }

    /// Whether every table was taken, each as what it was declared as.
    pub(crate) const fn is_taken(&self) -> bool {
        self.halves.is_empty() && self.words.is_empty() && self.bytes.is_empty()
    }
}

/// The first elements, and those after them.
fn split<T>(slice: &mut [T], length: usize) -> (&mut [T], &mut [T]) {
    let length = length.min(slice.len());
    slice.split_at_mut_checked(length).unwrap_or((&mut [], &mut []))
}

/// Memory on the heap, for hosts.
#[cfg(feature = "alloc")]
#[derive(Debug)]
pub struct Owned<P> {
    plan: P,
    halves: Vec<u16>,
    words: Vec<u32>,
    bytes: Vec<u8>,
}

#[cfg(feature = "alloc")]
impl<P: Plan> Owned<P> {
    /// Allocates what the plan needs.
    pub fn for_plan(plan: &P) -> Self {
        let [halves, words, bytes] = plan.elements();
        Self {
            plan: *plan,
            halves: alloc::vec![0; halves],
            words: alloc::vec![0; words],
            bytes: alloc::vec![0; bytes],
        }
    }

    /// Lends it.
    pub fn lend(&mut self) -> Lent<'_, P> {
        Lent {
            plan: self.plan,
            halves: &mut self.halves,
            words: &mut self.words,
            bytes: &mut self.bytes,
            next: 0,
        }
    }
}
