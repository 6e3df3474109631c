//! The bus with the chip on it: each transfer goes to the byte-level model, and into the log.

use std::time::Duration;

use embedded_hal::spi::{Operation, SpiDevice};
use ftl_spi_nand::Part;
use ftl_spi_nand::model::{BusError, SpiNandModel, Times};

use crate::cells::Cells;
use crate::log::Log;
use crate::sent::{Outcome, Sent};

/// A slow clock, on which few polls are sent while the chip is busy.
const HERTZ: u32 = 8_000_000;

/// What a transfer returns if the chip would have ignored or garbled it.
pub const JUDGE_REFUSED: i32 = -22;

/// What a transfer returns if power is off.
pub const JUDGE_NO_POWER: i32 = -5;

type Model = SpiNandModel<'static, Cells>;

/// A chip on a bus.
pub(crate) struct Bus {
    part: &'static Part,
    /// Absent only while power is switched.
    model: Option<Model>,
    judges_parameters: bool,
    pub(crate) log: Log,
}

/// One transfer: what is sent, then what is received.
pub(crate) struct Exchange<'t> {
    pub(crate) head: &'t [u8],
    pub(crate) out: &'t [u8],
    pub(crate) into: &'t mut [u8],
}

impl Bus {
    /// The chip, just switched on. `None` if the description contradicts itself.
    pub(crate) fn new(
        part: &'static Part,
        cache: &'static mut [u8],
        judges_parameters: bool,
    ) -> Option<Self> {
        let cells = Cells::new(part.geometry).ok()?;
        let mut bus = Self { part, model: None, judges_parameters, log: Log::new() };
        bus.switch_on(cells, cache)?;
        Some(bus)
    }

    /// Power comes on. `None` if the description contradicts itself.
    fn switch_on(&mut self, cells: Cells, cache: &'static mut [u8]) -> Option<()> {
        let model = SpiNandModel::new(self.part, cells, Times::W25N01GV, HERTZ, cache).ok()?;
        let model = self.model.insert(model);
        if self.judges_parameters {
            model.judge_parameters();
        }
        Some(())
    }

    pub(crate) const fn part(&self) -> &'static Part {
        self.part
    }

    pub(crate) fn cells(&mut self) -> &mut Cells {
        self.model().cells_mut()
    }

    pub(crate) fn model(&mut self) -> &mut Model {
        self.model.as_mut().expect("a model, but while power is switched")
    }

    /// Switches power off and on. Says whether it had failed.
    pub(crate) fn power_again(&mut self) -> bool {
        let model = self.model.take().expect("a model, but while power is switched");
        let (cells, cache) = model.into_cells_and_cache();
        let (cells, cut) = cells.power_again();
        self.log.forget_registers();
        // The description was sound when this was made.
        let _ = self.switch_on(cells, cache);
        cut
    }

    /// Lets time go by.
    pub(crate) fn wait(&mut self, time: Duration) {
        let nanos = u32::try_from(time.as_nanos()).unwrap_or(u32::MAX);
        // Nothing is sent, so that only power can be missing.
        let _ = self.model().transaction(&mut [Operation::DelayNs(nanos)]);
    }

    /// One transfer with the chip selected. Returns 0, or why it went wrong; nothing is received then.
    pub(crate) fn transfer(&mut self, what: Exchange<'_>) -> i32 {
        let Exchange { head, out, into } = what;
        into.fill(0);
        let operations =
            [Operation::Write(head), Operation::Write(out), Operation::Read(&mut *into)];
        let outcome = match self.model().transaction(&mut { operations }) {
            Ok(()) => Outcome::Taken,
            Err(BusError::Misuse(misuse)) => Outcome::Refused(misuse),
            Err(BusError::PoweredOff) => Outcome::NoPower,
        };
        if outcome != Outcome::Taken {
            into.fill(0);
        }
        let mut bytes = head.iter().chain(out).copied();
        let code = bytes.next().unwrap_or(0);
        let mut rest = [0; 3];
        rest.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        let answer = into.last().copied().filter(|_| outcome == Outcome::Taken);
        let data_bytes = (head.len() + out.len()).saturating_sub(3) + into.len();
        let data_bytes = if out.is_empty() && !into.is_empty() { into.len() } else { data_bytes };
        self.log.note(Sent { code, head: rest, data_bytes, answer, outcome, times: 1 });
        match outcome {
            Outcome::Taken => 0,
            Outcome::Refused(_) => JUDGE_REFUSED,
            Outcome::NoPower => JUDGE_NO_POWER,
        }
    }
}
