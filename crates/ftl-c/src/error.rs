//! Errors as numbers, each with a text and with what to do.

use core::ffi::{CStr, c_char};

/// No error.
pub const OK: i32 = 0;

/// What `tandem_examine` returns if the driver broke a clause.
pub const EXAMINED_BREACH: i32 = 1;

/// What `tandem_examine` returns if a block failed, as blocks may: lend another one instead, and start again.
pub const EXAMINED_BLOCK_FAILED: i32 = 2;

/// What a function returns instead of `TANDEM_OK`. `tandem_error_text` and `tandem_error_advice` put it into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Error {
    /// A pointer is null that must not be.
    Null = -1,
    /// A pointer is not aligned: the RAM to `TANDEM_RAM_ALIGN`, everything else as C aligns it.
    Misaligned = -2,
    /// The RAM is too small. `detail.number` is what is needed.
    RamTooSmall = -3,
    /// The pointer leads to no mounted device: it was closed, its RAM was overwritten, or it is of the other FTL.
    NotADevice = -4,
    /// The call came from inside a function of the driver, or from a second thread.
    Busy = -5,
    /// The request goes past the end of the device. Nothing was done. `detail.number` is the capacity.
    OutOfRange = -6,
    /// A buffer, or what is to be filled in, overlaps the device's RAM, or the driver's buffer. Nothing was done.
    Overlap = -7,
    /// The content of a sector is lost: `detail.number` says of which. The others may be read one by one.
    Lost = -8,
    /// More blocks have failed than the reserve had. Everything can still be read.
    ReadOnly = -9,
    /// The data on flash contradicts itself.
    Corrupt = -10,
    /// The driver failed, now or in an earlier call. `detail.driver` is what its function returned, 0 if earlier.
    Driver = -11,
    /// Nothing is on the device that this FTL could mount.
    NotFormatted = -12,
    /// The device was formatted by the other FTL.
    OtherFtl = -13,
    /// The device has a later format than 1. `detail.number` is the version in its header.
    OtherVersion = -14,
    /// Both headers are damaged, or cannot be read.
    DamagedHeader = -15,
    /// The device was formatted with another geometry or configuration: `detail.what` names the setting, and
    /// `detail.number` is its value in the format.
    OtherConfig = -16,
    /// A block has failed that the FTL cannot do without.
    WornOut = -17,
    /// Too many blocks are bad for the capacity. `detail.number` is how many good ones are needed.
    TooFewBlocks = -18,
    /// No chip has that geometry: `detail.what` names the figure.
    Geometry = -19,
    /// The configuration has a value that means nothing: `detail.what` names the field.
    Config = -20,
    /// The configuration does not fit the chip: `detail.what` says why.
    Misfit = -21,
    /// An argument has a value that means nothing.
    Value = -22,
    /// The device was formatted by a version before format 1. `detail.number` is the version of its format.
    EarlierVersion = -23,
    /// The device needs features that this version does not have. `detail.number` has a bit for each.
    Features = -24,
}

impl Error {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 24] = [
        Self::Null,
        Self::Misaligned,
        Self::RamTooSmall,
        Self::NotADevice,
        Self::Busy,
        Self::OutOfRange,
        Self::Overlap,
        Self::Lost,
        Self::ReadOnly,
        Self::Corrupt,
        Self::Driver,
        Self::NotFormatted,
        Self::OtherFtl,
        Self::OtherVersion,
        Self::DamagedHeader,
        Self::OtherConfig,
        Self::WornOut,
        Self::TooFewBlocks,
        Self::Geometry,
        Self::Config,
        Self::Misfit,
        Self::Value,
        Self::EarlierVersion,
        Self::Features,
    ];

    /// The number as C knows it.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The error with that number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.number() == number)
    }

    /// What is wrong, and what to do.
    const fn words(self) -> (&'static CStr, &'static CStr) {
        match self {
            Self::Null => (c"a pointer is null", c"pass the address of what the header names"),
            Self::Misaligned => (
                c"a pointer is not aligned",
                c"declare the RAM with TANDEM_ALIGNED, and pass structures as C lays them out",
            ),
            Self::RamTooSmall => (
                c"the RAM is too small",
                c"give as many bytes as detail.number says, or choose fewer dirty entries or cached pages",
            ),
            Self::NotADevice => (
                c"the pointer leads to no mounted device",
                c"mount first, use the pointer until tandem_close, and leave its RAM alone meanwhile",
            ),
            Self::Busy => (
                c"another call on this device has not returned",
                c"lock around every call, and call nothing of this device from inside its driver",
            ),
            Self::OutOfRange => {
                (c"the request goes past the end of the device", c"stay within tandem_capacity")
            }
            Self::Overlap => (
                c"two buffers overlap",
                c"keep data and structures apart from the device's RAM and from the driver's buffer",
            ),
            Self::Lost => (
                c"the content of a sector is lost",
                c"read the other sectors one by one; write this one again",
            ),
            Self::ReadOnly => {
                (c"the reserve of blocks is used up", c"copy the data to another chip: all of it can be read")
            }
            Self::Corrupt => (
                c"the data on flash contradicts itself",
                c"mount again; if that fails, format, and look for a driver that breaks the contract",
            ),
            Self::Driver => (
                c"the driver failed",
                c"look at detail.driver; close the device, if it was mounted, and mount it again",
            ),
            _ => self.words_of_a_start(),
        }
    }

    /// The same for what only a format or a mount says.
    const fn words_of_a_start(self) -> (&'static CStr, &'static CStr) {
        match self {
            Self::NotFormatted => {
                (c"the device is not formatted", c"format it, if nothing of value is on it")
            }
            Self::OtherFtl => {
                (c"the device was formatted by the other FTL", c"mount it with that one, or format it")
            }
            Self::OtherVersion => (
                c"the device has a later format than 1",
                c"mount it with a newer version",
            ),
            Self::EarlierVersion => (
                c"the device was formatted by a version before format 1",
                c"read its data with that version, or format the device",
            ),
            Self::Features => (
                c"the device needs features that this version does not have",
                c"mount it with a newer version: detail.number has a bit for each",
            ),
            Self::DamagedHeader => {
                (c"both headers of the device are damaged or unreadable",
                 c"make sure that the driver corrects errors; if it does, format: the data cannot be found")
            }
            Self::OtherConfig => (
                c"the device was formatted with another setting",
                c"mount it as it was formatted: detail.what names the setting",
            ),
            Self::WornOut => (
                c"a block failed that the device cannot do without",
                c"replace the chip: it is worn out",
            ),
            Self::TooFewBlocks => {
                (c"too few blocks are good", c"format with a smaller capacity, or replace the chip")
            }
            Self::Geometry => (c"no chip has that geometry", c"correct the figure in detail.what"),
            Self::Config => (
                c"a field of the configuration means nothing",
                c"start from a profile, or from tandem_config_small, and correct the field in detail.what",
            ),
            Self::Misfit => (
                c"the configuration does not fit the chip",
                c"change what detail.what says",
            ),
            _ => (
                c"an argument means nothing",
                c"pass a value that the header lists; a size of at least detail.number, if that is not zero",
            ),
        }
    }

    /// What is wrong.
    pub const fn text(self) -> &'static CStr {
        self.words().0
    }

    /// What to do.
    pub const fn advice(self) -> &'static CStr {
        self.words().1
    }
}

/// Says in English what is wrong, for any number that a function returned.
#[unsafe(no_mangle)]
pub extern "C" fn tandem_error_text(error: i32) -> *const c_char {
    match Error::of(error) {
        Some(error) => error.text().as_ptr(),
        None if error == EXAMINED_BREACH => c"the driver breaks its contract".as_ptr(),
        None if error == EXAMINED_BLOCK_FAILED => c"a block failed that was lent".as_ptr(),
        None if error >= 0 => c"no error".as_ptr(),
        None => c"no error has that number".as_ptr(),
    }
}

/// Says what to do.
#[unsafe(no_mangle)]
pub extern "C" fn tandem_error_advice(error: i32) -> *const c_char {
    match Error::of(error) {
        Some(error) => error.advice().as_ptr(),
        None if error == EXAMINED_BREACH => {
            c"mend what shown.sentence says, at shown.block and shown.page".as_ptr()
        }
        None if error == EXAMINED_BLOCK_FAILED => c"lend another one, and start again".as_ptr(),
        None => c"".as_ptr(),
    }
}
