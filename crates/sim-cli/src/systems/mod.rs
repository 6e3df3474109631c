//! The systems that can be compared: the registry, a line each, and what a replay asks of a system.
//!
//! A system is a [`BlockStore`] over simulated hardware, with books. To add one: implement [`System`] for it, write a
//! function that builds it and lets a [`Session`] at it, and name that in `SYSTEMS`.

use std::collections::BTreeMap;
use std::convert::Infallible;

use ftl_iface::{BlockStore, Region, SectorCount};
use nand_model::part::{Nanos, Part};
use nand_model::{Done, Time};

use crate::Failure;
use crate::result::{Factors, Filter, Hash, PartResult, Throttle};
use crate::show;
use crate::spec::{self, Parameter, Values};
use crate::table::{Edge, Table};

mod bench;
mod filled;
mod hardware;
#[cfg(test)]
mod liar;
#[cfg(unix)]
mod live;
mod machine;
mod meter;
mod ours;
mod paged;
mod parts;
mod rivals;

pub use hardware::{Hardware, PartState, part_name};
#[cfg(unix)]
pub(crate) use live::{Blueprint, Ended, Live, Owner};
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

impl Setup {
    /// Whether the device has every one of these memories, as large as they are.
    pub(crate) fn has_all(&self, parts: &BTreeMap<String, PartResult>) -> bool {
        memories(parts).all(|(name, part)| {
            let region = Region::ALL.into_iter().find(|region| part_name(*region) == name);
            let shape = region.and_then(|region| self.part.geometry.region(region));
            shape.is_some_and(|shape| shape.capacity_bytes() == part.bytes)
        })
    }
}

/// What there is to buy: blocks in SLC mode are those of the MLC.
fn memories(parts: &BTreeMap<String, PartResult>) -> impl Iterator<Item = (&String, &PartResult)> {
    parts.iter().filter(|(name, _)| *name != hardware::SLC_MODE)
}

/// Memories and their sizes, in words.
pub(crate) fn hardware_name(parts: &BTreeMap<String, PartResult>) -> String {
    let names = memories(parts).map(|(name, part)| format!("{name} {}", show::about(part.bytes)));
    names.collect::<Vec<_>>().join(", ")
}

/// Builds a system and lets a session at it.
type Run = fn(&Setup, &Values, &mut dyn Session) -> Result<(), Failure>;

/// Says how a system is built that is mounted again after a loss of power.
#[cfg(unix)]
type Plan = fn(&Setup, &Values) -> Result<Blueprint, Failure>;

/// The systems that can be mounted: what they know survives on flash.
#[cfg(unix)]
const MOUNTABLE: &[(&str, Plan)] =
    &[("hybrid", live::hybrid), ("conventional", live::conventional)];

/// A line of the registry.
struct Entry {
    name: &'static str,
    title: &'static str,
    parameters: &'static [Parameter],
    /// Whether the SLC's size makes a difference to it.
    uses_slc: bool,
    power: PowerLoss,
    run: Run,
}

/// What a loss of power does to what was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerLoss {
    /// It stands.
    Survived,
    /// It is lost: the map is in RAM, and the paper says nothing of how it would be found again.
    Fatal,
}

impl PowerLoss {
    const fn words(self) -> &'static str {
        match self {
            Self::Survived => "survives power cuts",
            Self::Fatal => "does not survive power cuts",
        }
    }
}

const SYSTEMS: &[Entry] = &[
    Entry {
        name: "hybrid",
        title: "a log in the SLC takes small hot writes, the MLC the rest (Chang 2010)",
        parameters: &ours::HYBRID,
        uses_slc: true,
        power: PowerLoss::Survived,
        run: ours::hybrid,
    },
    Entry {
        name: "conventional",
        title: "the same block chains in the MLC, without SLC: the paper's baseline",
        parameters: &ours::CONVENTIONAL,
        uses_slc: false,
        power: PowerLoss::Survived,
        run: ours::conventional,
    },
    Entry {
        name: "paged",
        title: "one page map over SLC and MLC; small hot writes and the map itself in the SLC",
        parameters: &paged::PAGED,
        uses_slc: true,
        power: PowerLoss::Survived,
        run: paged::paged,
    },
    Entry {
        name: "page-slc",
        title: "a page map, all of the capacity in SLC: the ceiling",
        parameters: &rivals::PAGE_MAP,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::page_slc,
    },
    Entry {
        name: "page-mlc",
        title: "a page map over the MLC alone: the floor",
        parameters: &rivals::PAGE_MAP,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::page_mlc,
    },
    Entry {
        name: "ko",
        title: "short requests to the SLC, which pages leave unless they are updated (Ko et al. 2011)",
        parameters: &rivals::KO,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::ko,
    },
    Entry {
        name: "combo",
        title: "a hot and a warm part of the SLC before the MLC (Im and Shin 2010)",
        parameters: &rivals::COMBO,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::combo,
    },
    Entry {
        name: "ahdm",
        title: "pages written often enough move to the SLC (Batni and Safaei)",
        parameters: &rivals::AHDM,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::ahdm,
    },
    Entry {
        name: "density",
        title: "MLC blocks in SLC mode for what is accessed often (Kgil et al. 2008, as Chang has it)",
        parameters: &rivals::DENSITY,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::density,
    },
    Entry {
        name: "pslc",
        title: "all writes enter a cache of MLC blocks in SLC mode, as in disks sold today",
        parameters: &rivals::PSLC,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::pslc,
    },
    #[cfg(test)]
    Entry {
        name: "liar",
        title: "loses a write, for tests",
        parameters: &liar::PARAMETERS,
        uses_slc: false,
        power: PowerLoss::Survived,
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

    /// Why the device has no room for the system, where that can be told beforehand.
    pub(crate) fn refused(&self, setup: &Setup) -> Option<String> {
        let is_paged = SYSTEMS[self.entry].name == "paged";
        is_paged.then(|| paged::refused(&setup.part, &self.values)).flatten()
    }

    /// How the system is built for hosts that come and go.
    #[cfg(unix)]
    pub(crate) fn blueprint(&self, setup: &Setup) -> Result<Blueprint, Failure> {
        let name = SYSTEMS[self.entry].name;
        let Some((_, plan)) = MOUNTABLE.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = MOUNTABLE.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "`{name}` keeps its tables in RAM alone and cannot be mounted: serve {}",
                names.join(" or ")
            );
            return Err(Failure::Arguments(reason));
        };
        plan(setup, &self.values)
    }

    /// Builds the system and lets the session at it.
    pub(crate) fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        (SYSTEMS[self.entry].run)(setup, &self.values, session)
    }
}

/// Systems of a comparison, as one word names them: a system, or all.
#[derive(Clone, Debug)]
pub(crate) struct Several(pub(crate) Vec<Chosen>);

impl Several {
    /// The baseline stands first, since ratios are to the first.
    const ALL: [&str; 2] = ["all", "conventional"];

    /// Those that the device has room for, where all were asked for; whoever names a system is told by that system.
    pub(crate) fn fitting(&self, setup: &Setup) -> Vec<Chosen> {
        let Self(systems) = self;
        let fits = |system: &&Chosen| match system.refused(setup) {
            Some(reason) if systems.len() > 1 => {
                eprintln!("note: `{}` is left out: {reason}", system.name);
                false
            }
            _ => true,
        };
        systems.iter().filter(fits).cloned().collect()
    }

    /// A system by its name, or every system there is.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let [all, baseline] = Self::ALL;
        if text != all {
            return Chosen::parse(text).map(|chosen| Self(vec![chosen]));
        }
        let others = SYSTEMS.iter().map(|entry| entry.name);
        let others = others.filter(|name| *name != baseline && *name != "liar");
        [baseline].into_iter().chain(others).map(Chosen::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// The text that lists what can be named.
pub(crate) fn list() -> String {
    let mut table = Table::new([("", Edge::Left); 3]);
    for entry in SYSTEMS {
        table.row([entry.name, entry.title, entry.power.words()].map(String::from));
        for parameter in entry.parameters {
            let shown = format!("  ?{}={}", parameter.name, parameter.default);
            table.row([shown, format!("  {}", parameter.title), String::new()]);
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
        let unknown = Chosen::parse("none-such").unwrap_err();
        assert!(unknown.contains("hybrid, conventional"), "{unknown}");
        assert!(Chosen::parse("conventional?filter=off").is_err(), "it has none");
        assert!(Chosen::parse("hybrid?filter=maybe").unwrap_err().contains("on or off"));
    }

    #[test]
    #[cfg(unix)]
    fn a_system_that_cannot_be_mounted_says_which_can() {
        let device = crate::device::DeviceArgs {
            device: "tiny".into(),
            capacity: None,
            slc: None,
            parallel: false,
        };
        let setup = device.setup().unwrap();
        let refused = Chosen::parse("liar").unwrap().blueprint(&setup).map(drop).unwrap_err();
        assert!(refused.to_string().contains("serve hybrid or conventional"), "{refused}");
        Chosen::parse("hybrid").unwrap().blueprint(&setup).map(drop).unwrap();
    }

    #[test]
    fn all_systems_are_named_at_once_the_baseline_first() {
        let all = Several::parse("all").unwrap().0;
        assert_eq!(all[0].name, "conventional");
        assert_eq!(all.len(), SYSTEMS.len() - 1, "all but the one for tests");
        assert_eq!(Several::parse("ko?threshold=3").unwrap().0.len(), 1);
        assert!(Several::parse("none-such").is_err());
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
