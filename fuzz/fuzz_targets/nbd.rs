//! Any bytes as what an NBD client sends, in pieces of any size: nothing beyond the export is asked of the disk, what
//! is held of a client stays small, and the same bytes in one piece are answered alike.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/sim-cli/tests/tandem/nbd/checked.rs"]
mod checked;

fuzz_target!(|input: (u16, &[u8])| {
    let (piece, sent) = input;
    let parts = checked::answered(sent, usize::from(piece) + 1);
    let whole = checked::answered(sent, sent.len().max(1));
    assert!(parts == whole, "pieces are answered otherwise");
});
