//! Several volumes in one trace: each has its own addresses, and the replayed device has one range.
//!
//! They are set side by side, [`SPAN`] apart, so that no two of them share a byte; `--fit pack` moves them together. If
//! a format numbers its volumes, a volume's number decides its place, so that files of the same trace agree on it. If
//! it names them, they are numbered in order of appearance, so that a trace of one volume begins at 0.

use std::collections::HashMap;

/// Bytes of a block, the unit of most formats: a disk sector at the time of these formats.
pub(super) const BLOCK: u64 = 512;

/// The distance between volumes: 64 TiB. No cloud volume is larger.
pub(crate) const SPAN: u64 = 1 << 46;

/// The address of an extent of that volume; `None` if it ends beyond the largest volume.
#[inline]
pub(super) fn apart(unit: u64, offset: u64, length: u64) -> Option<u64> {
    if offset.checked_add(length)? > SPAN {
        return None;
    }
    unit.checked_mul(SPAN)?.checked_add(offset)
}

/// Named volumes, numbered in order of appearance.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<Vec<u8>, u64>,
    /// The last volume: mostly it is also the next one.
    latest: Option<(Vec<u8>, u64)>,
}

impl Names {
    /// The most volumes in one trace. More indicate a wrong format, and would fill the memory.
    const MOST: usize = 4096;

    /// Bytes of a name: a path on Linux has no more (`PATH_MAX` of limits.h).
    const LONGEST: usize = 4096;

    /// The number of the volume of that name; `None` if there are too many.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> Option<u64> {
        match &self.latest {
            Some((latest, number)) if latest == name => Some(*number),
            _ => self.look_up(name),
        }
    }

    fn look_up(&mut self, name: &[u8]) -> Option<u64> {
        let next = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if next < Self::MOST && name.len() <= Self::LONGEST => {
                self.numbers.insert(name.to_vec(), next as u64);
                next as u64
            }
            None => return None,
        };
        self.latest = Some((name.to_vec(), number));
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_do_not_share_a_byte() {
        assert_eq!(apart(0, SPAN - 512, 512), Some(SPAN - 512));
        assert_eq!(apart(1, 0, 512), Some(SPAN));
        assert_eq!(apart(0, SPAN - 512, 513), None);
        assert_eq!(apart(0, u64::MAX, 1), None);
        assert_eq!(apart(u64::MAX / SPAN, SPAN - 1, 1), Some(u64::MAX));
        assert_eq!(apart(u64::MAX / SPAN + 1, 0, 1), None);
    }

    #[test]
    fn names_are_numbered_as_they_come_and_there_is_an_end_to_them() {
        let mut names = Names::default();
        for (name, number) in [("sda", 0), ("sdb", 1), ("sda", 0), ("sda", 0), ("sdc", 2)] {
            assert_eq!(names.number(name.as_bytes()), Some(number));
        }
        assert_eq!(names.number(&[b'x'; Names::LONGEST + 1]), None);
        for number in 3..Names::MOST {
            assert_eq!(names.number(number.to_string().as_bytes()), Some(number as u64));
        }
        assert_eq!(names.number(b"one more"), None);
        assert_eq!(names.number(b"sdb"), Some(1));
    }
}
