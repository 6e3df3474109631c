//! One client's conversation: the handshake, then its requests, piece by piece.

use ftl_iface::Lifetime;

use super::export::{Disk, Durability, Export, PIECE, Refusal, Zeroing};
use super::handshake::{Agreed, Handshake, Step};
use super::reply::{Chunk, Errno, Replies};
use super::request::{HEADER_BYTES, NbdCommand, Range, Request};

/// With this many bytes of replies, they are sent before more work is done.
const SENT_FROM: usize = 256 << 10;

/// The work done at a time before other connections get their turn.
const DONE_AT_ONCE: u32 = 64;

/// This many bytes of a request count as much as a request.
const BYTES_OF_ONE: u32 = 64 << 10;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read more input.
    Read,
    /// Send the output, if there is any, let other connections work, and call again.
    Send,
    /// Send the output, and end the connection.
    Close,
    /// End the connection at once: the disk's power is off.
    Off,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    export: Export,
    /// How long the client expects what it writes to live.
    lifetime: Lifetime,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Handshake(Handshake),
    /// Between two requests.
    Ready(Replies),
    /// Within a request.
    Busy(Replies, Job),
}

/// A request in progress.
#[derive(Clone, Copy, Debug)]
struct Job {
    cookie: u64,
    work: Work,
    /// The rest of it.
    left: Range,
    is_first: bool,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Read,
    Write(Durability, Lifetime),
    Trim(Durability),
    Zero(Zeroing, Durability),
    /// Payload is skipped; then the error is sent.
    Refuse(Errno),
}

/// The result of a step.
enum Turn {
    /// Bytes of the input were consumed, and the state advanced.
    On(usize),
    Wait,
    End(Next),
}

impl Conversation {
    /// Greets a client with that export.
    pub fn new(export: Export, out: &mut Vec<u8>) -> Self {
        let state = State::Handshake(Handshake::new(export, out));
        Self { export, lifetime: Lifetime::Unknown, state }
    }

    /// Whether the client has chosen the export.
    pub const fn is_agreed(&self) -> bool {
        !matches!(self.state, State::Handshake(_))
    }

    /// Processes the available input, and removes it from `input`. Replies are added to `out`: at most one piece more
    /// than is sent at once.
    pub fn advance(&mut self, input: &mut Vec<u8>, disk: &mut dyn Disk, out: &mut Vec<u8>) -> Next {
        let (mut used, mut done) = (0, 0);
        let next = loop {
            if out.len() >= SENT_FROM || done >= DONE_AT_ONCE {
                break Next::Send;
            }
            done += self.weight();
            match self.turn(&input[used..], disk, out) {
                Turn::On(bytes) => used += bytes,
                Turn::Wait if out.is_empty() => break Next::Read,
                Turn::Wait => break Next::Send,
                Turn::End(next) => break next,
            }
        };
        input.drain(..used);
        next
    }

    /// The cost of the next step, for which other connections wait.
    fn weight(&self) -> u32 {
        match &self.state {
            State::Busy(_, job) => 1 + job.piece() / BYTES_OF_ONE,
            State::Handshake(_) | State::Ready(_) => 1,
        }
    }

    fn turn(&mut self, input: &[u8], disk: &mut dyn Disk, out: &mut Vec<u8>) -> Turn {
        match &mut self.state {
            State::Handshake(handshake) => match handshake.step(input, out) {
                Step::Wait => Turn::Wait,
                Step::Took(bytes) => Turn::On(bytes),
                Step::Over => Turn::End(Next::Close),
                Step::Agreed(bytes, Agreed { replies, lifetime }) => {
                    self.lifetime = lifetime;
                    self.state = State::Ready(replies);
                    Turn::On(bytes)
                }
            },
            State::Ready(replies) => {
                let replies = *replies;
                self.begin(replies, input, disk, out)
            }
            State::Busy(replies, job) => {
                let replies = *replies;
                match job.go_on(replies, input, disk, out) {
                    Done::Whole(bytes) => {
                        self.state = State::Ready(replies);
                        Turn::On(bytes)
                    }
                    Done::Part(bytes) => Turn::On(bytes),
                    Done::Wait => Turn::Wait,
                    Done::Over(next) => Turn::End(next),
                }
            }
        }
    }

    /// Begins the next request.
    fn begin(
        &mut self,
        replies: Replies,
        input: &[u8],
        disk: &mut dyn Disk,
        out: &mut Vec<u8>,
    ) -> Turn {
        let Some(header) = input.first_chunk::<HEADER_BYTES>() else {
            return Turn::Wait;
        };
        let Ok(request) = Request::parse(header, self.export) else {
            return Turn::End(Next::Close);
        };
        let cookie = request.cookie;
        let nothing = |bytes| Range { offset: 0, bytes };
        let (work, left) = match request.asked {
            NbdCommand::Disconnect => return Turn::End(Next::Close),
            NbdCommand::Flush => match disk.flush() {
                Ok(()) => {
                    replies.done(cookie, out);
                    return Turn::On(HEADER_BYTES);
                }
                Err(Refusal::Error(errno)) => (Work::Refuse(errno), nothing(0)),
                Err(Refusal::Off) => return Turn::End(Next::Off),
            },
            NbdCommand::Read(range) if request.whole && range.bytes > PIECE => {
                (Work::Refuse(Errno::Overflow), nothing(0))
            }
            NbdCommand::Read(range)
            | NbdCommand::Write(range, _)
            | NbdCommand::Trim(range, _)
            | NbdCommand::Zero(range, ..)
                if range.bytes == 0 =>
            {
                replies.done(cookie, out);
                return Turn::On(HEADER_BYTES);
            }
            NbdCommand::Read(range) => (Work::Read, range),
            NbdCommand::Write(range, kept) => (Work::Write(kept, self.lifetime), range),
            NbdCommand::Trim(range, kept) => (Work::Trim(kept), range),
            NbdCommand::Zero(range, how, kept) => (Work::Zero(how, kept), range),
            NbdCommand::Refused(errno, payload) => (Work::Refuse(errno), nothing(payload)),
        };
        self.state = State::Busy(replies, Job { cookie, work, left, is_first: true });
        Turn::On(HEADER_BYTES)
    }
}

/// The progress of a job.
enum Done {
    /// It is done, and has consumed that many bytes of the input.
    Whole(usize),
    /// A piece of it is done.
    Part(usize),
    /// More input is needed.
    Wait,
    Over(Next),
}

impl Job {
    /// Does the next piece.
    fn go_on(
        &mut self,
        replies: Replies,
        input: &[u8],
        disk: &mut dyn Disk,
        out: &mut Vec<u8>,
    ) -> Done {
        let (offset, now) = (self.left.offset, self.piece());
        let (outcome, used) = match self.work {
            Work::Read => return self.read(replies, disk, out),
            Work::Write(kept, lifetime) => match input.get(..now as usize) {
                Some(data) => (disk.write(offset, data, kept, lifetime), data.len()),
                None => return Done::Wait,
            },
            Work::Trim(kept) => (disk.trim(offset, now, kept), 0),
            Work::Zero(how, kept) => (disk.zero(offset, now, how, kept), 0),
            Work::Refuse(errno) => return self.refuse(replies, errno, input, out),
        };
        self.pass(now);
        match outcome {
            Ok(()) if self.left.bytes == 0 => {
                replies.done(self.cookie, out);
                Done::Whole(used)
            }
            Ok(()) => Done::Part(used),
            Err(Refusal::Off) => Done::Over(Next::Off),
            Err(Refusal::Error(errno)) => {
                // The rest of a write's payload arrives nevertheless.
                if !matches!(self.work, Work::Write(..)) {
                    self.left.bytes = 0;
                }
                self.work = Work::Refuse(errno);
                Done::Part(used)
            }
        }
    }

    /// Bytes of the next piece. Pieces of a split request end at boundaries of the disk's own units.
    fn piece(&self) -> u32 {
        let Range { offset, bytes } = self.left;
        let to_cut = PIECE - (offset % u64::from(PIECE)) as u32;
        if bytes <= PIECE { bytes } else { to_cut }
    }

    fn pass(&mut self, bytes: u32) {
        self.left.offset += u64::from(bytes);
        self.left.bytes -= bytes;
    }

    fn read(&mut self, replies: Replies, disk: &mut dyn Disk, out: &mut Vec<u8>) -> Done {
        let Range { offset, bytes } = self.left;
        let now = self.piece();
        let (is_first, is_last) = (self.is_first, now == bytes);
        let start = out.len();
        replies.data(self.cookie, &Chunk { offset, bytes: now, is_first, is_last }, out);
        let data = out.len();
        out.resize(data + now as usize, 0);
        match disk.read(offset, &mut out[data..]) {
            Ok(()) => {}
            Err(Refusal::Off) => return Done::Over(Next::Off),
            Err(Refusal::Error(errno)) => {
                out.truncate(start);
                if replies == Replies::Simple && !is_first {
                    // The header reported success, so only the end of the connection can report the error.
                    return Done::Over(Next::Close);
                }
                self.work = Work::Refuse(errno);
                self.left.bytes = 0;
                return Done::Part(0);
            }
        }
        self.is_first = false;
        self.pass(now);
        if is_last { Done::Whole(0) } else { Done::Part(0) }
    }

    /// Skips payload as it arrives, and then sends the error.
    fn refuse(&mut self, replies: Replies, errno: Errno, input: &[u8], out: &mut Vec<u8>) -> Done {
        let now = input.len().min(self.left.bytes as usize);
        self.pass(now as u32);
        if self.left.bytes > 0 {
            return if now == 0 { Done::Wait } else { Done::Part(now) };
        }
        replies.error(self.cookie, errno, out);
        Done::Whole(now)
    }
}
