//! The choices for block chains that Chang's paper leaves open, as parameters of the systems that have chains.

use ftl_core::Config;
use ftl_core::config::ChainVictims;

use crate::input::spec::{Parameter, Values};

pub(super) const CHAINS: [Parameter; 6] = [
    Parameter { name: "cache", default: "48", title: "block chains whose map is kept in RAM" },
    Parameter { name: "chain", default: "4", title: "log blocks of a chain before it is folded" },
    Parameter {
        name: "low",
        default: "8",
        title: "folding begins when no more MLC blocks than this are free",
    },
    Parameter {
        name: "copies",
        default: "4",
        title: "page copies of a fold per page that the host writes; 255: most folds finish in one request",
    },
    Parameter {
        name: "victims",
        default: "idle",
        title: "the chain to fold next: idle, or the least-used of a few idle ones, which needs sketches",
    },
    Parameter {
        name: "sketch",
        default: "0",
        title: "RAM per chain in 16-bit units, 0 to 4, for a sketch of what its log blocks hold: reads scan less",
    },
];

/// Sets them in a configuration.
pub(super) fn apply(values: &Values, config: &mut Config) -> Result<(), String> {
    config.mapping_cache_entries = whole(values, "cache", u16::MAX)?;
    config.chain_log_blocks_max = whole(values, "chain", u8::MAX)?;
    config.free_blocks_low = whole(values, "low", u16::MAX)?;
    config.copies_per_page = whole(values, "copies", u8::MAX)?;
    config.chain_sketch_halves = whole(values, "sketch", 4)?;
    let sketched = config.chain_sketch_halves > 0;
    config.victims = values.get("victims", |text| match text {
        "idle" => Ok(ChainVictims::Idle),
        "least-used" if sketched => Ok(ChainVictims::LeastUsed),
        "least-used" => {
            Err("the sketches tell how much chains are used: give sketch=1 to 4 too".into())
        }
        _ => Err("write idle or least-used".into()),
    })?;
    Ok(())
}

/// A whole number up to a limit.
fn whole<T>(values: &Values, name: &'static str, most: T) -> Result<T, String>
where
    T: TryFrom<u64> + Into<u64> + Copy,
{
    let most = most.into();
    values.get(name, |text| {
        let number = text.parse().ok().filter(|number| *number <= most);
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("write a whole number up to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::spec;

    fn config(text: &str) -> Result<Config, String> {
        let mut config = Config::CONVENTIONAL;
        apply(&spec::parse(text, &CHAINS)?, &mut config)?;
        Ok(config)
    }

    #[test]
    fn what_is_left_out_is_as_the_ftl_has_it() {
        assert_eq!(config("conventional"), Ok(Config::CONVENTIONAL));
    }

    #[test]
    fn every_freedom_reaches_the_ftl_and_what_cannot_be_is_told() {
        let all = "x?cache=7&chain=2&low=30&copies=255&sketch=4&victims=least-used";
        let expected = Config {
            mapping_cache_entries: 7,
            chain_log_blocks_max: 2,
            free_blocks_low: 30,
            copies_per_page: 255,
            chain_sketch_halves: 4,
            victims: ChainVictims::LeastUsed,
            ..Config::CONVENTIONAL
        };
        assert_eq!(config(all), Ok(expected));
        for (text, told) in [
            ("x?cache=65536", "up to 65535"),
            ("x?copies=-1", "up to 255"),
            ("x?sketch=5", "up to 4"),
            ("x?victims=least-used", "give sketch=1 to 4"),
            ("x?victims=young", "idle or least-used"),
        ] {
            let reason = config(text).unwrap_err();
            assert!(reason.contains(told), "{reason}");
        }
    }
}
