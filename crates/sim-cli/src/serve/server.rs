//! Connections, signals and timers: one life of the disk after the other.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use nand_model::power::Cut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout_at};

use super::cuts::Cuts;
use super::drive::{Drive, Ledger};
use super::listen::{Listener, Socket};
use super::status::Status;
use super::wire::{Conversation, Next};
use super::{CONNECTIONS_MOST, HANDSHAKE_MOST};
use crate::image::{About, Journaled};
use crate::result::RunResult;
use crate::systems::{Ended, Live, Owner};
use crate::{Failure, interrupt};

/// How often it is looked whether Ctrl-C was typed.
const LOOKED_EVERY: Duration = Duration::from_millis(50);

/// How often the line is written anew, and what was recorded reaches its file.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// How long a cut that is due waits for an operation that it can stop midway.
const OPERATION_AWAITED: Duration = Duration::from_millis(100);

/// How long no client is taken after one could not be: too many files are open, say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Bytes that are read at once.
const READ_AT_ONCE: usize = 128 << 10;

/// The server.
pub(super) struct Server<'a> {
    runtime: &'a Runtime,
    parts: Parts,
}

/// What a server brings.
pub(super) struct Measured {
    /// As of a replay.
    pub(super) result: RunResult,
    /// Lives that ended with a loss of power.
    pub(super) power_cuts: u64,
    /// How many times as fast as the conventional system the disk was, where somebody watched.
    pub(super) rs: Option<f64>,
}

struct Parts {
    listener: Listener,
    terminate: Signal,
    cut: Signal,
    ledger: Ledger,
    cuts: Cuts,
    /// Lives that ended with a loss of power.
    power_cuts: u64,
    status: Status,
    system: String,
    /// Of the last life.
    result: Option<RunResult>,
}

impl<'a> Server<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        listener: Listener,
        ledger: Ledger,
        cuts: Cuts,
        (system, status): (String, Status),
    ) -> Result<Self, Failure> {
        let _entered = runtime.enter();
        let terminate = signal(SignalKind::terminate())?;
        let cut = signal(SignalKind::user_defined1())?;
        let (power_cuts, result) = (0, None);
        let parts =
            Parts { listener, terminate, cut, ledger, cuts, power_cuts, status, system, result };
        Ok(Self { runtime, parts })
    }

    /// Keeps the chip, ends the record, and says what was measured.
    pub(super) fn end(
        mut self,
        chip: Result<Journaled, Failure>,
        about: &About,
    ) -> Result<Measured, Failure> {
        let parts = &mut self.parts;
        parts.status.done();
        let ended = parts.ledger.end();
        let mut chip = chip?;
        let rs = ended?;
        if let Some(keeper) = parts.ledger.keeper() {
            keeper.save(about, &mut chip)?;
        }
        let result = parts.result.take();
        let missing = || Failure::Violation("the server ended without a result".into());
        Ok(Measured { result: result.ok_or_else(missing)?, power_cuts: parts.power_cuts, rs })
    }
}

impl Owner for Server<'_> {
    fn next_cut(&mut self) -> Cut {
        self.parts.cuts.next()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        let ended = self.runtime.block_on(self.parts.live(disk));
        if ended == Ended::PowerFailed {
            self.parts.power_cuts += 1;
        }
        // What nothing more can be served for ends the server.
        self.parts.ledger.failed()?;
        Ok(ended)
    }
}

impl Parts {
    async fn live(&mut self, disk: &mut dyn Live) -> Ended {
        let Self { listener, terminate, cut, ledger, cuts, power_cuts, status, .. } = self;
        let drive = RefCell::new(Drive::new(disk, ledger));
        let mut clients = FuturesUnordered::new();
        let mut looked = interval(LOOKED_EVERY);
        let mut told = interval(TOLD_EVERY);
        told.set_missed_tick_behavior(MissedTickBehavior::Skip);
        looked.set_missed_tick_behavior(MissedTickBehavior::Skip);
        // Of a cut that is due: by when an operation must have met it.
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
                () = until(due) => break Ended::PowerFailed,
                () = until(cut_at) => {
                    cut_at = None;
                    drive.borrow_mut().disk().power().set_cut(cuts.now());
                    due = Some(Instant::now() + OPERATION_AWAITED);
                }
                _ = cut.recv() => cut_at = Some(Instant::now()),
                _ = terminate.recv() => break Ended::Stopped,
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
        // What was done but not answered may be kept or not; it is kept, so that the file is the chip.
        let _ = drive.commit();
        if ended == Ended::Stopped {
            self.result = drive.result(&self.system);
        }
        ended
    }
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

/// Serves a client until one of both has enough. Why it ended is of interest to nobody: the client knows.
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
        let agreed = conversation.is_agreed();
        let sent = out.len();
        if sent > 0 {
            in_time(agreed, deadline, socket.write_all(&out)).await?;
            out.clear();
        }
        match next {
            Next::Close | Next::Off => return socket.shutdown().await,
            Next::Send if sent == 0 => sleep(Duration::ZERO).await,
            Next::Send => {}
            Next::Read => {
                input.reserve(READ_AT_ONCE);
                if in_time(agreed, deadline, socket.read_buf(&mut input)).await? == 0 {
                    return Ok(());
                }
            }
        }
    }
}

/// Waits, but during the handshake not longer than for that.
async fn in_time<T>(
    agreed: bool,
    deadline: Instant,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    if agreed {
        return work.await;
    }
    timeout_at(deadline, work).await?
}
