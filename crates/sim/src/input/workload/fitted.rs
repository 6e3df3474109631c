//! The addresses of a workload on a device.

use super::sources::Workload;
use crate::base::{Failure, Observer, show};
use crate::input::trace::fit::{Fit, FitChoice, Packing, Survey};
use crate::input::trace::{AddressSpace, Op, TraceError};

impl Workload {
    /// How addresses are fitted into a device with that room, whose pages are at most `grain` bytes.
    pub(crate) fn fit(
        &self,
        choice: Option<FitChoice>,
        space: AddressSpace,
        grain: u64,
        observer: &dyn Observer,
    ) -> Result<Fit, Failure> {
        match choice {
            None => Ok(Fit::AsIs),
            Some(FitChoice::Wrap) => Ok(Fit::Wrap),
            Some(FitChoice::Pack) => {
                let (survey, _) = self.survey(space, grain, observer)?;
                Ok(Fit::Pack(packed(survey, space)?))
            }
            // They are made for the device.
            Some(FitChoice::Auto) if self.is_synthetic() => Ok(Fit::AsIs),
            Some(FitChoice::Auto) => {
                let (survey, end) = self.survey(space, grain, observer)?;
                if end <= space.capacity {
                    return Ok(Fit::AsIs);
                }
                let packing = packed(survey, space)?;
                observer.note(&format!(
                    "the trace's addresses reach {}, beyond the {} of the device: the {} that it reads or writes are \
                     moved together, as with --fit pack; --fit wrap begins again at 0 instead",
                    show::about(end),
                    show::short(space.capacity),
                    show::about(packing.touched())
                ));
                Ok(Fit::Pack(packing))
            }
        }
    }

    /// What the trace touches, and the end of its last request but trims.
    fn survey(
        &self,
        space: AddressSpace,
        grain: u64,
        observer: &dyn Observer,
    ) -> Result<(Survey, u64), Failure> {
        let mut survey = Survey::new(grain);
        let mut stream = self.open(space.capacity, observer);
        let stop = observer.stop();
        let mut end = 0;
        while let Some(request) = stream.next_request()? {
            survey.add(&request);
            if request.op != Op::Flush {
                end = end.max(request.end());
            }
            if stop.is_requested() {
                let before = "the trace was being read for the first time";
                return Err(Failure::Interrupted(before.into()));
            }
        }
        Ok((survey, end))
    }
}

/// What the trace touches, moved together.
fn packed(survey: Survey, space: AddressSpace) -> Result<Packing, Failure> {
    let packing = survey.pack();
    let touched = packing.touched();
    if touched > space.capacity {
        return Err(TraceError::TooMuchTouched { touched, space }.into());
    }
    Ok(packing)
}
