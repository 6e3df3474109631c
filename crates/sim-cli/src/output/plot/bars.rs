//! Horizontal bars: values by name, so that names of any length are readable.

use super::axis::{Axis, Fitted};
use super::frame::{EDGE, Frame, LINE, Look, Point, WIDTH, escape, width_of};
use super::looks;

/// Height of a stacked bar, or of each single bar.
const THICK: f64 = 16.0;

/// Space between the bars of different names.
const APART: f64 = 10.0;

/// The largest share of the picture's width for names.
const NAMES_WIDE: f64 = WIDTH / 3.0;

/// A chart of bars: a name for each bar, or group of bars, and one axis.
///
/// ```
/// use sim_cli::output::plot::{Axis, Bars};
/// let bars = Bars::stacked("Pages", Axis::linear("pages programmed"), ["conventional", "hybrid"])
///     .with("for the host", vec![10.0, 12.0])
///     .with("to make room", vec![20.0, 3.0]);
/// assert!(bars.svg().contains("hybrid"));
/// ```
#[derive(Clone, Debug)]
pub struct Bars {
    title: String,
    axis: Axis,
    names: Vec<String>,
    stacked: bool,
    series: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// A chart with stacked series, one bar per name: for parts of a whole.
    pub fn stacked(
        title: impl Into<String>,
        axis: Axis,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { title: title.into(), axis: axis.from(0.0), names, stacked: true, series: Vec::new() }
    }

    /// A chart with series side by side: for values to compare.
    pub fn grouped(
        title: impl Into<String>,
        axis: Axis,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self { stacked: false, ..Self::stacked(title, axis, names) }
    }

    /// Adds a series: a value for each name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.series.push((name.into(), values));
        self
    }

    /// The chart as a separate file.
    pub fn svg(&self) -> String {
        self.draw(true)
    }

    /// The chart as part of a page that has [`STYLE`](super::STYLE).
    pub fn inline(&self) -> String {
        self.draw(false)
    }

    fn value(&self, series: usize, name: usize) -> f64 {
        let value = self.series[series].1.get(name).copied().unwrap_or(0.0);
        if value.is_finite() { value.max(0.0) } else { 0.0 }
    }

    /// The look of a bar: that of its series, or of its name where there is one series without a name.
    fn look(&self, series: usize, name: usize, looks: &[Look]) -> Look {
        let own = match self.series.as_slice() {
            [(only, _)] if only.is_empty() => {
                super::looks(self.names.iter().map(String::as_str)).get(name).copied()
            }
            _ => None,
        };
        own.or_else(|| looks.get(series).copied()).unwrap_or(Look { colour: 0, number: series })
    }

    fn fitted(&self) -> Fitted {
        let ends = (0..self.names.len()).flat_map(|name| {
            let values: Vec<f64> =
                (0..self.series.len()).map(|series| self.value(series, name)).collect();
            if self.stacked { vec![values.iter().sum()] } else { values }
        });
        self.axis.fitted(ends)
    }

    fn draw(&self, alone: bool) -> String {
        let axis = self.fitted();
        let legend: Vec<_> = self.series.iter().map(|(name, _)| (name.as_str(), None)).collect();
        let looks = looks(self.series.iter().map(|(name, _)| name.as_str()));
        let mut frame = Frame::new(&self.title, &legend, &looks, alone);
        let widest = self.names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
        frame.left = EDGE + widest.min(NAMES_WIDE) + 8.0;
        frame.top += APART;
        let bars = if self.stacked { 1 } else { self.series.len().max(1) };
        let high = rows(bars) + APART;
        frame.bottom = frame.top + high * whole(self.names.len());
        frame.ticks_below(&axis, &self.axis.label);
        for (number, name) in self.names.iter().enumerate() {
            let top = frame.top + high * whole(number) + APART / 2.0;
            let middle = top + rows(bars) / 2.0 + 4.0;
            let shown = escape(&shortened(name));
            frame.text_at("e", Point { x: frame.left - 6.0, y: middle }, &shown);
            self.draw_name(&mut frame, &axis, (number, &looks), top);
        }
        frame.finish()
    }

    fn draw_name(
        &self,
        frame: &mut Frame,
        axis: &Fitted,
        (name, looks): (usize, &[Look]),
        top: f64,
    ) {
        let mut below = 0.0;
        for (number, (series, _)) in self.series.iter().enumerate() {
            let value = self.value(number, name);
            let from = if self.stacked { below } else { 0.0 };
            below += value;
            let (Some(start), Some(end)) = (axis.share(from), axis.share(from + value)) else {
                continue;
            };
            let (start, end) = (frame.place(start, 0.0).x, frame.place(end, 0.0).x);
            let row = if self.stacked { 0.0 } else { rows(number) };
            let comma = if series.is_empty() { "" } else { ", " };
            let told = format!("{}{comma}{series}: {}", self.names[name], axis.show(value));
            let (told, at) = (escape(&told), Point { x: start, y: top + row });
            if end > start {
                frame.rect(self.look(number, name, looks), at, end - start, THICK - 1.0, &told);
            }
            if !self.stacked {
                let beside = Point { x: end + 5.0, y: at.y + LINE - 6.0 };
                frame.text_at("", beside, &axis.show(value));
            }
        }
    }
}

/// A count, to measure with.
fn whole(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Height of that many adjacent bars.
fn rows(count: usize) -> f64 {
    THICK * whole(count)
}

/// A name, shortened to fit.
fn shortened(name: &str) -> String {
    if width_of(name) <= NAMES_WIDE {
        return name.into();
    }
    let mut kept = String::new();
    for letter in name.chars() {
        kept.push(letter);
        if width_of(&kept) + width_of("…") >= NAMES_WIDE {
            break;
        }
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rects(svg: &str) -> Vec<(f64, f64)> {
        let attribute = |line: &str, name: &str| -> f64 {
            line.split(&format!(" {name}=\""))
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        let bars = svg.lines().filter(|line| line.starts_with("<rect") && line.contains("<title>"));
        bars.map(|line| (attribute(line, "x"), attribute(line, "width"))).collect()
    }

    #[test]
    fn parts_of_a_whole_follow_each_other() {
        let bars = Bars::stacked("t", Axis::linear("pages"), ["a", "b"])
            .with("one", vec![10.0, 40.0])
            .with("two", vec![30.0, 0.0]);
        let found = rects(&bars.svg());
        let [(first, wide), (second, wider), (_, whole)] = found[..] else { panic!("{found:?}") };
        assert!((first + wide - second).abs() < 0.2, "{found:?}");
        assert!(
            (wider / wide - 3.0).abs() < 0.01 && (whole - wide - wider).abs() < 0.3,
            "{found:?}"
        );
    }

    #[test]
    fn values_to_compare_begin_together() {
        let bars = Bars::grouped("t", Axis::linear("x"), ["a"])
            .with("one", vec![10.0])
            .with("two", vec![5.0]);
        let found = rects(&bars.svg());
        assert!((found[0].0 - found[1].0).abs() < 0.01, "{found:?}");
        assert!((found[0].1 / found[1].1 - 2.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_name_of_any_length_leaves_room_for_its_bar() {
        let long = "x".repeat(200);
        let svg = Bars::stacked("t", Axis::linear("x"), [long.as_str()]).with("a", vec![1.0]).svg();
        assert!(svg.contains('…') && svg.contains(&long), "the whole name is told by the bar");
        assert!(rects(&svg)[0].1 > WIDTH / 3.0);
        let none = Bars::stacked("t", Axis::linear("x"), [] as [&str; 0]).svg();
        assert!(!none.contains("NaN"), "{none}");
    }
}
