//! For the tests of both headers: pages as power cuts leave them.

/// Whether a page goes on to read as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Held {
    Firmly,
    Unstable,
}

/// What a page reads as.
pub(crate) type Cells<R> = (R, Held);

/// The pages of both header blocks.
pub(crate) type Both<R, const PAGES: usize> = [[Cells<R>; PAGES]; 2];

pub(crate) fn set<R: Copy, const PAGES: usize>(
    both: Both<R, PAGES>,
    number: usize,
    page: usize,
    cells: Cells<R>,
) -> Both<R, PAGES> {
    let mut both = both;
    both[number][page] = cells;
    both
}

/// Each unstable page dies or goes on.
pub(crate) fn aged<R: Copy, const PAGES: usize>(
    both: Both<R, PAGES>,
    dead: R,
) -> Vec<Both<R, PAGES>> {
    let mut all = vec![both];
    for at in 0..2 * PAGES {
        let (number, page) = (at / PAGES, at % PAGES);
        if both[number][page].1 == Held::Unstable {
            let died = |one| set(one, number, page, (dead, Held::Firmly));
            all.extend(all.clone().into_iter().map(died));
        }
    }
    all
}
