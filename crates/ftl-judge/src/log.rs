//! What went over the bus in each call of the driver's functions.

use std::collections::VecDeque;

use ftl_spi_nand::wire::{self, Command};

use crate::sent::{Outcome, Sent};

/// Commands of a call that are kept, and calls that are: more than any examination needs between cause and breach.
const MOST: usize = 2048;

/// A function of the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Start,
    Read,
    Program,
    Erase,
    IsBad,
    MarkBad,
}

/// A call of a function, and the commands that it took.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) asked: Asked,
    /// The page, or a block's first one.
    pub(crate) row: u32,
    pub(crate) sent: Vec<Sent>,
}

impl Call {
    const fn new(asked: Asked, row: u32) -> Self {
        Self { asked, row, sent: Vec::new() }
    }

    const fn changes(&self) -> bool {
        matches!(self.asked, Asked::Program | Asked::Erase | Asked::MarkBad)
    }

    /// The last time that command was sent.
    pub(crate) fn last(&self, command: Command) -> Option<&Sent> {
        self.sent.iter().rev().find(|sent| sent.is(command))
    }

    /// The last look at the status register after that command.
    pub(crate) fn status_after(&self, command: Command) -> Option<&Sent> {
        let at = self.sent.iter().rposition(|sent| sent.is(command))?;
        self.sent[at..].iter().rfind(|sent| sent.is_look())
    }

    pub(crate) fn with_outcome(&self, wanted: impl Fn(Outcome) -> bool) -> Option<&Sent> {
        self.sent.iter().find(|sent| wanted(sent.outcome))
    }
}

/// The calls.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) current: Call,
    /// Programs, erases and marks, the newest last.
    pub(crate) changes: VecDeque<Call>,
    /// How the configuration register was set last since power came on.
    pub(crate) configured: Option<Sent>,
    /// The command that filled the cache register with what the cells hold, and the last look at the status since:
    /// a driver may leave a page there for later calls.
    pub(crate) loaded: Option<Sent>,
    pub(crate) looked: Option<Sent>,
}

impl Log {
    pub(crate) const fn new() -> Self {
        let current = Call::new(Asked::Start, 0);
        let changes = VecDeque::new();
        Self { current, changes, configured: None, loaded: None, looked: None }
    }

    /// A function of the driver's is called.
    pub(crate) fn begin(&mut self, asked: Asked, row: u32) {
        let before = std::mem::replace(&mut self.current, Call::new(asked, row));
        if before.changes() {
            if self.changes.len() == MOST {
                self.changes.pop_front();
            }
            self.changes.push_back(before);
        }
    }

    pub(crate) fn note(&mut self, sent: Sent) {
        match sent.command() {
            Some(Command::SetFeature) if sent.head[0] == wire::CONFIGURATION => {
                self.configured = Some(sent);
            }
            Some(Command::PageRead) => (self.loaded, self.looked) = (Some(sent), None),
            Some(Command::ProgramLoad | Command::BlockErase | Command::Reset) => self.loaded = None,
            Some(_) if sent.is_look() => self.looked = Some(sent),
            _ => {}
        }
        if let Some(last) = self.current.sent.last_mut()
            && *last == (Sent { times: last.times, ..sent })
        {
            last.times += 1;
            return;
        }
        if self.current.sent.len() == MOST {
            self.current.sent.drain(..MOST / 2);
        }
        self.current.sent.push(sent);
    }

    /// Power is switched: nothing of the chip's registers is left.
    pub(crate) const fn forget_registers(&mut self) {
        (self.configured, self.loaded, self.looked) = (None, None, None);
    }

    /// Whether the driver has switched the chip's correction off.
    pub(crate) fn correction_is_off(&self) -> bool {
        self.configured.is_some_and(|sent| sent.head[1] & wire::ECC_ENABLE == 0)
    }
}
