//! RISC-V (rv32imac), as QEMU's machine `virt`.
#![allow(unsafe_code, reason = "the loop and the stack pointer are machine code")]

use core::arch::asm;

/// Has nothing to start: the core counts its instructions from the first on.
pub fn start_counting() {}

/// A point in the stream of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u32);

impl Moment {
    /// Now.
    #[inline(always)]
    pub fn now() -> Self {
        Self(riscv::register::minstret::read() as u32)
    }

    /// What has passed since an earlier moment, less than four thousand million instructions ago.
    #[inline(always)]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.wrapping_sub(earlier.0))
    }
}

/// A stretch of the stream, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span(u32);

impl Span {
    /// Adds what has passed from `start` to `end`.
    #[inline(always)]
    pub fn add(&mut self, start: Moment, end: Moment) {
        self.0 = self.0.wrapping_add(end.since(start).0);
    }

    /// This span, less another that is part of it.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        Self(self.0.wrapping_sub(part.0))
    }

    /// Its length.
    pub fn instructions(self) -> u32 {
        self.0
    }
}

/// Loops so many times over two instructions.
#[inline(always)]
pub fn loop_of_two(rounds: u32) {
    // SAFETY: touches one register of its own.
    unsafe {
        asm!("2: addi {n}, {n}, -1", "bnez {n}, 2b", n = inout(reg) rounds => _, options(nomem, nostack));
    }
}

/// The stack pointer.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let at: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mv {at}, sp", at = out(reg) at, options(nomem, nostack)) };
    at
}
