//! Units of a worst case: reads, programs and erases.

/// Numbers of operations on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Pages read, or parts of them. A bound on reads is many times more than any request reads.
    pub reads: u64,
    /// Pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Operations {
    /// None at all.
    pub const NONE: Self = Self { reads: 0, programs: 0, erases: 0 };

    /// So many times these.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            reads: self.reads * count,
            programs: self.programs * count,
            erases: self.erases * count,
        }
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            programs: self.programs + other.programs,
            erases: self.erases + other.erases,
        }
    }

    /// The difference to `before`, of which no number may be larger.
    #[must_use]
    pub const fn less(self, before: Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            programs: self.programs - before.programs,
            erases: self.erases - before.erases,
        }
    }

    /// Whether none of the numbers is larger than the bound's.
    pub const fn within(self, bound: Self) -> bool {
        self.reads <= bound.reads && self.programs <= bound.programs && self.erases <= bound.erases
    }
}
