//! Pages that share their cells: a torn program corrupts the earlier ones, too.

use crate::bugs::{Bug, planted};
use crate::flash::Seen;
use crate::layout::{Kind, Stamp};

/// The valid data of the pages that a torn program would corrupt is backed up before that program.
#[inline]
pub(crate) fn must_back_up() -> bool {
    !planted(Bug::ForgetBackups)
}

/// A page that could corrupt a trim is skipped. A trim is not backed up: it would trim newer data if it were repeated.
#[inline]
pub(crate) fn must_not_be_endangered(kind: Kind) -> bool {
    kind == Kind::Trim && !planted(Bug::ForgetTrimsPartners)
}

/// What replaces a page that may be unstable is never endangered, so its block takes no more pages. If it were
/// corrupted, the chain's map would show the old page, which dies between two reads.
#[inline]
pub(crate) fn must_seal_replacement(has_log: bool) -> bool {
    has_log && !planted(Bug::EndangerReplacement)
}

/// Backups count only if nothing but the page for which they were made can have been programmed after them.
#[inline]
pub(crate) fn do_backups_count(youngest: Stamp, next: u64) -> bool {
    youngest.get() <= next || planted(Bug::BelieveEveryBackup)
}

/// A block of the log whose last page failed has no summary: the page for which backups were made follows them at once.
#[inline]
pub(crate) fn may_lack_summary() -> bool {
    !planted(Bug::AssumeSummary)
}

/// If the last page of a block had been torn, pages that share its cells could not be read. One that cannot makes the
/// last page doubtful.
#[inline]
pub(crate) fn may_be_corrupted(partner: Seen<'_, Kind>) -> bool {
    !partner.is_page() && !planted(Bug::ForgetPartners)
}

/// The log and the meta area use only the first page of each word line, so that no program corrupts another page there.
#[inline]
pub(crate) fn must_use_first_pages(is_chain: bool) -> bool {
    !is_chain && !planted(Bug::ForgetFirstPages)
}
