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

/// The lifetime of a word, or of a number of Linux's: 0 is not set, 1 says that there is none.
pub(crate) fn of_word_or_number(field: &[u8]) -> Option<Lifetime> {
    match field.to_ascii_lowercase().as_slice() {
        b"0" | b"1" | b"none" | b"-" => Some(Lifetime::Unknown),
        b"2" => Some(Lifetime::Short),
        b"3" => Some(Lifetime::Medium),
        b"4" => Some(Lifetime::Long),
        b"5" => Some(Lifetime::Extreme),
        word => of_word(word),
    }
}
