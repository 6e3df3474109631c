//! How files tell how long a write's data is expected to live: by words, or by the numbers of Linux's write hints
//! (`F_SET_RW_HINT`).

use ftl_iface::Lifetime;

/// All lifetimes that a host may expect, with their words; that which it does not know has none.
pub const WORDS: [(Lifetime, &str); 5] = [
    (Lifetime::Unknown, ""),
    (Lifetime::Short, "short"),
    (Lifetime::Medium, "medium"),
    (Lifetime::Long, "long"),
    (Lifetime::Extreme, "extreme"),
];

/// The word of a lifetime.
pub fn word(lifetime: Lifetime) -> &'static str {
    WORDS.into_iter().find(|(known, _)| *known == lifetime).map_or("", |(_, word)| word)
}

/// The lifetime of that word.
pub fn of_word(word: &[u8]) -> Option<Lifetime> {
    let known = |(_, known): &(Lifetime, &str)| known.as_bytes().eq_ignore_ascii_case(word);
    WORDS.into_iter().find(known).map(|(lifetime, _)| lifetime)
}

/// The lifetime of a word, or of a number of Linux's: 0 is not set, 1 says that there is none.
pub(crate) fn of_word_or_number(field: &[u8]) -> Option<Lifetime> {
    match field {
        b"0" | b"1" | b"none" | b"-" => Some(Lifetime::Unknown),
        b"2" => Some(Lifetime::Short),
        b"3" => Some(Lifetime::Medium),
        b"4" => Some(Lifetime::Long),
        b"5" => Some(Lifetime::Extreme),
        word => of_word(word),
    }
}
