//! Which command on the bus was at fault.

use std::fmt;

use ftl_spi_nand::part::{EccStatus, Part};
use ftl_spi_nand::wire::{self, Command};

use crate::log::{Asked, Call, Log};
use crate::sent::Sent;

/// A command at fault: because of what it was, of what the driver made of its answer, or because it was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blame {
    pub(crate) sent: Sent,
    pub(crate) missing: bool,
}

impl Blame {
    pub(crate) const fn sent(sent: Sent) -> Self {
        Self { sent, missing: false }
    }

    const fn missing(sent: Sent) -> Self {
        Self { sent, missing: true }
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sent.fmt(f)?;
        if self.missing { f.write_str(", which was not sent") } else { Ok(()) }
    }
}

/// The command that a call was to end with, whose answer it was to heed.
const fn status() -> Sent {
    Sent::with_register(Command::GetFeature, wire::STATUS)
}

/// The look at the status after that command, or that there was none.
pub(crate) fn look_after(call: &Call, command: Command) -> Blame {
    match call.status_after(command) {
        Some(sent) => Blame::sent(*sent),
        None => Blame::missing(status()),
    }
}

/// Whether a status says that the page cannot be corrected.
fn is_uncorrectable(part: &Part, status: u8) -> bool {
    part.ecc.verdict(status) == Some(EccStatus::Uncorrectable)
}

impl Log {
    /// What switched the chip's correction off, if something did.
    pub(crate) fn blame_configuration(&self) -> Option<Blame> {
        self.configured.filter(|_| self.correction_is_off()).map(Blame::sent)
    }

    /// The last command of the call, or the one that it should have begun with.
    pub(crate) fn blame_last(&self) -> Blame {
        let row = self.current.row;
        let first = match self.current.asked {
            Asked::Start => Sent::with_register(Command::Reset, 0),
            Asked::Read | Asked::IsBad => Sent::with_row(Command::PageRead, row),
            Asked::Program | Asked::MarkBad => Sent::with_row(Command::ProgramExecute, row),
            Asked::Erase => Sent::with_row(Command::BlockErase, row),
        };
        self.current.sent.last().map_or(Blame::missing(first), |sent| Blame::sent(*sent))
    }

    /// Whether the cache register holds the page, as the cells have it: the fault if not.
    fn blame_load(&self) -> Option<Blame> {
        let row = self.current.row;
        match self.loaded {
            None => Some(Blame::missing(Sent::with_row(Command::PageRead, row))),
            Some(sent) if sent.row() != row => Some(Blame::sent(sent)),
            Some(_) => None,
        }
    }

    /// A read that brought something else than the cells hold.
    pub(crate) fn blame_read(&self, part: &Part) -> Blame {
        if let Some(blame) = self.blame_load().or_else(|| self.blame_configuration()) {
            return blame;
        }
        if let Some(sent) =
            self.looked.filter(|sent| is_uncorrectable(part, sent.answer.unwrap_or(0)))
        {
            return Blame::sent(sent);
        }
        let cache = self.current.last(Command::ReadCache).copied();
        cache.map_or(Blame::missing(Sent::with_register(Command::ReadCache, 0)), Blame::sent)
    }

    /// A read that was to be told otherwise: uncorrectable or not, with so many corrected bits.
    pub(crate) fn blame_status(&self) -> Blame {
        let wrong = self.blame_load().or_else(|| self.blame_configuration());
        let look = || self.looked.map_or(Blame::missing(status()), Blame::sent);
        wrong.unwrap_or_else(look)
    }

    /// A page that is well and was told as uncorrectable: which answer made the driver think so.
    pub(crate) fn blame_loss(&self, part: &Part) -> Blame {
        let says_so =
            |sent: &&Sent| sent.is_look() && is_uncorrectable(part, sent.answer.unwrap_or(0));
        let look = self.current.sent.iter().find(says_so);
        look.map_or_else(|| self.blame_status(), |sent| Blame::sent(*sent))
    }

    /// A program, an erase or a mark whose outcome was to be told otherwise.
    pub(crate) fn blame_outcome(&self) -> Blame {
        let command = match self.current.asked {
            Asked::Erase => Command::BlockErase,
            _ => Command::ProgramExecute,
        };
        match self.current.last(command) {
            Some(sent) if sent.row() != self.current.row => Blame::sent(*sent),
            Some(_) => look_after(&self.current, command),
            None => Blame::missing(Sent::with_row(command, self.current.row)),
        }
    }

    /// Cells that hold something else than they were to: which program, erase or mark did it.
    pub(crate) fn blame_change(&self, row: u32, pages_per_block: u32) -> Blame {
        let block = row / pages_per_block;
        let hits = |sent: &&Sent| match sent.command() {
            Some(Command::ProgramExecute) => sent.row() == row,
            Some(Command::BlockErase) => sent.row() / pages_per_block == block,
            _ => false,
        };
        let aside = |call: &&Call| match call.asked {
            Asked::Erase => call.row / pages_per_block != block,
            _ => call.row != row,
        };
        let changes = || self.changes.iter().rev();
        if let Some(sent) = changes().filter(aside).find_map(|call| call.sent.iter().find(hits)) {
            return Blame::sent(*sent);
        }
        let own = |call: &&Call| !aside(call);
        changes().find(own).map_or_else(|| self.blame_last(), blame_own)
    }
}

/// What a call did wrong that was to change this place.
fn blame_own(call: &Call) -> Blame {
    let (command, before) = match call.asked {
        Asked::Erase => (Command::BlockErase, Command::WriteEnable),
        _ => (Command::ProgramExecute, Command::ProgramLoad),
    };
    match (call.last(command), call.last(before)) {
        (None, _) => Blame::missing(Sent::with_row(command, call.row)),
        (Some(sent), _) if sent.row() != call.row => Blame::sent(*sent),
        (Some(_), Some(sent)) => Blame::sent(*sent),
        (Some(_), None) => Blame::missing(Sent::with_register(before, 0)),
    }
}
