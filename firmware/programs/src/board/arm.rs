//! Cortex-M4F, as the board of ARM's application note AN386 under QEMU.
#![allow(unsafe_code, reason = "registers are at addresses")]

use core::arch::asm;

/// The first timer of the board (ARM's CMSDK APB timer), which counts down at 25 MHz.
const TIMER: usize = 0x4000_0000;
const CONTROL: *mut u32 = TIMER as *mut u32;
const VALUE: *mut u32 = (TIMER + 4) as *mut u32;
const RELOAD: *mut u32 = (TIMER + 8) as *mut u32;

/// Nanoseconds of a tick of the timer.
const TICK: u64 = 40;
/// Nanoseconds of an instruction under `-icount shift=8`: two to the eighth.
const INSTRUCTION: u64 = 256;

/// Starts the timer. It does not stop again, and comes round after some 670 million instructions.
pub fn start_counting() {
    // SAFETY: the registers of a timer that nothing else on the board uses.
    unsafe {
        RELOAD.write_volatile(u32::MAX);
        VALUE.write_volatile(u32::MAX);
        CONTROL.write_volatile(1);
    }
}

/// A point in the stream of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u32);

impl Moment {
    /// Now.
    #[inline(always)]
    pub fn now() -> Self {
        // SAFETY: reading the timer changes nothing.
        Self(unsafe { VALUE.read_volatile() })
    }

    /// What has passed since an earlier moment, less than one round of the timer ago.
    #[inline(always)]
    pub fn since(self, earlier: Self) -> Span {
        Span(earlier.0.wrapping_sub(self.0))
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

    /// Its length, exact for a single stretch.
    pub fn instructions(self) -> u32 {
        ((u64::from(self.0) * TICK + INSTRUCTION / 2) / INSTRUCTION) as u32
    }
}

/// Loops so many times over two instructions.
#[inline(always)]
pub fn loop_of_two(rounds: u32) {
    // SAFETY: touches one register of its own.
    unsafe {
        asm!("2: subs {n}, {n}, #1", "bne 2b", n = inout(reg) rounds => _, options(nomem, nostack));
    }
}

/// The stack pointer.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let at: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {at}, sp", at = out(reg) at, options(nomem, nostack)) };
    at
}
