//! The functions as C calls them: what they do, and what they make of everything that is wrong.

mod bad_input;
mod drivers;
mod examine;
mod hybrid;
mod model;
mod random;
mod requests;
mod world;
