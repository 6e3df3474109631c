//! Packed numbers of one to four bytes, for map pages and the directory.

/// Returns the number at an index of packed numbers of `width` bytes.
#[inline]
pub fn get(bytes: &[u8], at: usize, width: u8) -> u32 {
    let end = (at + 1) * usize::from(width);
    // The number is the upper bytes of the word that ends with it; only at the beginning of the bytes there is no such
    // word.
    let word = bytes.get(end.wrapping_sub(4)..).and_then(<[u8]>::first_chunk);
    match word {
        Some(word) => u32::from_le_bytes(*word) >> ((32 - 8 * u32::from(width)) & 31),
        None => first_of(bytes, end, width),
    }
}

/// Returns the number that ends at `end`.
#[cold]
#[inline(never)]
fn first_of(bytes: &[u8], end: usize, width: u8) -> u32 {
    let field = bytes.get(end - usize::from(width)..end).unwrap_or(&[]);
    field.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Writes the low bytes of a number at an index.
#[inline]
pub fn put(bytes: &mut [u8], at: usize, width: u8, number: u32) {
    put_before(bytes, (at + 1) * usize::from(width), width, number);
}

/// Writes the low bytes of a number so that they end at `end`.
#[inline]
pub(crate) fn put_before(bytes: &mut [u8], end: usize, width: u8, number: u32) {
    // As the number is read: as the upper bytes of a word.
    match bytes.get_mut(end.wrapping_sub(4)..).and_then(<[u8]>::first_chunk_mut) {
        Some(word) => {
            let below = (32 - 8 * u32::from(width)) & 31;
            let others = u32::from_le_bytes(*word) & ((1 << below) - 1);
            *word = (others | number << below).to_le_bytes();
        }
        None => put_first(bytes, end, width, number),
    }
}

/// Writes the number that ends at `end`.
#[cold]
#[inline(never)]
fn put_first(bytes: &mut [u8], end: usize, width: u8, number: u32) {
    if let Some(field) = bytes.get_mut(end - usize::from(width)..end) {
        copy(field, &number.to_le_bytes());
    }
}

/// Returns the largest number of that many bytes: all ones, as in an erased page.
#[inline]
pub const fn largest(width: u8) -> u32 {
    if width >= 4 { u32::MAX } else { (1 << (8 * width)) - 1 }
}

/// Copies as many bytes as both slices have. It cannot panic, whether or not the compiler can prove their lengths.
#[inline]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Copies one chunk of this many bytes over another. Does nothing if there is no such chunk.
#[inline(never)]
pub(crate) fn copy_piece(all: &mut [u8], bytes: usize, from: usize, to: usize) {
    let (low, high) = (from.min(to), from.max(to));
    let Some((before, behind)) = all.split_at_mut_checked(high * bytes) else { return };
    let low = before.get_mut(low * bytes..).and_then(|rest| rest.get_mut(..bytes));
    let (Some(low), Some(high)) = (low, behind.get_mut(..bytes)) else { return };
    let (source, target) = if from < to { (low, high) } else { (high, low) };
    copy(target, source);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_come_back_and_leave_their_neighbours_alone() {
        for (width, at) in (1..=4).flat_map(|width| (0..4).map(move |at| (width, at))) {
            let mut bytes = [0xFF; 20];
            let number = 0x0A0B_0C0D & largest(width);
            put(&mut bytes, at, width, number);
            for other in 0..5 {
                let expected = if other == at { number } else { largest(width) };
                assert_eq!(get(&bytes, other, width), expected, "{width} {at} {other}");
            }
        }
        assert_eq!(get(&[0; 3], 1, 3), 0, "beyond the end");
    }
}
