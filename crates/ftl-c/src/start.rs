//! Format and mount, and what can be known before.

use core::ffi::c_void;
use core::ptr;

use ftl_core::{FtlKind, Lent, NoProbe, Plan};

use crate::device::{ClearedRam, Device, Site, ram_bytes};
use crate::error::Error;
use crate::kinds::Face;
use crate::nand::{Chip, Geometry, Nand, Stretch};
use crate::told::{Detail, Fault, WorstCase};

/// What a format and a mount are given.
pub(crate) struct Given<K: Face> {
    pub(crate) ram: *mut c_void,
    pub(crate) ram_bytes: usize,
    pub(crate) nand: *const Nand,
    pub(crate) config: *const K::C,
}

/// What is to be done with the device.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// A format, with a new key.
    Format(u32),
    Mount,
}

/// Copies what a pointer of the caller's leads to.
pub(crate) unsafe fn copied<T: Copy>(from: *const T) -> Result<T, Fault> {
    if from.is_null() {
        return Err(Error::Null.into());
    }
    if !from.is_aligned() {
        return Err(Error::Misaligned.into());
    }
    // SAFETY: it is neither null nor misaligned, and the caller promises that it leads to such a structure. Each is of
    // numbers and pointers alone, so that no value of it is invalid.
    Ok(unsafe { ptr::read(from) })
}

/// Puts a result where the caller wants it.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Error> {
    if to.is_null() {
        return Err(Error::Null);
    }
    if !to.is_aligned() {
        return Err(Error::Misaligned);
    }
    // SAFETY: as in `copied`, for writing.
    unsafe { ptr::write(to, value) };
    Ok(())
}

impl Task {
    fn run<K: Face>(
        self,
        chip: Chip,
        config: &K::Config,
        ram: Lent<'static, K::Plan>,
        place: Site<K>,
    ) -> Result<(), Fault> {
        match self {
            Self::Format(key) => formatted::<K>(chip, config, ram, key, place),
            Self::Mount => mounted::<K>(chip, config, ram, place),
        }
    }
}

// An FTL has nearly two kilobytes. It goes from the function that made it to its place in the RAM, so that the stack
// has fewer copies of it; and each of the two is a function, so that it has not the room of both.

#[inline(never)]
fn formatted<K: Face>(
    chip: Chip,
    config: &K::Config,
    ram: Lent<'static, K::Plan>,
    key: u32,
    place: Site<K>,
) -> Result<(), Fault> {
    match K::format(chip, config, ram, key, NoProbe) {
        Ok(ftl) => {
            place.fill(ftl);
            Ok(())
        }
        Err(error) => Err(K::refused(&error)),
    }
}

#[inline(never)]
fn mounted<K: Face>(
    chip: Chip,
    config: &K::Config,
    ram: Lent<'static, K::Plan>,
    place: Site<K>,
) -> Result<(), Fault> {
    match K::mount(chip, config, ram, NoProbe) {
        Ok(ftl) => {
            place.fill(ftl);
            Ok(())
        }
        Err(error) => Err(K::refused(&error)),
    }
}

unsafe fn started<K: Face>(given: &Given<K>, task: Task) -> Result<*mut Device<K>, Fault> {
    // SAFETY: the caller's pointers, as the header describes them.
    let (nand, config) = unsafe { (copied(given.nand)?, copied(given.config)?) };
    let chip = Chip::new(&nand)?;
    let config = K::checked(&config)?;
    let plan = plan::<K>(&nand.geometry, &config)?;
    let buffer = Stretch {
        at: nand.buffer.cast(),
        bytes: if nand.buffer.is_null() { 0 } else { nand.buffer_bytes },
    };
    if buffer.meets(Stretch { at: given.ram.cast(), bytes: given.ram_bytes }) {
        return Err(Fault::saying(Error::Overlap, c"the RAM and the driver's buffer"));
    }
    // SAFETY: the caller's RAM, as the header describes it.
    let cleared = unsafe { ClearedRam::new::<K>(given.ram, given.ram_bytes, &plan)? };
    let ram = cleared.lend::<K>(&plan)?;
    task.run::<K>(chip, &config, ram, cleared.place())?;
    Ok(cleared.settle_in(buffer))
}

/// Formats or mounts.
pub(crate) unsafe fn start<K: Face>(
    given: Result<Given<K>, Fault>,
    task: Task,
    device: *mut *mut Device<K>,
    detail: *mut Detail,
) -> Result<(), Error> {
    let told = [Stretch::of(device), Stretch::of(detail)];
    if let Ok(Given { ram, ram_bytes, .. }) = given {
        let ram = Stretch { at: ram.cast(), bytes: ram_bytes };
        // An older device may be in there, and a new one is to be.
        if told.into_iter().any(|place| place.meets(ram)) {
            return Err(Error::Overlap);
        }
    }
    // SAFETY: where the caller wants the device, or null, which is an error.
    let outcome = unsafe { put(device, ptr::null_mut()) }
        .map_err(Fault::from)
        .and(given)
        // SAFETY: what the caller gave.
        .and_then(|given| unsafe { started(&given, task) })
        // SAFETY: as before.
        .and_then(|mounted| unsafe { put(device, mounted) }.map_err(Fault::from));
    // SAFETY: where the caller wants it, or null.
    unsafe { tell(outcome, detail) }
}

fn plan<K: Face>(geometry: &Geometry, config: &K::Config) -> Result<K::Plan, Fault> {
    K::plan(&geometry.checked()?, config).map_err(|misfit| K::misfit(&misfit))
}

/// A plan, from the caller's pointers.
unsafe fn planned<K: Face>(
    geometry: *const Geometry,
    config: *const K::C,
) -> Result<(K::Plan, K::Config), Fault> {
    // SAFETY: the caller's pointers, as the header describes them.
    let (geometry, config) = unsafe { (copied(geometry)?, copied(config)?) };
    let config = K::checked(&config)?;
    Ok((plan::<K>(&geometry, &config)?, config))
}

/// How much RAM a device needs.
pub(crate) unsafe fn needed<K: Face>(
    geometry: *const Geometry,
    config: *const K::C,
    bytes: *mut usize,
    detail: *mut Detail,
) -> Result<(), Error> {
    // SAFETY: the caller's pointers, as the header describes them.
    let outcome = unsafe { planned::<K>(geometry, config) }.and_then(|(plan, _)| {
        let needed = ram_bytes::<K>(plan.elements());
        // SAFETY: where the caller wants it.
        unsafe { put(bytes, needed) }.map_err(Fault::from)
    });
    // SAFETY: where the caller wants it, or null.
    unsafe { tell(outcome, detail) }
}

/// What requests of so many sectors cost at worst.
pub(crate) unsafe fn worst_case<K: Face>(
    geometry: *const Geometry,
    config: *const K::C,
    count: u32,
    worst: *mut WorstCase,
) -> Result<(), Error> {
    // SAFETY: the caller's pointers, as the header describes them.
    let (plan, config) = unsafe { planned::<K>(geometry, config) }.map_err(|fault| fault.error)?;
    if count == 0 {
        return Err(Error::Value);
    }
    let bound = <K as FtlKind>::worst_case(&plan, &config);
    // SAFETY: where the caller wants it.
    unsafe { put(worst, WorstCase::of(&bound, count)) }
}

unsafe fn tell(outcome: Result<(), Fault>, detail: *mut Detail) -> Result<(), Error> {
    let told = outcome.err().map_or(Detail::NONE, |fault| fault.detail);
    // SAFETY: where the caller wants it, or null.
    unsafe { told.give(detail) };
    outcome.map_err(|fault| fault.error)
}
