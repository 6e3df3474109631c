//! The journal: what happened to the chip since it was written, sealed record after sealed record, then zeros.

use std::io::{self, BufReader, Read};

use ftl_iface::{Geometry, NandDevice};

use super::damage::{Damage, Tail};
use super::device::Device;
use super::mark::{self, Mark};
use super::record::{self, Event};
use super::seal::{Check, SEAL_BYTES, Seal};
use super::slot::Header;
use super::store::{AT_ONCE, Amount, Extent, FileStore, StoreBytes, fill};
use super::tail;

/// What a journal held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Operations on the chip.
    pub operations: u64,
    /// Whole records up to the end, or up to the damage.
    pub records: u64,
    /// Where the next one goes.
    pub end: u64,
    /// The check of the last one.
    pub last: Check,
    pub tail: Tail,
    pub mark: Mark,
}

/// Repeats on the device what a journal says, as far as it is whole.
pub(super) fn replay<S: FileStore>(
    store: &S,
    header: &Header,
    device: &mut Device,
) -> io::Result<Replayed> {
    let mark = mark::read(store, header)?;
    let mut replayed = records(store, header, device, mark)?;
    let at = replayed.end;
    if let Mark::Flushed(flushed) = mark
        && flushed > at
    {
        match &mut replayed.tail {
            Tail::Damaged(damage) => damage.was_flushed = true,
            tail => *tail = Tail::Damaged(Damage::missing(at, replayed.records + 1, flushed)),
        }
    }
    Ok(replayed)
}

fn records<S: FileStore>(
    store: &S,
    header: &Header,
    device: &mut Device,
    mark: Mark,
) -> io::Result<Replayed> {
    let (seal, geometry) = (Seal::of(header), *device.geometry());
    let journal = header.records();
    let (end, tail) = (journal.at, Tail::Clean);
    let mut replayed = Replayed { operations: 0, records: 0, end, last: Check::NONE, tail, mark };
    let mut input = BufReader::with_capacity(AT_ONCE, StoreBytes::over(store, journal));
    let mut sealed = Vec::new();
    loop {
        let at = replayed.end;
        let amount = next(&mut input, &geometry, &mut sealed)?;
        let check = match amount {
            Amount::Whole => seal.matching(replayed.last, at, &sealed),
            Amount::Short => None,
        };
        let Some(check) = check else {
            let rest = Extent { at, bytes: journal.end() - at };
            replayed.tail = tail::examine(store, rest, &seal, &geometry)?;
            if let Tail::Damaged(damage) = &mut replayed.tail {
                damage.record = replayed.records + 1;
            }
            return Ok(replayed);
        };
        let event = record::take(&sealed[..sealed.len() - SEAL_BYTES], &geometry);
        if event.and_then(|event| event.repeat(device)).is_none() {
            replayed.tail = Tail::Damaged(Damage::impossible(at, replayed.records + 1));
            return Ok(replayed);
        }
        let is_operation = !matches!(event, Some(Event::Flushed | Event::PowerOff));
        replayed.operations += u64::from(is_operation);
        replayed.records += 1;
        replayed.end += sealed.len() as u64;
        replayed.last = check;
    }
}

/// Reads the next sealed record. It is short where there is none, or only a part of one.
fn next(input: &mut impl Read, geometry: &Geometry, sealed: &mut Vec<u8>) -> io::Result<Amount> {
    sealed.resize(2, 0);
    if fill(input, sealed)? == Amount::Short {
        return Ok(Amount::Short);
    }
    let Some(length) = record::length(sealed[0], sealed[1], geometry) else {
        return Ok(Amount::Short);
    };
    sealed.resize(length + SEAL_BYTES, 0);
    fill(input, &mut sealed[2..])
}
