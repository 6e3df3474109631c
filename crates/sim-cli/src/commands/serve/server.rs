//! Connections, signals and timers, for one life of the disk after the other.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use ftl_iface::SectorCount;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use nand_model::power::Cut;
use sim::Failure;
use sim::engine::image::{DiskFile, Journaled};
use sim::engine::replay::{Measurement, RunInputs};
use sim::engine::result::BYTES_A_DAY;
use sim::engine::result::{RunResult, ServedResult};
use sim::engine::systems::{Ended, Live, Owner, Session, System};
use sim::input::device::Fill;
use sim::input::trace::fit::AS_IS;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{
    Instant, Interval, MissedTickBehavior, interval, sleep, sleep_until, timeout_at,
};

use super::cuts::Cuts;
use super::drive::{Drive, Ledger};
use super::held::Held;
use super::listen::{Listener, Socket};
use super::status::Status;
use super::wire::{Conversation, Next};
use crate::base::{interrupt, notes};

/// Connections at a time.
pub const CONNECTIONS_MOST: usize = 256;

/// How long a client may take for the handshake.
pub const HANDSHAKE_MOST: Duration = Duration::from_secs(30);

/// How often Ctrl-C is checked.
const LOOKED_EVERY: Duration = Duration::from_millis(50);

/// How often it is checked whether the system is idle.
const RESTED_EVERY: Duration = Duration::from_millis(10);

/// How often the status is updated and the trace flushed.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// How long a due cut waits for an operation to interrupt.
const OPERATION_AWAITED: Duration = Duration::from_millis(100);

/// How long no client is accepted after a failed accept, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Bytes read at once.
const READ_AT_ONCE: usize = 128 << 10;

/// What a server leaves when it ends.
pub(super) struct Left {
    pub result: RunResult,
    /// The disk's file, if it has one, which is still to be closed, and its chip.
    pub disk: Option<(DiskFile, Journaled)>,
}

/// The server.
pub(super) struct Server<'a> {
    runtime: &'a Runtime,
    parts: Parts,
}

/// What is served, and how it is followed.
pub(super) struct Service {
    pub(super) ledger: Ledger,
    pub(super) cuts: Cuts,
    pub(super) system: String,
    pub(super) status: Status,
}

/// The signals that end the server, besides Ctrl-C.
struct Ends {
    terminate: Signal,
    /// The end of the terminal, unless it is ignored.
    hang_up: Option<Signal>,
}

struct Parts {
    listener: Listener,
    /// Those that end it, and the one that cuts the power.
    signals: (Ends, Signal),
    ledger: Ledger,
    cuts: Cuts,
    /// Lives that ended with a power loss.
    power_cuts: u64,
    status: Status,
    system: String,
    /// Present when it was told to end.
    measured: Option<Measurement>,
}

impl<'a> Server<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        listener: Listener,
        service: Service,
    ) -> Result<Self, Failure> {
        let Service { ledger, cuts, system, status } = service;
        let _entered = runtime.enter();
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = match hang_up() {
            HangUp::Ends => Some(signal(SignalKind::hangup())?),
            HangUp::Ignored => None,
        };
        let cut = signal(SignalKind::user_defined1())?;
        let (power_cuts, measured) = (0, None);
        let signals = (Ends { terminate, hang_up }, cut);
        let parts = Parts { listener, signals, ledger, cuts, power_cuts, status, system, measured };
        Ok(Self { runtime, parts })
    }

    /// Ends the trace, and returns the result, under the trace's name.
    pub(super) fn end(
        mut self,
        chip: Result<Option<Journaled>, Failure>,
        trace: String,
    ) -> Result<Left, Failure> {
        let parts = &mut self.parts;
        parts.status.done();
        let ended = parts.ledger.end();
        let chip = chip?;
        let rs = ended?;
        let disk = parts.ledger.take_disk_file().zip(chip);
        let missing = || Failure::Violation("the server ended without a result".into());
        let measured = parts.measured.take().ok_or_else(missing)?;
        let result = measured.result(RunInputs {
            trace,
            passes: 1,
            fit: AS_IS,
            fill: Fill::Nothing,
            settled: false,
            seed: None,
            partial: false,
            skipped_lines: 0,
            bytes_touched: 0,
            bytes_packed: 0,
            bytes_a_day: BYTES_A_DAY,
            served: Some(ServedResult { power_cuts: parts.power_cuts, rs }),
        });
        Ok(Left { result, disk })
    }
}

impl Owner for Server<'_> {
    fn next_cut(&mut self) -> Cut {
        self.parts.cuts.next()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        let ended = self.runtime.block_on(self.parts.live(Held::Lasting(disk)));
        if ended == Ended::PowerFailed {
            self.parts.power_cuts += 1;
        }
        // A failure after which no request can be served ends the server.
        self.parts.ledger.failed()?;
        Ok(ended)
    }
}

/// A system that cannot be mounted again.
impl Session for Server<'_> {
    /// Hosts get it unfilled.
    fn prepare(&mut self, _: &mut dyn System, _: SectorCount) -> Result<(), Failure> {
        Ok(())
    }

    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure> {
        self.runtime.block_on(self.parts.live(Held::Volatile(system)));
        self.parts.ledger.failed()
    }
}

impl Parts {
    async fn live<'s>(&'s mut self, disk: Held<'s>) -> Ended {
        let Self { listener, signals: (ends, cut), ledger, cuts, power_cuts, status, .. } = self;
        let drive = RefCell::new(Drive::new(disk, ledger));
        let mut clients = FuturesUnordered::new();
        let mut looked = every(LOOKED_EVERY, MissedTickBehavior::Skip);
        let mut told = every(TOLD_EVERY, MissedTickBehavior::Skip);
        let mut rested = every(RESTED_EVERY, MissedTickBehavior::Delay);
        // The deadline of a due cut: by then it must have hit an operation.
        let mut due: Option<Instant> = None;
        let born = Instant::now();
        let mut cut_at = cuts.period().map(|period| born + period);
        let mut accept_from = born;
        let ended = loop {
            if drive.borrow_mut().is_off() {
                break Ended::PowerFailed;
            }
            tokio::select! {
                Some(()) = clients.next(), if !clients.is_empty() => {}
                accepted = accept(listener, accept_from) => match accepted {
                    Ok(socket) if clients.len() < CONNECTIONS_MOST => {
                        clients.push(converse(socket, &drive));
                    }
                    Ok(_one_too_many) => {}
                    Err(_) => accept_from = Instant::now() + ACCEPT_PAUSE,
                },
                () = until(due) => {
                    drive.borrow_mut().disk().lose_power();
                    break Ended::PowerFailed;
                }
                () = until(cut_at) => {
                    cut_at = None;
                    if let Some(power) = drive.borrow_mut().disk().power() {
                        power.set_cut(cuts.now());
                        due = Some(Instant::now() + OPERATION_AWAITED);
                    } else {
                        notes::tell("this system loses data in a power cut, so its power stays on");
                    }
                }
                _ = rested.tick() => drive.borrow_mut().rest(),
                _ = cut.recv() => cut_at = Some(Instant::now()),
                () = ends.any() => break Ended::Stopped,
                _ = looked.tick() => if interrupt::is_requested() { break Ended::Stopped },
                _ = told.tick() => {
                    let mut drive = drive.borrow_mut();
                    drive.ledger().flush_record();
                    drive.tell(status, *power_cuts);
                }
            }
        };
        drop(clients);
        let mut drive = drive.into_inner();
        // Changes that were not acknowledged may be kept; they are, so that the file matches the chip.
        let _ = drive.commit();
        if ended == Ended::Stopped {
            self.measured = drive.measured(&self.system);
        }
        ended
    }
}

fn every(period: Duration, missed: MissedTickBehavior) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(missed);
    interval
}

impl Ends {
    /// Waits for one of them.
    async fn any(&mut self) {
        let Self { terminate, hang_up: Some(hang_up) } = self else {
            self.terminate.recv().await;
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

/// What the end of the terminal was to do when the program began.
enum HangUp {
    Ends,
    /// As `nohup` asks for. What heeds a signal cannot ask for that any more.
    Ignored,
}

/// Asks the system, where it tells: Linux does.
fn hang_up() -> HangUp {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    let bit = 1 << (SignalKind::hangup().as_raw_value() - 1);
    if ignored.unwrap_or(0) & bit == 0 { HangUp::Ends } else { HangUp::Ignored }
}

async fn accept(listener: &Listener, from: Instant) -> io::Result<Box<dyn Socket>> {
    sleep_until(from).await;
    listener.accept().await
}

/// Waits for a moment, if there is one.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Serves a client until one side ends the connection. The reason is not reported, because the client knows it.
async fn converse(mut socket: Box<dyn Socket>, drive: &RefCell<Drive<'_>>) {
    let _ = talk(&mut socket, drive).await;
}

async fn talk(socket: &mut Box<dyn Socket>, drive: &RefCell<Drive<'_>>) -> io::Result<()> {
    let (mut input, mut out) = (Vec::new(), Vec::new());
    let mut conversation = Conversation::new(drive.borrow().export(), &mut out);
    let deadline = Instant::now() + HANDSHAKE_MOST;
    loop {
        let next = {
            let mut drive = drive.borrow_mut();
            let next = conversation.advance(&mut input, &mut *drive, &mut out);
            if next == Next::Off || drive.commit().is_err() {
                return Ok(());
            }
            next
        };
        let deadline = (!conversation.is_agreed()).then_some(deadline);
        let sent = out.len();
        if sent > 0 {
            in_time(deadline, socket.write_all(&out)).await?;
            out.clear();
        }
        match next {
            Next::Close | Next::Off => return socket.shutdown().await,
            Next::Send if sent == 0 => sleep(Duration::ZERO).await,
            Next::Send => {}
            Next::Read => {
                input.reserve(READ_AT_ONCE);
                if in_time(deadline, socket.read_buf(&mut input)).await? == 0 {
                    return Ok(());
                }
            }
        }
    }
}

/// Waits, until the deadline if there is one.
async fn in_time<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match deadline {
        None => work.await,
        Some(deadline) => timeout_at(deadline, work).await?,
    }
}
