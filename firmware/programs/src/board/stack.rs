//! How deep the stack goes: what lies below it is painted, and what of the paint is gone afterwards was used.
#![allow(
    unsafe_code,
    reason = "memory below the stack belongs to nobody, and Rust has no word for it"
)]

use super::machine::stack_pointer;

/// A value that no program pushes by chance in a row.
const PAINT: u32 = 0xA5C3_3C5A;

/// Bytes that are painted. Whoever goes deeper is found by [`Painted::depth`] to have used all of it.
pub const PAINTED: usize = 16 << 10;

/// Bytes right below the stack pointer that are left alone: the painting itself needs some.
const MARGIN: usize = 256;

/// A painted stretch below the stack.
#[derive(Clone, Copy, Debug)]
pub struct Painted {
    top: usize,
}

impl Painted {
    /// Paints what lies below the caller's stack.
    #[inline(always)]
    pub fn below() -> Self {
        let top = stack_pointer();
        let mut at = (top - PAINTED) & !3;
        while at < top - MARGIN {
            // SAFETY: the stack has megabytes left, nothing below its pointer is in use, and no interrupt is on.
            unsafe { (at as *mut u32).write_volatile(PAINT) };
            at += 4;
        }
        Self { top }
    }

    /// Bytes of stack that were used since, below the place of painting; no less than the margin that was not painted.
    #[inline(always)]
    pub fn depth(self) -> usize {
        let mut at = (self.top - PAINTED) & !3;
        // SAFETY: as above; it is only read.
        while at < self.top - MARGIN && unsafe { (at as *const u32).read_volatile() } == PAINT {
            at += 4;
        }
        self.top - at
    }
}
