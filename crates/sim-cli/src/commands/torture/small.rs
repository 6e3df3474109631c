//! `tandem torture --exhaustive`: every small world, and scripts of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use sim::{Failure, show};
use torture::exhaustive::{
    self, BrokenEntry, Order, Shard, SmallScript, Until, WalkCounts, Walked,
};
use torture::{FtlName, Watcher};

use crate::flags::numbers;
use crate::output::table::{Edge, Table};

/// The arguments for small worlds.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SmallArgs {
    /// On the smallest devices try every sequence of N requests behind many prepared states, every power cut in them,
    /// every outcome of each, and a second cut in the mount or the request after it; 1 takes minutes, each more an
    /// hour and then days
    #[arg(long, value_name = "N", value_parser = numbers::within::<u8>(1, 6), conflicts_with_all = OTHERS)]
    exhaustive: Option<u8>,
    /// Try only every N-th part, beginning with the I-th; other machines try the others
    #[arg(long, requires = "exhaustive", value_name = "I/N")]
    shard: Option<Shard>,
    /// Try only this one of the smallest devices
    #[arg(long, requires = "exhaustive", value_name = "NAME")]
    small: Option<String>,
    /// Follow a script, as `--exhaustive` prints it; shows the operations on the device
    #[arg(long, value_name = "SCRIPT", conflicts_with_all = OTHERS, conflicts_with = "exhaustive")]
    script: Option<SmallScript>,
}

/// The arguments of the other methods.
const OTHERS: [&str; 13] = [
    "worlds", "lives", "device", "system", "requests", "seed", "seeds", "cuts", "at", "nested",
    "faults", "format", "bytes",
];

/// Broken promises told of one device.
const BROKEN_MAX: usize = 20;

impl SmallArgs {
    /// Does what they ask for, if they ask for anything.
    pub(super) fn report(
        &self,
        ftl: FtlName,
        watcher: &dyn Watcher,
    ) -> Result<Option<Small>, Failure> {
        if let Some(script) = &self.script {
            let replayed = exhaustive::replay(script).map_err(Failure::Arguments)?;
            return Ok(Some(Small::Followed(script.clone(), replayed)));
        }
        let Some(bound) = self.exhaustive else { return Ok(None) };
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let (device, until) = (self.small.clone(), Until::Tried);
        let order = Order { ftl, bound, shard, device, broken_max: BROKEN_MAX, until };
        let begun = Instant::now();
        let walked = exhaustive::exhaustive(&order, watcher).map_err(Failure::Arguments)?;
        Ok(Some(Small::Walked { order, walked, time: begun.elapsed() }))
    }
}

/// What came of it.
pub(super) enum Small {
    Walked { order: Order, walked: Vec<Walked>, time: Duration },
    Followed(SmallScript, exhaustive::Replayed),
}

impl Small {
    /// How many promises were broken.
    pub(super) fn violations(&self) -> usize {
        match self {
            Self::Walked { walked, .. } => walked.iter().map(|one| one.broken.len()).sum(),
            Self::Followed(_, replayed) => usize::from(replayed.broken.is_some()),
        }
    }

    /// Writes the JSON to its file, and the tables to `out`, unless the JSON goes there.
    pub(super) fn write(&self, json: Option<&Path>, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(path) = json else { return self.tables(out) };
        if path.as_os_str() == "-" {
            return Ok(self.write_json(out)?);
        }
        let failed = |reason| Failure::File { path: path.into(), reason };
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        self.write_json(&mut file).and_then(|()| file.flush()).map_err(failed)?;
        self.tables(out)
    }

    fn write_json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        match self {
            Self::Walked { order, walked, time } => {
                let counts = WalkCounts::of(order, walked, *time);
                serde_json::to_writer_pretty(&mut *out, &counts)?;
            }
            Self::Followed(script, replayed) => {
                let entries = BrokenEntry::followed(script, replayed);
                serde_json::to_writer_pretty(&mut *out, &entries)?;
            }
        }
        writeln!(out)
    }

    fn tables(&self, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Self::Walked { walked, time, .. } => tables(walked, *time, out),
            Self::Followed(_, replayed) => {
                for line in &replayed.history {
                    writeln!(out, "{line}")?;
                }
                let broken = replayed.broken.as_deref();
                Ok(writeln!(out, "\n{}", broken.unwrap_or("No promise is broken."))?)
            }
        }
    }
}

fn tables(walked: &[Walked], time: Duration, out: &mut dyn Write) -> Result<(), Failure> {
    let numbers = ["states", "transitions", "mounts", "broken"].map(|name| (name, Edge::Right));
    let mut table = Table::new([("device", Edge::Left)].into_iter().chain(numbers));
    for one in walked {
        let counts = [one.states, one.transitions, one.lives, one.broken.len() as u64];
        let [states, transitions, lives, broken] = counts.map(show::count);
        table.row([one.device.clone(), states, transitions, lives, broken]);
    }
    table.write(out)?;
    let sum = |count: fn(&Walked) -> u64| walked.iter().map(count).sum::<u64>();
    let transitions = sum(|one| one.transitions);
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    let rate = (transitions as f64 / time.as_secs_f64().max(0.001)) as u64;
    writeln!(
        out,
        "\n{} states, {} transitions in {:.1} s: {} a second on {} threads",
        show::count(sum(|one| one.states)),
        show::count(transitions),
        time.as_secs_f64(),
        show::count(rate),
        exhaustive::threads(),
    )?;
    for broken in walked.iter().flat_map(|one| &one.broken) {
        writeln!(out, "\n{}\n  {}", broken.sentence, broken.script.command())?;
    }
    Ok(())
}
