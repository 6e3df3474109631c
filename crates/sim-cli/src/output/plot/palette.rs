//! One colour for a system and one for a cause, in every chart. Other series take the colours that are left.

/// The number of colours of [`STYLE`](super::STYLE).
pub(super) const COLOURS: usize = 12;

/// The systems, each with the colour of its place.
const SYSTEMS: [&str; COLOURS] = [
    "conventional",
    "hybrid",
    "paged",
    "page-mlc",
    "pslc",
    "page-slc",
    "ko",
    "combo",
    "ahdm",
    "density",
    "disk-cache",
    "multi-scm",
];

/// Schemes of garbage collection on the MLC, with the colours of systems on other memories: there are not more that are
/// told apart, and these are seldom drawn beside each other.
const SCHEMES: [(&str, usize); 4] = [("sepgc", 9), ("d-choices", 5), ("sepbit", 10), ("midas", 11)];

/// The causes of time and traffic, each with the colour of its place.
const CAUSES: [&str; COLOURS] = [
    "host",
    "garbage collection",
    "write-back",
    "wear leveling",
    "address translation",
    "metadata",
    "waiting",
    "folding",
    "map",
    "",
    "",
    "",
];

/// A system's name without its parameters and its SLC.
fn base(name: &str) -> &str {
    name.split(['?', ',']).next().unwrap_or(name)
}

/// The colour that belongs to a name: of a system, whatever its parameters and its SLC, or of a cause.
pub(crate) fn own(name: &str) -> Option<usize> {
    let base = base(name);
    let at = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
    let scheme = || SCHEMES.iter().find(|(known, _)| *known == base).map(|(_, colour)| *colour);
    at(&SYSTEMS, base).or_else(scheme).or_else(|| at(&CAUSES, name)).filter(|_| !name.is_empty())
}

/// The names among these that have the colour of another system before them, each with that one.
pub(crate) fn shared<'a>(names: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let other = |(at, name): (usize, &&'a str)| {
        let colour = own(name)?;
        let before = names[..at].iter().find(|other| own(other) == Some(colour))?;
        (base(before) != base(name)).then_some((*before, *name))
    };
    names.iter().enumerate().filter_map(other).collect()
}

/// The colours of the series of a chart.
pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let own: Vec<Option<usize>> = names.map(own).collect();
    let is_taken = |colour: usize| own.contains(&Some(colour));
    let mut left =
        (0..COLOURS).filter(|colour| !is_taken(*colour)).collect::<Vec<_>>().into_iter().cycle();
    own.iter().map(|own| own.or_else(|| left.next()).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_has_its_colour_in_whatever_company_and_whatever_its_parameters() {
        let [alone, beside] = [&["paged"][..], &["hybrid?filter=off", "paged, no SLC", "knee"]];
        let (alone, beside) = (of(alone.iter().copied()), of(beside.iter().copied()));
        assert_eq!((alone[0], beside[1], beside[0]), (2, 2, 1));
        assert_eq!(beside[2], 0, "what has none takes one that is left");
        assert_eq!(of(["host", "garbage collection"].into_iter()), [0, 1]);
        assert_eq!(of(["", "x"].into_iter()), [0, 1]);
    }

    #[test]
    fn systems_that_share_a_colour_are_named() {
        let names = ["paged", "density", "paged, no SLC", "sepgc"];
        assert_eq!(shared(&names), [("density", "sepgc")]);
    }

    #[test]
    fn every_system_has_a_colour() {
        for name in sim::engine::systems::names() {
            assert!(own(name).is_some(), "{name}");
        }
    }
}
