//! Systems as they are run, and what is said where one does not fit a device: the names of both, the reason, and a size
//! that fits.

use ftl_iface::RegionGeometry;

use super::live::{Blueprint, Purpose};
use super::system::Session;
use super::{Chosen, Kind};
use crate::base::{Failure, show};
use crate::input::device::Setup;

/// Powers of two of bytes that are tried: from 256 KiB to 8 TiB.
const TRIED: std::ops::Range<u32> = 18..44;

/// The SLC that is tried together with a capacity: one part in so many.
const SLC_SHARE: u64 = 64;

/// Systems whose tables must be filled to find out whether they fit are tried on devices of at most so many bytes.
const QUICKLY_FILLED: u64 = 32 << 30;

impl Chosen {
    /// Builds the system and runs the session on it.
    pub fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        self.begin(setup, session).map_err(|failure| self.told(failure, setup, Purpose::Replay))
    }

    /// The system in a form that can be mounted again.
    pub fn blueprint(&self, setup: &Setup) -> Result<Blueprint, Failure> {
        self.mountable(setup).map_err(|failure| self.told(failure, setup, Purpose::Mounts))
    }

    /// Whether it fits the device in that form. Unlike [`blueprint`](Self::blueprint), it looks for no size that does.
    pub fn fits_for_mounts(&self, setup: &Setup) -> bool {
        self.mountable(setup).is_ok()
    }

    /// The failure with all of that, if it is one of a system that does not fit.
    fn told(&self, failure: Failure, setup: &Setup, purpose: Purpose) -> Failure {
        let Failure::Unfit(reason) = failure else { return failure };
        let remedy = fits(self.remedy(setup, purpose, |capacity| Some(capacity / SLC_SHARE)));
        let (name, device) = (&self.name, &setup.part.name);
        Failure::Unfit(format!("`{name}` does not fit {device}: {reason}{remedy}"))
    }

    /// The end of a sentence on why it does not fit, with a flag that helps, if that is found out at once: nothing is
    /// filled for it.
    pub(super) fn quick_remedy(&self, setup: &Setup) -> String {
        fits(self.plan().and_then(|_| self.remedy(setup, Purpose::Replay, |_| None)))
    }

    /// The flags that make it fit: another size of the SLC, else another capacity, perhaps with the SLC of `slc_of`.
    fn remedy(
        &self,
        setup: &Setup,
        purpose: Purpose,
        slc_of: impl Fn(u64) -> Option<u64>,
    ) -> Option<String> {
        let log = setup.log_bytes.filter(|_| !setup.has_slc_to_spare());
        let slc = setup.part.geometry.slc().filter(|_| setup.has_slc_to_spare());
        let near = slc.map(RegionGeometry::capacity_bytes).or(log);
        let fits =
            |made: Result<Setup, Failure>| made.is_ok_and(|setup| self.fits(&setup, purpose));
        let slc = near.and_then(|near| {
            let size = sizes(near).find(|bytes| fits(setup.clone().with_slc(*bytes)))?;
            Some(format!("--slc {}", show::size(size)))
        });
        slc.or_else(|| {
            sizes(setup.part.exported_bytes).find_map(|bytes| {
                let capacity = format!("--capacity {}", show::size(bytes));
                let smaller = setup.clone().with_capacity(bytes).ok()?;
                if self.fits(&smaller, purpose) {
                    return Some(capacity);
                }
                // A larger SLC may be what it lacks. All sizes of both would be many to try.
                near.filter(|_| self.plan().is_some())?;
                let slc = slc_of(bytes)?;
                let both = format!("{capacity} --slc {}", show::size(slc));
                fits(smaller.with_slc(slc)).then_some(both)
            })
        })
    }

    fn fits(&self, setup: &Setup, purpose: Purpose) -> bool {
        // To start a system that was given is up to whoever made it.
        let Kind::Listed(_, values) = &self.kind else { return false };
        if let Some(plan) = self.plan() {
            return plan(setup, values, purpose).is_ok();
        }
        let slc = setup.part.geometry.slc().map_or(0, RegionGeometry::capacity_bytes);
        setup.part.exported_bytes.max(slc) <= QUICKLY_FILLED
            && matches!(self.unfit(setup), Ok(None))
    }
}

/// The end of a sentence, with a flag that helps, if there is one.
fn fits(flag: Option<String>) -> String {
    flag.map_or(String::new(), |flag| format!("; {flag} fits"))
}

/// Sizes, from the nearest to that one to the farthest.
fn sizes(near: u64) -> impl Iterator<Item = u64> {
    let mut powers: Vec<u32> = TRIED.collect();
    powers.sort_by_key(|power| power.abs_diff(near.max(1).ilog2()));
    powers.into_iter().map(|power| 1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::device::DeviceChoice;

    /// What is said of a system on C3 at those sizes.
    fn said(system: &str, capacity: Option<u64>, slc: Option<u64>) -> String {
        let device = DeviceChoice { device: "c3".into(), capacity, slc, parallel: false };
        let chosen = Chosen::parse(system).unwrap();
        chosen.run(&device.setup().unwrap(), &mut super::super::Tried).unwrap_err().to_string()
    }

    #[test]
    fn what_does_not_fit_is_named_with_a_size_that_does() {
        for (system, capacity, slc, fitting) in [
            ("paged", None, Some(1 << 20), "--slc 64MiB"),
            ("paged", Some(1 << 20), None, "--capacity 64MiB"),
            ("hybrid", None, Some(1 << 20), "--slc 2MiB"),
            ("conventional", Some(1 << 20), None, "--capacity 128MiB"),
            ("page-mlc", Some(1 << 20), None, "--capacity 64MiB"),
            // More sectors than can be numbered; what is left needs a larger fast area, too.
            ("paged", Some(15 << 40), None, "--capacity 1TiB --slc 16GiB"),
        ] {
            let said = said(system, capacity, slc);
            assert!(said.starts_with(&format!("`{system}` does not fit c3: ")), "{said}");
            assert!(said.ends_with(&format!("; {fitting} fits")), "{said}");
            // What is proposed does fit, on the device as it is.
            let flag = |name: &str| {
                let mut words = fitting.split(' ').skip_while(|word| *word != name);
                words.nth(1).map(|size| crate::input::size::parse(size).unwrap())
            };
            let (capacity, slc) = (flag("--capacity").or(capacity), flag("--slc").or(slc));
            let device = DeviceChoice { device: "c3".into(), capacity, slc, parallel: false };
            let chosen = Chosen::parse(system).unwrap();
            chosen.run(&device.setup().unwrap(), &mut super::super::Tried).unwrap();
        }
    }

    /// A replay accepts that paired pages are lost, so it needs no room to guard them.
    #[test]
    fn what_is_proposed_is_the_nearest_that_fits_a_replay() {
        let on = |capacity| {
            let device = DeviceChoice {
                device: "tlc-pslc".into(),
                capacity: Some(capacity),
                slc: Some(0),
                parallel: false,
            };
            let chosen = Chosen::parse("paged").unwrap();
            chosen.run(&device.setup().unwrap(), &mut super::super::Tried)
        };
        let said = on(2 << 30).unwrap_err().to_string();
        assert!(said.ends_with("; --capacity 4GiB fits"), "{said}");
        on(4 << 30).unwrap();
    }

    #[test]
    fn where_no_size_helps_none_is_named() {
        let said = said("paged?entries=0", None, None);
        assert!(said.contains("does not fit c3: ") && !said.contains("--"), "{said}");
    }
}
