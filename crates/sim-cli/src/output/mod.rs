//! What people read of results: tables, charts, pages, verdicts.

pub(crate) mod csv;
pub(crate) mod ended;
pub(crate) mod json;
pub mod plot;
pub(crate) mod progress;
pub(crate) mod ranking;
pub(crate) mod report;
pub(crate) mod side_by_side;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod verdict;
