//! Any bytes as a trace: they are refused with a reason, or are read to their end, in whatever format.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use sim::input::trace::TraceError;
use sim::input::trace::formats::{As, FORMATS};
use sim::input::trace::reader::Reader;

fuzz_target!(|bytes: &[u8]| {
    read(bytes, None, false);
    // A few compressed bytes may be gigabytes; to read all of them is no fault.
    if !is_compressed(bytes) {
        read(bytes, None, true);
        // People may say any format of any file.
        read(bytes, Some(As::Format(FORMATS[bytes.len() % FORMATS.len()])), true);
    }
});

fn is_compressed(bytes: &[u8]) -> bool {
    let beginnings: [&[u8]; 4] =
        [&[0x1F, 0x8B], &[0x28, 0xB5, 0x2F, 0xFD], b"BZh", &[0xFD, b'7', b'z', b'X', b'Z', 0]];
    beginnings.iter().any(|beginning| bytes.starts_with(beginning))
}

fn read(bytes: &[u8], format: Option<As>, lenient: bool) {
    let source = Cursor::new(bytes.to_vec());
    let Ok(mut reader) = Reader::new(source, "fuzzed", format.as_ref(), lenient) else { return };
    let mut requests = 0;
    loop {
        match reader.next_request() {
            Ok(Some(request)) => {
                requests += 1;
                assert!(request.offset.checked_add(request.length).is_some(), "{request:?}");
            }
            Ok(None) => break,
            Err(error) => {
                let skippable = matches!(error, TraceError::Line { .. });
                assert!(!(lenient && skippable), "{error}");
                assert!(error.to_string().contains("fuzzed"), "{error}");
                return;
            }
        }
        // Whatever is read takes up bytes, so that every trace ends.
        let read = requests + reader.skipped();
        assert!(is_compressed(bytes) || read <= bytes.len() as u64, "{read} of {}", bytes.len());
    }
    assert!(matches!(reader.next_request(), Ok(None)), "a request behind the last");
}
