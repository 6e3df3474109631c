//! How long each command took.

use core::time::Duration;

use crate::wire::Command;

/// What a command took, all times it was sent together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTime {
    /// How often it was sent.
    pub count: u64,
    /// Bytes on the bus.
    pub bytes: u64,
    /// Time on the bus, in picoseconds.
    bus_picos: u64,
    /// Time that the chip was busy with it.
    pub busy: Duration,
}

impl CommandTime {
    /// Time on the bus.
    pub const fn bus(&self) -> Duration {
        Duration::from_nanos(self.bus_picos / 1_000)
    }
}

/// The time of every command. While the chip is busy, looks at its status keep the bus busy too: they count for
/// [`Command::GetFeature`], and the two times overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    commands: [CommandTime; Command::ALL.len()],
}

impl Tally {
    /// What that command took.
    pub fn of(&self, command: Command) -> CommandTime {
        Self::place(command).and_then(|at| self.commands.get(at)).copied().unwrap_or_default()
    }

    fn place(command: Command) -> Option<usize> {
        Command::ALL.iter().position(|known| *known == command)
    }

    fn entry(&mut self, command: Command) -> Option<&mut CommandTime> {
        Self::place(command).and_then(|at| self.commands.get_mut(at))
    }

    pub(super) fn sent(&mut self, command: Command, bytes: u64, picos: u64) {
        if let Some(entry) = self.entry(command) {
            entry.count += 1;
            entry.bytes += bytes;
            entry.bus_picos += picos;
        }
    }

    pub(super) fn busy(&mut self, command: Command, time: Duration) {
        if let Some(entry) = self.entry(command) {
            entry.busy += time;
        }
    }
}
