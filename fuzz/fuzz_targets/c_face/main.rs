//! Any bytes as a program in C that calls the library: it mounts and uses a device, does much of it wrong, and has a
//! driver that fails, returns nonsense or lies. Whatever it does, if it can be seen, is an error number of the header;
//! nothing is written beside what was lent; and what was acknowledged is there.
//!
//! ```text
//!   setup    which chip, which configuration        world    what each request may return
//!   starts   formats and mounts                     truth    what each sector must read as
//!   steps    what the program does right            memory   what it lends, with fences
//!   wrong    what it does wrong                     driver   the table of functions, which fail at times
//!   inside   calls from inside the driver           chip     what is behind them
//!   examine  the examination of a driver            face     the functions of both FTLs, under the same names
//! ```
//!
//! What a library cannot see is not done here: pointers that lead nowhere, memory that is shorter than said, RAM that
//! is changed behind its first word, two calls at once.
//!
//! # What is expected, and why
//!
//! The contract of drivers allows more than it seems. An operation in which a driver fails leaves what a power cut may
//! leave, and a number that means nothing is such a failure (`tandem_nand_t`). So nonsense costs nothing that was
//! acknowledged, and neither do blocks that fail: each sector reads as it was written, and after a request that did not
//! return 0 as before or as asked for. Only two things weaken that, until the next format ([`truth::Trust`]): a page
//! that dies by itself costs its sectors, or takes them back to an older write; and if the driver lies (programs
//! nothing and says 0, reads other bytes, forgets a mark), nothing is known of the data. Then only the calls themselves
//! are judged.
//!
//! The seeds in `fuzz/seeds/c_face` are written by `fuzz/examples/c_face_seeds.rs`.
#![no_main]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

mod chip;
mod driver;
mod examine;
mod face;
mod inside;
mod memory;
mod setup;
mod starts;
mod steps;
mod truth;
mod world;
mod wrong;

use libfuzzer_sys::fuzz_target;
use torture::script::Script;

use face::{Face, Hybrid, PageStore};
use world::World;

fuzz_target!(|bytes: &[u8]| {
    let mut source = Script::new(bytes);
    match source.byte() % 2 {
        0 => play::<PageStore>(&mut source),
        _ => play::<Hybrid>(&mut source),
    }
});

fn play<F: Face>(source: &mut Script<'_>) {
    let geometry = setup::geometry(source);
    if setup::is_playable(&geometry) {
        World::<F>::new(geometry, source).follow(source);
    }
}
