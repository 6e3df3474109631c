//! What the programs share: the board, chips in RAM, and the lending of static memory.
//!
//! - [`board`]: counts instructions, paints the stack, ends the program. The only room that knows the architecture.
//! - [`part`]: the shapes of the chips, and the configurations that run on them.
//! - [`chips`]: a chip that keeps everything and whose power can be cut; a chip of 128 MiB that keeps tags and forgets
//!   payload; a meter that counts what passes to a chip.
//! - [`measuring`]: what calls cost, by kinds. [`bare`]: every call of a host, for programs that are only looked at.
//! - [`memory`]: static arrays, sized by the plan and lent again after each mount.
//! - [`plans`]: plans in a `const`. [`setup`]: an FTL with its plan.
//! - [`numbers`]: numbers that look random.
#![no_std]
#![deny(unsafe_code)]

pub mod bare;
pub mod board;
pub mod chips;
pub mod measuring;
pub mod memory;
pub mod numbers;
pub mod part;
pub mod plans;
pub mod setup;
