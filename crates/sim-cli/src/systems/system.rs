//! What a replay asks of a system, and what is done with one while it lives.

use std::convert::Infallible;

use ftl_iface::{BlockStore, Sector, SectorCount};
use nand_model::Done;
use nand_model::part::Nanos;

use super::hardware::Hardware;
use super::meter::{Account, ChainWrite, Spent};
use crate::Failure;
use crate::result::{Factors, Filter, Hash, Throttle};

/// What a replay asks of a system, beside what it asks of any store.
pub trait System: BlockStore<Error = Infallible> {
    /// The moment at which the host may continue.
    fn now(&self) -> Nanos;

    /// What the system runs on, as it is now. It may take long: it is asked for before and after a replay.
    fn hardware(&self) -> Hardware;

    /// Lets time pass without requests until that moment.
    fn wait_until(&mut self, moment: Nanos);

    /// Requests that begin at these sectors come next. Nothing is done, and no time passes: a system may look at what
    /// its tables say of them, all together, so that the processor waits for memory once.
    fn foresee(&self, firsts: &[Sector]) {
        let _ = firsts;
    }

    /// A request of the host's begins at that moment, or as soon as the system can take it, and is the one of that
    /// number. What the system is asked for until [`end`](Self::end) belongs to it.
    fn begin(&mut self, at: Nanos) -> u64;

    /// The request has asked for all that it needs. Its answer may come later.
    fn end(&mut self);

    /// The next request that is answered, in the order of the answers; none if none comes until that moment, or none is
    /// awaited.
    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done>;

    /// From now on, time is spent on that account.
    fn account(&mut self, account: Account);

    /// What was spent on an account, by cause.
    fn spent(&self, account: Account) -> Spent;

    /// From now on, keeps a sample of the writes of new data to the chains.
    fn sample_writes(&mut self);

    /// That sample, in the order of the writes.
    fn sampled_writes(&self) -> &[ChainWrite];

    /// RAM that the system's controller needs, in bytes.
    fn ram_bytes(&self) -> u64;

    /// What it decided.
    fn books(&self) -> Books;
}

/// What a system decided. What a system has not is left out.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// The factors of the paper's analysis.
    pub factors: Option<Factors>,
    /// Its filter of hot data.
    pub filter: Option<Filter>,
    /// Its throttle.
    pub throttle: Option<Throttle>,
    /// Its hash table.
    pub hash: Option<Hash>,
    /// Whatever figures it has that others have not.
    pub figures: Vec<(&'static str, f64)>,
    /// Write requests that its log took.
    pub log_writes: Option<u64>,
}

/// What is done with a system while it lives.
pub trait Session {
    /// Brings the new device to where the replay shall begin. The first `filled` sectors are there already, as if they
    /// had been written in order. The system may count or learn nothing of it.
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure>;

    /// Everything that counts.
    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure>;
}
