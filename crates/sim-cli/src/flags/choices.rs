//! Values of flags that are one of a few, with the help that lists them all.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sim::input::device::Fill;
use sim::input::trace::fit::FitChoice;
use sim::input::trace::formats::{self, FORMATS, Format};

/// A trace's format, by its name.
pub(crate) fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS.map(|format| PossibleValue::new(format.name).help(format.title));
    PossibleValuesParser::new(names).try_map(|name| formats::named(&name))
}

/// What is written before a replay.
pub(crate) fn fills() -> impl TypedValueParser<Value = Fill> {
    let names = Fill::ALL.map(|fill| PossibleValue::new(fill.name()).help(fill.title()));
    PossibleValuesParser::new(names).try_map(|name| Fill::parse(&name))
}

/// How addresses are fitted.
pub(crate) fn fits() -> impl TypedValueParser<Value = FitChoice> {
    let names = FitChoice::ALL.map(|fit| PossibleValue::new(fit.name()).help(fit.title()));
    PossibleValuesParser::new(names).try_map(|name| FitChoice::parse(&name))
}
