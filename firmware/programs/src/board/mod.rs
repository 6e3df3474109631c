//! The board: instructions counted, the stack painted, the program ended. Everything that differs between the
//! architectures stands here, and every `unsafe` line of these programs.
//!
//! Instructions are exact under QEMU's `-icount`: the emulated clock then advances by a fixed time for each of them.

#[cfg(target_arch = "arm")]
mod arm;
#[cfg(target_arch = "riscv32")]
mod riscv;

#[cfg(target_arch = "arm")]
use self::arm as machine;
#[cfg(target_arch = "riscv32")]
use self::riscv as machine;

pub mod stack;

pub use self::machine::{Moment, Span, loop_of_two, start_counting};

/// What a measurement itself adds to each that is taken: found by measuring nothing.
pub fn cost_of_measuring() -> u32 {
    let start = Moment::now();
    Moment::now().since(start).instructions()
}

/// Takes the time of `work`.
#[inline(always)]
pub fn time<R>(work: impl FnOnce() -> R) -> (Span, R) {
    let start = Moment::now();
    let outcome = work();
    (Moment::now().since(start), outcome)
}

/// Whether counting is exact here: a loop of `rounds` rounds of two instructions must read as just those, and the two
/// that set it up or leave it. It is not under a QEMU that was started without `-icount`, nor on a real board.
pub fn counts_exactly() -> bool {
    let cost = cost_of_measuring();
    [10, 1_000, 100_000].into_iter().all(|rounds| {
        let start = Moment::now();
        loop_of_two(rounds);
        let counted = Moment::now().since(start).instructions() - cost;
        counted.abs_diff(2 * rounds) <= 4
    })
}

/// Ends the program, and QEMU with it: 0 says that all went well.
pub fn end(code: i32) -> ! {
    semihosting::process::exit(code)
}

/// Ends the program with the sentence that says what went wrong.
pub fn fail(why: core::fmt::Arguments<'_>) -> ! {
    semihosting::println!("FAILED: {why}");
    end(1)
}
