//! Two byte-writable storage class memories: time, wear, energy and price.
//!
//! Each access takes the memory's time for every 512 bytes that it touches, one after the other.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;

use ftl_iface::{Cause, Operations, Verb};
use ftl_rivals::multi_scm::{Memories, Memory, PAGE};
use nand_model::part::Nanos;
use nand_model::{Done, Energy, Stamp, Time};
use serde::Deserialize;

use super::bench::Rig;
use super::hardware::{Hardware, PartState};
use super::meter::{Account, Meter, Spent};
use super::prices::Prices;
use crate::base::{Failure, files};
use crate::input::device::{Setup, Stored};

/// The figures of both, as in a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScmParts {
    access_bytes: u32,
    tlc_dollars_per_gib: f64,
    quick: ScmPart,
    large: ScmPart,
}

/// The figures of one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScmPart {
    read_ns: u64,
    write_ns: u64,
    endurance: u32,
    cost: f64,
    read_picojoules_per_bit: f64,
    write_picojoules_per_bit: f64,
}

/// The default memories.
pub(super) const BUILTIN: &str = "kinoshita";

const NAMES: [&str; 2] = ["m-scm", "s-scm"];

/// The longest file of memories, because a file may be endless.
const LONGEST: u64 = 64 << 10;

impl ScmParts {
    /// The built-in memories, or those of a file.
    pub(super) fn open(name: &str) -> Result<Self, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::Arguments(format!("the memories {name} cannot be used: {reason}"))
        };
        let text = if name == BUILTIN {
            include_str!("../../../parts/scm.toml").to_owned()
        } else {
            files::text(Path::new(name), LONGEST).map_err(|error| wrong(&error))?
        };
        let parts: Self = files::keys(&text).map_err(|error| wrong(&error))?;
        if parts.access_bytes == 0
            || [&parts.quick, &parts.large].iter().any(|part| part.endurance == 0)
        {
            return Err(wrong(&"an access touches something, and memories endure something"));
        }
        Ok(parts)
    }

    const fn part(&self, of: Memory) -> &ScmPart {
        match of {
            Memory::Quick => &self.quick,
            Memory::Large => &self.large,
        }
    }
}

/// Both memories, with a clock and meters.
pub(super) struct ScmMachine<'m> {
    parts: ScmParts,
    /// The device that they replace.
    device: String,
    inner: RefCell<Inner>,
    meter: &'m Meter,
}

#[derive(Default)]
struct Inner {
    /// The content of the places; empty ones read as zeros. If sectors hold stamps, only these are stored.
    held: [Vec<Box<[u8]>>; 2],
    kept: Option<(usize, usize)>,
    wear: [Vec<u32>; 2],
    operations: [Operations; 2],
    picojoules: f64,
    now: Nanos,
    requests: u64,
    in_turn: Option<(Nanos, Nanos)>,
    done: VecDeque<Done>,
}

impl<'m> ScmMachine<'m> {
    /// Memories with that many places each.
    pub(super) fn new(parts: ScmParts, places: [u32; 2], setup: &Setup, meter: &'m Meter) -> Self {
        let sector = setup.part.sector_bytes.as_usize();
        let kept = (setup.kept == Stored::Stamps).then_some((sector, Stamp::BYTES.as_usize()));
        let wear = places.map(|places| vec![0; places as usize]);
        let held = places.map(|places| vec![Box::default(); places as usize]);
        let inner = RefCell::new(Inner { held, kept, wear, ..Inner::default() });
        Self { parts, device: setup.part.name.clone(), inner, meter }
    }

    /// The memories, for the rival.
    pub(super) const fn rows(&self) -> Rows<'_, 'm> {
        Rows(self)
    }

    #[allow(clippy::cast_precision_loss)] // Energy need not be finer.
    fn spend(&self, of: Memory, verb: Verb, bytes: usize, cause: Cause) {
        let part = self.parts.part(of);
        let (time, energy) = match verb {
            Verb::Read => (part.read_ns, part.read_picojoules_per_bit),
            Verb::Program | Verb::Erase => (part.write_ns, part.write_picojoules_per_bit),
        };
        let time = Nanos::new(time * bytes.div_ceil(self.parts.access_bytes as usize) as u64);
        let mut inner = self.inner.borrow_mut();
        inner.now += time;
        inner.picojoules += energy * 8.0 * bytes as f64;
        inner.operations[of as usize].count_many(verb, cause, 1);
        self.meter.set_cause(cause);
        self.meter.add(of == Memory::Quick, time);
    }
}

/// The memories as the rival sees them.
pub(super) struct Rows<'a, 'm>(&'a ScmMachine<'m>);

impl Memories for Rows<'_, '_> {
    fn read(&mut self, of: Memory, place: u32, at: usize, data: &mut [u8], cause: Cause) {
        self.0.spend(of, Verb::Read, data.len(), cause);
        data.fill(0);
        let inner = self.0.inner.borrow();
        let held = &inner.held[of as usize][place as usize];
        if held.is_empty() {
            return;
        }
        match inner.kept {
            None => data.copy_from_slice(&held[at..at + data.len()]),
            Some((sector, kept)) => {
                let held = held.chunks_exact(kept).skip(at / sector);
                let sectors = data.chunks_exact_mut(sector).zip(held);
                sectors.for_each(|(sector, held)| sector[..kept].copy_from_slice(held));
            }
        }
    }

    fn write(&mut self, of: Memory, place: u32, at: usize, data: &[u8], cause: Cause) {
        self.0.spend(of, Verb::Program, data.len(), cause);
        let mut inner = self.0.inner.borrow_mut();
        let Inner { held, kept, wear, .. } = &mut *inner;
        wear[of as usize][place as usize] += 1;
        let page = PAGE.as_usize();
        let length = kept.map_or(page, |(sector, kept)| page / sector * kept);
        let held = &mut held[of as usize][place as usize];
        if held.is_empty() {
            *held = vec![0; length].into();
        }
        match *kept {
            None => held[at..at + data.len()].copy_from_slice(data),
            Some((sector, kept)) => {
                let held = held.chunks_exact_mut(kept).skip(at / sector);
                let sectors = data.chunks_exact(sector).zip(held);
                sectors.for_each(|(sector, held)| held.copy_from_slice(&sector[..kept]));
            }
        }
    }
}

impl Rig for ScmMachine<'_> {
    fn now(&self) -> Nanos {
        self.inner.borrow().now
    }

    fn wait_until(&self, moment: Nanos) {
        let now = &mut self.inner.borrow_mut().now;
        *now = (*now).max(moment);
    }

    fn begin(&self, at: Nanos) -> u64 {
        self.end();
        self.wait_until(at);
        let mut inner = self.inner.borrow_mut();
        inner.in_turn = Some((at, inner.now));
        inner.requests
    }

    fn end(&self) {
        let mut inner = self.inner.borrow_mut();
        if let Some((at, begun)) = inner.in_turn.take() {
            let (number, ended) = (inner.requests, inner.now);
            inner.done.push_back(Done { number, at, begun, ended });
            inner.requests += 1;
        }
    }

    fn next_done(&self, until: Option<Nanos>) -> Option<Done> {
        let mut inner = self.inner.borrow_mut();
        let done = inner.done.front()?;
        if until.is_some_and(|until| done.ended > until) {
            return None;
        }
        inner.done.pop_front()
    }

    fn account(&self, account: Account) {
        self.meter.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        self.meter.spent(account, |_| Nanos::ZERO)
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn hardware(&self) -> Hardware {
        let inner = self.inner.borrow();
        let mut dollars = 0.0;
        let parts = [Memory::Quick, Memory::Large]
            .into_iter()
            .filter(|of| !inner.wear[*of as usize].is_empty());
        let parts = parts.map(|of| {
            let wear = inner.wear[of as usize].clone();
            let bytes = wear.len() as u64 * PAGE.as_usize() as u64;
            let gib = bytes as f64 / f64::from(1 << 30);
            dollars += gib * self.parts.part(of).cost * self.parts.tlc_dollars_per_gib;
            let page_bytes = PAGE.get().into();
            let held = inner.held[of as usize].iter().filter(|held| !held.is_empty()).count();
            let programmed = held as u64 * u64::from(PAGE.get());
            let (name, operations) = (NAMES[of as usize], inner.operations[of as usize]);
            let (endurance, filled) = (None, Vec::new());
            PartState { name, bytes, page_bytes, wear, endurance, operations, programmed, filled }
        });
        let parts = parts.collect();
        Hardware {
            device: self.device.clone(),
            time: Time::Serial,
            at_rest: inner.now,
            energy: Energy::from_attojoules((inner.picojoules * 1e6) as _),
            dollars,
            prices: Prices::of_scm(),
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::device::DeviceChoice;

    #[test]
    fn an_access_takes_its_memory_s_time_and_wears_its_place() {
        let device =
            DeviceChoice { device: "c3".into(), capacity: None, slc: None, parallel: false };
        for kept in [Stored::Stamps, Stored::Bytes] {
            let setup = Setup { kept, ..device.setup().unwrap() };
            let meter = Meter::new();
            let machine = ScmMachine::new(ScmParts::open(BUILTIN).unwrap(), [2, 3], &setup, &meter);
            let number = machine.begin(Nanos::new(100));
            let mut rows = machine.rows();
            rows.write(Memory::Quick, 1, 2048, &[7; 4096], Cause::Host);
            let mut data = [9; 16 << 10];
            rows.read(Memory::Quick, 1, 0, &mut data, Cause::Host);
            rows.read(Memory::Large, 2, 0, &mut data[..2048], Cause::Host);
            machine.end();
            let done = machine.next_done(None).unwrap();
            // Eight and 32 accesses of 100 ns, and four of a microsecond.
            assert_eq!((done.number, done.ended.get()), (number, 100 + 800 + 3_200 + 4_000));
            assert_eq!((data[0], data[2048], data[4096], data[6144]), (0, 7, 7, 0));
            let hardware = machine.hardware();
            assert_eq!(hardware.part("m-scm").unwrap().wear, [0, 1]);
            // 4 KiB written at 2 pJ a bit, 16 read at 0.5, 2 read at 2.
            let picojoules = 8.0 * (4096.0 * 2.0 + 16384.0 * 0.5 + 2048.0 * 2.0);
            assert!((hardware.energy.as_microjoules_f64() - picojoules / 1e6).abs() < 1e-9);
        }
        assert!(ScmParts::open("/none/such").unwrap_err().to_string().contains("/none/such"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let reason = ScmParts::open("/dev/zero").unwrap_err().to_string();
        assert!(reason.contains("more than 65536 bytes"), "{reason}");
    }
}
