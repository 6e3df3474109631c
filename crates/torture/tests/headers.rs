//! Power fails while both headers are rewritten, and again during the next rewrite, and a page dies in between: one of
//! the headers is left.

mod header_cuts;

fn one_is_left(pairs: &Result<u32, String>) {
    assert!(pairs.as_ref().is_ok_and(|pairs| *pairs > 15_000), "{pairs:?} pairs of cuts");
}

#[test]
fn of_the_page_store() {
    one_is_left(&header_cuts::of_page_store());
}

#[test]
fn of_the_hybrid() {
    one_is_left(&header_cuts::of_hybrid());
}

#[test]
fn of_a_device_with_one_header_block() {
    assert_eq!(header_cuts::of_an_only_header(), Ok(()));
}
