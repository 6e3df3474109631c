//! Calls on a device from inside its own driver: each is turned away, and changes nothing.

use std::ffi::c_void;
use std::ptr;

use ftl_c::*;

use crate::face::Face;

/// While the device is at work.
pub(crate) fn of_a_request<F: Face>(device: *mut c_void) {
    refused::<F>(device.cast(), Error::Busy);
}

/// While a format or a mount is at work on the RAM: there is no device yet.
pub(crate) fn of_a_start<F: Face>(device: *mut c_void) {
    refused::<F>(device.cast(), Error::NotADevice);
}

/// Every function that takes a device says so of this pointer.
pub(crate) fn refused<F: Face>(device: *mut F::Device, error: Error) {
    let mut data = [0x77_u8; 512];
    let at = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: the pointer is one that can be told from a device; the data are ours.
    let outcomes = unsafe {
        [
            (F::READ)(device, 0, 1, at),
            (F::WRITE)(device, 0, 1, at),
            (F::WRITE_HINTED)(device, 0, 1, at, 1),
            (F::TRIM)(device, 0, 1),
            (F::FLUSH)(device),
            (F::MAINTAIN)(device, 1),
            (F::SCRUB)(device),
            (F::SETTLE)(device),
            (F::STOP)(device),
            (F::HEALTH)(device, ptr::null_mut()),
            (F::DETAIL)(device, ptr::null_mut()),
            (F::CLOSE)(device),
        ]
    };
    assert_eq!(outcomes, [error.number(); 12]);
    // SAFETY: as before.
    let shape = unsafe { ((F::CAPACITY)(device), (F::SECTOR_BYTES)(device)) };
    assert_eq!((shape, data), ((0, 0), [0x77; 512]));
}
