//! The run that was chosen.

use serde::Deserialize;
use sim::input::size;
use sim::input::synth::PREFIX;
use sim::input::trace::fit::FitChoice;
use sim::input::workload::Reading;
use sim::{DeviceChoice, Failure, Options, Setup, Workload, show};

/// A run, in the words of the command line.
#[derive(Debug, Deserialize)]
pub(crate) struct Chosen {
    device: String,
    /// By default as the device has it, here and below.
    capacity: Option<String>,
    slc: Option<String>,
    system: String,
    /// A synthetic workload, or the name of the file.
    load: String,
    /// Of a file, the most requests.
    first: Option<u64>,
}

/// All that a run needs.
pub(crate) struct Ready {
    pub(crate) workload: Workload,
    pub(crate) options: Options,
    pub(crate) setup: Setup,
    pub(crate) system: sim::Chosen,
}

impl Chosen {
    fn is_synthetic(&self) -> bool {
        self.load.starts_with(PREFIX)
    }

    /// Prepares the run, of that file if it is of one.
    pub(crate) fn ready(&self, file: Vec<u8>) -> Result<Ready, Failure> {
        let bytes = |text: &Option<String>| text.as_deref().map(size::parse).transpose();
        let device = DeviceChoice {
            device: self.device.clone(),
            capacity: bytes(&self.capacity).map_err(Failure::Arguments)?,
            slc: bytes(&self.slc).map_err(Failure::Arguments)?,
            parallel: false,
        };
        let setup = device.setup()?;
        let system = sim::Chosen::parse(&self.system).map_err(Failure::Arguments)?;
        let (workload, fit) = if self.is_synthetic() {
            (Workload::synthetic(&self.load)?, None)
        } else {
            let workload = Workload::of_bytes(&self.load, file, Reading::default());
            (workload.first(self.first.unwrap_or(u64::MAX)), Some(FitChoice::Auto))
        };
        Ok(Ready { workload, options: Options { fit, ..Options::default() }, setup, system })
    }

    /// The command that does the same.
    pub(crate) fn command(&self) -> String {
        let mut words = vec!["tandem", "replay", &self.load, "--system", &self.system];
        words.extend(["--device", &self.device]);
        let sizes = [("--capacity", &self.capacity), ("--slc", &self.slc)];
        for (flag, size) in sizes {
            words.extend(size.iter().flat_map(|size| [flag, size]));
        }
        let first = self.first.map(|first| first.to_string());
        if !self.is_synthetic() {
            words.extend(["--fit", FitChoice::Auto.name()]);
            words.extend(first.iter().flat_map(|first| ["--first", first]));
        }
        words.into_iter().map(argument).collect::<Vec<_>>().join(" ")
    }
}

impl Ready {
    /// Counts the requests, which finds most errors of a file before the run.
    pub(crate) fn count(&self) -> Result<u64, Failure> {
        let mut stream = self.workload.open(self.setup.part.exported_bytes, &());
        let mut count = 0;
        while stream.next_request()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

/// A word as the program takes it from a shell's line.
fn argument(word: &str) -> String {
    // What begins with a dash would be taken for a flag.
    let is_flag_like = word.starts_with('-') && !word.starts_with("--");
    match word {
        word if is_flag_like => show::quoted(&format!("./{word}")),
        word => show::quoted(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_one_of_the_shell() {
        let mut chosen = Chosen {
            device: "c3".into(),
            capacity: Some("1GiB".into()),
            slc: None,
            system: "paged?filter=off".into(),
            load: "synth:zipf?requests=9&seed=2".into(),
            first: Some(7),
        };
        let command = "tandem replay 'synth:zipf?requests=9&seed=2' --system 'paged?filter=off' \
                       --device c3 --capacity 1GiB";
        assert_eq!(chosen.command(), command);
        chosen.load = "it's mine.csv".into();
        chosen.slc = Some("0B".into());
        assert!(chosen.command().starts_with(r"tandem replay 'it'\''s mine.csv' --system"));
        assert!(chosen.command().ends_with("--slc 0B --fit auto --first 7"));
        assert_eq!([argument("-x"), argument("")], ["./-x", "''"]);
    }
}
