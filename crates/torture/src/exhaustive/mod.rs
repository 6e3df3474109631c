//! Every small world: on the smallest devices, every sequence of a few requests, every cut in every operation, every
//! fate that the contract of [`NandDevice`](ftl_iface::NandDevice) allows.
//!
//! ```text
//!  world ──▶ job: a prepared state, letters     world   the smallest devices, `small_ftl` the FTL on one
//!               │                               script  letters of the host, cuts, fates, as text
//!               ▼
//!  walk ──▶ live: mount, letters, compare ──▶ promise   what each sector must read as
//!    ▲          │        │
//!    │          │        ▼
//!    │          │      nand ── before each operation a photo: the image, and the operation
//!    │          ▼        │
//!    │       what could have gone otherwise (an unstable page dies at a read; a program fails): lived again, so
//!    │                   ▼
//!    └── visited ◀── fates: from each photo an image for each fate of its operation
//!        (is it new?)
//! ```
//!
//! A `FlashImage` is a device without power: a number for each page that names its `content`, a few bits
//! for each block. It is copied in a few nanoseconds, and has a fingerprint, which is the sum of a hash of each page.
//! A *life* begins at an image with a mount and ends when power does. It is lived once without a cut; the photos then
//! give every way in which it could have been cut. What the device decides within a life, it decides anew each time:
//! the life is lived again for each thing that could have gone otherwise.
//!
//! A *state* is an image with what was promised of it. From a state, the walk lives: a mount that reads everything; a
//! mount and each request; both. A state met before with as much left to try is left out. What is left is a budget:
//! requests, and *harms* (cuts, failures, pages that become unreadable by themselves).
mod content;
mod fates;
mod grid;
mod image;
mod jobs;
mod live;
mod nand;
mod promise;
mod replay;
mod rot;
mod rounds;
mod script;
mod shrink;
mod small_ftl;
mod told;
mod visited;
mod walk;
mod world;

pub use jobs::{Order, Shard, Until, Walked, exhaustive, threads};
pub use replay::{Replayed, replay};
pub use script::SmallScript;
pub use told::{BrokenEntry, WalkCounts};
pub use walk::Broken;
