//! The ranking as a table.

use sim::show;

use super::{Listed, Ranking, Standing};

impl Ranking<'_> {
    /// The heads of the table's columns.
    pub(crate) fn heads(&self) -> Vec<String> {
        let life = format!("life at {}", show::bytes_a_day(self.first.bytes_a_day));
        let heads =
            ["", "speed for the money", "speed", "price", &life, "energy", "power loss", "RAM"];
        heads.map(String::from).into()
    }

    /// Its rows, a system each, the best first.
    pub(crate) fn table(&self) -> Vec<Vec<String>> {
        self.places.iter().map(cells).collect()
    }
}

fn cells(place: &Listed<'_>) -> Vec<String> {
    let plain = |figure: f64| format!("{figure:.2}");
    let source = if place.standing == Standing::PricedElsewhere { " *" } else { "" };
    vec![
        place.label.clone(),
        show::maybe(place.worth(), plain),
        show::maybe(place.ratios.rs, plain),
        format!("{}{source}", show::dollars(place.run.cost_usd)),
        show::maybe(place.run.life(), show::years),
        show::maybe(place.ratios.es, show::percent),
        if place.is_safe() { "safe" } else { "loses data" }.into(),
        show::about(place.run.ram_bytes),
    ]
}
