//! Names of results: the same for the same run on every machine, different whenever the result could differ.

use super::run::Run;
use crate::base::show;
use crate::engine::replay::Passes;
use crate::engine::result::SCHEMA;
use crate::input::trace::formats::As;

/// Letters of each part of a name that are kept for readability.
const KEPT: usize = 28;

/// The name of the run's result.
pub(super) fn id(run: &Run, content: &str) -> String {
    let slc = run.slc.map_or_else(String::new, show::size);
    let parts = [run.device.as_str(), slc.as_str(), run.system.name.as_str(), run.trace.as_str()];
    let readable: Vec<String> =
        parts.iter().filter(|part| !part.is_empty()).map(|part| kept(part)).collect();
    format!("{}_{:016x}", readable.join("_"), fingerprint(&described(run, content)))
}

/// The readable part of a name: of a path, only the file's name.
fn kept(part: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' }
    };
    let end = part.rsplit('/').next().unwrap_or(part);
    end.chars().map(plain).take(KEPT).collect()
}

/// Everything on which the result depends.
fn described(run: &Run, content: &str) -> String {
    let options = &run.options;
    // A system that does not use the SLC is the same at every SLC size.
    let part = run.setup.part.clone();
    let has_mlc = part.geometry.mlc().is_some();
    let part = if run.system.uses_slc() || !has_mlc { Ok(part) } else { part.with_slc_bytes(0) };
    let part = format!("{part:?}");
    let format = match &run.reading.format {
        Some(As::Format(format)) => format.name,
        _ => "",
    };
    let (passes, steady) = match options.passes {
        Passes::Times(times) => (times.get(), false),
        Passes::UntilSteady => (1, true),
    };
    format!(
        "{} {SCHEMA}|{part}|{:?}|{:?}|{}|{content}|{}|{format}|{}|{:?}|{:?}|{}|{}|{}",
        env!("CARGO_PKG_VERSION"),
        run.setup.log_bytes.filter(|_| run.system.uses_slc()),
        run.setup.time,
        run.system.name,
        passes,
        run.reading.lenient,
        options.fit,
        options.pace,
        options.bytes_a_day,
        run.setup.fill.name(),
        steady,
    )
}

/// FNV-1a in 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): short and stable, unlike the hashers of the standard
/// library.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use nand_model::Time;

    use super::*;
    use crate::engine::replay::Pace;
    use crate::input::trace::fit::FitChoice;

    #[test]
    fn a_fingerprint_is_that_of_its_definition() {
        // Values of the draft, appendix C.
        assert_eq!(fingerprint(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fingerprint("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn types_that_are_part_of_a_name_are_written_as_in_results_that_were_kept() {
        let pace = format!("{:?}", Pace::default());
        assert_eq!(pace, "Pace { open_loop: false, queue_depth: 1 }");
        assert_eq!(format!("{:?} {:?}", Some(FitChoice::Wrap), Time::Serial), "Some(Wrap) Serial");
    }

    #[test]
    fn names_are_fit_for_every_file_system() {
        assert_eq!(kept("synth:zipf?requests=10&seed=1"), "synth-zipf-requests-10-seed-");
        assert_eq!(kept("../traces/own/ntfs.csv.zst"), "ntfs.csv.zst");
    }
}
