//! The tests of the adapters, as one program: what they stand on is compiled and linked for them once.

mod bytes;
mod fat;
mod fat_cuts;
mod usb;
mod volume;
mod world;
