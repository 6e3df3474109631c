//! Memory for the FTL: static arrays of the lengths that the plan names, lent for one mount after the other.

use ftl_core::{Lent, Plan};

/// The three arrays. Each mount borrows them; when its FTL is dropped, they can be lent again.
#[derive(Debug)]
pub struct Memory {
    halves: &'static mut [u16],
    words: &'static mut [u32],
    bytes: &'static mut [u8],
}

impl Memory {
    /// The memory that lies in these arrays, which may be longer than a plan needs.
    pub fn new(
        halves: &'static mut [u16],
        words: &'static mut [u32],
        bytes: &'static mut [u8],
    ) -> Self {
        Self { halves, words, bytes }
    }

    /// Lends as much of it as the plan names; nothing if it is too short.
    pub fn lend<P: Plan>(&mut self, plan: &P) -> Option<Lent<'_, P>> {
        let [halves, words, bytes] = plan.elements();
        let halves = self.halves.get_mut(..halves)?;
        let words = self.words.get_mut(..words)?;
        let bytes = self.bytes.get_mut(..bytes)?;
        Lent::lend(plan, halves, words, bytes).ok()
    }

    /// Overwrites all of it, as a loss of power does.
    pub fn forget(&mut self) {
        self.halves.fill(0xDEAD);
        self.words.fill(0xDEAD_BEEF);
        self.bytes.fill(0xDB);
    }
}

/// Declares the static arrays that suffice for each of the plans, and takes them. Once: a second time there is none.
#[macro_export]
macro_rules! memory_for {
    ($($plan:expr),+) => {{
        const HALVES: usize = $crate::memory::longest(&[$($plan.halves()),+]);
        const WORDS: usize = $crate::memory::longest(&[$($plan.words()),+]);
        const BYTES: usize = $crate::memory::longest(&[$($plan.bytes()),+]);
        static THE_HALVES: static_cell::ConstStaticCell<[u16; HALVES]> =
            static_cell::ConstStaticCell::new([0; HALVES]);
        static THE_WORDS: static_cell::ConstStaticCell<[u32; WORDS]> =
            static_cell::ConstStaticCell::new([0; WORDS]);
        static THE_BYTES: static_cell::ConstStaticCell<[u8; BYTES]> =
            static_cell::ConstStaticCell::new([0; BYTES]);
        match (THE_HALVES.try_take(), THE_WORDS.try_take(), THE_BYTES.try_take()) {
            (Some(halves), Some(words), Some(bytes)) => {
                Some($crate::memory::Memory::new(halves, words, bytes))
            }
            _ => None,
        }
    }};
}

/// The longest of these lengths.
pub const fn longest(lengths: &[usize]) -> usize {
    let mut longest = 0;
    let mut at = 0;
    while at < lengths.len() {
        if lengths[at] > longest {
            longest = lengths[at];
        }
        at += 1;
    }
    longest
}
