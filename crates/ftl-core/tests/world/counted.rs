//! Counters as a table of fixed width.

use std::fmt::Write;

use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::Region;

/// Returns the number of operations by kind and cause: a line for each kind, the last without a line end.
pub fn table_of_operations(name: &str, counters: &Counters) -> String {
    let mut text = format!("{name}\n{:14}", "");
    for cause in Cause::ALL {
        write!(text, "{:>14}", format!("{cause:?}")).expect("a string takes all");
    }
    for region in Region::ALL {
        for verb in Verb::ALL {
            write!(text, "\n  {:12}", format!("{region} {verb:?}")).expect("a string takes all");
            for cause in Cause::ALL {
                let times = counters.operations(region, verb, cause);
                write!(text, "{times:>14}").expect("a string takes all");
            }
        }
    }
    text
}
