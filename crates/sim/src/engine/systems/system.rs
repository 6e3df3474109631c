//! What a replay needs of a system, and the session that runs on one.

use std::convert::Infallible;

use ftl_iface::{BlockStore, PageCount, Sector, SectorCount};
use nand_model::Done;
use nand_model::part::Nanos;

use super::hardware::Hardware;
use super::meter::{Account, Spent};
use super::sample::ChainWrite;
use crate::base::Failure;
use crate::engine::result::{Factors, Filter, Folding, Hash, Throttle};

/// What a replay needs of a system, beyond a store.
pub trait System: BlockStore<Error = Infallible> {
    /// The time at which the host may continue.
    fn now(&self) -> Nanos;

    /// The present state of the hardware. It may be slow: it is called only before and after a replay.
    fn hardware(&self) -> Hardware;

    /// Lets time pass without requests until then.
    fn wait_until(&mut self, moment: Nanos);

    /// Announces the sectors at which the next requests begin. Nothing changes, and no time passes: a system may touch
    /// their table entries all together, so that the processor waits for memory once.
    fn prefetch(&self, firsts: &[Sector]) {
        let _ = firsts;
    }

    /// Page copies that it does at a time while the host is idle.
    fn at_a_time(&self) -> PageCount {
        PageCount::new(1)
    }

    /// Begins the host's request of that number at that time, or as soon as the system can take it. Calls until
    /// [`end`](Self::end) belong to it.
    fn begin(&mut self, at: Nanos) -> u64;

    /// Ends the calls of the request. It may complete later.
    fn end(&mut self);

    /// The next request that completes, in the order of completion; `None` if none completes until then, or none is
    /// outstanding.
    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done>;

    /// From now on, time counts to that account.
    fn account(&mut self, account: Account);

    /// The time of an account, by cause.
    fn spent(&self, account: Account) -> Spent;

    /// From now on, samples the writes of new data to the chains.
    fn sample_writes(&mut self);

    /// That sample, in the order of the writes.
    fn sampled_writes(&self) -> &[ChainWrite];

    /// RAM that the system's controller needs, in bytes.
    fn ram_bytes(&self) -> u64;

    /// Figures about its decisions.
    fn books(&self) -> Books;
}

/// Figures about a system's decisions. Those that a system does not have are omitted.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// The factors of the paper's analysis.
    pub factors: Option<Factors>,
    /// Its folds and switches.
    pub folding: Option<Folding>,
    /// Its hot-data filter.
    pub filter: Option<Filter>,
    /// Its throttle.
    pub throttle: Option<Throttle>,
    /// Its hash table.
    pub hash: Option<Hash>,
    /// Figures specific to the system.
    pub figures: Vec<(&'static str, f64)>,
    /// Write requests that its log took.
    pub log_writes: Option<u64>,
}

/// A session on a system.
pub trait Session {
    /// Brings the new device to the initial state of the replay. The first `filled` sectors are there already, as if
    /// they had been written in order. The system must not count it or learn from it.
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure>;

    /// The measured part.
    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure>;
}
