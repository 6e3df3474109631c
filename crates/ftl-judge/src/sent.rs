//! A command as it went over the bus, in words.

use std::fmt;

use ftl_spi_nand::model::Misuse;
use ftl_spi_nand::wire::{self, Command};

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The chip took it.
    Taken,
    /// The chip would have ignored or garbled it.
    Refused(Misuse),
    /// Power was off, or failed in it.
    NoPower,
}

/// A command as it went over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Its first byte.
    pub(crate) code: u8,
    /// The three after it, zeros where there were fewer.
    pub(crate) head: [u8; 3],
    /// Bytes of data to the chip or from it.
    pub(crate) data_bytes: usize,
    /// The last byte that the chip answered.
    pub(crate) answer: Option<u8>,
    pub(crate) outcome: Outcome,
    /// How often it was sent in a row with that answer.
    pub(crate) times: u32,
}

impl Sent {
    /// A command that would have been right, with a page's number.
    pub(crate) const fn with_row(command: Command, row: u32) -> Self {
        let [_, high, middle, low] = row.to_be_bytes();
        Self::plain(command, [high, middle, low])
    }

    /// A command that would have been right, with a register.
    pub(crate) const fn with_register(command: Command, register: u8) -> Self {
        Self::plain(command, [register, 0, 0])
    }

    const fn plain(command: Command, head: [u8; 3]) -> Self {
        let (code, outcome) = (command.code(), Outcome::Taken);
        Self { code, head, data_bytes: 0, answer: None, outcome, times: 1 }
    }

    pub(crate) fn command(&self) -> Option<Command> {
        Command::ALL.into_iter().find(|command| command.code() == self.code)
    }

    pub(crate) fn is(&self, command: Command) -> bool {
        self.code == command.code()
    }

    /// Whether it looks at the status register.
    pub(crate) fn is_look(&self) -> bool {
        self.is(Command::GetFeature) && self.head[0] == wire::STATUS
    }

    /// The page's number, for a command that has one.
    pub(crate) const fn row(&self) -> u32 {
        let [high, middle, low] = self.head;
        u32::from_be_bytes([0, high, middle, low])
    }

    /// The row, the column or the register, by what the command has.
    pub(crate) fn argument(&self) -> u32 {
        match self.command() {
            Some(Command::PageRead | Command::ProgramExecute | Command::BlockErase) => self.row(),
            Some(Command::ReadCache | Command::ProgramLoad) => self.column().into(),
            Some(Command::GetFeature | Command::SetFeature) => self.head[0].into(),
            _ => 0,
        }
    }

    const fn column(&self) -> u16 {
        u16::from_be_bytes([self.head[0], self.head[1]])
    }
}

const fn name(command: Command) -> &'static str {
    match command {
        Command::ProgramLoad => "PROGRAM LOAD",
        Command::ReadCache => "READ CACHE",
        Command::WriteDisable => "WRITE DISABLE",
        Command::WriteEnable => "WRITE ENABLE",
        Command::GetFeature => "GET FEATURE",
        Command::ProgramExecute => "PROGRAM EXECUTE",
        Command::PageRead => "PAGE READ",
        Command::SetFeature => "SET FEATURE",
        Command::ReadId => "READ ID",
        Command::BlockErase => "BLOCK ERASE",
        Command::Reset => "RESET",
    }
}

/// Why a chip does not do what it was sent.
const fn refusal(misuse: Misuse) -> &'static str {
    match misuse {
        Misuse::UnknownCommand(_) => "no such command on one line",
        Misuse::Busy(_) => "the chip was busy",
        Misuse::Length(_) => "too few or too many bytes",
        Misuse::NotEnabled(_) => "no WRITE ENABLE before it",
        Misuse::NoSuchRow(_) => "the chip has no such page",
        Misuse::Column(_) => "the column is of another plane, or beyond the page",
        Misuse::LoadedBeyondThePage => "bytes beyond the page",
        Misuse::ForeignSpareBytes => "spare bytes that are not free and corrected",
        Misuse::ProgramWithoutCorrection => "more than a mark, while correction was off",
        Misuse::ContinuousRead => "continuous reads were on",
        Misuse::OtpIsReadOnly => "the pages beside the array were selected",
        _ => "misuse",
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(command) = self.command() else { return write!(f, "command {:02X}h", self.code) };
        write!(f, "{} ({:02X}h)", name(command), self.code)?;
        match command {
            Command::PageRead | Command::ProgramExecute | Command::BlockErase => {
                write!(f, " of row {}", self.row())?;
            }
            Command::ReadCache | Command::ProgramLoad => {
                write!(f, " from column {}, {} bytes", self.column(), self.data_bytes)?;
            }
            Command::GetFeature => write!(f, " of register {:02X}h", self.head[0])?,
            Command::SetFeature => {
                write!(f, " of register {:02X}h to {:02X}h", self.head[0], self.head[1])?;
            }
            _ => {}
        }
        if let (Command::GetFeature, Some(answer)) = (command, self.answer) {
            write!(f, ", answered {answer:02X}h")?;
        }
        if self.times > 1 {
            write!(f, ", {} times", self.times)?;
        }
        match self.outcome {
            Outcome::Taken => Ok(()),
            Outcome::Refused(misuse) => write!(f, ", refused: {}", refusal(misuse)),
            Outcome::NoPower => f.write_str(", without power"),
        }
    }
}
