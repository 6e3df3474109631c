//! A breach, as C gets it.

use std::ffi::c_char;
use std::fmt::Write as _;

use crate::blame::Blame;
use crate::clause::Clause;
use crate::log::{Asked, Call};

/// In a breach: the number of no block, no page.
pub const JUDGE_NOWHERE: u32 = 4_294_967_295;

/// What a driver did against the contract, and which command on the bus was at fault.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Breach {
    /// The clause, one of `TANDEM_CLAUSE_…` or `TANDEM_JUDGE_CLAUSE_…`.
    pub clause: i32,
    /// The block at which it showed, or `TANDEM_JUDGE_NOWHERE`.
    pub block: u32,
    /// The page, or `TANDEM_JUDGE_NOWHERE`.
    pub page: u32,
    /// The first byte of the command at fault.
    pub command: u32,
    /// Its row, column or register, by what the command has.
    pub argument: u32,
    /// 1 if it is at fault because it was not sent.
    pub missing: u32,
    /// What the chip answered to it; -1 if nothing.
    pub answer: i32,
    /// All that in a sentence.
    pub text: [c_char; 512],
    /// What went over the bus in the call in which it showed, one command a line.
    pub bus: [c_char; 2048],
}

/// A breach as the judge knows it.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) clause: Clause,
    pub(crate) block: Option<u32>,
    pub(crate) page: Option<u32>,
    /// What was seen.
    pub(crate) seen: String,
    pub(crate) blame: Blame,
    /// The call in which it showed.
    pub(crate) call: Call,
}

const fn name(asked: Asked) -> &'static str {
    match asked {
        Asked::Start => "start",
        Asked::Read => "read",
        Asked::Program => "program",
        Asked::Erase => "erase",
        Asked::IsBad => "is_bad",
        Asked::MarkBad => "mark_bad",
    }
}

/// As many bytes of a text as there is space for, with a zero at the end.
fn put<const BYTES: usize>(text: &str) -> [c_char; BYTES] {
    let mut place = [0; BYTES];
    for (place, byte) in place[..BYTES - 1].iter_mut().zip(text.bytes()) {
        *place = byte.cast_signed() as c_char;
    }
    place
}

impl Finding {
    fn sentence(&self) -> String {
        let at = match (self.block, self.page) {
            (Some(block), Some(page)) => format!(" at block {block}, page {page}"),
            (Some(block), None) => format!(" at block {block}"),
            _ => String::new(),
        };
        let Self { clause, seen, blame, call, .. } = self;
        let sentence = clause.sentence;
        format!("broken: {sentence}; in {}{at}: {seen}; at fault: {blame}", name(call.asked))
    }

    fn bus(&self) -> String {
        let mut bus = String::new();
        for sent in &self.call.sent {
            // Text cannot fail.
            let _ = writeln!(bus, "{sent}");
        }
        bus
    }

    /// As C gets it.
    pub(crate) fn told(&self) -> Breach {
        let sent = &self.blame.sent;
        Breach {
            clause: self.clause.number,
            block: self.block.unwrap_or(JUDGE_NOWHERE),
            page: self.page.unwrap_or(JUDGE_NOWHERE),
            command: sent.code.into(),
            argument: sent.argument(),
            missing: self.blame.missing.into(),
            answer: sent.answer.map_or(-1, i32::from),
            text: put(&self.sentence()),
            bus: put(&self.bus()),
        }
    }
}
