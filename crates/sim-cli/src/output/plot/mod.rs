//! Charts as self-contained SVG: lines, steps, points, and bars; legible on white and on black.
//!
//! A chart is drawn for a page ([`Chart::inline`], with [`STYLE`] once in the page) or as a separate file
//! ([`Chart::svg`]). Both follow the viewer's scheme, light or dark. Series differ in dash and marker besides colour,
//! and marks show their values as tooltips.
//!
//! # Modules
//!
//! - `axis`: from values to positions, and ticks. `frame`: title, legend and axes of every chart. `bars`: charts with
//!   names instead of one axis. `palette`: one colour for one system, and one for one cause.

use std::collections::HashSet;
use std::fmt::Write;

mod axis;
mod bars;
mod frame;
mod palette;
mod shape;

pub use axis::{Axis, Scale};
pub use bars::Bars;
pub use frame::STYLE;
#[cfg(test)]
pub(crate) use palette::own as colour_of;
pub(crate) use palette::shared as shared_colours;
pub use shape::Shape;

use frame::{Frame, Look, Point, escape};

/// Up to this many points of a line, each is marked.
const MARKED_MOST: usize = 40;

/// A series of values.
#[derive(Clone, Debug)]
struct Series {
    name: String,
    shape: Shape,
    points: Vec<(f64, f64)>,
}

/// A chart with two axes.
///
/// ```
/// use sim_cli::output::plot::{Axis, Chart, Shape};
/// let chart = Chart::new("Speed", Axis::bytes("SLC"), Axis::linear("times as fast").from(0.0))
///     .with("hybrid", Shape::Line, vec![(1048576.0, 1.1), (2097152.0, 1.3)]);
/// assert!(chart.svg().starts_with("<svg"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl Chart {
    /// A chart without marks.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// Adds a series. Its colour follows from its name, if that is a system's or a cause's, and its dash from its
    /// number.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, shape: Shape, points: Vec<(f64, f64)>) -> Self {
        self.series.push(Series { name: name.into(), shape, points });
        self
    }

    /// Whether the chart is empty.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// The chart as a separate file.
    pub fn svg(&self) -> String {
        self.draw(true)
    }

    /// The chart as part of a page that has [`STYLE`].
    pub fn inline(&self) -> String {
        self.draw(false)
    }

    fn draw(&self, alone: bool) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = self.x.fitted(points().map(|point| point.0));
        let y = self.y.fitted(points().map(|point| point.1));
        let names: Vec<(&str, Option<Shape>)> =
            self.series.iter().map(|series| (&*series.name, Some(series.shape))).collect();
        let looks = looks(names.iter().map(|(name, _)| *name));
        let mut frame = Frame::new(&self.title, &names, &looks, alone);
        frame.axes(&x, &y, (&self.x.label, &self.y.label));
        for (look, series) in looks.iter().copied().zip(&self.series) {
            let place =
                |(at, value): &(f64, f64)| Some(frame.place(x.share(*at)?, y.share(*value)?));
            let held: Vec<_> =
                series.points.iter().filter_map(|point| Some((place(point)?, *point))).collect();
            let places: Vec<Point> = held.iter().map(|(place, _)| *place).collect();
            match series.shape {
                Shape::Points => frame.path(look, "p", &dots(&places)),
                Shape::Line => frame.path(look, "l", &line(&places)),
                Shape::Steps => frame.path(look, "l", &steps(&places)),
                Shape::Rings => places.iter().for_each(|place| frame.ring(look, *place)),
            }
            let is_line = matches!(series.shape, Shape::Line | Shape::Steps);
            if is_line && places.len() <= MARKED_MOST {
                for (place, (at, value)) in held {
                    let colon = if series.name.is_empty() { "" } else { ": " };
                    let (at, value) = (x.show(at), y.show(value));
                    let told = format!("{}{colon}{at}, {value}", series.name);
                    frame.marker(look, place, &escape(&told));
                }
            }
        }
        frame.finish()
    }
}

/// The looks of series with these names.
fn looks<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Look> {
    palette::of(names)
        .into_iter()
        .enumerate()
        .map(|(number, colour)| Look { colour, number })
        .collect()
}

// Writing to a string cannot fail, so results are ignored below.

/// One dot at every position, because more would not be visible.
fn dots(places: &[Point]) -> String {
    let mut seen = HashSet::new();
    let mut path = String::new();
    for place in places {
        // Half a unit is the smallest visible difference.
        let cell = ((place.x * 2.0).round() as i32, (place.y * 2.0).round() as i32);
        if seen.insert(cell) {
            let _ = write!(path, "M{} {}h0", f64::from(cell.0) / 2.0, f64::from(cell.1) / 2.0);
        }
    }
    path
}

fn line(places: &[Point]) -> String {
    let mut path = String::new();
    for (number, place) in places.iter().enumerate() {
        path += if number == 0 { "M" } else { "L" };
        let _ = write!(path, "{:.1} {:.1}", place.x, place.y);
    }
    path
}

fn steps(places: &[Point]) -> String {
    let mut path = String::new();
    for (number, place) in places.iter().enumerate() {
        if number == 0 {
            let _ = write!(path, "M{:.1} {:.1}", place.x, place.y);
        } else {
            let _ = write!(path, "H{:.1}V{:.1}", place.x, place.y);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart::new("a < b", Axis::linear("x"), Axis::linear("y").from(0.0))
            .with("up & down", Shape::Line, vec![(0.0, 0.0), (10.0, 10.0)])
            .with("levels", Shape::Steps, vec![(0.0, 5.0), (5.0, 10.0)])
            .with("dots", Shape::Points, vec![(1.0, 1.0), (1.0, 1.0), (2.0, 1.0)])
            .with("knee", Shape::Rings, vec![(10.0, 10.0)])
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let places = [Point { x: 10.0, y: 90.0 }, Point { x: 90.0, y: 10.0 }];
        assert_eq!(line(&places), "M10.0 90.0L90.0 10.0");
        assert_eq!(steps(&places), "M10.0 90.0H90.0V10.0");
    }

    #[test]
    fn what_would_cover_a_dot_is_left_out() {
        let place = |x| Point { x, y: 1.0 };
        assert_eq!(dots(&[place(1.0), place(1.1), place(2.0)]), "M1 1h0M2 1h0");
    }

    #[test]
    fn a_file_stands_alone_and_a_part_of_a_page_borrows_its_style() {
        let (file, part) = (chart().svg(), chart().inline());
        assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{file}");
        assert!(file.contains("<style>") && file.ends_with("</svg>\n"), "{file}");
        assert!(!part.contains("<style>"), "{part}");
    }

    #[test]
    fn titles_and_names_are_text_and_no_markup() {
        let file = chart().svg();
        assert!(file.contains("a &lt; b") && file.contains("up &amp; down"), "{file}");
        assert!(!file.contains("a < b"), "{file}");
    }

    #[test]
    fn a_series_is_told_in_a_legend_and_by_its_marks_unless_it_has_no_name() {
        let with = |name: &str| {
            let chart = Chart::new("t", Axis::linear("x"), Axis::linear("y"));
            chart.with(name, Shape::Line, vec![(1.0, 2.0), (3.0, 4.0)]).inline()
        };
        let named = with("one");
        assert!(named.contains(">one</text>") && named.contains("<title>one: 1, 2</title>"));
        let nameless = with("");
        assert!(nameless.contains("<title>1, 2</title>"), "{nameless}");
        assert_eq!(nameless.matches("class=\"l d0 s0\"").count(), 1, "the line alone, no legend");
    }

    #[test]
    fn values_that_an_axis_cannot_hold_are_left_out() {
        let chart = Chart::new("t", Axis::linear("x"), Axis::log("y")).with(
            "s",
            Shape::Line,
            vec![(0.0, 0.0), (1.0, 10.0), (2.0, f64::NAN), (3.0, 100.0)],
        );
        let file = chart.svg();
        assert!(!file.contains("NaN") && !file.contains("inf"), "{file}");
        let nothing = Chart::new("t", Axis::linear("x"), Axis::log("y"));
        assert!(nothing.is_empty() && !nothing.svg().contains("NaN"));
    }
}
