//! Panics as results: a breach of the chip's rules ends a life, but not the run.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// The message of the current panic, while one is caught.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a function that may panic. If it does, its message and location are returned, and nothing is printed.
pub(crate) fn catch<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let waited_for = SAID
                .with_borrow_mut(|said| said.as_mut().map(|said| *said = sentence(info)).is_some());
            if !waited_for {
                usual(info);
            }
        }));
    });
    let before = SAID.replace(Some(String::new()));
    let outcome = panic::catch_unwind(AssertUnwindSafe(act));
    let said = SAID.replace(before);
    outcome.map_err(|_| said.unwrap_or_default())
}

fn sentence(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("without a word");
    match info.location() {
        Some(place) => format!("{what} ({}:{})", place.file(), place.line()),
        None => what.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_returned_with_its_place_also_within_another_catch() {
        let outer = catch(|| {
            let inner = catch(|| panic!("breach: of a rule")).unwrap_err();
            assert!(inner.starts_with("breach: of a rule ("), "{inner}");
            assert!(inner.contains("panics.rs"), "{inner}");
            panic!("after it")
        });
        let said: Result<(), String> = outer;
        assert!(said.unwrap_err().starts_with("after it"));
        assert_eq!(catch(|| 7), Ok(7));
    }
}
