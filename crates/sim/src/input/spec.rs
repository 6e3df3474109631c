//! Names with parameters: `synth:zipf?requests=1000&seed=7`, `hybrid?filter=off`.

use std::fmt::Write;

use nand_model::datasheet;

/// A parameter that a name may have.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default.
    pub default: &'static str,
    /// Its meaning.
    pub title: &'static str,
}

/// The parameters of a name, each with its value from the text or its default.
#[derive(Clone, Debug)]
pub struct Values {
    values: Vec<(&'static str, String)>,
    /// The parameters given in the text.
    given: Vec<&'static str>,
}

/// The part before the `?`.
pub fn base(text: &str) -> &str {
    text.split_once('?').map_or(text, |(base, _)| base)
}

/// Reads the parameters of a name. The error for an unknown parameter, or one without value, lists the known ones.
pub fn parse(text: &str, known: &'static [Parameter]) -> Result<Values, String> {
    let mut values: Vec<(&'static str, String)> =
        known.iter().map(|parameter| (parameter.name, parameter.default.into())).collect();
    let (_, pairs) = text.split_once('?').unwrap_or((text, ""));
    let mut given = Vec::new();
    for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match values.iter_mut().find(|(known, _)| *known == name) {
            Some(place) if !value.is_empty() => {
                place.1 = value.into();
                given.push(place.0);
            }
            Some(_) => return Err(format!("`{text}`: `{name}` has no value: write {name}=…")),
            None => return Err(format!("`{text}`: {}", unknown(name, known))),
        }
    }
    Ok(Values { values, given })
}

fn unknown(name: &str, known: &[Parameter]) -> String {
    let meant = datasheet::meant(name, known.iter().map(|parameter| parameter.name));
    let mut message = format!("no parameter is called `{name}`: {meant}take one of");
    for (at, parameter) in known.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(message, "{comma} {}={}", parameter.name, parameter.default);
    }
    if known.is_empty() { format!("`{name}` is no parameter: there are none") } else { message }
}

impl Values {
    /// A parameter's value, read by `read`, whose error says how to write it.
    pub fn get<T>(
        &self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, String> {
        let value = self.values.iter().find(|(known, _)| *known == name);
        let value = value.map_or("", |(_, value)| value);
        read(value).map_err(|reason| format!("{name}={value}: {reason}"))
    }

    /// Whether the text gives the parameter.
    pub fn is_given(&self, name: &'static str) -> bool {
        self.given.contains(&name)
    }

    /// A whole number.
    pub fn number(&self, name: &'static str) -> Result<u64, String> {
        self.get(name, |value| {
            value.parse().map_err(|_| "write a whole number of at most 64 bits".into())
        })
    }

    /// A size in bytes.
    pub fn size(&self, name: &'static str) -> Result<u64, String> {
        self.get(name, crate::input::size::parse)
    }

    /// A switch: on or off.
    pub fn is_on(&self, name: &'static str) -> Result<bool, String> {
        self.get(name, |value| match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err("write on or off".into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KNOWN: [Parameter; 2] = [
        Parameter { name: "seed", default: "1", title: "which requests" },
        Parameter { name: "filter", default: "on", title: "a switch" },
    ];

    #[test]
    fn what_is_left_out_has_its_default() {
        let values = parse("x?seed=9", &KNOWN).unwrap();
        assert_eq!((values.number("seed"), values.is_on("filter")), (Ok(9), Ok(true)));
        assert_eq!(parse("x", &KNOWN).unwrap().number("seed"), Ok(1));
        assert_eq!(base("x?seed=9"), "x");
    }

    #[test]
    fn what_is_unknown_or_wrong_is_told_what_there_is() {
        let unknown = parse("x?sead=9", &KNOWN).unwrap_err();
        assert!(unknown.contains("`sead`") && unknown.contains("seed=1, filter=on"), "{unknown}");
        assert!(parse("x?seed", &KNOWN).unwrap_err().contains("seed=…"));
        let wrong = parse("x?filter=maybe", &KNOWN).unwrap().is_on("filter").unwrap_err();
        assert!(wrong.contains("filter=maybe") && wrong.contains("on or off"), "{wrong}");
    }
}
