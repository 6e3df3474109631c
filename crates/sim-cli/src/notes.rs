//! Sentences beside the results: on standard error, each once, however often what it is about is read.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

static TOLD: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Says a sentence, unless it was said before.
pub(crate) fn tell(sentence: &str) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.get_or_insert_default().insert(sentence.into()) {
        eprintln!("note: {sentence}");
    }
}
