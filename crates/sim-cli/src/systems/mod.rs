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
use crate::notes;
use crate::result::{Factors, Filter, Hash, PartResult, Throttle};
use crate::show;
use crate::spec::{self, Parameter, Values};
use crate::table::{Edge, Table};

mod bench;
mod disk;
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
mod scm;

pub use hardware::{Hardware, PartState, part_name};
#[cfg(unix)]
pub(crate) use live::{Blueprint, Ended, Live, Owner, Powered};
pub use meter::{Account, ChainWrite, Spent};
pub(crate) use ours::stamps;

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
    /// What its memories keep of the host's data.
    pub kept: Kept,
}

/// What a simulated memory keeps of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// A stamp, by which a replay verifies what it reads.
    #[default]
    Stamps,
    /// Every byte, for hosts that want it back.
    Bytes,
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
        name: "disk-cache",
        title: "SLC and MLC of one chip as a cache before a hard disk (Hong and Shin 2010)",
        parameters: &rivals::DISK_CACHE,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::disk_cache,
    },
    Entry {
        name: "multi-scm",
        title: "two byte-writable memories, a small quick one and a large one (Kinoshita et al. 2018)",
        parameters: &rivals::MULTI_SCM,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::multi_scm,
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
            let meant = spec::meant(base, names.iter().copied());
            format!("no system is called `{base}`: {meant}give one of {}", names.join(", "))
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

    /// How the system is built for hosts that come and go.
    #[cfg(unix)]
    pub(crate) fn blueprint(&self, setup: &Setup) -> Result<Blueprint, Failure> {
        let Some(plan) = self.plan() else {
            let names: Vec<&str> = MOUNTABLE.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "`{}` keeps its tables in RAM alone: a loss of power is its end, and no file keeps it; \
                 take {}, or leave --image and --cut-every out",
                SYSTEMS[self.entry].name,
                names.join(" or ")
            );
            return Err(Failure::Arguments(reason));
        };
        plan(setup, &self.values)
    }

    /// Whether the system can be mounted again after a loss of power.
    #[cfg(unix)]
    pub(crate) fn is_mountable(&self) -> bool {
        self.plan().is_some()
    }

    #[cfg(unix)]
    fn plan(&self) -> Option<Plan> {
        let name = SYSTEMS[self.entry].name;
        MOUNTABLE.iter().find(|(known, _)| *known == name).map(|(_, plan)| *plan)
    }

    /// Whether it is the system that others are compared with.
    #[cfg(unix)]
    pub(crate) fn is_baseline(&self) -> bool {
        SYSTEMS[self.entry].name == Several::ALL[1]
    }

    /// Why the device cannot carry the system, if it cannot. It is built for that, and does nothing.
    pub(crate) fn unfit(&self, setup: &Setup) -> Result<Option<String>, Failure> {
        match self.run(setup, &mut Tried) {
            Ok(()) => Ok(None),
            Err(Failure::Unfit(reason)) => Ok(Some(reason)),
            Err(failure) => Err(failure),
        }
    }

    /// Builds the system and lets the session at it.
    pub(crate) fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        (SYSTEMS[self.entry].run)(setup, &self.values, session)
    }
}

/// A session that asks nothing of a system.
struct Tried;

impl Session for Tried {
    fn prepare(&mut self, _: &mut dyn System, _: SectorCount) -> Result<(), Failure> {
        Ok(())
    }

    fn replay(&mut self, _: &mut dyn System) -> Result<(), Failure> {
        Ok(())
    }
}

/// Systems of a comparison, as one word names them: a system, or all.
#[derive(Clone, Debug)]
pub(crate) enum Several {
    /// That one.
    One(Chosen),
    /// Every system that the device can carry.
    All(Vec<Chosen>),
}

impl Several {
    /// The baseline stands first, since ratios are to the first.
    const ALL: [&str; 2] = ["all", "conventional"];

    /// A system by its name, or every system there is.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let [all, baseline] = Self::ALL;
        if text != all {
            return Chosen::parse(text).map(Self::One);
        }
        let others = SYSTEMS.iter().map(|entry| entry.name);
        let others = others.filter(|name| *name != baseline && *name != "liar");
        [baseline]
            .into_iter()
            .chain(others)
            .map(Chosen::parse)
            .collect::<Result<_, _>>()
            .map(Self::All)
    }

    /// The systems that are meant on that device. A system that was named must fit; of all, the others are left out,
    /// and a sentence says why.
    pub(crate) fn on(&self, setup: &Setup) -> Result<Vec<Chosen>, Failure> {
        let all = match self {
            Self::One(chosen) => return Ok(vec![chosen.clone()]),
            Self::All(all) => all,
        };
        let mut fit = Vec::new();
        for chosen in all {
            match chosen.unfit(setup)? {
                None => fit.push(chosen.clone()),
                Some(reason) => notes::tell(&format!("{} is left out: {reason}", chosen.name)),
            }
        }
        Ok(fit)
    }
}

/// The names of all systems.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SYSTEMS.iter().map(|entry| entry.name)
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
        let near = Chosen::parse("hybird").unwrap_err();
        assert!(near.contains("did you mean `hybrid`?"), "{near}");
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
        assert!(refused.to_string().contains("take hybrid or conventional"), "{refused}");
        Chosen::parse("hybrid").unwrap().blueprint(&setup).map(drop).unwrap();
    }

    #[test]
    fn all_systems_are_named_at_once_the_baseline_first() {
        let Several::All(all) = Several::parse("all").unwrap() else { panic!("all are several") };
        assert_eq!(all[0].name, "conventional");
        assert_eq!(all.len(), SYSTEMS.len() - 1, "all but the one for tests");
        assert!(matches!(Several::parse("ko?threshold=3"), Ok(Several::One(_))));
        assert!(Several::parse("none-such").is_err());
    }

    #[test]
    fn of_all_systems_those_that_do_not_fit_are_left_out() {
        let on = |capacity| {
            let device = crate::device::DeviceArgs {
                device: "c3".into(),
                capacity: Some(capacity),
                slc: None,
                parallel: false,
            };
            let setup = device.setup().unwrap();
            let systems = Several::parse("all").unwrap().on(&setup).unwrap();
            systems.into_iter().map(|chosen| chosen.name).collect::<Vec<_>>()
        };
        let (small, large) = (on(64 << 20), on(1 << 30));
        assert!(large.contains(&"conventional".into()) && large.len() == SYSTEMS.len() - 1);
        assert!(!small.contains(&"conventional".into()) && small.contains(&"page-mlc".into()));
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
