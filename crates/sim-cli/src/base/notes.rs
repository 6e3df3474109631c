//! Notes besides the results, on standard error. Each is printed once, however often its reason occurs.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

static TOLD: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Prints a sentence, unless it was printed before.
pub(crate) fn tell(sentence: &str) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.get_or_insert_default().insert(sentence.into()) {
        eprintln!("note: {sentence}");
    }
}
