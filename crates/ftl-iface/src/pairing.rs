//! Which pages of a block share cells, and so which pages a torn program may corrupt beside its own.
//!
//! A cell that stores two bits belongs to two pages: the *lower* one, programmed first, and the *upper* one.
//! If power fails while the upper page is programmed, the charge of the shared cells is undefined, and the lower
//! page, perhaps acknowledged long ago, is lost as well. Which pages share a *word line* (a row of cells) is a
//! property of the part. Vendors have used few schemes; the usual ones are here, and any other can be given as a table.

use crate::address::PageIndex;
use crate::units::PageCount;

/// The most pages that one word line can hold: three bits per cell.
pub const PAGES_PER_WORD_LINE_MAX: usize = 3;

/// The scheme by which pages of a block share word lines.
///
/// ```
/// use ftl_iface::{PageCount, PageIndex, Pairing};
/// let scheme = Pairing::Distance3;
/// // A torn program of page 4 may corrupt page 1, which shares its cells and was programmed before it.
/// let victims: Vec<u16> =
///     scheme.endangered(PageIndex::new(4), PageCount::new(128)).map(PageIndex::get).collect();
/// assert_eq!(victims, [1]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pairing {
    /// One bit per cell: no page shares its cells with another.
    #[default]
    None,
    /// Two bits per cell, neighbours share: (0,1), (2,3), … Used in parts that program a word line at once.
    Adjacent2,
    /// Three bits per cell, neighbours share: (0,1,2), (3,4,5), … as in present-day 3D TLC.
    Adjacent3,
    /// Two bits per cell; the upper page follows its lower page by three: (0,2), (1,4), (3,6), … ending with
    /// (n-3, n-1). Hynix and Toshiba parts of the planar age; Linux names the scheme `dist3`.
    Distance3,
    /// Two bits per cell in groups of two pages: (0,4), (1,5), (2,8), (3,9), (6,12), … ending with
    /// (n-6, n-2), (n-5, n-1). Samsung and Micron parts of the planar age, K9GAG08U0M among them.
    Distance6,
    /// The part's own table: for each page the number of its word line. Pages beyond the table's end share with
    /// none.
    #[cfg_attr(feature = "serde", serde(skip))]
    Table(&'static [u16]),
}

impl Pairing {
    /// The number of the word line that holds `page`, in a block of `pages` pages. Two pages with the same number
    /// share cells; the numbers mean nothing else. A count of pages that the scheme cannot fill leaves the last
    /// pages alone on their word lines.
    pub const fn word_line(self, page: PageIndex, pages: PageCount) -> u32 {
        let at = page.get() as u32;
        let count = pages.get();
        match self {
            Self::None => at,
            Self::Adjacent2 => at / 2,
            Self::Adjacent3 => at / 3,
            // Lower pages are 0 and the odd ones but the last; the upper ones follow three later, and two later in the
            // first and in the last pair.
            Self::Distance3 => match at {
                0 => 0,
                _ if at + 1 == count && at % 2 == 1 && at > 1 => at - 2,
                _ if at % 2 == 1 => at,
                2 => 0,
                _ => at - 3,
            },
            Self::Distance6 => Self::distance6(at, count),
            Self::Table(lines) => {
                if page.as_usize() < lines.len() {
                    lines[page.as_usize()] as u32
                } else {
                    // Beyond any number of the table, so that no page of the table shares with it.
                    0x1_0000 + at
                }
            }
        }
    }

    /// Groups of two pages: group 0 is lower, a later one is lower when odd, unless it is the last. An upper group lies
    /// three groups after its lower one, the first and the last two after.
    const fn distance6(at: u32, count: u32) -> u32 {
        let group = at / 2;
        // Of an odd count of pages, the last one is a group of its own.
        let last = count.saturating_sub(1) / 2;
        let lower_group = if group == 0 {
            0
        } else if group == last && group % 2 == 1 && group > 1 {
            group - 2
        } else if group % 2 == 1 {
            group
        } else if group == 2 {
            0
        } else {
            group - 3
        };
        lower_group * 2 + at % 2
    }

    /// The pages that a torn program of `page` may corrupt: those of the same word line that come before it in the
    /// block, and so may hold acknowledged data. In rising order.
    pub fn endangered(self, page: PageIndex, pages: PageCount) -> impl Iterator<Item = PageIndex> {
        let line = self.word_line(page, pages);
        let nearest = page.get().saturating_sub(self.reach());
        let none = matches!(self, Self::None);
        (nearest..page.get())
            .map(PageIndex::new)
            .filter(move |earlier| !none && self.word_line(*earlier, pages) == line)
    }

    /// Whether a page is the first of its word line, so that a torn program of it corrupts no other.
    pub const fn is_first(self, page: PageIndex, pages: PageCount) -> bool {
        let line = self.word_line(page, pages);
        let mut earlier = page.get().saturating_sub(self.reach());
        while earlier < page.get() {
            if self.word_line(PageIndex::new(earlier), pages) == line {
                return false;
            }
            earlier += 1;
        }
        true
    }

    /// The number of word lines of a block with that many pages.
    pub const fn word_lines(self, pages: PageCount) -> PageCount {
        let mut lines = 0;
        let mut page = 0;
        while (page as u32) < pages.get() {
            if self.is_first(PageIndex::new(page), pages) {
                lines += 1;
            }
            page += 1;
        }
        PageCount::new(lines)
    }

    /// The page that is first of its word line, and the `nth` such page of a block, counted from zero in the order in
    /// which pages are programmed; [`word_line`](Self::word_line) numbers otherwise. If only these pages are used, torn
    /// programs are as harmless as in a block of one bit per cell.
    ///
    /// ```
    /// use ftl_iface::{PageIndex, Pairing};
    /// let first = |nth| Pairing::Distance3.nth_first_page(nth).get();
    /// assert_eq!([first(0), first(1), first(2)], [0, 1, 3]);
    /// ```
    #[inline]
    pub fn nth_first_page(self, nth: u16) -> PageIndex {
        PageIndex::new(match self {
            Self::None => nth,
            Self::Adjacent2 => nth * 2,
            Self::Adjacent3 => nth * 3,
            Self::Distance3 => (nth * 2).saturating_sub(1),
            // Groups of two pages: 0 and the odd ones are lower.
            Self::Distance6 => (nth / 2 * 2).saturating_sub(1) * 2 + nth % 2,
            Self::Table(_) => self.first_page_by_table(nth),
        })
    }

    #[cold]
    fn first_page_by_table(self, nth: u16) -> u16 {
        // The table has an end, and pages beyond it stand alone.
        let is_first = |page: &u16| self.is_first(PageIndex::new(*page), PageCount::ZERO);
        (0..u16::MAX).filter(is_first).nth(usize::from(nth)).unwrap_or(u16::MAX)
    }

    /// The most pages that one torn program may corrupt beside its own.
    pub const fn endangered_max(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Adjacent2 | Self::Distance3 | Self::Distance6 => 1,
            Self::Adjacent3 | Self::Table(_) => PAGES_PER_WORD_LINE_MAX as u16 - 1,
        }
    }

    /// The largest distance between two pages of one word line.
    const fn reach(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Adjacent2 => 1,
            Self::Adjacent3 => 2,
            Self::Distance3 => 3,
            Self::Distance6 => 6,
            Self::Table(lines) => lines.len() as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(scheme: Pairing, pages: u16) -> Vec<(u16, u16)> {
        let count = PageCount::new(u32::from(pages));
        (0..pages)
            .flat_map(|upper| {
                scheme
                    .endangered(PageIndex::new(upper), count)
                    .map(move |lower| (lower.get(), upper))
            })
            .collect()
    }

    #[test]
    fn slc_pages_stand_alone() {
        assert_eq!(pairs(Pairing::None, 64), []);
    }

    #[test]
    fn neighbours_share_in_the_adjacent_schemes() {
        assert_eq!(pairs(Pairing::Adjacent2, 6), [(0, 1), (2, 3), (4, 5)]);
        assert_eq!(pairs(Pairing::Adjacent3, 6), [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]);
    }

    #[test]
    fn distance_3_pairs_as_linux_documents_it() {
        assert_eq!(pairs(Pairing::Distance3, 8), [(0, 2), (1, 4), (3, 6), (5, 7)]);
    }

    #[test]
    fn distance_6_pairs_as_the_datasheets_of_planar_mlc_list_it() {
        let found = pairs(Pairing::Distance6, 128);
        assert_eq!(found[..6], [(0, 4), (1, 5), (2, 8), (3, 9), (6, 12), (7, 13)]);
        assert_eq!(found[62..], [(122, 126), (123, 127)]);
    }

    #[test]
    fn every_page_of_a_two_bit_part_has_exactly_one_partner() {
        for scheme in [Pairing::Adjacent2, Pairing::Distance3, Pairing::Distance6] {
            for pages in [8_u16, 16, 64, 128, 256] {
                let mut seen = vec![0; usize::from(pages)];
                for (lower, upper) in pairs(scheme, pages) {
                    seen[usize::from(lower)] += 1;
                    seen[usize::from(upper)] += 1;
                }
                assert!(
                    seen.iter().all(|times| *times == 1),
                    "{scheme:?} with {pages} pages: {seen:?}"
                );
            }
        }
    }

    #[test]
    fn first_pages_are_those_that_endanger_no_other() {
        static LINES: [u16; 6] = [0, 1, 1, 0, 2, 2];
        let schemes = [
            Pairing::None,
            Pairing::Adjacent2,
            Pairing::Adjacent3,
            Pairing::Distance3,
            Pairing::Distance6,
            Pairing::Table(&LINES),
        ];
        for scheme in schemes {
            // Of any number, also such as no scheme can fill.
            for pages in (1_u16..=40).chain([64, 128, 384]) {
                let count = PageCount::new(u32::from(pages));
                let alone =
                    |page: &u16| scheme.endangered(PageIndex::new(*page), count).next().is_none();
                let firsts: Vec<u16> = (0..pages).filter(alone).collect();
                assert_eq!(scheme.word_lines(count).as_usize(), firsts.len(), "{scheme:?} {pages}");
                let named: Vec<u16> = (0..firsts.len() as u16)
                    .map(|line| scheme.nth_first_page(line).get())
                    .collect();
                assert_eq!(named, firsts, "{scheme:?} {pages}");
                let most = (0..pages)
                    .map(|page| scheme.endangered(PageIndex::new(page), count).count())
                    .max();
                assert!(most <= Some(usize::from(scheme.endangered_max())), "{scheme:?}");
            }
        }
    }

    #[test]
    fn a_table_of_the_part_is_followed_and_pages_beyond_it_stand_alone() {
        static LINES: [u16; 4] = [0, 1, 1, 0];
        assert_eq!(pairs(Pairing::Table(&LINES), 6), [(1, 2), (0, 3)]);
    }
}
