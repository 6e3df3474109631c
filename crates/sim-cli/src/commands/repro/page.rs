//! The page: Markdown with a folder of charts beside it, and the same as one file of HTML.

use std::fs;
use std::path::{Path, PathBuf};

use sim::Failure;

use crate::base::files;
use crate::output::report;

/// The column at which sentences are wrapped.
const WIDE: usize = 120;

/// The unfinished page.
pub(super) struct Page {
    text: String,
    html: report::HtmlPage,
    folder: PathBuf,
    /// Its file, and the folder of its charts beside it.
    name: &'static str,
    charts: &'static str,
}

impl Page {
    /// An empty page of that name in that folder, which is created if needed, with a folder for charts.
    pub(super) fn new(
        folder: &Path,
        (name, charts): (&'static str, &'static str),
    ) -> Result<Self, Failure> {
        let path = folder.join(charts);
        fs::create_dir_all(&path).map_err(|reason| Failure::File { path, reason })?;
        let (text, html) = (String::new(), report::HtmlPage::new(name));
        Ok(Self { text, html, folder: folder.into(), name, charts })
    }

    pub(super) fn title(&mut self, title: &str) {
        self.text.extend(["# ", title, "\n"]);
        self.html = report::HtmlPage::new(title);
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.text.extend(["\n## ", heading, "\n"]);
        self.html.heading(heading);
    }

    /// A paragraph.
    pub(super) fn say(&mut self, sentences: &str) {
        self.html.words(sentences);
        let mut wide = 0;
        self.text.push('\n');
        for word in sentences.split_whitespace() {
            let length = word.chars().count();
            if wide > 0 && wide + 1 + length > WIDE {
                self.text.push('\n');
                wide = 0;
            }
            if wide > 0 {
                self.text.push(' ');
                wide += 1;
            }
            self.text.push_str(word);
            wide += length;
        }
        self.text.push('\n');
    }

    /// A table: its first row is the heading, and its first column is text.
    pub(super) fn table<const N: usize>(&mut self, rows: &[[String; N]]) {
        self.ruled(rows, "---:");
        if let Some((heads, rows)) = rows.split_first() {
            self.html.table(heads, &rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
        }
    }

    /// A table of text only.
    pub(super) fn words<const N: usize>(&mut self, rows: &[[String; N]]) {
        self.ruled(rows, "---");
        self.html.facts(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
    }

    fn ruled<const N: usize>(&mut self, rows: &[[String; N]], rule: &str) {
        self.text.push('\n');
        for (at, row) in rows.iter().enumerate() {
            self.text.extend(["| ", &row.join(" | "), " |\n"]);
            if at == 0 {
                let rules = std::iter::once("---").chain(std::iter::repeat_n(rule, N - 1));
                self.text.extend(["|", &rules.collect::<Vec<_>>().join("|"), "|\n"]);
            }
        }
    }

    /// A chart, in a file of that name beside the page.
    pub(super) fn chart(&mut self, name: &str, told: &str, svg: &str) -> Result<(), Failure> {
        let file = format!("{name}.svg");
        files::replace(&self.folder.join(self.charts).join(&file), svg.as_bytes())?;
        self.html.chart(svg);
        self.text.extend(["\n![", told, "](", self.charts, "/", &file, ")\n"]);
        Ok(())
    }

    /// Writes the page. Returns its path.
    pub(super) fn finish(self) -> Result<PathBuf, Failure> {
        let path = self.folder.join(self.name);
        files::replace(&path, self.text.as_bytes())?;
        self.html.write(&path.with_extension("html"))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_was_said_in_lines_that_are_not_too_wide() {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page::new(folder.path(), ("REPRO.md", "repro")).unwrap();
        page.title("T");
        page.say(&"word ".repeat(60));
        page.table(&[["a", "b"], ["c", "1"]].map(|row| row.map(String::from)));
        page.chart("x", "a chart", "<svg/>").unwrap();
        let text = fs::read_to_string(page.finish().unwrap()).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= WIDE), "{text}");
        assert!(text.ends_with("\n| a | b |\n|---|---:|\n| c | 1 |\n\n![a chart](repro/x.svg)\n"));
        assert_eq!(fs::read_to_string(folder.path().join("repro/x.svg")).unwrap(), "<svg/>");
        let html = fs::read_to_string(folder.path().join("REPRO.html")).unwrap();
        assert!(html.contains("<h1>T</h1>") && html.contains("<td>1</td>"), "{html}");
        assert!(html.contains("<figure>\n<svg/></figure>"), "{html}");
    }
}
