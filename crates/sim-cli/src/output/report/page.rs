//! A self-contained page of HTML: headings, text, tables, charts.

use std::fmt::Write;
use std::path::Path;

use sim::Failure;

use crate::base::files;
use crate::output::plot;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5rem;max-width:60rem;color:#1d2126;background:#fff}\
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}\
h2{font-size:1.15rem;margin-top:2.2rem;padding-top:.6rem;border-top:1px solid #d8dde3}\
p{max-width:46rem}.note{color:#555d66}.warn{background:#fff0d6;color:#5b3700;padding:.5rem .8rem;border-radius:4px}\
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums}\
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #e3e7eb;vertical-align:top}\
th:first-child,td:first-child{text-align:left;padding-left:0;font-weight:400;white-space:pre}\
thead th{font-weight:600}table:not(.words) td{white-space:nowrap}\
table.words td{text-align:left;overflow-wrap:anywhere}\
pre{overflow-x:auto;padding:.6rem .8rem;background:#8881;border-radius:4px;font-size:.9em}\
figure{margin:1rem 0;overflow-x:auto}\
.answer{font-size:1.15rem}li{max-width:46rem;margin:.35rem 0}\
@media screen and (max-width:760px){figure .plot{max-width:none}body{padding:1rem}}\
@media print{figure,tr{break-inside:avoid}h2{break-after:avoid}.wide{overflow:visible}table{font-size:.8em}\
.many{page:many}.many table{font-size:.7em}.many th,.many td{padding:.1rem .2rem}}@page many{size:A4 landscape}\
@media screen and (prefers-color-scheme:dark){body{color:#dfe3e8;background:#16191d}h2{border-color:#343a43}\
.note{color:#a2abb5}.warn{background:#4a3510;color:#ffe2b0}th,td{border-color:#2c3239}}";

/// With more columns a table is printed across the paper.
const FIT_UPRIGHT: usize = 8;

/// A page that is being written.
pub(crate) struct HtmlPage {
    text: String,
}

impl HtmlPage {
    /// A page with that title.
    pub(crate) fn new(title: &str) -> Self {
        let title = escape(title);
        let text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>{STYLE}{plots}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
            plots = plot::STYLE
        );
        Self { text }
    }

    /// A heading.
    pub(crate) fn heading(&mut self, words: &str) {
        self.element("h2", "", words);
    }

    /// A paragraph.
    pub(crate) fn words(&mut self, words: &str) {
        self.element("p", "", words);
    }

    /// The answer: what a reader sees first.
    pub(crate) fn answer(&mut self, words: &str) {
        let _ = writeln!(self.text, "<p class=\"answer\"><strong>{}</strong></p>", marked(words));
    }

    /// Sentences that follow from the answer.
    pub(crate) fn list(&mut self, sentences: &[String]) {
        if sentences.is_empty() {
            return;
        }
        self.text += "<ul>\n";
        for sentence in sentences {
            self.element("li", "", sentence);
        }
        self.text += "</ul>\n";
    }

    /// A paragraph that explains what is above or below.
    pub(crate) fn note(&mut self, words: &str) {
        self.element("p", " class=\"note\"", words);
    }

    /// A warning.
    pub(crate) fn warning(&mut self, words: &str) {
        self.element("p", " class=\"warn\"", words);
    }

    fn element(&mut self, name: &str, attributes: &str, words: &str) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.text, "<{name}{attributes}>{}</{name}>", marked(words));
    }

    /// A table of figures. The first column names its row.
    pub(crate) fn table(&mut self, heads: &[String], rows: &[Vec<String>]) {
        let many = if heads.len() > FIT_UPRIGHT { " many" } else { "" };
        let _ = write!(self.text, "<div class=\"wide{many}\"><table>\n<thead><tr>");
        for head in heads {
            let _ = write!(self.text, "<th>{}</th>", escape(head));
        }
        self.text += "</tr></thead>\n";
        self.rows(rows);
        self.text += "</table></div>\n";
    }

    /// A table of text: names and descriptions.
    pub(crate) fn facts(&mut self, rows: &[Vec<String>]) {
        self.text += "<div class=\"wide\"><table class=\"words\">\n";
        self.rows(rows);
        self.text += "</table></div>\n";
    }

    fn rows(&mut self, rows: &[Vec<String>]) {
        for row in rows {
            self.text += "<tr>";
            for cell in row {
                let _ = write!(self.text, "<td>{}</td>", marked(cell));
            }
            self.text += "</tr>\n";
        }
    }

    /// Preformatted text.
    pub(crate) fn listing(&mut self, text: &str) {
        let _ = writeln!(self.text, "<pre>{}</pre>", escape(text));
    }

    /// A chart, as [`plot`] draws it for a page.
    pub(crate) fn chart(&mut self, svg: &str) {
        let _ = writeln!(self.text, "<figure>\n{svg}</figure>");
    }

    /// The whole page.
    pub(crate) fn finish(mut self) -> String {
        self.text += "</body>\n</html>\n";
        self.text
    }

    /// Writes the page to its file.
    pub(crate) fn write(self, path: &Path) -> Result<(), Failure> {
        files::replace(path, self.finish().as_bytes())
    }
}

/// Text with the marks of Markdown that sentences have: code, stress and links.
fn marked(text: &str) -> String {
    let linked = links(&escape(text));
    let coded = between(&linked, "`", "code");
    between(&coded, "**", "strong")
}

/// What stands between two marks becomes an element; a mark without a second one stays.
fn between(text: &str, mark: &str, element: &str) -> String {
    let parts: Vec<&str> = text.split(mark).collect();
    let mut marked = String::new();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        match at % 2 {
            0 => marked += part,
            _ if is_last => marked.extend([mark, part]),
            _ => {
                let _ = write!(marked, "<{element}>{part}</{element}>");
            }
        }
    }
    marked
}

/// `[words](place)` becomes a link.
fn links(text: &str) -> String {
    let mut rest = text;
    let mut linked = String::new();
    while let Some((before, after)) = rest.split_once('[') {
        linked += before;
        let found = after.split_once("](").and_then(|(words, tail)| {
            let (place, tail) = tail.split_once(')')?;
            (!words.contains(['[', ']'])).then_some((words, place, tail))
        });
        if let Some((words, place, tail)) = found {
            let _ = write!(linked, "<a href=\"{place}\">{words}</a>");
            rest = tail;
        } else {
            linked.push('[');
            rest = after;
        }
    }
    linked + rest
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_elements_and_single_ones_stay() {
        assert_eq!(marked("run `a < b` **now**"), "run <code>a &lt; b</code> <strong>now</strong>");
        assert_eq!(
            marked("see [it](x.md#a), [1] and `b"),
            "see <a href=\"x.md#a\">it</a>, [1] and `b"
        );
    }

    #[test]
    fn a_page_closes_what_it_opens_and_names_are_no_markup() {
        let mut page = HtmlPage::new("a <b>");
        page.heading("h & h");
        page.warning("w");
        page.answer("take <it>");
        page.list(&["because".into()]);
        page.table(&["x".into(), "<y>".into()], &[vec!["1".into(), "2".into()]]);
        page.facts(&[vec!["name".into(), "\"words\"".into()]]);
        page.chart("<svg></svg>\n");
        let html = page.finish();
        for element in [
            "html", "head", "body", "h1", "h2", "p", "ul", "li", "strong", "table", "tr", "td",
            "div", "figure",
        ] {
            let opened = html.matches(&format!("<{element}>")).count()
                + html.matches(&format!("<{element} ")).count();
            let closed = html.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}: {html}");
            assert!(opened > 0, "{element}");
        }
        assert!(html.contains("a &lt;b&gt;") && html.contains("&lt;y&gt;"), "{html}");
        for elsewhere in ["http", "<script", "<link", "url(", "@import"] {
            assert!(!html.contains(elsewhere), "{elsewhere}: it needs no other file");
        }
    }
}
