//! The caller's promises, and the message when one is broken.
//!
//! A breach is a bug of the caller, never a fault of the chip: the run stops with a message that names the operation,
//! the address and what was expected. The promises are those of [`NandDevice`](ftl_iface::NandDevice); stamp mode adds
//! two of its own ([`Content::Stamps`](crate::content::Content::Stamps)).

use std::fmt::Display;

use ftl_iface::Page;

/// The operations, as sentences and traces name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Program,
    Erase,
    IsBad,
    MarkBad,
}

impl Operation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::IsBad => "is_bad",
            Self::MarkBad => "mark_bad",
        }
    }
}

/// Stops the run.
#[cold]
#[inline(never)]
#[track_caller]
fn breach(verb: Operation, place: impl Display, expected: impl Display) -> ! {
    panic!("breach: {} of {place}: {expected}", verb.name())
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn out_of_range(verb: Operation, place: impl Display) -> ! {
    breach(verb, place, "the device has no such place, expected one within its geometry")
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn out_of_order(page: Page, next: u16) -> ! {
    breach(
        Operation::Program,
        page,
        format_args!(
            "pages are programmed in rising order and once per erase, expected page {next} or later"
        ),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn block_is_bad(verb: Operation, place: impl Display) -> ! {
    breach(verb, place, "the block is marked bad, expected it to stay out of use")
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn block_not_erased(page: Page) -> ! {
    breach(
        Operation::Program,
        page,
        "the block's last erase did not complete, expected it to be erased again first",
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn data_length(page: Page, length: usize, expected: usize) -> ! {
    breach(
        Operation::Program,
        page,
        format_args!("the data are {length} bytes, expected exactly {expected}"),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn spare_length(page: Page, length: usize, expected: usize) -> ! {
    breach(
        Operation::Program,
        page,
        format_args!("the spare bytes are {length}, expected exactly {expected}"),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn read_beyond_data(page: Page, at: usize, length: usize, page_bytes: usize) -> ! {
    breach(
        Operation::Read,
        page,
        format_args!("{length} bytes from {at} on leave the page, expected at most {page_bytes}"),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn read_beyond_spare(page: Page, length: usize, spare_bytes: usize) -> ! {
    breach(
        Operation::Read,
        page,
        format_args!("{length} spare bytes were asked for, expected at most {spare_bytes}"),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn read_of_part_of_a_sector(page: Page, at: usize, length: usize) -> ! {
    breach(
        Operation::Read,
        page,
        format_args!(
            "{length} bytes from {at} on are no whole sectors, expected whole ones in stamp mode"
        ),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn spare_not_kept(page: Page) -> ! {
    breach(
        Operation::Program,
        page,
        "spare bytes beyond those kept in stamp mode are in use, expected them to be 0xFF",
    )
}
