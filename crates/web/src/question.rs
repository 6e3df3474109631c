//! What the page asks.

use serde::Deserialize;
use sim::Failure;
use sim::engine::outage::{self, Outage};
use sim::engine::replay;

use crate::catalogue::Catalogue;
use crate::frame_recorder::FrameRecorder;
use crate::run::{Chosen, Ready};
use crate::told::{AnswerPart, Tell};
use crate::words::on_the_page;

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Question {
    /// What is there to choose from?
    Catalogue,
    /// What does this run do?
    Replay {
        #[serde(flatten)]
        chosen: Chosen,
        /// The most frames, about.
        frames: u64,
    },
    /// What does a mount find if power fails in it?
    Cut {
        #[serde(flatten)]
        chosen: Chosen,
        after: u64,
        seed: u64,
    },
}

/// Answers a question in JSON, about that file if it names one.
pub fn answer(question: &[u8], file: Vec<u8>, tell: Tell<'_>) {
    let answered = match serde_json::from_slice(question) {
        Ok(Question::Catalogue) => Catalogue::new().map(AnswerPart::Catalogue),
        Ok(Question::Replay { chosen, frames }) => replay(&chosen, file, frames, tell),
        Ok(Question::Cut { chosen, after, seed }) => cut(&chosen, file, Outage { after, seed }),
        Err(error) => Err(Failure::Arguments(format!("this is no question: {error}"))),
    };
    let failed =
        |failure: Failure| AnswerPart::Failed { reason: on_the_page(&failure.to_string()) };
    tell(&answered.unwrap_or_else(failed));
}

fn replay(
    chosen: &Chosen,
    file: Vec<u8>,
    frames: u64,
    tell: Tell<'_>,
) -> Result<AnswerPart<'static>, Failure> {
    let ready = chosen.ready(file)?;
    let requests = ready.count()?;
    tell(&AnswerPart::Begun { command: &chosen.command(), requests });
    let Ready { workload, options, setup, system } = &ready;
    let frame_recorder = FrameRecorder::new(requests, frames, tell);
    let result = replay::run_watched(workload, options, setup, system, &frame_recorder)?;
    Ok(AnswerPart::Result(Box::new(result)))
}

fn cut(chosen: &Chosen, file: Vec<u8>, outage: Outage) -> Result<AnswerPart<'static>, Failure> {
    let Ready { workload, options, setup, system } = &chosen.ready(file)?;
    let found = outage::run(workload, options.fit, setup, system, outage)?;
    Ok(AnswerPart::Found(Box::new(found)))
}
