//! The utilization throttle: the fast area must not wear out before the main area.
//!
//! The life of each region is a number of erases: its blocks times their endurance. The throttle is
//! active while the fast area has spent notably more of its life than the main area (Chang
//! §3.4). The paper compares two quotients, `rw_s = (Es/ns) / (ds/dm)` and `rw_m = Em/nm`;
//! multiplied out, `rw_s ≥ rw_m` is `Es·dm·nm − Em·ds·ns ≥ 0`, a balance that each erase changes by a
//! constant. So no erase needs a division, or a sum over blocks.
//!
//! While the throttle is active, writes of sectors that are not in the log are rejected, and
//! when the log is closed, all writes are; the request path does that. The throttle itself controls `k`,
//! the window: how many blocks the log may span. While it stays active the window shrinks, so that
//! data must be hotter to stay; while it stays inactive the window grows back.
//!
//! What the paper leaves open, and what is done here:
//!
//! On a new device `0 ≥ 0` holds, so the throttle would be active before there is any wear. Ours is
//! active only from a lead of *one mean cycle* on, the slack: one erase of each log block. The
//! log erases its blocks in turn, so a smaller lead may be half a turn of the ring and no wear;
//! and of an endurance of 100,000 it is a thousandth of a percent.
//!
//! While the throttle is active the log still takes sectors that it holds. Data that is hot
//! enough to stay in the smallest window would wear it on and on. The paper has no answer
//! to that. Ours is a second limit: at a lead of *two mean cycles* the log is *closed*, and
//! everything goes to the main area, whose wear catches up until it opens again. What the log holds then is
//! still to be erased when its window shrinks, at most one cycle. So with `e` for mean erase counts
//! `e_log ≤ e_chain · (d_log / d_chain) + 3` holds at every moment.
//!
//! "For a period of time" counts requests: those that came while active less those that came while
//! not. The window changes when that difference reaches a period. Once wear is in balance the
//! throttle switches with every few erases. The window then shrinks if it is active for most
//! requests, grows if it is active for few, and stays if it is active for half of them.

mod image;

use ftl_iface::BlockCount;

/// Options of the throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleConfig {
    /// Whether it may ever become active. One that may not keeps the window as wide as it gets.
    pub enabled: bool,
    /// Blocks of the fast area. None at all: the throttle stays inactive.
    pub fast_blocks: BlockCount,
    /// Blocks of the main area.
    pub main_blocks: BlockCount,
    /// Erases that a block of the fast area endures.
    pub fast_endurance: u32,
    /// Erases that a block of the main area endures.
    pub main_endurance: u32,
    /// Blocks that the log needs to make progress: the window never shrinks below.
    pub window_floor: BlockCount,
    /// The window to begin with, and the widest.
    pub window_max: BlockCount,
    /// Write requests between two steps of the window.
    pub period: u32,
}

impl ThrottleConfig {
    /// The period that the paper proposes (Algorithm 2, step 7).
    pub const PERIOD: u32 = 1_000;
}

/// The utilization throttle.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    enabled: bool,
    /// What an erase in the fast area adds to the balance: the life of the main area, in
    /// erases.
    fast_erase: i64,
    /// What an erase in the main area takes from it: the life of the fast area.
    main_erase: i64,
    /// The balance from which on the throttle is active.
    slack: i64,
    /// The balance from which on the log is closed.
    limit: i64,
    balance: i64,
    /// Requests under throttle less requests without, since the window last moved.
    pressure: i64,
    period: u64,
    window: BlockCount,
    floor: BlockCount,
    max: BlockCount,
    step: BlockCount,
}

impl Throttle {
    /// The throttle of a new device.
    pub fn new(config: ThrottleConfig) -> Self {
        let fast_erase = life(config.main_blocks, config.main_endurance);
        // At least one, so that a region without blocks or endurance finds no wear at 0 ≥ 0 either.
        let slack = fast_erase.saturating_mul(i64::from(config.fast_blocks.get())).max(1);
        Self {
            enabled: config.enabled,
            fast_erase,
            main_erase: life(config.fast_blocks, config.fast_endurance),
            slack,
            limit: slack.saturating_mul(2),
            balance: 0,
            pressure: 0,
            period: u64::from(config.period.max(1)),
            window: config.window_max,
            floor: config.window_floor.min(config.window_max),
            max: config.window_max,
            step: step(config.fast_blocks),
        }
    }

    /// Takes up the wear of a device that was mounted, and the window it had when it was last
    /// known.
    pub fn restore(&mut self, fast_erases: u64, main_erases: u64, window: BlockCount) {
        let spent = |erases: u64, each: i64| i128::from(erases) * i128::from(each);
        let balance = spent(fast_erases, self.fast_erase) - spent(main_erases, self.main_erase);
        self.balance =
            i64::try_from(balance).unwrap_or(if balance < 0 { i64::MIN } else { i64::MAX });
        self.pressure = 0;
        self.window = window.max(self.floor).min(self.max);
    }

    /// Notes that a block of the fast area was erased.
    #[inline]
    pub fn note_fast_erase(&mut self) {
        // The balance stops at its ends. It gets there only when the lives of the regions,
        // multiplied, exceed 2^63 (those of 20 GB with 256 MB: 2^56) and one region was spent while
        // the other was hardly used.
        self.balance = self.balance.saturating_add(self.fast_erase);
    }

    /// Notes that a block of the main area was erased.
    #[inline]
    pub fn note_main_erase(&mut self) {
        self.balance = self.balance.saturating_sub(self.main_erase);
    }

    /// Notes a write request, accepted or not, and moves the window when it is time.
    #[inline]
    pub fn note_request(&mut self) {
        self.pressure += if self.is_active() { 1 } else { -1 };
        if self.pressure.unsigned_abs() >= self.period {
            self.move_window();
        }
    }

    /// Whether the fast area wears too fast, so that writes of sectors unknown to it are rejected.
    #[inline]
    pub const fn is_active(&self) -> bool {
        self.enabled && self.balance >= self.slack
    }

    /// Whether the fast area leads by so much that nothing may enter it, known or not.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.enabled && self.balance >= self.limit
    }

    /// How many blocks the log may span between its tail and its head.
    #[inline]
    pub const fn window(&self) -> BlockCount {
        self.window
    }

    #[cold]
    fn move_window(&mut self) {
        self.window = if self.pressure > 0 {
            self.window.saturating_sub(self.step).max(self.floor)
        } else {
            self.window.checked_add(self.step).unwrap_or(self.max).min(self.max)
        };
        self.pressure = 0;
    }
}

/// How many erases a region endures. One of more than 2^63 counts as that many.
fn life(blocks: BlockCount, endurance: u32) -> i64 {
    let erases = u64::from(blocks.get()) * u64::from(endurance);
    i64::try_from(erases).unwrap_or(i64::MAX)
}

/// How far the window moves at once: the paper's 100 blocks of 2,048 (Algorithm 2, step 8, on 256
/// MB of 128-KiB blocks), scaled to the region.
fn step(fast_blocks: BlockCount) -> BlockCount {
    const PAPER_STEP: u64 = 100;
    const PAPER_BLOCKS: u64 = 2_048;
    let step = u64::from(fast_blocks.get()) * PAPER_STEP / PAPER_BLOCKS;
    BlockCount::new((step as u32).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Configuration C3 of the paper with 256 MB of SLC: 2,048 blocks for 100,000 erases against
    /// 43,008 for 5,000.
    const C3: ThrottleConfig = ThrottleConfig {
        enabled: true,
        fast_blocks: BlockCount::new(2_048),
        main_blocks: BlockCount::new(43_008),
        fast_endurance: 100_000,
        main_endurance: 5_000,
        window_floor: BlockCount::new(4),
        window_max: BlockCount::new(2_048),
        period: ThrottleConfig::PERIOD,
    };

    fn requests(throttle: &mut Throttle, count: u32) -> u32 {
        (0..count).for_each(|_| throttle.note_request());
        throttle.window().get()
    }

    /// A throttle whose fast area is far ahead.
    fn worn(config: ThrottleConfig) -> Throttle {
        let mut throttle = Throttle::new(config);
        throttle.restore(u64::from(u32::MAX), 0, config.window_max);
        throttle
    }

    #[test]
    fn a_new_device_is_not_throttled_though_zero_is_not_below_zero() {
        assert!(!Throttle::new(C3).is_active());
        let nothing = BlockCount::ZERO;
        for config in [
            ThrottleConfig { fast_blocks: nothing, ..C3 },
            ThrottleConfig { main_blocks: nothing, ..C3 },
            ThrottleConfig { fast_endurance: 0, main_endurance: 0, ..C3 },
        ] {
            let mut throttle = Throttle::new(config);
            assert!(!throttle.is_active(), "{config:?}");
            throttle.note_main_erase();
            assert!(!throttle.is_active(), "{config:?}");
        }
    }

    #[test]
    fn the_throttle_is_active_from_one_mean_cycle_of_lead_on_and_until_the_lead_is_less() {
        let mut throttle = Throttle::new(C3);
        for erase in 1..=2_048 {
            assert!(!throttle.is_active(), "before erase {erase}");
            throttle.note_fast_erase();
        }
        assert!(throttle.is_active());
        throttle.note_main_erase();
        assert!(!throttle.is_active());
        // An erase of the log weighs 5,000 · 43,008, one of a chain 100,000 · 2,048: 21 to 20.
        throttle.note_fast_erase();
        assert!(throttle.is_active());
    }

    #[test]
    fn the_log_is_closed_from_two_mean_cycles_of_lead_on_and_until_the_lead_is_less() {
        let mut throttle = Throttle::new(C3);
        for erase in 1..=2 * 2_048 {
            assert!(!throttle.is_closed(), "before erase {erase}");
            throttle.note_fast_erase();
        }
        assert!(throttle.is_closed() && throttle.is_active());
        throttle.note_main_erase();
        assert!(!throttle.is_closed() && throttle.is_active());
    }

    #[test]
    fn a_throttle_that_is_switched_off_is_never_active() {
        let mut throttle = worn(ThrottleConfig { enabled: false, ..C3 });
        assert!(!throttle.is_active() && !throttle.is_closed());
        assert_eq!(requests(&mut throttle, 100_000), 2_048);
    }

    #[test]
    fn the_window_shrinks_by_the_papers_step_each_period_under_throttle_and_grows_back() {
        let mut throttle = worn(C3);
        assert_eq!(requests(&mut throttle, 999), 2_048);
        assert_eq!(requests(&mut throttle, 1), 1_948);
        assert_eq!(requests(&mut throttle, 1_000), 1_848);
        assert_eq!(requests(&mut throttle, 1_000_000), 4, "the floor");
        throttle.restore(0, 0, throttle.window());
        assert_eq!(requests(&mut throttle, 1_000), 104);
        assert_eq!(requests(&mut throttle, 1_000_000), 2_048, "the widest");
    }

    #[test]
    fn the_window_stays_where_it_is_while_the_throttle_is_active_half_of_the_time() {
        // Here an erase of either region weighs the same: 105,000 · 2,048 is 5,000 · 43,008.
        let mut throttle = Throttle::new(ThrottleConfig { fast_endurance: 105_000, ..C3 });
        throttle.restore(2_048, 0, BlockCount::new(500));
        for turn in 0..100_000 {
            throttle.note_request();
            assert_eq!(throttle.is_active(), turn % 2 == 0);
            if throttle.is_active() {
                throttle.note_main_erase();
            } else {
                throttle.note_fast_erase();
            }
        }
        assert_eq!(throttle.window().get(), 500);
    }

    #[test]
    fn the_step_scales_with_the_region_and_is_at_least_one() {
        let steps = [0, 8, 128, 1_024, 2_048, u32::MAX].map(|n| step(BlockCount::new(n)).get());
        assert_eq!(steps, [1, 1, 6, 50, 100, 209_715_199]);
    }

    #[test]
    fn a_window_that_was_restored_lies_between_floor_and_widest() {
        let mut throttle = Throttle::new(C3);
        for (was, is) in [(0, 4), (4, 4), (700, 700), (u32::MAX, 2_048)] {
            throttle.restore(1, 1, BlockCount::new(was));
            assert_eq!(throttle.window().get(), is);
        }
        let floor_above = ThrottleConfig { window_floor: BlockCount::new(9_999), ..C3 };
        assert_eq!(requests(&mut worn(floor_above), 5_000), 2_048);
    }

    /// Runs a device on which each turn wants `log_wanted` log erases for `chain_steady` chain
    /// erases, and gets the log erases only while the throttle is inactive: what is rejected wears
    /// the main area instead, by one erase. Checks at each erase that the fast area leads by no
    /// more than the slack and the erase at hand; returns the ratio of mean erase counts in
    /// thousandths.
    fn block_wearing_ratio(config: ThrottleConfig, log_wanted: u64, chain_steady: u64) -> u64 {
        let mut throttle = Throttle::new(config);
        let (mut log, mut chain) = (0_u64, 0_u64);
        let blocks = |count: BlockCount| u64::from(count.get());
        let (ns, nm) = (blocks(config.fast_blocks), blocks(config.main_blocks));
        let (ds, dm) = (u64::from(config.fast_endurance), u64::from(config.main_endurance));
        while chain < 40 * nm {
            for _ in 0..chain_steady {
                throttle.note_main_erase();
                chain += 1;
            }
            for _ in 0..log_wanted {
                if throttle.is_active() {
                    throttle.note_main_erase();
                    chain += 1;
                } else {
                    throttle.note_fast_erase();
                    log += 1;
                }
                // e_log ≤ e_chain · ds/dm + 1 + 1/ns, multiplied by ns·dm·nm.
                assert!(log * dm * nm <= chain * ds * ns + (ns + 1) * dm * nm);
            }
        }
        1_000 * log * nm / (ns * chain)
    }

    #[test]
    fn a_small_log_region_settles_at_the_endurance_ratio_within_the_slack() {
        // 16 MB of SLC, where the paper's Fig. 12b shows 10 for C2 and 20 for C3. After 40 mean
        // cycles of the main area the slack of one log cycle is 1/40 of a unit of the ratio:
        // 0.025, and rounding.
        let small = ThrottleConfig { fast_blocks: BlockCount::new(128), ..C3 };
        for (main_endurance, ratio) in [(10_000, 10_000), (5_000, 20_000)] {
            let config = ThrottleConfig { main_endurance, ..small };
            let settled = block_wearing_ratio(config, 50, 1);
            assert!((ratio..=ratio + 26).contains(&settled), "{settled} against {ratio}");
        }
    }

    #[test]
    fn a_large_log_region_stays_below_the_endurance_ratio_and_is_never_throttled() {
        // Half as many erases, shared by a 21st of the blocks: 10.5 to 1.
        let settled = block_wearing_ratio(C3, 1, 2);
        assert!((10_480..=10_500).contains(&settled), "{settled}");
    }

    proptest! {
        #[test]
        fn the_running_balance_agrees_with_the_exact_quotients(
            (ns, nm) in (1_u32..=65_534, 1_u32..=65_534),
            (ds, dm) in (0_u32..=1_000_000, 0_u32..=1_000_000),
            (log, chain) in (0_u64..=1 << 30, 0_u64..=1 << 30),
            erases in prop::collection::vec(any::<bool>(), 0..300),
        ) {
            let mut throttle = Throttle::new(ThrottleConfig {
                fast_blocks: BlockCount::new(ns),
                main_blocks: BlockCount::new(nm),
                fast_endurance: ds,
                main_endurance: dm,
                ..C3
            });
            let (mut es, mut em) = (u128::from(log), u128::from(chain));
            throttle.restore(log, chain, BlockCount::ZERO);
            let [ns, nm, ds, dm] = [ns, nm, ds, dm].map(u128::from);
            for in_log in erases {
                if in_log {
                    throttle.note_fast_erase();
                    es += 1;
                } else {
                    throttle.note_main_erase();
                    em += 1;
                }
                // (es/ns − 1) / ds ≥ (em/nm) / dm without a quotient. A region that endures nothing
                // never leads.
                let exact = dm > 0 && es * dm * nm >= em * ds * ns + ns * dm * nm;
                prop_assert_eq!(throttle.is_active(), exact);
                let twice = dm > 0 && es * dm * nm >= em * ds * ns + 2 * ns * dm * nm;
                prop_assert_eq!(throttle.is_closed(), twice);
            }
        }

        #[test]
        fn no_figures_overflow(
            [fast_blocks, main_blocks, window_floor, window_max, window] in
                prop::array::uniform5(any::<u32>()).prop_map(|all| all.map(BlockCount::new)),
            (fast_endurance, main_endurance, period) in any::<(u32, u32, u32)>(),
            (fast_erases, main_erases) in any::<(u64, u64)>(),
            calls in prop::collection::vec(0..3, 0..100),
        ) {
            let mut throttle = Throttle::new(ThrottleConfig {
                enabled: true, fast_blocks, main_blocks, fast_endurance, main_endurance,
                window_floor, window_max, period: period % 4,
            });
            throttle.restore(fast_erases, main_erases, window);
            for call in calls {
                match call {
                    0 => throttle.note_fast_erase(),
                    1 => throttle.note_main_erase(),
                    _ => throttle.note_request(),
                }
                prop_assert!(throttle.window() <= window_max);
                prop_assert!(throttle.window() >= window_floor.min(window_max));
            }
        }
    }
}
