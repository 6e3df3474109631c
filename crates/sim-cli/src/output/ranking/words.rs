//! The ranking in sentences: what to take, which FTL is the best on the same flash, whether the SLC is worth its price,
//! what was left out and why, and what would change the answer.

use sim::engine::comparison::is_same_price;
use sim::engine::result::RunResult;
use sim::engine::systems::NotRun;
use sim::show;

use super::{Listed, NOTABLE, Pair, Ranking, Standing};

/// The rule of the ranking, for readers of its table.
pub(crate) const RULE: &str = "Speed: times as fast as the first system. For the money: that, divided by the ratio of \
    prices. Take the best of those that keep their data when the power fails; of equal ones (within 2 %) for the \
    same money, the one that lasts longest. Lives are with even wear.";

/// Up to this factor, what an SLC costs and what it is worth are about the same.
const EVEN: f64 = 1.25;

/// Those that have as much (of what, if that was not said before), in words; nothing if there are none.
pub(crate) fn as_much(of: &str, equals: &[String]) -> String {
    let verb = if equals.len() == 1 { "has" } else { "have" };
    match equals {
        [] => String::new(),
        names => format!(
            " {} {verb} as much{of}, within 2 %.",
            show::listed(names.iter().map(String::as_str), "and")
        ),
    }
}

/// A price compared with another one, in words.
pub(crate) fn money(ratio: f64) -> String {
    let by = show::percent((ratio - 1.0).abs());
    match ratio {
        same if is_same_price(same) => "the same money".into(),
        more if more > 1.0 => format!("{by} more money"),
        _ => format!("{by} less money"),
    }
}

impl Ranking<'_> {
    /// The answer: what to take, and what follows from the ranking besides.
    pub(crate) fn answer(&self) -> Vec<String> {
        if self.places.len() < 2 {
            return Vec::new();
        }
        let Some(taken) = self.taken() else { return vec![self.nothing()] };
        let mut said = vec![self.take(taken)];
        said.extend(self.same_flash());
        said.extend(self.pairs.iter().filter_map(is_slc_worth_it));
        if self.pairs.iter().any(|pair| pair.gain().is_some()) {
            said.push("How much SLC is best, `tandem sweep` answers.".into());
        }
        said.extend(self.not_run());
        said.extend(self.left_out());
        said.extend(self.changes(taken));
        said
    }

    fn nothing(&self) -> String {
        let first = &self.first.system;
        match self.places.first().map(|place| place.standing) {
            Some(Standing::Unmeasured) => "No request took any time: nothing to compare.".into(),
            _ => format!("No system can be ranked beside {first}: see below."),
        }
    }

    /// What is said of a superlative if some systems do not keep their data, and are left out of it.
    fn if_some_lose<'w>(&self, words: &'w str) -> &'w str {
        let lose = self.places.iter().any(|place| place.standing == Standing::LosesData);
        if lose { words } else { "" }
    }

    /// What is said of an answer that a warning below may change.
    const fn far(&self) -> &'static str {
        if self.has_doubts { ", as far as this run can tell (see below)" } else { "" }
    }

    /// What to take, in one sentence.
    fn take(&self, taken: &Listed<'_>) -> String {
        let far = self.far();
        let safe = self.if_some_lose(" of those that keep their data when the power fails");
        let label = taken.named();
        let equals: Vec<String> = self.equals().into_iter().map(Listed::told).collect();
        let most = if equals.is_empty() { "it has the most" } else { "none has clearly more" };
        let lead = format!("Take {label}{far}: {most} speed for the money{safe}");
        let longest = self.lasts_longest(taken).then(|| taken.told());
        let longest = longest.map(|told| format!(" For the same money, {told} lasts longest."));
        let equals = as_much("", &equals) + &longest.unwrap_or_default();
        if std::ptr::eq(taken.run, self.first) {
            return format!("{lead}.{equals}");
        }
        let (speed, price) = (taken.ratios.rs.unwrap_or(1.0), taken.ratios.ec.unwrap_or(1.0));
        let (first, money) = (self.label(self.first), money(price));
        format!("{lead}, {speed:.2} times as fast as {first} for {money}.{equals}")
    }

    /// Whether the life decided: another one has more speed for the same money, but too little more to count.
    fn lasts_longest(&self, taken: &Listed<'_>) -> bool {
        let price = taken.ratios.ec.unwrap_or(1.0);
        let is_ahead = |other: &&Listed<'_>| {
            other.worth() > taken.worth() && is_same_price(other.ratios.ec.unwrap_or(1.0) / price)
        };
        self.equals().iter().any(is_ahead)
    }

    /// Which FTL is the fastest on the same flash, for the same money: a sentence for each such flash.
    fn same_flash(&self) -> Vec<String> {
        let compared: Vec<&Listed<'_>> =
            self.places.iter().filter(|place| place.is_compared()).collect();
        let mut groups: Vec<Vec<&Listed<'_>>> = Vec::new();
        for place in compared {
            let is_same = |other: &&Listed<'_>| {
                other.run.slc_bytes == place.run.slc_bytes
                    && is_same_price(other.run.cost_usd / place.run.cost_usd)
            };
            match groups.iter_mut().find(|group| group.iter().all(is_same)) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        // Within a group the order is that of speed.
        groups.retain(|group| group.len() > 1);
        groups.iter().filter_map(|group| fastest_of(group)).collect()
    }

    /// The systems that were not run without SLC, and why.
    fn not_run(&self) -> Vec<String> {
        let with_slc = self.pairs.iter().filter(|pair| pair.with.slc_bytes > 0);
        let missing: Vec<(&str, &NotRun)> = with_slc
            .filter_map(|pair| Some((pair.with.system.as_str(), pair.without.err()?)))
            .collect();
        let built = missing.iter().filter(|(_, reason)| **reason == NotRun::BuiltForBoth);
        let built: Vec<&str> = built.map(|(name, _)| *name).collect();
        let them = if built.len() == 1 { "its" } else { "their" };
        let built = (!built.is_empty()).then(|| {
            let names = show::listed(built, "and");
            format!("Not run without SLC: {names}, which cannot do without {them} SLC.")
        });
        let unfit = missing.iter().filter_map(|(name, reason)| match reason {
            NotRun::BuiltForBoth => None,
            NotRun::Unfit(reason) => Some(format!(
                "Not run without SLC: {name}, which does not fit the device at this size without it: {reason}."
            )),
        });
        built.into_iter().chain(unfit).collect()
    }

    /// Those that are left out, and why.
    fn left_out(&self) -> Vec<String> {
        let of = |standing| {
            let places = self.places.iter().filter(move |place| place.standing == standing);
            let told = places.map(|place| {
                let speed = place.ratios.rs.filter(|_| !std::ptr::eq(place.run, self.first));
                let speed = speed.map_or_else(String::new, |speed| {
                    format!(" ({speed:.2} times as fast as {})", self.label(self.first))
                });
                (place, format!("{}{speed}", place.label))
            });
            told.collect::<Vec<(&Listed<'_>, String)>>()
        };
        let list = |told: &[(&Listed<'_>, String)]| {
            show::listed(told.iter().map(|(_, name)| name.as_str()), "and")
        };
        let mut said = Vec::new();
        let lost = of(Standing::LosesData);
        if !lost.is_empty() {
            let reason = "as described they lose acknowledged data when the power fails";
            said.push(format!("Left out, because {reason}: {}.", list(&lost)));
        }
        let elsewhere = of(Standing::PricedElsewhere);
        if !elsewhere.is_empty() {
            let sources: Vec<String> = elsewhere
                .iter()
                .map(|(place, _)| format!("that of {} of {}", place.label, place.run.price_source))
                .collect();
            said.push(format!(
                "Left out, because their prices (*) are of other sources and years, and no ratio of such prices means \
                 anything: {}. The ranking's prices are of {}; {}.",
                list(&elsewhere),
                self.first.price_source,
                sources.join("; ")
            ));
        }
        said
    }

    /// What would change the answer: another demand, and the system that meets it best.
    fn changes(&self, taken: &Listed<'_>) -> Vec<String> {
        let compared = || self.places.iter().filter(|place| place.is_compared());
        let priced = self.places.iter().filter(|place| place.worth().is_some());
        let years = |place: &Listed<'_>| show::maybe(place.run.life(), show::years);
        let lossy = better(taken, priced, Listed::worth).map(|place| {
            let worth = |place: &Listed<'_>| show::maybe(place.worth(), |worth| format!("{worth:.2}"));
            let (label, own, other) = (place.told(), worth(place), worth(taken));
            let far = self.far();
            let lives = place.run.life().zip(taken.run.life()).filter(|(own, other)| own < other);
            let lives = lives.map(|(own, other)| [own, other].map(show::years));
            let but = lives.filter(|[own, other]| own != other);
            let but = but.map_or_else(String::new, |[own, other]| {
                format!(" But it lasts {own} instead of {other}.")
            });
            format!(
                "If data might be lost with the power, it would be {label}{far}, with {own} of speed for the money \
                 instead of {other}.{but}"
            )
        });
        let safe = self.if_some_lose(" and no data might be lost");
        let fastest = better(taken, compared(), |place| place.ratios.rs).map(|place| {
            let by = place.run.against(taken.run).rs.unwrap_or(1.0);
            let (label, other) = (place.told(), taken.told());
            format!(
                "If speed alone counted{safe}, it would be {label}, {by:.2} times as fast as {other}."
            )
        });
        let longest = better(taken, compared(), |place| place.run.life())
            .filter(|place| years(place) != years(taken))
            .map(|place| {
                let (label, own, other) = (place.told(), years(place), years(taken));
                format!(
                    "If life counted most{safe}, it would be {label}, with {own} instead of {other}."
                )
            });
        lossy.into_iter().chain(fastest).chain(longest).collect()
    }
}

/// The place with the most of a figure, if that is notably more than the taken one's; of about equal ones the best in
/// the ranking.
fn better<'p, 'a>(
    taken: &Listed<'a>,
    places: impl Iterator<Item = &'p Listed<'a>>,
    figure: impl Fn(&Listed<'a>) -> Option<f64>,
) -> Option<&'p Listed<'a>>
where
    'a: 'p,
{
    let least = figure(taken)? * NOTABLE;
    let known: Vec<_> = places.filter_map(|place| Some((figure(place)?, place))).collect();
    let most =
        known.iter().map(|(figure, _)| *figure).reduce(f64::max).filter(|most| *most > least)?;
    let equal = known.iter().find(|(figure, _)| figure * NOTABLE > most && *figure > least)?;
    Some(equal.1)
}

fn fastest_of(group: &[&Listed<'_>]) -> Option<String> {
    let [best, others @ ..] = group else { return None };
    let flash = match best.run.slc_bytes {
        0 => format!("Which FTL, without SLC ({})", show::dollars(best.run.cost_usd)),
        bytes => format!(
            "Which FTL, with {} of SLC ({})",
            show::short(bytes),
            show::dollars(best.run.cost_usd)
        ),
    };
    let told = others.iter().map(|other| {
        let by = best.run.against(other.run).rs.unwrap_or(1.0);
        let name = &other.run.system;
        if by < NOTABLE {
            format!("as fast as {name}")
        } else {
            format!("{by:.2} times as fast as {name}")
        }
    });
    Some(format!("{flash}: {} is {}.", best.run.system, show::listed(told, "and")))
}

/// Whether the SLC of a system is worth its price, and at which one it would be.
fn is_slc_worth_it(pair: &Pair<'_>) -> Option<String> {
    let (with, without) = (pair.with, pair.without.ok()?);
    let (gain, price) = (pair.gain()?, with.against(without).ec?);
    let size = show::short(with.slc_bytes);
    let own = &with.system;
    let base = if without.system == *own {
        String::new()
    } else {
        format!(" ({own} without SLC is {})", without.system)
    };
    let now = show::dollars(with.cost_usd - without.cost_usd);
    let even = (gain - 1.0) * without.cost_usd;
    let is_equal = (1.0 / NOTABLE..NOTABLE).contains(&(gain / price));
    let verdict = match even / (with.cost_usd - without.cost_usd) {
        _ if is_equal => "It makes no difference for the money, within 2 %",
        by if by > EVEN => "Yes",
        by if by > 1.0 / EVEN => "It gains what it costs, give or take a quarter",
        _ => "No",
    };
    let rest = if is_equal {
        format!("The SLC costs {now}")
    } else if even > 0.0 {
        format!("The SLC costs {now}, and would be worth it up to {}", show::dollars(even))
    } else {
        format!("The SLC costs {now}, and would be worth it at no price")
    };
    let life = life(pair).unwrap_or_default();
    Some(format!(
        "Is the SLC of {own} worth it? {verdict}: {size} make it {gain:.2} times as fast, for {}{base}. {rest}.{life}",
        money(price)
    ))
}

/// How long a system lasts with its SLC, if that is shown as a shorter life than without.
fn life(pair: &Pair<'_>) -> Option<String> {
    let lives = [pair.with, pair.without.ok()?].map(RunResult::life);
    let [Some(with), Some(without)] = lives else { return None };
    let [shown, before] = [with, without].map(show::years);
    let system = &pair.with.system;
    (with < without && shown != before)
        .then(|| format!(" With it, {system} lasts {shown} instead of {before}."))
}
