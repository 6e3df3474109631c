//! The keys of a configuration file, and how `--config list` tells them.

use std::path::Path;

use ftl_core::Config;
use ftl_core::config::{LogRegion, PairedPages};
use ftl_iface::{Bytes, Corrected, SectorCount};
use serde::Deserialize;
use sim::Failure;
use sim::engine::systems::{self, Chosen};

use crate::base::files;

/// The longest file of a configuration.
const LONGEST: u64 = 64 << 10;

/// The keys of a configuration file. The names are those of [`Config`]; missing keys keep the system's values.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Keys {
    sector_bytes: Option<u32>,
    capacity_bytes: Option<u64>,
    log_blocks: Option<u16>,
    index_entries: Option<u32>,
    index_probes: Option<u8>,
    window_max: Option<u16>,
    chain_log_blocks_max: Option<u8>,
    mapping_cache_entries: Option<u16>,
    chain_sketch_halves: Option<u8>,
    free_blocks_low: Option<u16>,
    copies_per_page: Option<u8>,
    guard_paired_pages: Option<bool>,
    refresh_log_bits: Option<u16>,
    refresh_chain_bits: Option<u16>,
}

/// The keys, as `--config list` prints them.
pub(super) const KEYS: &str = "\
# For --system hybrid or conventional. Each key may be left out. Their meaning is that of ftl_core::Config.
sector_bytes = 2048           # the unit in which the FTL maps
capacity_bytes = 100000000    # what the host may use
log_blocks = 64               # of a device of one region: its first blocks become the log; 0: no log
index_entries = 4096          # buckets of the log's hash table
index_probes = 8              # buckets looked at for a sector
window_max = 60               # blocks between the log's tail and its head
chain_log_blocks_max = 4      # log blocks of a chain before it is folded
mapping_cache_entries = 16    # chains whose map is kept in RAM
chain_sketch_halves = 1       # 16 bits of RAM a chain, so many times
free_blocks_low = 8           # folding begins at so few free blocks
copies_per_page = 4           # steps of housekeeping a page that is written
guard_paired_pages = true     # copy what a power cut may ruin
refresh_log_bits = 1          # corrected bits from which a page is refreshed
refresh_chain_bits = 3
";

impl Keys {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::Arguments(format!("{}: {reason}", path.display()))
        };
        let text = files::text(path, LONGEST).map_err(|reason| wrong(&reason))?;
        files::keys(&text).map_err(|reason| wrong(&reason))
    }

    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Failure> {
        if let Some(bytes) = self.sector_bytes {
            config.sector_bytes = Bytes::new(bytes);
        }
        if let Some(bytes) = self.capacity_bytes {
            let sectors = bytes / u64::from(config.sector_bytes.get().max(1));
            let too_large = || Failure::Arguments("capacity_bytes: larger than any device".into());
            config.capacity = Some(SectorCount::new(sectors.try_into().map_err(|_| too_large())?));
        }
        if let Some(blocks) = self.log_blocks {
            config.log = match (config.log, blocks) {
                (_, 0) => LogRegion::None,
                (LogRegion::SlcRegion, _) => {
                    let reason = "log_blocks: on this device the SLC region is the log; set its size with --slc";
                    return Err(Failure::Arguments(reason.into()));
                }
                (_, blocks) => LogRegion::FirstBlocks(blocks),
            };
        }
        put(self.chain_log_blocks_max, &mut config.chain_log_blocks_max);
        put(self.mapping_cache_entries, &mut config.mapping_cache_entries);
        put(self.chain_sketch_halves, &mut config.chain_sketch_halves);
        put(self.free_blocks_low, &mut config.free_blocks_low);
        put(self.copies_per_page, &mut config.copies_per_page);
        put(self.index_probes, &mut config.index.probes);
        put(self.index_entries.map(Some), &mut config.index.entries);
        put(self.window_max.map(Some), &mut config.window_max);
        put(self.refresh_log_bits.map(Corrected::bits), &mut config.refresh.log);
        put(self.refresh_chain_bits.map(Corrected::bits), &mut config.refresh.chain);
        let guard = |guard| if guard { PairedPages::Guard } else { PairedPages::Accept };
        put(self.guard_paired_pages.map(guard), &mut config.paired_pages);
        Ok(())
    }
}

fn put<T>(said: Option<T>, place: &mut T) {
    if let Some(value) = said {
        *place = value;
    }
}

/// What can be set of that system: the keys of a file, or parameters beside its name.
pub(super) fn listed(system: &Chosen) -> String {
    let name = system.base();
    if ["hybrid", "conventional"].contains(&name) {
        return KEYS.into();
    }
    let heading = format!(
        "# For --system {name}, beside its name and joined by &: '{name}?entries=1024&cache=2'. Defaults:\n"
    );
    let parameters = systems::parameters(name).iter().map(|parameter| {
        let set = format!("{}={}", parameter.name, systems::firmware_default(parameter));
        format!("{set:30}# {}\n", parameter.title)
    });
    let lines: Vec<String> = [heading].into_iter().chain(parameters).collect();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_listed_is_read_and_no_other() {
        let keys: Keys = toml::from_str(KEYS).expect("the list is a configuration");
        let mut config = Config::one_region(10);
        keys.apply(&mut config).expect("a configuration");
        assert_eq!((config.log, config.mapping_cache_entries), (LogRegion::FirstBlocks(64), 16));
        assert_eq!(config.refresh.chain, Corrected::bits(3));
        assert!(toml::from_str::<Keys>("sector = 2048").is_err());
        assert!(keys.apply(&mut Config::HYBRID.clone()).is_err(), "its SLC region is the log");
    }

    #[test]
    fn the_keys_are_those_of_the_system() {
        let [hybrid, conventional, paged] =
            ["hybrid", "conventional", "paged"].map(|name| listed(&Chosen::parse(name).unwrap()));
        assert!(hybrid.contains("log_blocks = 64") && conventional == KEYS);
        assert!(paged.contains("\nentries=auto ") && !paged.contains("log_blocks"), "{paged}");
    }
}
