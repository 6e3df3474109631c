//! Commands, registers and bits, as they go over the wire: the set that SPI NAND chips of all makers share (Winbond
//! W25N01GV datasheet, "Instruction Set Table 1"; `GigaDevice` GD5F1GQ4UAYIG datasheet, "Commands Description").

/// A command, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Command {
    /// Loads a page's data into the cache, which is filled with 0xFF before: column, bytes.
    ProgramLoad = 0x02,
    /// Reads the cache: column, a dummy byte, bytes.
    ReadCache = 0x03,
    /// Forbids the next program or erase.
    WriteDisable = 0x04,
    /// Allows the next program or erase.
    WriteEnable = 0x06,
    /// Reads a register: its address, its value.
    GetFeature = 0x0F,
    /// From the cache to the cells: page.
    ProgramExecute = 0x10,
    /// From the cells to the cache: page.
    PageRead = 0x13,
    /// Writes a register: its address, its value.
    SetFeature = 0x1F,
    /// Reads maker and device: a dummy byte, the numbers.
    ReadId = 0x9F,
    /// Erases a block: one of its pages.
    BlockErase = 0xD8,
    /// Starts again.
    Reset = 0xFF,
}

impl Command {
    /// Every command.
    pub const ALL: [Self; 11] = [
        Self::ProgramLoad,
        Self::ReadCache,
        Self::WriteDisable,
        Self::WriteEnable,
        Self::GetFeature,
        Self::ProgramExecute,
        Self::PageRead,
        Self::SetFeature,
        Self::ReadId,
        Self::BlockErase,
        Self::Reset,
    ];

    /// The byte on the wire.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Register: block protection. Zero protects nothing.
pub const PROTECTION: u8 = 0xA0;
/// Register: configuration.
pub const CONFIGURATION: u8 = 0xB0;
/// Register: status.
pub const STATUS: u8 = 0xC0;

/// Configuration: the chip's own error correction is on.
pub const ECC_ENABLE: u8 = 1 << 4;
/// Configuration: reads and programs go to the pages beside the array, where the parameter page lies.
pub const OTP_ENABLE: u8 = 1 << 6;

/// Status: a command is under way.
pub const BUSY: u8 = 1 << 0;
/// Status: a program or erase is allowed.
pub const WRITE_ENABLED: u8 = 1 << 1;
/// Status: the last erase failed.
pub const ERASE_FAILED: u8 = 1 << 2;
/// Status: the last program failed.
pub const PROGRAM_FAILED: u8 = 1 << 3;

/// A command with a page's number, as it goes over the wire.
pub const fn with_row(command: Command, row: u32) -> [u8; 4] {
    let [_, high, middle, low] = row.to_be_bytes();
    [command.code(), high, middle, low]
}

/// The head of a read of the cache: command, column, dummy byte.
pub const fn read_cache(column: u16) -> [u8; 4] {
    let [high, low] = column.to_be_bytes();
    [Command::ReadCache.code(), high, low, 0]
}

/// The head of a load of the cache: command, column.
pub const fn program_load(column: u16) -> [u8; 3] {
    let [high, low] = column.to_be_bytes();
    [Command::ProgramLoad.code(), high, low]
}
