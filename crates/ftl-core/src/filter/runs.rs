//! Writes that are small but not hot, because they continue a sequential run in the large region.
//!
//! Files are written as runs of large sequential requests, and the last request of a run is often small. By its size
//! it looks hot, although it is replaced together with the rest of the file. So the ends of the last few runs are
//! remembered; a write that begins at one of them belongs to that run.

use ftl_iface::{Sector, SectorCount};

/// Runs that may be under way at a time: files that are written beside each other.
const RUNS: usize = 8;

/// The end of no run: a capacity is counted in 32 bits, so that no write begins there.
const NOWHERE: Sector = Sector::new(u32::MAX);

/// Where the runs end that were written last.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    ends: [Sector; RUNS],
    /// The run that is forgotten for the next new one.
    oldest: u8,
}

impl Runs {
    /// No run is known.
    pub const NONE: Self = Self { ends: [NOWHERE; RUNS], oldest: 0 };

    /// Whether a write there continues a run.
    #[inline(never)]
    pub fn continues(&self, first: Sector) -> bool {
        self.ends.contains(&first)
    }

    /// Notes a write to the large region: it continues a run, or begins one.
    #[inline(never)]
    pub fn note(&mut self, first: Sector, count: SectorCount) {
        let end = first.checked_add(count).unwrap_or(NOWHERE);
        if let Some(run) = self.ends.iter_mut().find(|run| **run == first) {
            *run = end;
        } else if let Some(run) = self.ends.get_mut(usize::from(self.oldest)) {
            *run = end;
            self.oldest = (self.oldest + 1) % RUNS as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_continued_at_its_end_and_forgotten_after_eight_others() {
        let mut runs = Runs::NONE;
        let note = |runs: &mut Runs, first| runs.note(Sector::new(first), SectorCount::new(16));
        note(&mut runs, 0);
        assert!(runs.continues(Sector::new(16)) && !runs.continues(Sector::new(15)));
        note(&mut runs, 16);
        assert!(runs.continues(Sector::new(32)) && !runs.continues(Sector::new(16)));
        for run in 1..8 {
            note(&mut runs, run * 1_000);
        }
        assert!(runs.continues(Sector::new(32)), "eight runs are known");
        note(&mut runs, 9_000);
        assert!(!runs.continues(Sector::new(32)), "the one begun first is forgotten");
        assert!(runs.continues(Sector::new(1_016)));
    }
}
