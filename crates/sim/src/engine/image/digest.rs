//! The check of what the headers call the chip.
//!
//! It is no CRC-32, for the chip's image ends with its own: the CRC of anything that ends with its CRC is the same
//! whatever it is, so that the chip of another disk would match.

/// The check of bytes in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Digest {
    state: u64,
    /// The last bytes, if they are no whole word.
    rest: Vec<u8>,
    bytes: u64,
}

const WORD: usize = size_of::<u64>();

impl Digest {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let needed = if self.rest.is_empty() { 0 } else { WORD - self.rest.len() };
        let (first, bytes) = bytes.split_at(needed.min(bytes.len()));
        self.rest.extend_from_slice(first);
        if let Some(word) = self.rest.first_chunk::<WORD>() {
            self.state = step(self.state, u64::from_le_bytes(*word));
            self.rest.clear();
        }
        let (words, rest) = bytes.as_chunks::<WORD>();
        self.state =
            words.iter().fold(self.state, |state, word| step(state, u64::from_le_bytes(*word)));
        self.rest.extend_from_slice(rest);
    }

    /// The check of all, and of how many they are.
    pub(super) fn finish(mut self) -> u64 {
        let bytes = self.bytes;
        self.update(&[0; WORD]);
        step(step(self.state, bytes), bytes)
    }
}

/// One to one in the state and in the word, so that one word that differs is always found.
const fn step(state: u64, word: u64) -> u64 {
    // Odd, with its bits well spread: 2^64 divided by the golden ratio.
    (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[&[u8]]) -> u64 {
        let mut digest = Digest::default();
        for part in parts {
            digest.update(part);
        }
        digest.finish()
    }

    #[test]
    fn it_is_the_same_however_the_bytes_come_and_another_for_other_bytes() {
        let bytes: Vec<u8> = (0..100).collect();
        for at in 0..bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(of(&[first, second]), of(&[&bytes]));
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert_ne!(of(&[&changed]), of(&[&bytes]));
            assert_ne!(of(&[first]), of(&[&bytes]));
        }
        assert_ne!(of(&[&[0; 8]]), of(&[&[0; 9]]));
    }

    #[test]
    fn what_ends_with_its_own_crc_is_told_from_what_does_so_too() {
        let with_crc = |text: &[u8]| [text, &crc32fast::hash(text).to_le_bytes()].concat();
        let [one, other] = [b"one disk", b"another!"].map(|text| with_crc(text));
        assert_eq!(crc32fast::hash(&one), crc32fast::hash(&other), "the reason for all this");
        assert_ne!(of(&[&one]), of(&[&other]));
    }
}
