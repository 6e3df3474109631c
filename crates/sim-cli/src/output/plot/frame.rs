//! The frame of every chart: title, legend, axes. All SVG is written here.

use std::fmt::Write;

use super::axis::Fitted;
use super::shape::Shape;

/// The style of all charts, for a page with charts. The colours are distinguishable with colour blindness, and have a
/// contrast of at least three to one against the background of their scheme.
pub const STYLE: &str = "\
.plot{max-width:100%;height:auto;font:12px system-ui,sans-serif}\
.plot text{fill:#32383f}.plot .t{font-size:14px;font-weight:600}.plot .g{stroke:#d8dde3}.plot .a{stroke:#8a929b}\
.plot .paper{fill:#fff}.plot .m{text-anchor:middle}.plot .e{text-anchor:end}\
.plot .l{fill:none;stroke-width:2;stroke-linejoin:round}\
.plot .p{fill:none;stroke-width:1.8;stroke-linecap:round}\
.plot .d1{stroke-dasharray:7 3}.plot .d2{stroke-dasharray:2 3}.plot .d3{stroke-dasharray:9 3 2 3}\
.plot .s0{stroke:#1f6fb4}.plot .s1{stroke:#c8590a}.plot .s2{stroke:#16865d}.plot .s3{stroke:#b0407f}\
.plot .s4{stroke:#6f55c4}.plot .s5{stroke:#8a6f00}.plot .s6{stroke:#0b7f90}.plot .s7{stroke:#6b7280}\
.plot .s8{stroke:#a33b3b}.plot .s9{stroke:#3f6f1f}.plot .s10{stroke:#8a4a1e}.plot .s11{stroke:#2f4f9f}\
.plot .f0{fill:#1f6fb4}.plot .f1{fill:#c8590a}.plot .f2{fill:#16865d}.plot .f3{fill:#b0407f}\
.plot .f4{fill:#6f55c4}.plot .f5{fill:#8a6f00}.plot .f6{fill:#0b7f90}.plot .f7{fill:#6b7280}\
.plot .f8{fill:#a33b3b}.plot .f9{fill:#3f6f1f}.plot .f10{fill:#8a4a1e}.plot .f11{fill:#2f4f9f}\
@media screen and (prefers-color-scheme:dark){\
.plot text{fill:#d5dae1}.plot .g{stroke:#343a43}.plot .a{stroke:#7d8590}.plot .paper{fill:#16191d}\
.plot .s0{stroke:#6cb2f0}.plot .s1{stroke:#f29b55}.plot .s2{stroke:#5cc79a}.plot .s3{stroke:#e884b8}\
.plot .s4{stroke:#ab98f5}.plot .s5{stroke:#d9bd45}.plot .s6{stroke:#5ccada}.plot .s7{stroke:#a3abb8}\
.plot .s8{stroke:#f08f8f}.plot .s9{stroke:#a6d27a}.plot .s10{stroke:#d9a07a}.plot .s11{stroke:#93b0ff}\
.plot .f0{fill:#6cb2f0}.plot .f1{fill:#f29b55}.plot .f2{fill:#5cc79a}.plot .f3{fill:#e884b8}\
.plot .f4{fill:#ab98f5}.plot .f5{fill:#d9bd45}.plot .f6{fill:#5ccada}.plot .f7{fill:#a3abb8}\
.plot .f8{fill:#f08f8f}.plot .f9{fill:#a6d27a}.plot .f10{fill:#d9a07a}.plot .f11{fill:#93b0ff}}";

/// The number of dashes of [`STYLE`], which are used in rotation.
const DASHES: usize = 4;

/// The look of a series: its colour and its number, from which its dash follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) colour: usize,
    pub(super) number: usize,
}

/// Width of every chart, in pixels at normal size.
pub(super) const WIDTH: f64 = 720.0;

/// Height of the marks of a chart with two axes.
const MARKS_HIGH: f64 = 260.0;

/// Height of a line of text.
pub(super) const LINE: f64 = 18.0;

/// The mean width of a letter of [`STYLE`]'s font.
const LETTER: f64 = 6.6;

/// Space at the edges.
pub(super) const EDGE: f64 = 12.0;

/// A position in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A picture that is being drawn.
pub(super) struct Frame {
    text: String,
    title: String,
    alone: bool,
    /// The area of the marks.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// A picture with that title, and a legend if there are names. A name without shape is that of a bar.
    pub(super) fn new(
        title: &str,
        names: &[(&str, Option<Shape>)],
        looks: &[Look],
        alone: bool,
    ) -> Self {
        let mut frame = Self {
            text: String::new(),
            title: escape(title),
            alone,
            left: EDGE,
            // Half of the last tick's label is beyond the axis.
            right: WIDTH - EDGE - 24.0,
            top: EDGE + LINE,
            bottom: 0.0,
        };
        let title = frame.title.clone();
        frame.text_at("t", Point { x: EDGE, y: EDGE + 10.0 }, &title);
        if names.iter().any(|(name, _)| !name.is_empty()) {
            frame.legend(names, looks);
        }
        frame
    }

    fn legend(&mut self, names: &[(&str, Option<Shape>)], looks: &[Look]) {
        let mut at = Point { x: EDGE, y: self.top + 14.0 };
        for ((name, shape), look) in names.iter().zip(looks) {
            let width = 26.0 + width_of(name) + 14.0;
            if at.x + width > WIDTH - EDGE && at.x > EDGE {
                at = Point { x: EDGE, y: at.y + LINE };
            }
            let (x, y) = (at.x, at.y - 4.0);
            match shape {
                None => self.rect(*look, Point { x, y: y - 5.0 }, 18.0, 10.0, ""),
                Some(Shape::Points) => {
                    self.rect(*look, Point { x: x + 5.0, y: y - 3.0 }, 7.0, 7.0, "");
                }
                Some(Shape::Rings) => self.ring(*look, Point { x: x + 9.0, y }),
                Some(_) => self.path(*look, "l", &format!("M{x} {y}h20")),
            }
            self.text_at("", Point { x: x + 26.0, y: at.y }, &escape(name));
            at.x += width;
        }
        self.top = at.y + 6.0;
    }

    /// Both axes with ticks, labels and grid.
    pub(super) fn axes(&mut self, x: &Fitted, y: &Fitted, labels: (&str, &str)) {
        let widest = y.ticks.iter().map(|tick| width_of(&y.show(*tick))).fold(0.0, f64::max);
        self.left = EDGE + widest + 8.0;
        self.text_at("", Point { x: EDGE, y: self.top + LINE }, &escape(labels.1));
        self.top += LINE + 10.0;
        self.bottom = self.top + MARKS_HIGH;
        for tick in &y.ticks {
            let Some(share) = y.share(*tick) else { continue };
            let at = self.place(0.0, share);
            self.rule("g", at, Point { x: self.right, y: at.y });
            self.text_at("e", Point { x: at.x - 6.0, y: at.y + 4.0 }, &y.show(*tick));
        }
        self.ticks_below(x, labels.0);
    }

    /// Ticks and label of the lower axis.
    pub(super) fn ticks_below(&mut self, x: &Fitted, label: &str) {
        for tick in &x.ticks {
            let Some(share) = x.share(*tick) else { continue };
            let at = self.place(share, 0.0);
            self.rule("g", Point { x: at.x, y: self.top }, at);
            self.text_at("m", Point { x: at.x, y: at.y + LINE }, &x.show(*tick));
        }
        let (start, end) = (self.place(0.0, 0.0), self.place(1.0, 0.0));
        self.rule("a", start, end);
        let middle = Point { x: f64::midpoint(self.left, self.right), y: self.bottom + 2.0 * LINE };
        self.text_at("m", middle, &escape(label));
    }

    /// The position of two shares, from the lower left corner of the marks.
    pub(super) fn place(&self, x: f64, y: f64) -> Point {
        Point {
            x: self.left + x * (self.right - self.left),
            y: self.bottom - y * (self.bottom - self.top),
        }
    }

    // Writing to a string cannot fail, so results are ignored below.

    fn rule(&mut self, class: &str, from: Point, to: Point) {
        let (from, to) = ((from.x, from.y), (to.x, to.y));
        let _ = writeln!(
            self.text,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// Text that is already escaped.
    pub(super) fn text_at(&mut self, class: &str, at: Point, text: &str) {
        let Point { x, y } = at;
        let _ =
            writeln!(self.text, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
    }

    /// A path in the colour of that series: a line (`l`) or points (`p`).
    pub(super) fn path(&mut self, look: Look, class: &str, path: &str) {
        if !path.is_empty() {
            let (colour, dash) = (look.colour, look.number % DASHES);
            let dash = if class == "l" { format!(" d{dash}") } else { String::new() };
            let _ = writeln!(self.text, "<path class=\"{class}{dash} s{colour}\" d=\"{path}\"/>");
        }
    }

    /// A small circle with its value as tooltip.
    pub(super) fn marker(&mut self, look: Look, at: Point, told: &str) {
        let (Point { x, y }, colour) = (at, look.colour);
        let _ = writeln!(
            self.text,
            "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"><title>{told}</title></circle>"
        );
    }

    /// A circle around a point of another series.
    pub(super) fn ring(&mut self, look: Look, at: Point) {
        let (Point { x, y }, colour) = (at, look.colour);
        let _ = writeln!(
            self.text,
            "<circle class=\"s{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"none\" stroke-width=\"2\"/>"
        );
    }

    /// A rectangle, with its value as tooltip if it has one.
    pub(super) fn rect(&mut self, look: Look, at: Point, width: f64, height: f64, told: &str) {
        let (Point { x, y }, colour) = (at, look.colour);
        let told = if told.is_empty() { String::new() } else { format!("<title>{told}</title>") };
        let _ = writeln!(
            self.text,
            "<rect class=\"f{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\">{told}</rect>"
        );
    }

    /// The complete picture.
    pub(super) fn finish(self) -> String {
        let height = self.bottom + 2.0 * LINE + EDGE;
        let style = if self.alone { format!("<style>{STYLE}</style>\n") } else { String::new() };
        let Self { text, title, .. } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" \
             viewBox=\"0 0 {WIDTH} {height:.0}\">\n<title>{title}</title>\n{style}\
             <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height:.0}\"/>\n{text}</svg>\n"
        )
    }
}

/// The approximate width of a text.
pub(super) fn width_of(text: &str) -> f64 {
    f64::from(u16::try_from(text.chars().count()).unwrap_or(u16::MAX)) * LETTER
}

/// Text with markup escaped.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
