//! The tests of the program, as one program: what they need is compiled and linked for them once.

mod answers;
mod common;
mod compare;
mod completions;
#[cfg(unix)]
mod image;
#[cfg(unix)]
mod image_kills;
#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod lines;
mod narrow;
#[cfg(unix)]
mod nbd;
mod parallel;
mod replay;
mod rivals;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_starts;
#[cfg(unix)]
mod serve_systems;
mod sweep;
#[cfg(unix)]
mod terminals;
mod workloads;
