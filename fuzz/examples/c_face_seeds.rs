//! Writes the scripts that the target `c_face` starts from: for each FTL and each chip a life with everything in it,
//! and for each kind of step that is rare in random bytes one with many of them. Run it from the repository's root when
//! the target reads bytes otherwise: `cargo run --manifest-path fuzz/Cargo.toml --example c_face_seeds`.

use std::fs;

const FOLDER: &str = "fuzz/seeds/c_face";

/// Chips that the target knows.
const CHIPS: u8 = 7;

/// Steps of a life.
const STEPS: usize = 40;

// The first byte of a step, as `World::step` reads it, and the second one of a request.
const FORMAT: u8 = 0;
const FORMAT_OTHERWISE: u8 = 1;
const MOUNT: u8 = 2;
const MOUNT_OTHERWISE: u8 = 4;
const MOUNT_AS_OTHER: u8 = 5;
const WRONG_START: u8 = 6;
const ASK_BEFORE: u8 = 7;
const ARM: u8 = 8;
const EXAMINE: u8 = 10;
const CLOSE: u8 = 11;
const WRONG_CALL: u8 = 12;
const OVERWRITE: u8 = 14;
const INSIDE: u8 = 15;
const REQUEST: u8 = 16;
const WRITE: u8 = 0;
const TRIM: u8 = 6;
const READ: u8 = 8;
const WORK: u8 = 9;

/// Numbers that look random and are the same each time.
struct Dice(u32);

impl Dice {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 24) as u8
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }
}

/// A script of one device.
struct Life {
    bytes: Vec<u8>,
    dice: Dice,
}

impl Life {
    /// A chip without a bad block, with a usual configuration, is formatted.
    fn new(ftl: u8, chip: u8) -> Self {
        let mut dice = Dice(u32::from(ftl) << 8 | u32::from(chip));
        let [choice, share] = dice.bytes();
        let mut bytes = vec![ftl, chip, 0];
        // Every other driver has a buffer, which lies somewhere.
        bytes.extend(if chip.is_multiple_of(2) { &[0][..] } else { &[0x42, 0] });
        bytes.extend([choice, 0, share, FORMAT, 8]);
        Self { bytes, dice }
    }

    fn step<const N: usize>(&mut self, kind: u8) {
        self.bytes.push(kind);
        let details: [u8; N] = self.dice.bytes();
        self.bytes.extend(details);
    }

    fn request(&mut self) {
        self.bytes.push(REQUEST);
        match self.dice.byte() % 8 {
            0 => self.step::<3>(TRIM),
            1 => self.step::<4>(READ),
            2 => {
                let work = WORK + self.dice.byte() % 7;
                self.step::<1>(work);
            }
            _ => self.step::<5>(WRITE),
        }
    }

    /// Each of the other steps in turn, between requests.
    fn all(mut self) -> Vec<u8> {
        for step in 0..STEPS {
            match step % 20 {
                3 => self.step::<1>(MOUNT),
                5 => self.step::<6>(MOUNT_OTHERWISE),
                7 | 14 => self.step::<5>(ARM),
                9 => self.step::<2>(WRONG_START),
                11 | 18 => self.step::<3>(WRONG_CALL),
                13 => self.bytes.push(INSIDE),
                16 => self.step::<3>(MOUNT_AS_OTHER),
                17 => self.step::<6>(EXAMINE),
                19 => self.bytes.push(CLOSE),
                _ => self.request(),
            }
        }
        self.bytes
    }

    /// One step again and again, with requests and mounts between.
    fn many(mut self, kind: u8) -> Vec<u8> {
        for _ in 0..STEPS / 4 {
            self.step::<6>(kind);
            self.request();
            self.request();
            self.step::<1>(MOUNT);
        }
        self.bytes
    }
}

fn main() -> std::io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    for (ftl, name) in [(0, "page-store"), (1, "hybrid")] {
        for chip in 0..CHIPS {
            fs::write(format!("{FOLDER}/{name}-{chip}"), Life::new(ftl, chip).all())?;
        }
        let rare = [
            (FORMAT_OTHERWISE, "formats"),
            (MOUNT_OTHERWISE, "mounts"),
            (WRONG_START, "wrong-starts"),
            (ASK_BEFORE, "questions"),
            (ARM, "faults"),
            (EXAMINE, "examinations"),
            (WRONG_CALL, "wrong-calls"),
            (OVERWRITE, "overwritten"),
        ];
        for (kind, what) in rare {
            let chip = kind % CHIPS;
            fs::write(format!("{FOLDER}/{name}-{what}"), Life::new(ftl, chip).many(kind))?;
        }
    }
    Ok(())
}
