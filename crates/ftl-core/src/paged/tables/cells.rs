//! The cells of a bin, or the bins in their order: moved within an array, and divided between two.

use crate::paged::plan::bins::BIN;

/// Returns how many cells are below this one. They are in order, and unused ones are the highest.
#[inline]
pub(super) fn below(lows: &[u16; BIN], low: u16) -> usize {
    // The mask changes nothing, and spares a check.
    let is_below = |at: usize| lows.get(at & (BIN - 1)).is_some_and(|other| *other < low);
    let mut at = 0;
    for step in [8, 4, 2, 1, 1] {
        at += step * usize::from(is_below(at + step - 1));
    }
    at
}

/// Inserts a value before those from `at` to `count`.
#[inline]
pub(super) fn insert<T: Copy>(cells: &mut [T; BIN], at: usize, count: usize, value: T) {
    let mut next = value;
    for cell in cells.get_mut(at..=count).unwrap_or(&mut []) {
        next = core::mem::replace(cell, next);
    }
}

/// Removes `gone` cells from `at` on. The cells at the end get `unused`.
pub(super) fn remove<T: Copy>(cells: &mut [T; BIN], at: usize, gone: usize, unused: T) {
    for at in at..BIN {
        let next = cells.get(at + gone).copied().unwrap_or(unused);
        if let Some(cell) = cells.get_mut(at) {
            *cell = next;
        }
    }
}

/// Moves cells at the end of the lower bin to the upper one, or cells at the start of that to the lower one, which then
/// has `kept`. Left cells get `unused`.
pub(super) fn divide<T: Copy>(
    lower: &mut [T; BIN],
    upper: &mut [T; BIN],
    had: [usize; 2],
    kept: usize,
    unused: T,
) {
    let [here, there] = had;
    if let Some(moved) = here.checked_sub(kept) {
        for at in (moved..moved + there).rev() {
            let before = upper.get(at - moved).copied().unwrap_or(unused);
            if let Some(cell) = upper.get_mut(at) {
                *cell = before;
            }
        }
        for (to, from) in upper.iter_mut().zip(lower.get_mut(kept..here).unwrap_or(&mut [])) {
            *to = core::mem::replace(from, unused);
        }
    } else {
        for (to, from) in lower.get_mut(here..kept).unwrap_or(&mut []).iter_mut().zip(&*upper) {
            *to = *from;
        }
        remove(upper, 0, kept - here, unused);
    }
}

/// Moves the last element before all others.
pub(super) fn last_to_front(elements: &mut [u32]) {
    if let Some(mut next) = elements.last().copied() {
        for element in elements {
            next = core::mem::replace(element, next);
        }
    }
}

/// Moves the first element behind all others.
pub(super) fn first_to_end(elements: &mut [u32]) {
    if let Some(mut next) = elements.first().copied() {
        for element in elements.iter_mut().rev() {
            next = core::mem::replace(element, next);
        }
    }
}
