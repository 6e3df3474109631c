//! Lives on a disk until its power fails, and reads it back in the next life.

use std::collections::BTreeMap;

use ftl_iface::{SectorCount, Verb};
use nand_model::part::{Nanos, Part};
use nand_model::power::{Cut, Fates};

use super::compared::Expected;
use super::cut::Outage;
use super::found::{Findings, Hit, InFlight, Sectors};
use crate::base::{Failure, Stop};
use crate::engine::host::{Host, SharedWitness};
use crate::engine::replay::{self, account, rest};
use crate::engine::result::ByVerb;
use crate::engine::systems::{Ended, Hardware, Live, Owner};
use crate::input::device::Setup;
use crate::input::trace::fit::{Fit, FitChoice};
use crate::input::trace::{Op, Request};
use crate::input::workload::{Stream, Workload};

/// The user of the disk.
pub(super) struct Victim<'a> {
    setup: &'a Setup,
    outage: Outage,
    stream: Stream<'a>,
    fit: Fit,
    witness: SharedWitness,
    acknowledged: u64,
    life: Life,
}

/// Where it is in its lives.
enum Life {
    /// The device is new.
    New,
    /// It was filled.
    Filled(Host),
    /// Its power failed.
    Failed(Failed),
    /// It was mounted again, and read.
    Over(Failed, Mounted),
}

/// How its power failed.
struct Failed {
    in_flight: Option<Request>,
    /// The sectors of that request, and their stamps before it.
    before: BTreeMap<u64, u32>,
    /// When power was to fail from the next operation on, and when it had failed.
    hardware: [Hardware; 2],
    now: Nanos,
}

/// What the mount did, and what was found then.
struct Mounted {
    hardware: Hardware,
    now: Nanos,
    sectors: Sectors,
}

impl Owner for Victim<'_> {
    /// Power fails when that is asked for.
    fn next_cut(&mut self) -> Cut {
        Cut::never()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        match std::mem::replace(&mut self.life, Life::New) {
            Life::New => {
                let mut host = Host::new(disk, SectorCount::ZERO, self.witness.clone());
                let never = Stop::default();
                replay::prepare(disk, &mut host, self.setup.fill, SectorCount::ZERO, &never)?;
                self.life = Life::Filled(host);
                Ok(Ended::Stopped)
            }
            Life::Filled(host) => {
                self.life = Life::Failed(self.serve(disk, host)?);
                Ok(Ended::PowerFailed)
            }
            Life::Failed(failed) => {
                let (hardware, now) = (disk.hardware(), disk.now());
                let sectors = self.expected(&failed).compare(disk)?;
                self.life = Life::Over(failed, Mounted { hardware, now, sectors });
                Ok(Ended::Stopped)
            }
            Life::Over(..) => Ok(Ended::Stopped),
        }
    }
}

impl<'a> Victim<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        fit: Option<FitChoice>,
        setup: &'a Setup,
        outage: Outage,
    ) -> Result<Self, Failure> {
        let space = replay::address_space(setup);
        let fit = workload.fit(fit, space, replay::largest_page(setup), &())?;
        let stream = workload.open(space.capacity, &());
        let witness = SharedWitness::new(replay::witness(setup, space.capacity));
        Ok(Self { setup, outage, stream, fit, witness, acknowledged: 0, life: Life::New })
    }

    /// Serves requests until power fails, or there are no more.
    fn serve(&mut self, disk: &mut dyn Live, mut host: Host) -> Result<Failed, Failure> {
        rest(disk, &Stop::default())?;
        disk.wait_until(disk.hardware().at_rest);
        let mut armed = None;
        let mut before = BTreeMap::new();
        loop {
            if armed.is_none() && self.acknowledged >= self.outage.after {
                armed = Some(disk.hardware());
                disk.power().set_cut(Cut::seeded(0, self.outage.seed));
            }
            let Some(request) = self.next_request()? else { break };
            if armed.is_some() {
                before = self.witness.lock().changes(&request).collect();
            }
            let served = self.serve_one(disk, &mut host, &request);
            if !disk.power().is_on() {
                return Ok(failed(disk, armed, Some(request), before));
            }
            served?;
            self.acknowledged += 1;
        }
        Ok(failed(disk, armed, None, BTreeMap::new()))
    }

    fn serve_one(
        &mut self,
        disk: &mut dyn Live,
        host: &mut Host,
        request: &Request,
    ) -> Result<(), Failure> {
        let mut must = Vec::new();
        self.witness.lock().follow(request, &mut must);
        disk.account(account(request.op));
        disk.begin(disk.now());
        let served = host.serve(disk, request, &mut must.as_slice());
        disk.end();
        while disk.next_done(None).is_some() {}
        served.map(drop)
    }

    fn next_request(&mut self) -> Result<Option<Request>, Failure> {
        let Some(request) = self.stream.next_request()? else { return Ok(None) };
        let space = replay::address_space(self.setup);
        let placed = self.fit.place(request, space.capacity);
        placed.map(Some).ok_or_else(|| self.stream.beyond(&request, space))
    }

    /// What the sectors must hold after the cut.
    fn expected(&self, failed: &Failed) -> Expected {
        let capacity = replay::address_space(self.setup).capacity;
        let everything = Request::new(Nanos::ZERO, Op::Read, 0, capacity);
        let mut stamps = Vec::new();
        self.witness.lock().follow(&everything, &mut stamps);
        Expected { stamps, before: failed.before.clone() }
    }

    /// The result, on that part.
    pub(super) fn found(self, part: &Part, fates: &Fates) -> Result<Findings, Failure> {
        let Life::Over(failed, mounted) = self.life else {
            return Err(Failure::Violation("the disk was not mounted again".into()));
        };
        let [armed, cut] = &failed.hardware;
        let done = mounted.hardware.parts.iter().filter_map(|memory| {
            let before = cut.part(memory.name)?.operations;
            let done = memory.operations.since(&before);
            let [read, program, erase] = Verb::ALL.map(|verb| done.total(verb));
            Some((memory.name.to_owned(), ByVerb { read, program, erase }))
        });
        Ok(Findings {
            acknowledged: self.acknowledged,
            in_flight: failed.in_flight.map(InFlight::from),
            hit: Hit::between(part, [armed, cut], fates),
            mount_us: mounted.now.since(failed.now).as_micros_f64(),
            mount: done.collect(),
            sectors: mounted.sectors,
        })
    }
}

fn failed(
    disk: &dyn Live,
    armed: Option<Hardware>,
    in_flight: Option<Request>,
    before: BTreeMap<u64, u32>,
) -> Failed {
    let cut = disk.hardware();
    let hardware = [armed.unwrap_or_else(|| cut.clone()), cut];
    Failed { in_flight, before, hardware, now: disk.now() }
}
