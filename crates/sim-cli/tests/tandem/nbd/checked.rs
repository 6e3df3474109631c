//! Clients that send anything: what they may reach, and what they are answered. The fuzz target `nbd` uses this, too.

use ftl_iface::Lifetime;
use sim_cli::commands::serve::wire::{
    Access, Conversation, Disk, Durability, Errno, Export, Next, PIECE, Refusal, Zeroing,
};

const EXPORT: Export = Export { bytes: 5 << 20, preferred_block: 4096, access: Access::ReadWrite };

/// The longest message but for a write's payload, of which a piece is held.
const HELD_MOST: usize = PIECE as usize + (16 << 10);

/// A disk that checks where it is asked, and fails at some places.
#[derive(Default)]
struct Checked;

impl Checked {
    fn at(offset: u64, bytes: u64) -> Result<(), Refusal> {
        assert!(bytes <= PIECE.into() && bytes > 0, "{bytes} at once");
        assert!(offset + bytes <= EXPORT.bytes, "beyond the export");
        match offset >> 12 & 0x3F {
            3 => Err(Refusal::Error(Errno::Io)),
            5 => Err(Refusal::Off),
            _ => Ok(()),
        }
    }
}

impl Disk for Checked {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Refusal> {
        data.fill(offset as u8);
        Self::at(offset, data.len() as u64)
    }

    fn write(
        &mut self,
        offset: u64,
        data: &[u8],
        _: Durability,
        _: Lifetime,
    ) -> Result<(), Refusal> {
        Self::at(offset, data.len() as u64)
    }

    fn trim(&mut self, offset: u64, bytes: u32, _: Durability) -> Result<(), Refusal> {
        Self::at(offset, bytes.into())
    }

    fn zero(&mut self, offset: u64, bytes: u32, _: Zeroing, _: Durability) -> Result<(), Refusal> {
        Self::at(offset, bytes.into())
    }

    fn flush(&mut self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Answers what is sent in pieces. Says all answers, and how it ended.
pub(crate) fn answered(sent: &[u8], piece: usize) -> (Vec<u8>, Option<Next>) {
    let (mut input, mut out, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut conversation = Conversation::new(EXPORT, &mut out);
    for part in sent.chunks(piece) {
        input.extend_from_slice(part);
        loop {
            let next = conversation.advance(&mut input, &mut Checked, &mut out);
            assert!(input.len() <= HELD_MOST + piece, "{} bytes are held", input.len());
            assert!(out.len() <= 2 * HELD_MOST, "{} bytes wait", out.len());
            all.append(&mut out);
            match next {
                Next::Read => break,
                Next::Send => {}
                Next::Close | Next::Off => return (all, Some(next)),
            }
            // Few bytes may ask for many.
            if all.len() > 64 << 20 {
                return (Vec::new(), None);
            }
        }
    }
    (all, None)
}
