//! What is behind the last whole record of a journal: nothing, a record that was being written, or damage.

use std::io::{self, BufReader, Read};

use ftl_iface::Geometry;

use super::damage::{Damage, Tail};
use super::record;
use super::seal::{Check, SEAL_BYTES, Seal};
use super::store::{AT_ONCE, Extent, FileStore, StoreBytes};

/// Looks at the rest of a journal, which does not begin with a whole record.
pub(super) fn examine(
    store: &impl FileStore,
    rest: Extent,
    seal: &Seal,
    geometry: &Geometry,
) -> io::Result<Tail> {
    let Some(last) = last_data(store, rest)? else {
        return Ok(Tail::Clean);
    };
    let bytes = last + 1 - rest.at;
    let mut head = [0; 2];
    store.read_at(rest.at, &mut head)?;
    let begins = match record::length(head[0], head[1], geometry) {
        Some(length) => bytes < (length + SEAL_BYTES) as u64,
        // Of the next record, one byte was written.
        None => bytes == 1 && record::is_kind(head[0]),
    };
    if begins {
        return Ok(Tail::Incomplete(bytes));
    }
    let behind = Extent { at: rest.at + 1, bytes: bytes - 1 };
    let behind = whole_records(store, behind, seal, geometry)?;
    Ok(Tail::Damaged(Damage::no_match(rest.at, behind)))
}

/// The last byte that is no zero.
fn last_data(store: &impl FileStore, extent: Extent) -> io::Result<Option<u64>> {
    let (mut last, mut at) = (None, extent.at);
    let mut buffer = vec![0; AT_ONCE];
    while at < extent.end() {
        at = store.next_data(at)?.max(at);
        let left = usize::try_from(extent.end().saturating_sub(at)).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        let count = store.read_at(at, &mut buffer[..most])?;
        if count == 0 {
            break;
        }
        let data = buffer[..count].iter().rposition(|byte| *byte != 0);
        last = data.map(|data| at + data as u64).or(last);
        at += count as u64;
    }
    Ok(last)
}

/// Counts whole records, wherever they begin, and looks whether a flush is among them. The first byte of the extent
/// lies behind that of another record.
fn whole_records(
    store: &impl FileStore,
    extent: Extent,
    seal: &Seal,
    geometry: &Geometry,
) -> io::Result<(u64, bool)> {
    let longest = record::longest(geometry) + SEAL_BYTES;
    // Each is bound to the check of what is before it, which may be damaged itself: that is taken as it stands there.
    let before = SEAL_BYTES as u64;
    let seen = Extent { at: extent.at - before, bytes: extent.bytes + before };
    let mut input = BufReader::with_capacity(1 << 20, StoreBytes::over(store, seen));
    let (mut window, mut start, mut at) = (Vec::new(), 0, extent.at);
    let (mut count, mut was_flushed) = (0, false);
    loop {
        if window.len() - start < SEAL_BYTES + longest {
            window.drain(..start);
            start = 0;
            let wanted = (SEAL_BYTES + longest + (1 << 20) - window.len()) as u64;
            input.by_ref().take(wanted).read_to_end(&mut window)?;
        }
        let [a, b, c, d, _end, ref left @ ..] = window[start..] else {
            return Ok((count, was_flushed));
        };
        let [kind, region, ..] = *left else { return Ok((count, was_flushed)) };
        let length = record::length(kind, region, geometry).map(|length| length + SEAL_BYTES);
        let sealed = length.and_then(|length| left.get(..length));
        let before = Check([a, b, c, d]);
        let passed = match sealed.filter(|sealed| seal.matching(before, at, sealed).is_some()) {
            Some(sealed) => {
                count += 1;
                let record = &sealed[..sealed.len() - SEAL_BYTES];
                was_flushed |= record::take(record, geometry) == Some(record::Event::Flushed);
                sealed.len()
            }
            None => 1,
        };
        start += passed;
        at += passed as u64;
    }
}
