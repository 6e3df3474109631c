//! How files tell how long a write's data is expected to live: by words, or by the numbers of Linux's write hints
//! (`F_SET_RW_HINT`).

use ftl_iface::Lifetime;

/// The word of a lifetime; for that which the host does not know there is none.
pub const fn word(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Unknown => "",
        Lifetime::Short => "short",
        Lifetime::Medium => "medium",
        Lifetime::Long => "long",
        Lifetime::Extreme => "extreme",
    }
}

/// The lifetime of that word.
pub fn of_word(text: &[u8]) -> Option<Lifetime> {
    Lifetime::ALL.into_iter().find(|known| word(*known).as_bytes().eq_ignore_ascii_case(text))
}

/// Linux's number of a lifetime.
pub const fn number(lifetime: Lifetime) -> u8 {
    match lifetime {
        Lifetime::Unknown => 0,
        Lifetime::Short => 2,
        Lifetime::Medium => 3,
        Lifetime::Long => 4,
        Lifetime::Extreme => 5,
    }
}

/// The lifetime of a number of Linux's: 0 is not set, 1 says that there is none.
pub fn of_number(given: u8) -> Option<Lifetime> {
    match given {
        1 => Some(Lifetime::Unknown),
        _ => Lifetime::ALL.into_iter().find(|known| number(*known) == given),
    }
}

/// The lifetime of a word, or of a number of Linux's.
pub(crate) fn of_word_or_number(field: &[u8]) -> Option<Lifetime> {
    match field.to_ascii_lowercase().as_slice() {
        b"none" | b"-" => Some(Lifetime::Unknown),
        [digit @ b'0'..=b'9'] => of_number(digit - b'0'),
        word => of_word(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_say_the_same() {
        for lifetime in Lifetime::ALL {
            assert_eq!(of_word(word(lifetime).as_bytes()), Some(lifetime));
            assert_eq!(of_number(number(lifetime)), Some(lifetime));
            let digit = number(lifetime).to_string();
            assert_eq!(of_word_or_number(digit.as_bytes()), Some(lifetime));
        }
        assert_eq!(of_word_or_number(b"1"), Some(Lifetime::Unknown));
        assert_eq!((of_word_or_number(b"6"), of_word_or_number(b"22")), (None, None));
    }
}
