//! `defmt`: what the FTL does and decides, as log lines.
//!
//! Errors need nothing of this: `StoreReadError` and `StoreWriteError` carry `defmt::Format`, as do addresses.

use ftl_core::{Cause, Event, Probe, Rejection, Verb};
use ftl_iface::Region;

/// A probe that logs: decisions at level `debug`, page operations at level `trace`, and passes both on to another.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogProbe<P = ftl_core::NoProbe> {
    /// Who else wants to know.
    pub inner: P,
}

const fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Host => "host",
        Cause::Gc => "garbage collection",
        Cause::WearLeveling => "wear leveling",
        Cause::Scan => "scan",
        Cause::Map => "map",
        Cause::WriteBack => "write-back",
        Cause::Meta => "meta",
        Cause::Mount => "mount",
        Cause::Backup => "backup",
        Cause::Scrub => "scrub",
    }
}

const fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "read",
        Verb::Program => "program",
        Verb::Erase => "erase",
    }
}

impl<P: Probe> Probe for LogProbe<P> {
    fn operation(&mut self, region: Region, verb: Verb, cause: Cause) {
        defmt::trace!("{}: {=str} for {=str}", region, verb_name(verb), cause_name(cause));
        self.inner.operation(region, verb, cause);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::ToFast { sectors } => defmt::debug!("to the fast area: {}", sectors),
            Event::RestToFast { sectors } => {
                defmt::debug!("the rest to the fast area: {}", sectors);
            }
            Event::ToMain { sectors } => defmt::debug!("to the main area: {}", sectors),
            Event::Rejected(Rejection::Index) => defmt::debug!("hash table full"),
            Event::Rejected(Rejection::Space) => defmt::debug!("fast area full"),
            Event::Rejected(Rejection::Throttle) => defmt::debug!("rejected by the throttle"),
            Event::Lookup { cached } => defmt::debug!("a chain's map, cached: {=bool}", cached),
            Event::Scanned { pages } => defmt::debug!("a chain scanned, pages: {=u32}", pages),
            Event::Reclaimed { valid, kept } => {
                defmt::debug!("the log's tail reclaimed, valid: {=u32}, kept: {=u32}", valid, kept);
            }
            Event::Folded { cause, erased } => {
                let cause = cause_name(cause);
                defmt::debug!("a chain folded for {=str}, blocks erased: {=u32}", cause, erased);
            }
            Event::Switched { erased } => {
                defmt::debug!("a log block in order switched, blocks erased: {=u32}", erased);
            }
        }
        self.inner.event(event);
    }
}
