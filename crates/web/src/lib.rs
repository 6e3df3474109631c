//! The simulator in a browser: what the page of the book asks, and what it is told.
//!
//! ```text
//!   page/page.js ──▶ page/worker.js ──▶ abi ──▶ question ──▶ run ──▶ sim
//!        ▲                                          │
//!        └──────────────── told, as JSON ◀──────────┴── catalogue, frame
//! ```
//!
//! The page asks in JSON and is told in JSON, while a run goes on: `docs/BROWSER.md` says how it is built. Nothing here
//! depends on a browser but `abi`, so that tests run anywhere.
//!
//! # Modules
//!
//! [`question`]: what the page may ask. `catalogue`: devices, systems and loads that the page offers. `run`: the run
//! that was chosen, and the command that does the same. `frame_recorder`: looks on, and takes frames; `frame`: what
//! the page draws of a moment. `words`: what the simulator says, in the page's words. [`told`]: the answers. `abi`:
//! the three functions between JavaScript and Rust.
#![deny(unsafe_code)]

pub mod question;
pub mod told;

mod catalogue;
mod frame;
mod frame_recorder;
mod run;
mod words;

#[cfg(target_family = "wasm")]
mod abi;
