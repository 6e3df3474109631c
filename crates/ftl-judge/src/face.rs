//! The functions of `tandem_judge.h`.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::time::Duration;

use ftl_c::Error;

use crate::bus::Exchange;
use crate::figures::JudgeChip;
use crate::judge::Judge;
use crate::told::Breach;
use crate::watch::{JudgeDriver, WatchedDriver};

/// What `tandem_judge_driver` returns if the driver broke a clause.
pub const JUDGE_BREACH: i32 = 1;

/// One transfer on the bus, with the chip selected from its first byte to its last.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JudgeTransfer {
    /// What is sent first: the command, its address, dummy bytes.
    pub head: *const c_void,
    /// How many bytes: at least 1.
    pub head_bytes: usize,
    /// What is sent after it.
    pub out: *const c_void,
    /// How many bytes, 0 if none.
    pub out_bytes: usize,
    /// Where to put what the chip answers then.
    pub into: *mut c_void,
    /// How many bytes, 0 if none.
    pub into_bytes: usize,
}

unsafe fn bytes<'a>(at: *const c_void, count: usize) -> Option<&'a [u8]> {
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: the caller promises so many bytes.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at.cast(), count) })
}

unsafe fn bytes_mut<'a>(at: *mut c_void, count: usize) -> Option<&'a mut [u8]> {
    if count == 0 {
        return Some(&mut []);
    }
    // SAFETY: the caller promises so many bytes.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(at.cast(), count) })
}

/// Fills in the figures of a chip by its name: W25N01GV, W25N02KV, GD5F1GQ4UA, GD5F1GQ4UE, GD5F1GQ5UE or GD5F2GQ5UE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_chip(name: *const c_char, chip: *mut JudgeChip) -> i32 {
    if name.is_null() || chip.is_null() {
        return Error::Null.number();
    }
    // SAFETY: not null, and the caller promises a text.
    let name = unsafe { CStr::from_ptr(name) };
    match name.to_str().ok().and_then(JudgeChip::named) {
        Some(figures) => {
            // SAFETY: not null, and where the caller wants it.
            unsafe { chip.write(figures) };
            0
        }
        None => Error::Value.number(),
    }
}

/// Makes a chip, erased and just switched on, with a bus of its own. Null if the figures contradict each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_new(chip: *const JudgeChip) -> *mut Judge {
    // SAFETY: null, or the caller's structure.
    let made = unsafe { chip.as_ref() }.and_then(Judge::new);
    made.map_or(ptr::null_mut(), |judge| Box::into_raw(Box::new(judge)))
}

/// Ends it. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_free(judge: *mut Judge) {
    if !judge.is_null() {
        // SAFETY: it comes from `tandem_judge_new`, and the caller does not use it any more.
        drop(unsafe { Box::from_raw(judge) });
    }
}

/// Transfers bytes: what the driver's function for its SPI controller does on the board. Returns 0, or a number below 0
/// if the bus failed: `TANDEM_JUDGE_REFUSED`, `TANDEM_JUDGE_NO_POWER`. The driver must tell of that; what it receives
/// is zeros then. It may receive where it has sent from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_transfer(
    judge: *mut Judge,
    what: *const JudgeTransfer,
) -> i32 {
    // SAFETY: null, or what the caller promises.
    let (Some(judge), Some(what)) = (unsafe { judge.as_ref() }, unsafe { what.as_ref() }) else {
        return Error::Null.number();
    };
    // Copied, because drivers like to receive where they have sent from.
    // SAFETY: as the caller promises.
    let sent = unsafe { (bytes(what.head, what.head_bytes), bytes(what.out, what.out_bytes)) };
    let (Some(head), Some(out)) = sent else { return Error::Null.number() };
    let (head, out) = (head.to_vec(), out.to_vec());
    // SAFETY: as the caller promises; what was sent is no longer looked at there.
    let Some(into) = (unsafe { bytes_mut(what.into, what.into_bytes) }) else {
        return Error::Null.number();
    };
    if head.is_empty() {
        return Error::Value.number();
    }
    judge.bus().transfer(Exchange { head: &head, out: &out, into })
}

/// Lets time go by on the chip, for a driver that waits where others ask again and again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_wait(judge: *mut Judge, microseconds: u32) {
    // SAFETY: null, or a judge of the caller's.
    if let Some(judge) = unsafe { judge.as_ref() } {
        judge.bus().wait(Duration::from_micros(microseconds.into()));
    }
}

/// Lets power fail in the program, erase or mark after so many others, for tests of your own; what it leaves follows
/// from the seed. Returns 0, or an error for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_cut_after(
    judge: *mut Judge,
    operations: u32,
    seed: u32,
) -> i32 {
    // SAFETY: null, or a judge of the caller's.
    let Some(judge) = (unsafe { judge.as_ref() }) else { return Error::Null.number() };
    judge.bus().cells().cut_after(operations.into(), seed.into());
    0
}

/// Switches power off, if it has not failed yet, and on again. The chip is to be set up again. Returns 1 if it had
/// failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_power_again(judge: *mut Judge) -> i32 {
    // SAFETY: null, or a judge of the caller's.
    let Some(judge) = (unsafe { judge.as_ref() }) else { return Error::Null.number() };
    judge.bus().power_again().into()
}

/// Examines a driver on this chip, whose content is lost: every clause, with faults in the cells, bad blocks and power
/// cuts. Returns 0 if it keeps them, `TANDEM_JUDGE_BREACH` and the first breach if not, or a `TANDEM_E_…` for wrong
/// arguments. It takes some seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_judge_driver(
    judge: *mut Judge,
    driver: *const JudgeDriver,
    breach: *mut Breach,
) -> i32 {
    // SAFETY: null, or what the caller promises.
    let (Some(judge), Some(driver)) = (unsafe { judge.as_ref() }, unsafe { driver.as_ref() })
    else {
        return Error::Null.number();
    };
    if breach.is_null() {
        return Error::Null.number();
    }
    let Some(mut driver) = WatchedDriver::new(judge, driver) else { return Error::Null.number() };
    let kept = driver
        .power_again()
        .and_then(|()| driver.keep_the_contract())
        .and_then(|()| driver.tell_of_faults())
        .and_then(|()| driver.survive());
    match (kept, driver.finding) {
        (Ok(()), None) => 0,
        (_, Some(finding)) => {
            // SAFETY: not null, and where the caller wants it.
            unsafe { breach.write(finding.told()) };
            JUDGE_BREACH
        }
        // Power fails only where the examination lets it.
        (Err(_), None) => Error::Driver.number(),
    }
}
