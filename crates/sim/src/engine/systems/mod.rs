//! The systems that can be compared: the registry, with one entry each, and what a replay needs of a system.
//!
//! A system is a [`BlockStore`](ftl_iface::BlockStore) on simulated hardware, with meters. To add one: implement
//! [`System`] for it, write a function that builds it and runs a [`Session`] on it, and name that in the registry. A
//! system from outside this repository is an [`own::Own`]; one that is made while the program runs, a [`Given`].

use std::sync::Arc;

use ftl_iface::SectorCount;

use self::registry::{Entry, PowerLoss, SYSTEMS};
use nand_model::datasheet;

use crate::base::{Failure, Observer, show};
use crate::input::device::Setup;
use crate::input::spec::{self, Parameter, Values};

mod bench;
#[cfg(test)]
mod broken;
mod capacity;
mod chains;
mod disk;
mod filled;
mod given;
mod hardware;
mod live;
mod machine;
mod meter;
mod ours;
pub mod own;
mod paged;
mod parts;
mod prices;
mod pslc;
mod registry;
mod remedy;
mod rivals;
mod sample;
mod schemes;
mod scm;
mod shared;
mod system;
mod tenant;
mod without;

pub(crate) use capacity::largest_capacity;
pub use given::Given;
pub use hardware::{Hardware, PartState, SLC_MODE, hardware_name, has_all, part_name};
pub use live::{Blueprint, Ended, Live, Owner, Powered, Store, firmware_default};
pub use meter::{Account, Meter, Metered, Spent, Watcher};
pub use ours::{itself_bytes, stamps};
pub use paged::{itself_bytes as pages_itself_bytes, stamps as page_stamps};
pub use prices::Prices;
pub use sample::ChainWrite;
pub use schemes::{Diary, Future, Reach, diarist, foreseeing};
pub use shared::{Shared, StoreShape, on_shared};
pub use system::{Books, Session, System};
pub use without::{NotRun, Without, without_slc};

/// Builds a system that can be mounted again after a power loss.
type Plan = fn(&Setup, &Values, live::Purpose) -> Result<Blueprint, Failure>;

/// The systems that can be mounted again, because their state survives on flash.
const MOUNTABLE: &[(&str, Plan)] =
    &[("paged", live::paged), ("hybrid", live::hybrid), ("conventional", live::conventional)];

/// Systems for tests only.
const FOR_TESTS: &[Entry] = &[
    #[cfg(test)]
    broken::ENTRY,
];

/// Every entry: ours, and those from outside.
fn entries() -> impl Iterator<Item = &'static Entry> {
    SYSTEMS.iter().chain(FOR_TESTS).chain(own::entries())
}

/// A system that was named, with its parameters: `hybrid?filter=off`.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The name as typed.
    pub name: String,
    kind: Kind,
    slc: Slc,
}

/// Where a system is from.
#[derive(Clone, Debug)]
enum Kind {
    /// From the registry, with its parameters.
    Listed(&'static Entry, Values),
    /// From whoever runs it.
    Given(Arc<dyn Given>),
}

/// Whether a system has the device's SLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slc {
    /// As the device has it.
    OfDevice,
    /// It runs on the device without SLC.
    None,
}

impl Chosen {
    /// The system of that name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let entry = named(text).ok_or_else(|| {
            let base = spec::base(text);
            let names: Vec<&str> = entries().map(|entry| entry.name).collect();
            let meant = datasheet::meant(base, names.iter().copied());
            format!("no system is called `{base}`: {meant}give one of {}", names.join(", "))
        })?;
        let values = spec::parse(text, entry.parameters)?;
        // A wrong switch is reported before anything runs.
        for parameter in entry.parameters {
            if ["on", "off"].contains(&parameter.default) {
                values.is_on(parameter.name).map_err(|reason| format!("`{text}`: {reason}"))?;
            }
        }
        Ok(Self { name: text.into(), kind: Kind::Listed(entry, values), slc: Slc::OfDevice })
    }

    /// A system of the caller's, under a name that no other one has.
    pub fn given(name: &str, system: Arc<dyn Given>) -> Result<Self, String> {
        if named(name).is_some() || name.is_empty() {
            return Err(format!("there is a system called `{name}`: choose another name"));
        }
        Ok(Self { name: name.into(), kind: Kind::Given(system), slc: Slc::OfDevice })
    }

    /// Whether the SLC's size makes a difference to the system.
    pub fn uses_slc(&self) -> bool {
        match &self.kind {
            _ if self.slc == Slc::None => false,
            Kind::Listed(entry, _) => entry.uses_slc,
            Kind::Given(system) => system.uses_slc(),
        }
    }

    /// Its name without parameters.
    pub fn base(&self) -> &str {
        match &self.kind {
            Kind::Listed(entry, _) => entry.name,
            Kind::Given(_) => &self.name,
        }
    }

    /// The system in a form that can be mounted again, or why the device does not fit it.
    fn mountable(&self, setup: &Setup) -> Result<Blueprint, Failure> {
        let (Some(plan), Kind::Listed(_, values)) = (self.plan(), &self.kind) else {
            let names = MOUNTABLE.iter().map(|(name, _)| *name);
            let reason = format!(
                "`{}` keeps its tables in RAM alone: a loss of power is its end, and no file keeps it; \
                 take {}, or leave --image and --cut-every out",
                self.base(),
                show::listed(names, "or")
            );
            return Err(Failure::Arguments(reason));
        };
        plan(setup, values, live::Purpose::Mounts)
    }

    /// Whether the system can be mounted again after a power loss.
    pub fn is_mountable(&self) -> bool {
        self.plan().is_some()
    }

    fn plan(&self) -> Option<Plan> {
        let name = self.base();
        MOUNTABLE.iter().find(|(known, _)| *known == name).map(|(_, plan)| *plan)
    }

    /// Whether it is the system that others are compared with.
    pub fn is_baseline(&self) -> bool {
        self.base() == Several::ALL[1]
    }

    /// Why the device does not fit the system, if it does not. The system is built for that, and not used.
    pub fn unfit(&self, setup: &Setup) -> Result<Option<String>, Failure> {
        match self.begin(setup, &mut Tried) {
            Ok(()) => Ok(None),
            Err(Failure::Unfit(reason)) => Ok(Some(reason)),
            Err(failure) => Err(failure),
        }
    }

    /// Builds the system and runs the session on it, or says why the device does not fit it.
    fn begin(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        let without = match self.slc {
            Slc::OfDevice => None,
            Slc::None => Some(setup.without_slc()?),
        };
        let setup = without.as_ref().unwrap_or(setup);
        let ran = match &self.kind {
            Kind::Listed(entry, values) => (entry.run)(setup, values, session),
            Kind::Given(system) => system.run(setup, session),
        };
        ran.map_err(|failure| match failure {
            Failure::Violation(reason) => self.violation(&reason),
            other => other,
        })
    }

    /// What went wrong, with the system's name: of several, only one may have failed.
    pub(crate) fn violation(&self, reason: &str) -> Failure {
        let without = match self.slc {
            Slc::OfDevice => "",
            Slc::None => " without SLC",
        };
        Failure::Violation(format!("{}{without}: {reason}", self.name))
    }
}

/// A session that does nothing.
struct Tried;

impl Session for Tried {
    fn prepare(&mut self, _: &mut dyn System, _: SectorCount) -> Result<(), Failure> {
        Ok(())
    }

    fn replay(&mut self, _: &mut dyn System) -> Result<(), Failure> {
        Ok(())
    }
}

/// Systems of a comparison, named by one word: a system, or all.
#[derive(Clone, Debug)]
pub enum Several {
    /// One system.
    One(Chosen),
    /// Every system that fits the device.
    All(Vec<Chosen>),
}

/// The systems of a comparison that fit a device.
#[derive(Clone, Debug, Default)]
pub struct Fitting {
    /// Those.
    pub systems: Vec<Chosen>,
    /// What is said of each of the others: why it is left out, or runs without SLC, and with which sizes it fits.
    pub left_out: Vec<String>,
}

impl Several {
    /// The baseline is first, because ratios are to the first.
    const ALL: [&str; 2] = ["all", "conventional"];

    /// The default: the baseline, the paper's system, and the page store if it fits. Where the SLC is made of the MLC's
    /// own cells, block chains are no measure: there it is a page map, the cache as sold, and the page store.
    pub fn usual(setup: &Setup) -> Result<Vec<Self>, String> {
        let [_, baseline] = Self::ALL;
        if setup.is_pseudo_slc() {
            let [map, cache, paged] = ["page-mlc", "pslc", "paged"].map(Chosen::parse);
            return Ok(vec![Self::One(map?), Self::All(vec![cache?]), Self::All(vec![paged?])]);
        }
        let [baseline, hybrid, paged] = [baseline, "hybrid", "paged"].map(Chosen::parse);
        Ok(vec![Self::One(baseline?), Self::One(hybrid?), Self::All(vec![paged?])])
    }

    /// A system by its name, or every system there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let [all, baseline] = Self::ALL;
        if text != all {
            return Chosen::parse(text).map(Self::One);
        }
        let others = entries().map(|entry| entry.name);
        let others = others.filter(|name| *name != baseline && *name != "broken");
        [baseline]
            .into_iter()
            .chain(others)
            .map(Chosen::parse)
            .collect::<Result<_, _>>()
            .map(Self::All)
    }

    /// The systems to compare on that device. A named system must fit; of `all`, those that do not fit are left out,
    /// or run without SLC if they fit then, with a note why, which is returned, too.
    pub fn on(&self, setup: &Setup, observer: &dyn Observer) -> Result<Fitting, Failure> {
        let mut fitting = Fitting::default();
        let all = match self {
            Self::One(chosen) => {
                fitting.systems.push(chosen.clone());
                return Ok(fitting);
            }
            Self::All(all) => all,
        };
        for chosen in all {
            match chosen.unfit(setup)? {
                None => fitting.systems.push(chosen.clone()),
                Some(reason) => {
                    let without = chosen.fitting_without_slc(setup)?;
                    let how = if without.is_some() { "runs without SLC" } else { "is left out" };
                    let remedy = chosen.quick_remedy(setup);
                    let told = format!("{} {how}: {reason}{remedy}", chosen.name);
                    observer.note(&told);
                    fitting.left_out.push(told);
                    fitting.systems.extend(without);
                }
            }
        }
        Ok(fitting)
    }
}

/// The system that commands of one system take where none is named: the page store.
pub const USUAL: &str = "paged";

/// The names of all systems.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().map(|entry| entry.name)
}

/// The system of that name, with or without parameters.
fn named(system: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.name == spec::base(system))
}

/// What the system of that name is, in one line.
pub fn title(system: &str) -> Option<&'static str> {
    named(system).map(|entry| entry.title)
}

/// Whether acknowledged data survives a power loss on the system of that name.
pub fn survives_power_loss(system: &str) -> bool {
    named(system).is_some_and(|entry| entry.power == PowerLoss::Survived)
}

/// Whether the SLC's size makes a difference to the system of that name.
pub fn uses_slc(system: &str) -> bool {
    named(system).is_some_and(|entry| entry.uses_slc)
}

/// The parameters of a system.
pub fn parameters(system: &str) -> &'static [Parameter] {
    named(system).map_or(&[], |entry| entry.parameters)
}

/// All systems and their parameters: the name, whether it survives power cuts, and what it is.
pub fn list() -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for entry in entries() {
        rows.push([entry.name, entry.power.words(), entry.title].map(String::from));
        for parameter in entry.parameters {
            let shown = format!("  ?{}={}", parameter.name, parameter.default);
            rows.push([shown, String::new(), format!("  {}", parameter.title)]);
        }
    }
    rows
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
    fn a_system_that_cannot_be_mounted_says_which_can() {
        let device = crate::input::device::DeviceChoice {
            device: "tiny".into(),
            capacity: None,
            slc: None,
            parallel: false,
        };
        let setup = device.setup().unwrap();
        let refused = Chosen::parse("broken").unwrap().blueprint(&setup).map(drop).unwrap_err();
        assert!(refused.to_string().contains("take paged, hybrid or conventional"), "{refused}");
        Chosen::parse("hybrid").unwrap().blueprint(&setup).map(drop).unwrap();
    }

    #[test]
    fn all_systems_are_named_at_once_the_baseline_first() {
        let Several::All(all) = Several::parse("all").unwrap() else { panic!("all are several") };
        assert_eq!(all[0].name, "conventional");
        assert_eq!(all.len(), SYSTEMS.len(), "all but the one for tests");
        assert!(matches!(Several::parse("ko?threshold=3"), Ok(Several::One(_))));
        assert!(Several::parse("none-such").is_err());
    }

    #[test]
    fn of_all_systems_those_that_do_not_fit_are_left_out() {
        let on = |capacity| {
            let device = crate::input::device::DeviceChoice {
                device: "c3".into(),
                capacity: Some(capacity),
                slc: None,
                parallel: false,
            };
            let setup = device.setup().unwrap();
            let systems = Several::parse("all").unwrap().on(&setup, &()).unwrap();
            let Fitting { systems, left_out } = systems;
            assert_eq!(systems.len() + left_out.len(), SYSTEMS.len());
            systems.into_iter().map(|chosen| chosen.name).collect::<Vec<_>>()
        };
        let (small, large) = (on(64 << 20), on(1 << 30));
        assert!(large.contains(&"conventional".into()) && large.len() == SYSTEMS.len());
        assert!(!small.contains(&"conventional".into()) && small.contains(&"page-mlc".into()));
    }

    #[test]
    fn the_list_names_every_system_and_parameter() {
        let list = list().concat().join("\n");
        for entry in SYSTEMS {
            assert!(list.contains(entry.name) && list.contains(entry.title), "{list}");
            assert!(entry.parameters.iter().all(|parameter| list.contains(parameter.name)));
        }
    }
}
