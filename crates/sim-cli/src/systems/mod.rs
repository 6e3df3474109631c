//! The systems that can be compared: the registry, a line each, and what a replay asks of a system.
//!
//! A system is a [`BlockStore`] over simulated hardware, with books. To add one: implement [`System`] for it, write a
//! function that builds it and lets a [`Session`] at it, and name that in `SYSTEMS`.

use std::convert::Infallible;

use ftl_iface::{BlockStore, SectorCount};
use nand_model::part::{Nanos, Part};
use nand_model::{Done, Time};

use crate::Failure;
use crate::result::{Factors, Filter, Hash, Throttle};
use crate::spec::{self, Parameter, Values};
use crate::table::{Edge, Table};

mod filled;
mod hardware;
#[cfg(test)]
mod liar;
mod meter;
mod ours;

pub use hardware::{Hardware, PartState, part_name};
pub use meter::{Account, ChainWrite, Spent};

/// What a replay asks of a system, beside what it asks of any store.
pub trait System: BlockStore<Error = Infallible> {
    /// The moment at which the host may go on.
    fn now(&self) -> Nanos;

    /// What the system runs on, as it is now. It may take long: it is asked for before and after a replay.
    fn hardware(&self) -> Hardware;

    /// Lets time pass without requests until that moment.
    fn wait_until(&mut self, moment: Nanos);

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
#[derive(Clone, Copy, Debug, Default)]
pub struct Books {
    /// The factors of the paper's analysis.
    pub factors: Option<Factors>,
    /// Its filter of hot data.
    pub filter: Option<Filter>,
    /// Its throttle.
    pub throttle: Option<Throttle>,
    /// Its hash table.
    pub hash: Option<Hash>,
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

/// The device on which systems are built.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device, at the capacity and the SLC size that were asked for.
    pub part: Part,
    /// The log that a device of one region shall have, where it was asked for.
    pub log_bytes: Option<u64>,
    /// Whether the device's channels, dies and planes work at the same time.
    pub time: Time,
}

/// Builds a system and lets a session at it.
type Run = fn(&Setup, &Values, &mut dyn Session) -> Result<(), Failure>;

/// A line of the registry.
struct Entry {
    name: &'static str,
    title: &'static str,
    parameters: &'static [Parameter],
    /// Whether the SLC's size makes a difference to it.
    uses_slc: bool,
    run: Run,
}

const SYSTEMS: &[Entry] = &[
    Entry {
        name: "hybrid",
        title: "a log in the SLC takes small hot writes, the MLC the rest (Chang 2010)",
        parameters: &ours::HYBRID,
        uses_slc: true,
        run: ours::hybrid,
    },
    Entry {
        name: "conventional",
        title: "the same block chains in the MLC, without SLC: the paper's baseline",
        parameters: &ours::CONVENTIONAL,
        uses_slc: false,
        run: ours::conventional,
    },
    #[cfg(test)]
    Entry {
        name: "liar",
        title: "loses a write, for tests",
        parameters: &liar::PARAMETERS,
        uses_slc: false,
        run: liar::run,
    },
];

/// A system that was named, with its parameters: `hybrid?filter=off`.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// As it was typed.
    pub(crate) name: String,
    entry: usize,
    values: Values,
}

impl Chosen {
    /// The system of that name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let base = spec::base(text);
        let entry = SYSTEMS.iter().position(|entry| entry.name == base).ok_or_else(|| {
            let names: Vec<&str> = SYSTEMS.iter().map(|entry| entry.name).collect();
            format!("no system is called `{base}`: give one of {}", names.join(", "))
        })?;
        let values = spec::parse(text, SYSTEMS[entry].parameters)?;
        // What is wrong with a switch is told before anything runs.
        for parameter in SYSTEMS[entry].parameters {
            if ["on", "off"].contains(&parameter.default) {
                values.is_on(parameter.name).map_err(|reason| format!("`{text}`: {reason}"))?;
            }
        }
        Ok(Self { name: text.into(), entry, values })
    }

    /// Whether the SLC's size makes a difference to the system.
    pub(crate) const fn uses_slc(&self) -> bool {
        SYSTEMS[self.entry].uses_slc
    }

    /// Builds the system and lets the session at it.
    pub(crate) fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        (SYSTEMS[self.entry].run)(setup, &self.values, session)
    }
}

/// The text that lists what can be named.
pub(crate) fn list() -> String {
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    for entry in SYSTEMS {
        table.row([entry.name, entry.title].map(String::from));
        for parameter in entry.parameters {
            let shown = format!("  ?{}={}", parameter.name, parameter.default);
            table.row([shown, format!("  {}", parameter.title)]);
        }
    }
    table.rows_as_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_named_with_its_parameters() {
        assert_eq!(Chosen::parse("hybrid?filter=off").unwrap().name, "hybrid?filter=off");
        let unknown = Chosen::parse("ahdm").unwrap_err();
        assert!(unknown.contains("hybrid, conventional"), "{unknown}");
        assert!(Chosen::parse("conventional?filter=off").is_err(), "it has none");
        assert!(Chosen::parse("hybrid?filter=maybe").unwrap_err().contains("on or off"));
    }

    #[test]
    fn the_list_names_every_system_and_parameter() {
        let list = list();
        for entry in SYSTEMS {
            assert!(list.contains(entry.name) && list.contains(entry.title), "{list}");
            assert!(entry.parameters.iter().all(|parameter| list.contains(parameter.name)));
        }
    }
}
