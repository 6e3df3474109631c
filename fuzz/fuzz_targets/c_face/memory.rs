//! Memory that the caller lends, with fences around it: who writes beyond its end is found, with or without a
//! sanitizer.

use std::alloc::{self, Layout};
use std::ffi::c_void;
use std::ptr;

/// What fences are made of.
const FENCE: u8 = 0x5C;

/// The alignment of all memory here: that which a device's RAM needs.
const ALIGN: usize = 8;

/// Where the lent bytes lie in what was allocated.
#[derive(Clone, Copy)]
pub(crate) struct Placing {
    /// Bytes of each fence. With none, the sanitizer's own fences are the next bytes: it sees reads, too.
    pub(crate) fence: usize,
    /// How far the first byte is from an aligned one.
    pub(crate) skew: usize,
}

impl Placing {
    pub(crate) const ALIGNED: Self = Self { fence: 32, skew: 0 };
}

/// Bytes that are lent to the library. Nothing in here makes a reference to them, as nothing in C would.
pub(crate) struct Memory {
    all: *mut u8,
    layout: Layout,
    front: usize,
    bytes: usize,
}

impl Memory {
    /// So many bytes, with anything in them.
    pub(crate) fn new(bytes: usize, place: Placing) -> Self {
        let front = place.fence.next_multiple_of(ALIGN) + place.skew;
        let layout = Layout::from_size_align((front + bytes + place.fence).max(1), ALIGN);
        let layout = layout.expect("no size here overflows");
        // SAFETY: the size is not zero.
        let all = unsafe { alloc::alloc(layout) };
        assert!(!all.is_null(), "no memory is left");
        // SAFETY: all that was allocated.
        unsafe { ptr::write_bytes(all, FENCE, layout.size()) };
        Self { all, layout, front, bytes }
    }

    pub(crate) fn at(&self) -> *mut c_void {
        self.all.wrapping_add(self.front).cast()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes to the lent bytes, from that one on.
    pub(crate) fn put(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.bytes, "within the memory");
        // SAFETY: within what was allocated, and no call is at work on it.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.at().cast::<u8>().add(at), bytes.len());
        }
    }

    /// A copy of the lent bytes.
    pub(crate) fn copy(&self) -> Vec<u8> {
        let mut copy = vec![0; self.bytes];
        // SAFETY: as before, for reading: every byte was written at least once.
        unsafe { ptr::copy_nonoverlapping(self.at().cast(), copy.as_mut_ptr(), self.bytes) };
        copy
    }

    /// Nothing was written beside the lent bytes.
    pub(crate) fn check(&self) {
        let mut all = vec![0; self.layout.size()];
        // SAFETY: as in `copy`, with the fences.
        unsafe { ptr::copy_nonoverlapping(self.all, all.as_mut_ptr(), all.len()) };
        let (front, rest) = all.split_at(self.front);
        for (fence, side) in [(front, "before"), (&rest[self.bytes..], "behind")] {
            assert!(fence == &vec![FENCE; fence.len()][..], "{side} lent bytes: {fence:02X?}");
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and whoever holds memory drops it after the last call that uses it.
        unsafe { alloc::dealloc(self.all, self.layout) };
    }
}

/// A structure that the library fills in, with fences.
#[repr(C)]
struct Fenced<T> {
    front: [u8; 16],
    value: T,
    back: [u8; 16],
}

/// Lets a function fill in a structure. Nothing beside it may be written.
pub(crate) fn filled<T>(value: T, fill: impl FnOnce(*mut T) -> i32) -> (i32, T) {
    let mut fenced = Fenced { front: [FENCE; 16], value, back: [FENCE; 16] };
    let code = fill(&raw mut fenced.value);
    assert_eq!((fenced.front, fenced.back), ([FENCE; 16], [FENCE; 16]), "beside a structure");
    (code, fenced.value)
}
