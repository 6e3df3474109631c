//! The static library for firmware in C. Its functions are those of `ftl-c`; all that is added is what a library
//! without `std` must have: a panic handler.
//!
//! The handler calls a function that does not exist. The optimised library does not contain it, because nothing in it
//! can panic; where something could, the program would not link.
#![no_std]

pub use ftl_c::*;

mod missing {
    #![allow(unsafe_code, reason = "a function that does not exist cannot be declared otherwise")]

    unsafe extern "C" {
        safe fn tandem_can_panic_here() -> !;
    }

    #[panic_handler]
    fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
        tandem_can_panic_here()
    }
}
