//! The fixed newstyle handshake: greetings, then options, until the client chooses the export or disconnects.

use ftl_iface::Lifetime;
use sim::input::trace::lifetime;

use super::export::{Access, Export, PAYLOAD_MOST, SMALLEST_BLOCK, be16, be32, be64};
use super::reply::Replies;

const MAGIC: u64 = 0x4E42_444D_4147_4943; // NBDMAGIC
const OPTION_MAGIC: u64 = 0x4948_4156_454F_5054; // IHAVEOPT
const REPLY_MAGIC: u64 = 0x0003_E889_0455_65A9;

/// The flags of the greeting, of both sides: the handshake is the fixed one, and no zeros follow the old kind of
/// answer.
const FIXED_NEWSTYLE: u16 = 1 << 0;
const NO_ZEROES: u16 = 1 << 1;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;

const ACKNOWLEDGED: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const ERROR: u32 = 1 << 31;
const UNSUPPORTED: u32 = ERROR + 1;
const INVALID: u32 = ERROR + 3;
const UNKNOWN: u32 = ERROR + 6;
const TOO_BIG: u32 = ERROR + 9;

const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// What the export can do: flush, FUA, trim, zeros, reads in one piece; and connections see each other's writes.
const EXPORT_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8;

/// What an export can do that is only read: flush, reads in one piece.
const READ_ONLY_FLAGS: u16 = 1 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8;

/// The client's flags.
const GREETING_BYTES: usize = 4;
/// Magic number, option, length.
const OPTION_BYTES: usize = 16;

/// The most bytes of an option: the longest name of the protocol, and requests for every kind of information.
pub const OPTION_MOST: u32 = 8 << 10;

/// Zeros after the old kind of answer, unless the client wants none.
const ZEROES: usize = 124;

/// The state of the handshake.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    export: Export,
    greeted: bool,
    no_zeroes: bool,
    replies: Replies,
}

/// What the client has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) replies: Replies,
    /// How long it expects what it writes to live, as the name of the export says.
    pub(super) lifetime: Lifetime,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More bytes are needed.
    Wait,
    /// That many bytes were consumed.
    Took(usize),
    /// That many bytes were consumed, and requests follow.
    Agreed(usize, Agreed),
    /// The client disconnects, or sends invalid data.
    Over,
}

impl Handshake {
    /// Greets.
    pub(super) fn new(export: Export, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&MAGIC.to_be_bytes());
        out.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        out.extend_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        Self { export, greeted: false, no_zeroes: false, replies: Replies::Simple }
    }

    /// Processes a message, if it is complete.
    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Step {
        if !self.greeted {
            return self.greeted(input);
        }
        let Some(header) = input.first_chunk::<OPTION_BYTES>() else {
            return Step::Wait;
        };
        let (option, length) = (be32(header, 8), be32(header, 12));
        if be64(header, 0) != OPTION_MAGIC || length > OPTION_MOST {
            return Step::Over;
        }
        let end = OPTION_BYTES + length as usize;
        let Some(data) = input.get(OPTION_BYTES..end) else {
            return Step::Wait;
        };
        self.answer(option, data, out).unwrap_or(Step::Took(end)).after(end)
    }

    fn greeted(&mut self, input: &[u8]) -> Step {
        let Some(flags) = input.first_chunk::<GREETING_BYTES>().map(|flags| be32(flags, 0)) else {
            return Step::Wait;
        };
        let known = u32::from(FIXED_NEWSTYLE | NO_ZEROES);
        if flags & !known != 0 || flags & u32::from(FIXED_NEWSTYLE) == 0 {
            return Step::Over;
        }
        self.greeted = true;
        self.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        Step::Took(GREETING_BYTES)
    }

    const fn flags(&self) -> u16 {
        match self.export.access {
            Access::ReadWrite => EXPORT_FLAGS,
            Access::ReadOnly => READ_ONLY_FLAGS,
        }
    }

    /// Answers an option. `None`: the handshake continues.
    fn answer(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) -> Option<Step> {
        match option {
            EXPORT_NAME => {
                // This option has no negative answer.
                let Some(lifetime) = lifetime::of_word(data) else { return Some(Step::Over) };
                out.extend_from_slice(&self.export.bytes.to_be_bytes());
                out.extend_from_slice(&self.flags().to_be_bytes());
                let zeroes = if self.no_zeroes { 0 } else { ZEROES };
                out.resize(out.len() + zeroes, 0);
                return Some(self.agreed(lifetime));
            }
            ABORT => {
                put(option, ACKNOWLEDGED, &[], out);
                return Some(Step::Over);
            }
            LIST if data.is_empty() => {
                for name in Lifetime::ALL.map(lifetime::word) {
                    // Names are short.
                    let mut named = Vec::from((name.len() as u32).to_be_bytes());
                    named.extend_from_slice(name.as_bytes());
                    put(option, SERVER, &named, out);
                }
                put(option, ACKNOWLEDGED, &[], out);
            }
            STRUCTURED_REPLY if data.is_empty() => {
                self.replies = Replies::Structured;
                put(option, ACKNOWLEDGED, &[], out);
            }
            LIST | STRUCTURED_REPLY => put(option, INVALID, &[], out),
            INFO | GO => return self.take_export(option, data, out),
            _ => put(option, UNSUPPORTED, &[], out),
        }
        None
    }

    /// Describes the export, and with `GO` chooses it.
    fn take_export(&self, option: u32, data: &[u8], out: &mut Vec<u8>) -> Option<Step> {
        let name_end = 4 + be32(data, 0) as usize;
        let (name, asked) = (data.get(4..name_end), data.get(name_end..));
        let (Some(name), Some(asked)) = (name, asked) else {
            put(option, INVALID, &[], out);
            return None;
        };
        if asked.len() < 2 || asked.len() != 2 + 2 * usize::from(be16(asked, 0)) {
            put(option, INVALID, &[], out);
            return None;
        }
        let Some(lifetime) = lifetime::of_word(name) else {
            let answer = if name.len() > 4096 { TOO_BIG } else { UNKNOWN };
            let names = b"there is one disk: its name is empty, or short, medium, long or extreme, as its data lives";
            put(option, answer, names, out);
            return None;
        };
        let mut export = Vec::from(INFO_EXPORT.to_be_bytes());
        export.extend_from_slice(&self.export.bytes.to_be_bytes());
        export.extend_from_slice(&self.flags().to_be_bytes());
        put(option, INFORMATION, &export, out);
        let mut sizes = Vec::from(INFO_BLOCK_SIZE.to_be_bytes());
        for size in [SMALLEST_BLOCK, self.export.preferred_block, PAYLOAD_MOST] {
            sizes.extend_from_slice(&size.to_be_bytes());
        }
        put(option, INFORMATION, &sizes, out);
        put(option, ACKNOWLEDGED, &[], out);
        (option == GO).then(|| self.agreed(lifetime))
    }

    const fn agreed(&self, lifetime: Lifetime) -> Step {
        Step::Agreed(0, Agreed { replies: self.replies, lifetime })
    }
}

impl Step {
    /// The same, for a message that ends there.
    const fn after(self, end: usize) -> Self {
        match self {
            Self::Agreed(_, agreed) => Self::Agreed(end, agreed),
            step => step,
        }
    }
}

fn put(option: u32, kind: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    // Answers here are short.
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}
