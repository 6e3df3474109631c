//! The answer to "which system?", where a plan has several.

use sim::engine::comparison::{Listed, Ranking};
use sim::engine::sweep::Row;
use sim::show;

use super::advice::OnDevice;
use crate::output::ranking::{as_much, money};

/// The system and size that is worth most on some traces of a device.
struct Best {
    told: String,
    first: String,
    price: f64,
    /// Those that are worth as much.
    equals: Vec<String>,
    /// The traces, each with the speed there.
    traces: Vec<(String, f64)>,
    is_first: bool,
}

/// The answers in words: for each device, the best of each trace, and those with the same best together.
pub(super) fn said(devices: &[OnDevice<'_, '_>]) -> Vec<String> {
    devices.iter().flat_map(|OnDevice { device, rows, .. }| of_device(device, rows)).collect()
}

fn of_device(device: &str, rows: &[&Row<'_>]) -> Vec<String> {
    let system = |row: &&Row<'_>| row.run.system.name.clone();
    let one = rows.first().map(system);
    if rows.iter().map(system).all(|name| Some(name) == one) {
        return Vec::new();
    }
    let mut traces: Vec<&str> = rows.iter().map(|row| row.run.trace.as_str()).collect();
    traces.dedup();
    let mut found: Vec<Best> = Vec::new();
    for trace in &traces {
        let on_trace = rows.iter().filter(|row| row.run.trace == *trace);
        let Some(best) = of_trace(trace, &on_trace.copied().collect::<Vec<_>>()) else { continue };
        match found.iter_mut().find(|known| known.is_like(&best)) {
            Some(known) => known.traces.extend(best.traces),
            None => found.push(best),
        }
    }
    found.iter().map(|best| best.said(device, traces.len())).collect()
}

fn of_trace(trace: &str, rows: &[&Row<'_>]) -> Option<Best> {
    let runs: Vec<_> = rows.iter().map(|row| &row.result).collect();
    let ranking = Ranking::of(&runs, &[])?;
    let taken = ranking.taken()?;
    let first = ranking.places.iter().find(|place| std::ptr::eq(place.run, ranking.first))?;
    Some(Best {
        told: taken.told(),
        first: first.told(),
        price: taken.ratios.ec?,
        equals: ranking.equals().into_iter().map(Listed::told).collect(),
        traces: vec![(trace.to_owned(), taken.ratios.rs?)],
        is_first: std::ptr::eq(taken.run, ranking.first),
    })
}

impl Best {
    /// Whether the answer is the same on other traces.
    fn is_like(&self, other: &Self) -> bool {
        self.told == other.told && self.equals == other.equals
    }

    fn said(&self, device: &str, of: usize) -> String {
        let names = self.traces.iter().map(|(trace, _)| trace.as_str());
        let traces = match names.len() {
            1 if of == 1 => String::new(),
            1..=3 => format!(" under {}", show::listed(names, "and")),
            count if count == of => format!(" under all {of} traces"),
            count => format!(" under {count} of {of} traces"),
        };
        let Self { told, first, .. } = self;
        let equals = as_much("", &self.equals);
        if self.is_first {
            return format!("{told} on {device}{traces}: none has more.{equals}");
        }
        let speeds = self.traces.iter().map(|(_, speed)| *speed);
        let [least, most] = speeds
            .fold([f64::MAX, 0.0], |[least, most], speed| [speed.min(least), speed.max(most)]);
        let [least, most] = [least, most].map(|speed| format!("{speed:.2}"));
        let range = if least == most { least } else { format!("{least} to {most}") };
        let money = money(self.price);
        format!(
            "{told} on {device}{traces}. It is {range} times as fast as {first}, for {money}.{equals}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(traces: &[(&str, f64)]) -> Best {
        Best {
            told: "paged without SLC".into(),
            first: "conventional".into(),
            price: 1.0,
            equals: Vec::new(),
            traces: traces.iter().map(|(trace, speed)| ((*trace).into(), *speed)).collect(),
            is_first: false,
        }
    }

    #[test]
    fn traces_with_the_same_best_are_told_together() {
        assert_eq!(
            best(&[("a", 2.0)]).said("c3", 1),
            "paged without SLC on c3. It is 2.00 times as fast as conventional, for the same money."
        );
        let two = best(&[("a", 10.0), ("b", 9.5)]);
        let said = two.said("c3", 5);
        assert!(said.contains("on c3 under a and b. It is 9.50 to 10.00 times"), "{said}");
        let four = best(&[("a", 1.5), ("b", 1.5), ("c", 1.5), ("d", 1.5)]);
        assert!(four.said("c3", 4).contains("under all 4 traces. It is 1.50 times"));
        assert!(four.said("c3", 9).contains("under 4 of 9 traces"));
        let none = Best { told: "conventional".into(), is_first: true, ..best(&[("a", 1.0)]) };
        assert_eq!(none.said("c3", 1), "conventional on c3: none has more.");
    }
}
