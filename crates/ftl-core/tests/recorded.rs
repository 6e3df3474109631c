//! What is written down of the hybrid FTL: its counts, its RAM, its format, and what it refuses. It is a program of its
//! own, so that it can be compared with and without the feature `wide` in little time.

mod format_doc;
mod golden;
mod ram_plan;
mod refusals;
mod world;
