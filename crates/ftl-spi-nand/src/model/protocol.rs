//! Transactions: a command's head, then its bytes, then what happens when the chip is no longer selected.

use embedded_hal::spi::{Operation, SpiDevice};
use ftl_iface::NandDevice;

use super::{BusError, Misuse, SpiNandModel};
use crate::wire::{self, Command};

/// The chip, selected: what came over the bus since.
#[derive(Clone, Copy, Debug, Default)]
struct Selected {
    command: Option<Command>,
    /// The bytes after the command: address, or column, or register and value.
    head: [u8; 3],
    /// Bytes so far, the command included.
    taken: usize,
}

/// Bytes of a command's head beside the command itself, and whether more may follow.
const fn head_of(command: Command) -> (usize, bool) {
    match command {
        Command::WriteDisable | Command::WriteEnable | Command::Reset => (0, false),
        Command::ReadId | Command::GetFeature => (1, true),
        Command::ProgramLoad => (2, true),
        Command::SetFeature => (2, false),
        Command::ReadCache => (3, true),
        Command::ProgramExecute | Command::PageRead | Command::BlockErase => (3, false),
    }
}

impl<N: NandDevice> SpiDevice for SpiNandModel<'_, N> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), BusError> {
        if !self.powered {
            return Err(BusError::PoweredOff);
        }
        let mut selected = Selected::default();
        for operation in operations {
            match operation {
                Operation::Write(bytes) => {
                    for byte in *bytes {
                        self.exchange(&mut selected, *byte)?;
                    }
                }
                Operation::Read(bytes) => {
                    for byte in &mut **bytes {
                        *byte = self.exchange(&mut selected, 0)?;
                    }
                }
                Operation::TransferInPlace(bytes) => {
                    for byte in &mut **bytes {
                        *byte = self.exchange(&mut selected, *byte)?;
                    }
                }
                Operation::Transfer(read, write) => {
                    let length = read.len().max(write.len());
                    for at in 0..length {
                        let sent = write.get(at).copied().unwrap_or(0);
                        let answer = self.exchange(&mut selected, sent)?;
                        if let Some(place) = read.get_mut(at) {
                            *place = answer;
                        }
                    }
                }
                Operation::DelayNs(nanos) => self.now += u64::from(*nanos) * 1_000,
            }
        }
        self.deselect(&selected)
    }
}

impl<N: NandDevice> SpiNandModel<'_, N> {
    /// One byte in, one byte out.
    fn exchange(&mut self, selected: &mut Selected, sent: u8) -> Result<u8, BusError> {
        self.now += self.byte_picos;
        let at = selected.taken;
        selected.taken += 1;
        let Some(command) = selected.command else {
            let command = Command::ALL.into_iter().find(|command| command.code() == sent);
            let Some(command) = command else {
                return Err(BusError::Misuse(Misuse::UnknownCommand(sent)));
            };
            let looks = matches!(command, Command::GetFeature | Command::Reset);
            if self.now < self.busy_until && !looks {
                return Err(BusError::Misuse(Misuse::Busy(command)));
            }
            selected.command = Some(command);
            return Ok(0xFF);
        };
        let (head, more) = head_of(command);
        if at <= head {
            if let Some(place) = selected.head.get_mut(at - 1) {
                *place = sent;
            }
            if at == head && command == Command::ProgramLoad {
                self.cache.fill(0xFF);
            }
            return Ok(0xFF);
        }
        if !more {
            return Err(BusError::Misuse(Misuse::Length(command)));
        }
        self.body(command, selected.head, at - head - 1, sent)
    }

    /// A byte after the head, counted from zero.
    fn body(
        &mut self,
        command: Command,
        head: [u8; 3],
        at: usize,
        sent: u8,
    ) -> Result<u8, BusError> {
        let column = u16::from_be_bytes([head[0], head[1]]);
        match command {
            Command::ReadId => Ok(self.part.id.get(at).copied().unwrap_or(0)),
            Command::GetFeature => Ok(self.register(head[0])),
            Command::ReadCache => {
                let buffered = self.part.configuration & !wire::ECC_ENABLE;
                if self.configuration & buffered != buffered {
                    return Err(BusError::Misuse(Misuse::ContinuousRead));
                }
                self.check_plane(column)?;
                let place = self.place(column, at)?;
                // Beyond the page the chip has nothing to say.
                Ok(self.cache.get(place).copied().unwrap_or(0xFF))
            }
            Command::ProgramLoad => {
                let place = self.place(column, at)?;
                match self.cache.get_mut(place) {
                    Some(cell) => *cell = sent,
                    None => return Err(BusError::Misuse(Misuse::LoadedBeyondThePage)),
                }
                Ok(0xFF)
            }
            _ => Err(BusError::Misuse(Misuse::Length(command))),
        }
    }

    /// Where in the cache a column leads, and which plane it names.
    fn place(&mut self, column: u16, offset: usize) -> Result<usize, BusError> {
        let Some(bit) = self.part.plane_bit else { return Ok(usize::from(column) + offset) };
        let plane = column >> bit & 1;
        if column >> bit > 1 {
            return Err(BusError::Misuse(Misuse::Column(column)));
        }
        self.loaded_plane = Some(plane);
        Ok(usize::from(column & !(1 << bit)) + offset)
    }

    /// The chip is no longer selected: what was asked for begins.
    fn deselect(&mut self, selected: &Selected) -> Result<(), BusError> {
        let Some(command) = selected.command else { return Ok(()) };
        let picos = selected.taken as u64 * self.byte_picos;
        self.tally.sent(command, selected.taken as u64, picos);
        let (head, _) = head_of(command);
        if selected.taken <= head {
            return Err(BusError::Misuse(Misuse::Length(command)));
        }
        let [high, middle, low] = selected.head;
        let row = u32::from_be_bytes([0, high, middle, low]);
        match command {
            Command::WriteEnable => self.status |= wire::WRITE_ENABLED,
            Command::WriteDisable => self.status &= !wire::WRITE_ENABLED,
            Command::SetFeature => self.set_register(high, middle),
            Command::Reset => self.reset(),
            Command::PageRead => self.page_read(row)?,
            Command::ProgramExecute => self.program_execute(row)?,
            Command::BlockErase => self.block_erase(row)?,
            Command::ReadId | Command::GetFeature | Command::ReadCache | Command::ProgramLoad => {}
        }
        Ok(())
    }
}
