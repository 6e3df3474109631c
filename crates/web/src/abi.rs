//! The functions between JavaScript and Rust: bytes go in where `tandem_room` says, `tandem_ask` answers, and each part
//! of the answer comes out by `tandem_tell` at once.

use std::panic;
use std::sync::{Mutex, PoisonError};

use crate::question::answer;
use crate::told::AnswerPart;

/// The question, and the file that it may be about.
static INPUT: [Mutex<Vec<u8>>; 2] = [const { Mutex::new(Vec::new()) }; 2];

#[allow(unsafe_code)]
mod foreign {
    #[link(wasm_import_module = "tandem")]
    unsafe extern "C" {
        /// JavaScript reads the text at that place before it returns.
        pub(super) safe fn tandem_tell(text: *const u8, bytes: usize);
    }
}

fn tell(told: &AnswerPart<'_>) {
    let text = told.text();
    foreign::tandem_tell(text.as_ptr(), text.len());
}

/// Room for so many bytes of the question (0) or of the file (1), which JavaScript writes there before it asks. Any
/// other slot is the file's.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn tandem_room(slot: usize, bytes: usize) -> *mut u8 {
    let mut room = INPUT[slot.min(1)].lock().unwrap_or_else(PoisonError::into_inner);
    *room = vec![0; bytes];
    room.as_mut_ptr()
}

/// Answers the question.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn tandem_ask() {
    panic::set_hook(Box::new(|broken| tell(&AnswerPart::Failed { reason: broken.to_string() })));
    let [question, file] = INPUT
        .each_ref()
        .map(|room| std::mem::take(&mut *room.lock().unwrap_or_else(PoisonError::into_inner)));
    answer(&question, file, &tell);
}
