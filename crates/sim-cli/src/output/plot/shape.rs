//! The shapes of marks.

/// The shapes of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line from point to point.
    Line,
    /// A level that holds until the next point.
    Steps,
    /// A dot each.
    Points,
    /// A ring each, around points of another series.
    Rings,
}
