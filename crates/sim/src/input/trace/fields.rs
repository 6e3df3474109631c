//! Numbers in lines of text, read from bytes: a trace has millions of them.

use nand_model::part::Nanos;

/// A position in a line, advanced by each read.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    /// Reads a whole number; `None` if there is none, or it has more than 64 bits.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number: u64 = 0;
        let mut digits = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Nineteen digits always fit.
            number = if digits < 19 {
                number * 10 + u64::from(digit)
            } else {
                number.checked_mul(10)?.checked_add(u64::from(digit))?
            };
            digits += 1;
        }
        self.rest = &self.rest[digits..];
        (digits > 0).then_some(number)
    }

    /// Reads a decimal number of units of `nanos` nanoseconds, rounded down to whole nanoseconds.
    #[inline]
    pub(crate) fn time(&mut self, nanos: u64) -> Option<Nanos> {
        let mut time = self.number()?.checked_mul(nanos)?;
        if self.rest.first() == Some(&b'.') {
            let digits = self.rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let mut unit = nanos;
            for byte in &self.rest[1..=digits] {
                unit /= 10;
                time = time.checked_add(u64::from(byte - b'0') * unit)?;
            }
            self.rest = &self.rest[1 + digits..];
        }
        Some(Nanos::new(time))
    }

    /// Reads one byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Skips that byte, which must come next.
    #[inline]
    pub(crate) fn pass(&mut self, byte: u8) -> Option<()> {
        (self.byte()? == byte).then_some(())
    }

    /// Skips blanks and tabs, if there are any.
    #[inline]
    pub(crate) fn blanks(&mut self) {
        let blanks = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.rest = &self.rest[blanks..];
    }

    /// Skips blanks and tabs, at least one.
    #[inline]
    pub(crate) fn gap(&mut self) -> Option<()> {
        let before = self.rest.len();
        self.blanks();
        (self.rest.len() < before).then_some(())
    }

    /// Reads up to the next blank or tab, or to the end of the line.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        let length = self.rest.iter().take_while(|byte| !matches!(byte, b' ' | b'\t')).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    /// The next byte, without reading it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Reads up to that byte, and skips it; the rest of the line if it does not occur.
    pub(crate) fn until(&mut self, byte: u8) -> &'a [u8] {
        let at = memchr::memchr(byte, self.rest).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(at);
        self.rest = rest.get(1..).unwrap_or(&[]);
        field
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Option<u64> {
        Cursor::new(text.as_bytes()).time(1_000).map(Nanos::get)
    }

    #[test]
    fn a_number_ends_where_its_digits_do() {
        let mut cursor = Cursor::new(b"128,x");
        assert_eq!(cursor.number(), Some(128));
        assert_eq!(cursor.pass(b','), Some(()));
        assert_eq!(cursor.number(), None);
        assert_eq!(cursor.until(b','), b"x");
        assert!(cursor.at_end());
    }

    #[test]
    fn words_stand_between_blanks_and_tabs() {
        let mut cursor = Cursor::new(b"8,16 \t D");
        assert_eq!(cursor.gap(), None);
        assert_eq!(cursor.word(), b"8,16");
        assert_eq!((cursor.gap(), cursor.peek()), (Some(()), Some(b'D')));
        assert_eq!((cursor.word(), cursor.word()), (&b"D"[..], &b""[..]));
        assert_eq!((cursor.gap(), cursor.peek()), (None, None));
    }

    #[test]
    fn the_largest_number_fits_and_the_next_does_not() {
        assert_eq!(Cursor::new(b"18446744073709551615").number(), Some(u64::MAX));
        assert_eq!(Cursor::new(b"18446744073709551616").number(), None);
        assert_eq!(Cursor::new(b"00000000000000000000007").number(), Some(7));
    }

    #[test]
    fn a_time_is_exact_to_the_nanosecond() {
        assert_eq!(time("12"), Some(12_000));
        assert_eq!(time("12.5"), Some(12_500));
        assert_eq!(time("0.0019"), Some(1));
        assert_eq!(time("7."), Some(7_000));
        assert_eq!(time(".5"), None);
        assert_eq!(time("18446744073709551615"), None);
    }
}
