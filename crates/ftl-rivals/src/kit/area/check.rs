//! The invariants of an area.

use ftl_iface::Mode;

use super::{Area, GROUP, NOT_FULL, State};

impl Area {
    /// Checks that counts, keys and lists agree with each other and with the bits.
    pub(in crate::kit) fn check(&self) -> Result<(), String> {
        let mut listed = vec![0; self.blocks() as usize];
        for block in self.free.iter().flatten() {
            listed[*block as usize] += 1;
        }
        for block in 0..self.blocks() {
            let at = block as usize;
            let bits = self.valid_units(block).count() as u32;
            let name = self.block(block);
            if bits != self.valid(block) {
                return Err(format!("{name} counts {} valid units of {bits}", self.valid(block)));
            }
            let key = if self.is_full(block) { self.key(at) } else { NOT_FULL };
            if self.keys[at] != key {
                return Err(format!("{name} stands under {} among the full", self.keys[at]));
            }
            if listed[at] != usize::from(self.states[at] == State::Free) {
                return Err(format!(
                    "{name} is listed as free {} times, {:?}",
                    listed[at], self.states[at]
                ));
            }
            if self.states[at] == State::Free && bits > 0 {
                return Err(format!("{name} is free and holds {bits} valid units"));
            }
            let open = self.open.iter().flatten().filter(|open| **open == Some(block)).count();
            if open != usize::from(self.states[at] == State::Open) {
                return Err(format!("{name} is open {open} times, {:?}", self.states[at]));
            }
        }
        self.check_orders()?;
        for (keys, least) in self.keys.chunks(GROUP).zip(&self.least) {
            if keys.iter().min() != Some(least) {
                return Err(format!("a group of blocks is said to have {least} valid at least"));
            }
        }
        let free: usize = listed.iter().sum();
        if free != self.free_count as usize {
            return Err(format!("{free} blocks are free, and {} counted", self.free_count));
        }
        Ok(())
    }

    /// Checks that full blocks are listed once, by mode, in the order in which they were filled, and that the counts
    /// are right.
    fn check_orders(&self) -> Result<(), String> {
        self.filled.check()?;
        for mode in [Mode::Full, Mode::Slc] {
            let filled: Vec<u32> = self.filled.iter(mode as u8).collect();
            if let Some(stray) =
                filled.iter().find(|block| !self.is_full(**block) || self.mode(**block) != mode)
            {
                return Err(format!("{} is listed as full and is not", self.block(*stray)));
            }
            if !filled.is_sorted_by_key(|block| std::cmp::Reverse(self.filled_at(*block))) {
                return Err("full blocks are not listed in the order of their filling".into());
            }
            let count = |states: &[State]| {
                let modes = self.modes.iter().zip(&self.states);
                modes.filter(|(of, state)| **of == mode && states.contains(state)).count()
            };
            if count(&[State::Full]) != filled.len() {
                return Err(format!("{} blocks are listed as full", filled.len()));
            }
            if count(&[State::Full, State::Open]) != self.blocks_in(mode) as usize {
                return Err(format!("{} blocks are said to hold something", self.blocks_in(mode)));
            }
        }
        Ok(())
    }
}
