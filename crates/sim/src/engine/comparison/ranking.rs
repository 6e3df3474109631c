//! One ranking of the systems of a comparison, as a value, from which a table, sentences and JSON all follow: so none
//! of them says what another denies.
//!
//! The rule: a system is worth its speed for the money, which is how many times as fast as the first system it is,
//! divided by how many times as much its flash costs. The one that is worth most is taken, of those that keep their
//! data when the power fails, if there are such, and whose prices are of the first system's source; of equal ones for
//! the same money, the one that lasts longest.

use serde::Serialize;

use crate::base::show;
use crate::engine::result::{Ratios, RunResult};
use crate::engine::systems::{self, NotRun, SLC_MODE};

/// From this factor on, two speeds, prices, lives or worths differ.
pub const NOTABLE: f64 = 1.02;

/// Prices that differ by less are the same.
const SAME_PRICE: f64 = 0.0005;

/// Whether a price is shown as the other one.
pub fn is_same_price(ratio: f64) -> bool {
    (ratio - 1.0).abs() < SAME_PRICE
}

/// A system with its SLC, and without.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// With it.
    pub with: &'a RunResult,
    /// Without it, or why there is no such run.
    pub without: Result<&'a RunResult, &'a NotRun>,
}

impl Pair<'_> {
    /// How many times as fast the system is with its SLC as without.
    pub fn gain(&self) -> Option<f64> {
        self.with.against(self.without.ok()?).rs
    }
}

/// Where a system stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The one to take.
    Taken,
    /// Worth less.
    Ranked,
    /// Left out: acknowledged data is lost with the power.
    LosesData,
    /// Left out: its price is of another source than the first system's.
    PricedElsewhere,
    /// No request took any time.
    Unmeasured,
}

/// A system in the ranking.
#[derive(Clone, Debug)]
pub struct Listed<'a> {
    /// Its run.
    pub run: &'a RunResult,
    /// Its name, and whether it has its SLC if both are compared.
    pub label: String,
    /// Compared with the first system.
    pub ratios: Ratios,
    /// Where it stands.
    pub standing: Standing,
}

impl Listed<'_> {
    /// The speed for the money; `None` where a price or a time is missing.
    pub fn worth(&self) -> Option<f64> {
        Some(self.ratios.rs? / self.ratios.ec?)
    }

    /// Whether it is worth as much as that.
    fn is_worth(&self, most: f64) -> bool {
        self.worth().is_some_and(|worth| worth * NOTABLE > most)
    }

    /// The system with its SLC, in a sentence.
    pub fn told(&self) -> String {
        told(self.run, &self.label)
    }

    /// Its name, with its SLC.
    pub fn named(&self) -> String {
        match self.run.slc_bytes {
            // Some of its cells are its SLC.
            0 if has_slc_mode(self.run) => self.run.system.clone(),
            0 => format!("{}, without SLC", self.run.system),
            _ => with_slc(self.run),
        }
    }

    /// Whether acknowledged data survives a loss of power.
    pub fn is_safe(&self) -> bool {
        systems::survives_power_loss(&self.run.system)
    }

    /// Whether it is one of those that are compared.
    pub const fn is_compared(&self) -> bool {
        matches!(self.standing, Standing::Taken | Standing::Ranked)
    }
}

/// The ranking.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    /// The best first, and those that are left out last.
    pub places: Vec<Listed<'a>>,
    /// The system that all are compared with.
    pub first: &'a RunResult,
    /// The systems with their SLC, and without.
    pub pairs: Vec<Pair<'a>>,
}

impl<'a> Ranking<'a> {
    /// The ranking of these systems, and of their runs without SLC; ratios are to the first.
    pub fn of(runs: &[&'a RunResult], pairs: &[Pair<'a>]) -> Option<Self> {
        let first = *runs.first()?;
        let all = with_and_without(runs, pairs);
        let must_survive = all.iter().any(|run| systems::survives_power_loss(&run.system));
        let labels = labels(&all);
        let place = |(run, label): (&'a RunResult, String)| {
            let ratios = run.against(first);
            let is_safe = systems::survives_power_loss(&run.system);
            let standing = match (ratios.rs, ratios.ec) {
                (None, _) => Standing::Unmeasured,
                (_, None) => Standing::PricedElsewhere,
                _ if must_survive && !is_safe => Standing::LosesData,
                _ => Standing::Ranked,
            };
            Listed { run, label, ratios, standing }
        };
        let mut places: Vec<Listed<'a>> = all.iter().copied().zip(labels).map(place).collect();
        let key = |place: &Listed<'_>| place.worth().or(place.ratios.rs).unwrap_or(0.0);
        places.sort_by(|one, other| {
            let left_out = one.standing.cmp_key().cmp(&other.standing.cmp_key());
            let price = one.run.cost_usd.total_cmp(&other.run.cost_usd);
            left_out.then(key(other).total_cmp(&key(one))).then(price)
        });
        longest_life_first(&mut places);
        if let Some(best) = places.first_mut().filter(|place| place.standing == Standing::Ranked) {
            best.standing = Standing::Taken;
        }
        Some(Self { places, first, pairs: pairs.to_vec() })
    }

    /// The system to take.
    pub fn taken(&self) -> Option<&Listed<'a>> {
        self.places.first().filter(|place| place.standing == Standing::Taken)
    }

    /// Those that are worth about as much as the taken one.
    pub fn equals(&self) -> Vec<&Listed<'a>> {
        let Some(most) = self.taken().and_then(Listed::worth) else { return Vec::new() };
        let others = self.places.iter().filter(|place| place.is_compared()).skip(1);
        others.filter(|place| place.is_worth(most)).collect()
    }

    /// The label of a run.
    pub fn label<'r>(&'r self, run: &'r RunResult) -> &'r str {
        let place = self.places.iter().find(|place| std::ptr::eq(place.run, run));
        place.map_or(run.system.as_str(), |place| place.label.as_str())
    }

    /// The ranking as in JSON.
    pub fn rows(&self) -> Vec<RankingRow<'a>> {
        self.places.iter().map(RankingRow::of).collect()
    }
}

/// Of the systems that are worth as much as the best one, for the same money, the one that lasts longest is the first.
fn longest_life_first(places: &mut [Listed<'_>]) {
    let Some((most, price)) = places.first().and_then(|best| best.worth().zip(best.ratios.ec))
    else {
        return;
    };
    let is_equal = |place: &Listed<'_>| {
        place.standing == Standing::Ranked
            && place.is_worth(most)
            && place.ratios.ec.is_some_and(|other| is_same_price(other / price))
    };
    let life = |at: usize| places[at].run.life().unwrap_or(0.0);
    let equal = (1..places.len()).filter(|at| is_equal(&places[*at]));
    let longest = equal.max_by(|one, other| life(*one).total_cmp(&life(*other)));
    if let Some(at) = longest.filter(|at| life(*at) > life(0) * NOTABLE) {
        places[..=at].rotate_right(1);
    }
}

impl Standing {
    /// The order of groups: those that are compared come first.
    const fn cmp_key(self) -> u8 {
        match self {
            Self::Taken | Self::Ranked => 0,
            Self::LosesData => 1,
            Self::PricedElsewhere => 2,
            Self::Unmeasured => 3,
        }
    }
}

/// A system of the ranking as in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct RankingRow<'a> {
    /// Its name and parameters.
    system: &'a str,
    /// Its SLC; none in the run without.
    slc_bytes: u64,
    /// Whether it is taken, or why it is left out.
    standing: Standing,
    /// The speed, divided by the price: the order of the ranking.
    speed_for_price: Option<f64>,
    /// How many times as fast as the first system.
    speed: Option<f64>,
    /// Its price by that of the first; null if that is of another source.
    price: Option<f64>,
    /// The price of the flash.
    cost_usd: f64,
    /// Whose price it is, and of which year.
    price_source: &'a str,
    /// Its energy by that of the first.
    energy: Option<f64>,
    /// How long the flash lasts, with even wear; null if nothing is worn.
    life_years: Option<f64>,
    /// Whether acknowledged data is there after power was lost.
    survives_power_loss: bool,
    /// What the system keeps in RAM.
    ram_bytes: u64,
}

impl<'a> RankingRow<'a> {
    fn of(place: &Listed<'a>) -> Self {
        let Listed { run, ratios, standing, .. } = place;
        Self {
            system: &run.system,
            slc_bytes: run.slc_bytes,
            standing: *standing,
            speed_for_price: place.worth(),
            speed: ratios.rs,
            price: ratios.ec,
            cost_usd: run.cost_usd,
            price_source: &run.price_source,
            energy: ratios.es,
            life_years: run.life(),
            survives_power_loss: place.is_safe(),
            ram_bytes: run.ram_bytes,
        }
    }
}

/// These runs, and those without SLC of the pairs, each once.
pub fn with_and_without<'a>(runs: &[&'a RunResult], pairs: &[Pair<'a>]) -> Vec<&'a RunResult> {
    let mut all = runs.to_vec();
    for run in pairs.iter().filter_map(|pair| pair.without.ok()) {
        if !all.iter().any(|known| std::ptr::eq(*known, run)) {
            all.push(run);
        }
    }
    all
}

fn has_slc_mode(run: &RunResult) -> bool {
    run.parts.get(SLC_MODE).is_some_and(|part| part.pages().programs() > 0)
}

fn with_slc(run: &RunResult) -> String {
    format!("{} with {} of SLC", run.system, show::short(run.slc_bytes))
}

/// A run in a sentence, by its label: with its SLC if that names it.
pub fn told(run: &RunResult, label: &str) -> String {
    match run.slc_bytes {
        _ if label == run.system => label.into(),
        0 => format!("{} without SLC", run.system),
        _ => with_slc(run),
    }
}

/// The name of each run, with the SLC if the same system is there with another size.
pub fn labels(runs: &[&RunResult]) -> Vec<String> {
    let of = |run: &&RunResult| {
        let is_other =
            |other: &&&RunResult| other.system == run.system && other.slc_bytes != run.slc_bytes;
        let (name, has_other) = (&run.system, runs.iter().any(|other| is_other(&other)));
        match run.slc_bytes {
            _ if !has_other => name.clone(),
            0 => format!("{name}, no SLC"),
            bytes => format!("{name}, {} SLC", show::short(bytes)),
        }
    };
    runs.iter().map(of).collect()
}
