//! Panics that are expected: they are answers, and nothing of them is printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is expected.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Does what may panic. The hook is the process's, and other threads panic as loudly as ever: so it is set once, and
/// asks the thread that panics.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_EXPECTED.get() {
                usual(info);
            }
        }));
    });
    let before = IS_EXPECTED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_EXPECTED.set(before);
    outcome
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn Any + Send)) -> Option<&str> {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    said.or_else(|| panic.downcast_ref::<&str>().copied())
}
