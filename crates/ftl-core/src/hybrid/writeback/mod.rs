//! Write-back: when data leaves the log region for the chain region.
//!
//! Before the log's tail block is erased, its valid sectors go to their chains, or once more to the
//! log's head. Three rules decide that (Chang §3.6), and each has a switch, so that its effect
//! can be measured:
//!
//! (a) A sector leaves only if its chain already has a log block. So it opens no new one, and waits for more sectors of
//! its chain.
//!
//! (b) A fold also collects the chain's sectors from the log, since it writes the whole block
//! anyway.
//!
//! (c) Rule (a) is suspended, and every tail sector leaves, while the update ratio is notably lower than
//! usual. (The update ratio is the share of sectors written to the log that the log already holds.) Then the log
//! has filled with data that cannot leave, or the host accesses other data.
//!
//! The ratio is averaged over a short time, the present, and a long one, the usual. *Notably* is below three quarters
//! of the usual; the suspension ends at seven eighths, so that a ratio at the limit does not switch it back and forth.
//! Both averages follow the workload: if the host keeps making fewer updates, that becomes the usual ratio, and (a) is
//! restored, within five long periods even without any update. The paper gives no lengths; here the short average
//! covers about a thousand requests, like its other periods, and the long one sixteen times as many. A thousand
//! requests are enough to distinguish a ratio of a tenth from three quarters of it. At a ratio of a few percent chance
//! alone may suspend (a), which is no loss, since a log that hardly any write hits holds nothing worth keeping.

mod image;

use ftl_iface::SectorCount;

use crate::config::WriteBackConfig;

/// Requests that are summed before the averages are updated. That reduces the work per request to two additions, and
/// keeps the sums large against the rounding of an average, which is less than one sector per batch: under 2 % even if
/// every request writes one sector.
const BATCH: u8 = 64;

/// The short average spans 2^4 batches: 1,024 requests.
const SHORT: u32 = 4;

/// The long average spans 2^8 batches: 16,384 requests.
const LONG: u32 = 8;

/// Batches until both averages cover their full span.
const WARM: u16 = 1 << LONG;

/// A share below six eighths of the usual one suspends rule (a).
const NOTABLY_BELOW: u64 = 6;

/// A share of seven eighths ends the suspension.
const USUAL_AGAIN: u64 = 7;

/// The write-back policy.
#[derive(Clone, Copy, Debug)]
pub struct WriteBack {
    config: WriteBackConfig,
    /// The requests since the averages were last updated.
    batch: Share,
    requests: u8,
    short: Share,
    long: Share,
    /// Batches that the averages have seen, up to [`WARM`].
    batches: u16,
    suspended: bool,
}

impl WriteBack {
    /// The policy of a device that has just been formatted or mounted.
    pub const fn new(config: WriteBackConfig) -> Self {
        Self {
            config,
            batch: Share::NONE,
            requests: 0,
            short: Share::NONE,
            long: Share::NONE,
            batches: 0,
            suspended: false,
        }
    }

    /// Notes a write to the log: its sectors, and how many of them the log held already.
    #[inline]
    pub fn note_hot_write(&mut self, updates: SectorCount, sectors: SectorCount) {
        debug_assert!(updates <= sectors, "{updates} were updated by a write of {sectors}");
        self.batch.add(Share { updates: updates.get(), sectors: sectors.get() });
        self.requests += 1;
        if self.requests >= BATCH {
            self.move_averages();
        }
    }

    /// Whether a valid sector of the log's tail leaves for its chain; else it is copied to the
    /// log's head.
    #[inline]
    pub const fn tail_sector_leaves(&self, chain_has_log_block: bool) -> bool {
        !self.config.follow_log_blocks || self.suspended || chain_has_log_block
    }

    /// Whether a fold collects the chain's sectors from the log, too.
    #[inline]
    pub const fn fold_collects(&self) -> bool {
        self.config.collect_on_fold
    }

    /// Whether rule (a) is suspended, because the share of updates is notably below its usual
    /// level.
    #[cfg(test)]
    const fn is_suspended(&self) -> bool {
        self.suspended
    }

    #[cold]
    fn move_averages(&mut self) {
        self.short.follow(self.batch, SHORT);
        self.long.follow(self.batch, LONG);
        self.batch = Share::NONE;
        self.requests = 0;
        if self.batches < WARM {
            self.batches += 1;
        }
        let limit = if self.suspended { USUAL_AGAIN } else { NOTABLY_BELOW };
        let falls = self.batches == WARM && self.short.is_below(limit, self.long);
        self.suspended = self.config.suspend_when_updates_fall && falls;
    }
}

/// Sectors written, and those of them that were updates: of a batch, or fading sums over many.
///
/// A fading sum loses a fixed fraction with each batch. Both sums of a share fade equally, so their quotient is the
/// average of the batches, each weighted by its sectors, from the first batch on.
#[derive(Clone, Copy, Debug)]
struct Share {
    updates: u32,
    sectors: u32,
}

impl Share {
    const NONE: Self = Self { updates: 0, sectors: 0 };

    /// Adds sums. They stop at their largest value: 64 requests of 1,024 sectors, 256 times, are
    /// 2^24.
    fn add(&mut self, other: Self) {
        self.updates = self.updates.saturating_add(other.updates);
        self.sectors = self.sectors.saturating_add(other.sectors);
    }

    /// Lets the sums fade by 2^−`span`, and adds a batch.
    fn follow(&mut self, batch: Self, span: u32) {
        self.updates -= self.updates >> span;
        self.sectors -= self.sectors >> span;
        self.add(batch);
    }

    /// Whether this share is below that many eighths of the other: `u/s < n/8 · U/S`, without the
    /// quotients. Rounding the eighth down loses seven parts of a product that is in the millions
    /// once the averages are warm.
    fn is_below(self, eighths: u64, other: Self) -> bool {
        let mine = u64::from(self.updates) * u64::from(other.sectors);
        let others = u64::from(other.updates) * u64::from(self.sectors);
        mine < others / 8 * eighths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: WriteBackConfig = WriteBackConfig {
        follow_log_blocks: true,
        collect_on_fold: true,
        suspend_when_updates_fall: true,
    };

    /// Requests until both averages are warm.
    const WARM_REQUESTS: u32 = BATCH as u32 * WARM as u32;

    /// Writes two sectors per request, `percent` of which are updates, until the suspension begins or ends. Returns
    /// after how many requests that was, or `None` if it took more than `limit`.
    fn until(policy: &mut WriteBack, suspended: bool, percent: u32, limit: u32) -> Option<u32> {
        let mut random = 1_u64;
        (1..=limit).find(|_| {
            let mut draw = || {
                // Knuth's MMIX generator: its upper bits are random enough to draw from.
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                u32::from((random >> 33) % 100 < u64::from(percent))
            };
            let updates = draw() + draw();
            policy.note_hot_write(SectorCount::new(updates), SectorCount::new(2));
            policy.is_suspended() == suspended
        })
    }

    fn warm(config: WriteBackConfig, percent: u32) -> WriteBack {
        let mut policy = WriteBack::new(config);
        assert_eq!(until(&mut policy, true, percent, 2 * WARM_REQUESTS), None);
        policy
    }

    #[test]
    fn a_tail_sector_leaves_only_for_a_chain_with_a_log_block() {
        let policy = WriteBack::new(ALL);
        assert!(policy.tail_sector_leaves(true));
        assert!(!policy.tail_sector_leaves(false));
    }

    #[test]
    fn with_the_first_rule_off_every_tail_sector_leaves() {
        let policy = WriteBack::new(WriteBackConfig { follow_log_blocks: false, ..ALL });
        assert!(policy.tail_sector_leaves(true) && policy.tail_sector_leaves(false));
    }

    #[test]
    fn folds_collect_as_configured_also_while_suspended() {
        assert!(WriteBack::new(ALL).fold_collects());
        assert!(!WriteBack::new(WriteBackConfig { collect_on_fold: false, ..ALL }).fold_collects());
        let mut policy = warm(ALL, 60);
        assert!(until(&mut policy, true, 10, WARM_REQUESTS).is_some());
        assert!(policy.fold_collects());
    }

    #[test]
    fn a_steady_share_of_updates_never_suspends() {
        for percent in [0, 10, 50, 90, 100] {
            let mut policy = warm(ALL, percent);
            assert_eq!(until(&mut policy, true, percent, 1_000_000), None, "{percent} %");
        }
    }

    #[test]
    fn a_falling_share_suspends_within_a_short_span_and_every_tail_sector_leaves() {
        let mut policy = warm(ALL, 60);
        let after = until(&mut policy, true, 20, WARM_REQUESTS).expect("60 % to 20 %");
        assert!((256..=1_024).contains(&after), "after {after} requests");
        assert!(policy.tail_sector_leaves(false));
    }

    #[test]
    fn a_share_that_falls_by_less_than_a_quarter_does_not_suspend() {
        let mut policy = warm(ALL, 60);
        assert_eq!(until(&mut policy, true, 50, 4 * WARM_REQUESTS), None);
    }

    #[test]
    fn a_share_that_recovers_ends_the_suspension_within_a_short_span() {
        let mut policy = warm(ALL, 60);
        until(&mut policy, true, 20, WARM_REQUESTS).expect("60 % to 20 %");
        assert_eq!(until(&mut policy, false, 20, 2_000), None);
        let after = until(&mut policy, false, 60, WARM_REQUESTS).expect("20 % to 60 %");
        assert!(after <= 2_048, "after {after} requests");
        assert!(!policy.tail_sector_leaves(false));
        assert_eq!(until(&mut policy, true, 60, 4 * WARM_REQUESTS), None);
    }

    #[test]
    fn a_lower_share_that_stays_becomes_the_usual_one() {
        for percent in [40, 20, 0] {
            let mut policy = warm(ALL, 60);
            until(&mut policy, true, percent, WARM_REQUESTS).expect("a fall from 60 %");
            let after = until(&mut policy, false, percent, 5 * WARM_REQUESTS);
            assert!(after > Some(8_192), "{percent} %: not before the long average has moved");
            assert_eq!(until(&mut policy, true, percent, 8 * WARM_REQUESTS), None, "{percent} %");
        }
    }

    #[test]
    fn nothing_is_suspended_before_both_averages_are_warm() {
        let mut policy = WriteBack::new(ALL);
        assert_eq!(until(&mut policy, true, 100, WARM_REQUESTS - 2_048), None);
        let after = until(&mut policy, true, 0, WARM_REQUESTS);
        assert_eq!(after, Some(2_048), "a fall that is seen as soon as it may be");
    }

    #[test]
    fn with_the_third_rule_off_a_fall_suspends_nothing() {
        let mut policy = warm(WriteBackConfig { suspend_when_updates_fall: false, ..ALL }, 100);
        assert_eq!(until(&mut policy, true, 0, 4 * WARM_REQUESTS), None);
    }

    proptest! {
        #[test]
        fn shares_compare_as_their_quotients_do(
            (u, s, v, t) in any::<(u32, u32, u32, u32)>(),
            eighths in 1_u64..=7,
        ) {
            let (mine, other) = (Share { updates: u, sectors: s }, Share { updates: v, sectors: t });
            let left = 8 * u128::from(u) * u128::from(t);
            let right = u128::from(eighths) * u128::from(v) * u128::from(s);
            // The rounded eighth lost at most seven parts, each times the number of eighths.
            let unsure = left < right && right <= left + 7 * u128::from(eighths);
            prop_assert!(unsure || mine.is_below(eighths, other) == (left < right));
        }

        #[test]
        fn no_sizes_overflow(sizes in prop::collection::vec(any::<(u32, u32)>(), 64..600)) {
            let mut policy = WriteBack::new(ALL);
            for (one, other) in sizes {
                let [updates, sectors] = [one.min(other), one.max(other)].map(SectorCount::new);
                policy.note_hot_write(updates, sectors);
            }
        }
    }
}
