//! One block: how its pages are stored, how far it is programmed, its erases and its bad mark.

use std::sync::Arc;

use super::rows::RowId;

/// What is held of a plain block's pages.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    /// Written in place. Empty until the first program.
    Own(Box<[u8]>),
    /// Copied before it is written. The box inside lets an owned block become a shared one without a copy.
    Shared(Arc<Box<[u8]>>),
}

/// How pages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A record each.
    Plain,
    /// A row each, in memory that packed blocks have together.
    Packed(RowId),
    /// Not at all: the region's formula gives them.
    Preset,
}

/// One block. Small, since a random access looks at it besides the record.
#[derive(Clone, Debug)]
pub(crate) struct BlockCells {
    pub(super) storage: Storage,
    pub(super) erases: u32,
    pub(super) next: u16,
    pub(super) bad: bool,
    pub(super) form: Form,
    /// Whether some page since the erase was kept whole, so that an erase must drop it.
    pub(super) has_whole: bool,
}

impl BlockCells {
    /// A plain block with those records.
    pub(crate) fn restored(records: Box<[u8]>, erases: u32, next: u16, bad: bool) -> Self {
        let (storage, form) = (Storage::Own(records), Form::Plain);
        Self { storage, erases, next, bad, form, has_whole: false }
    }

    /// What is held of it.
    #[inline]
    pub(super) fn held(&self) -> &[u8] {
        match &self.storage {
            Storage::Own(records) => records,
            Storage::Shared(records) => records,
        }
    }

    /// The storage, made empty.
    #[inline]
    pub(super) fn take(&mut self) -> Storage {
        std::mem::replace(&mut self.storage, Storage::Own(Box::default()))
    }

    /// What it holds, its own and of that length, so that it can be written.
    #[inline]
    pub(super) fn own(
        &mut self,
        length: usize,
        unused: &mut Vec<Box<[u8]>>,
        copies: &mut u64,
    ) -> &mut [u8] {
        let is_own = matches!(&self.storage, Storage::Own(held) if held.len() == length);
        if !is_own {
            self.make_own(length, unused, copies);
        }
        match &mut self.storage {
            Storage::Own(held) => held,
            Storage::Shared(_) => &mut [],
        }
    }

    /// Called for the first program after an erase, a fork or a load.
    #[cold]
    #[inline(never)]
    fn make_own(&mut self, length: usize, unused: &mut Vec<Box<[u8]>>, copies: &mut u64) {
        let kept = match self.take() {
            Storage::Own(held) => held,
            Storage::Shared(held) => Arc::try_unwrap(held).unwrap_or_else(|shared| {
                *copies += 1;
                (*shared).clone()
            }),
        };
        let kept = if kept.len() == length {
            kept
        } else {
            let used = unused.pop_if(|unused| unused.len() == length);
            let mut grown = used.unwrap_or_else(|| vec![0; length].into_boxed_slice());
            grown[..kept.len()].copy_from_slice(&kept);
            grown
        };
        self.storage = Storage::Own(kept);
    }

    #[inline]
    pub(crate) const fn erases(&self) -> u32 {
        self.erases
    }

    #[inline]
    pub(crate) const fn next(&self) -> u16 {
        self.next
    }

    #[inline]
    pub(crate) const fn is_bad(&self) -> bool {
        self.bad
    }

    pub(super) fn fork(&mut self) -> Self {
        if let Storage::Own(records) = &mut self.storage
            && !records.is_empty()
        {
            self.storage = Storage::Shared(Arc::new(std::mem::take(records)));
        }
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_random_access_looks_at_besides_the_record_is_small() {
        assert!(size_of::<BlockCells>() <= 32, "{}", size_of::<BlockCells>());
    }
}
