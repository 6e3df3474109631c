//! The tables of `docs/FIRMWARE.md`, which show the figures as they are written down.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::elf::Program;
use crate::figures::Figures;
use crate::outcome::{Outcome, said};

/// A program that is an FTL with nothing around it.
pub(crate) struct Bare {
    /// As the page calls it.
    pub(crate) title: &'static str,
    /// What its figures are called after the build.
    pub(crate) size: &'static str,
    /// How it is built.
    pub(crate) build: &'static str,
    pub(crate) program: &'static str,
}

const fn bare(
    title: &'static str,
    size: &'static str,
    build: &'static str,
    program: &'static str,
) -> Bare {
    Bare { title, size, build, program }
}

const PAGE_STORE: &str = "size of the page store";

/// All of them. The build `least` has nothing of the page store that can be left out.
pub(crate) const BARE: [Bare; 7] = [
    bare("page store without features, `smallest`", PAGE_STORE, "least", "bare"),
    bare("page store, `smallest`", PAGE_STORE, "smallest", "bare"),
    bare("page store, `small`", PAGE_STORE, "small", "bare"),
    bare("page store, `release`", PAGE_STORE, "release", "bare"),
    bare("hybrid, `smallest`", "size", "smallest", "bare_hybrid"),
    bare("hybrid, `small`", "size", "small", "bare_hybrid"),
    bare("hybrid, `release`", "size", "release", "bare_hybrid"),
];

/// A row beside Dhara's: what, Dhara for size and for speed, the goal, and the name of our figure.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// Dhara's figures are those of its snapshot 1b166e4; the page says how they were found.
const BESIDE_DHARA: [Row; 16] = [
    (
        "instructions, random write, durable",
        "41,512",
        "26,793",
        "1,500",
        "random write/instructions",
    ),
    ("… not durable before a sync", "7,300", "4,754", "", ""),
    ("… to a set that the log holds", "", "", "1,500", "hot write/instructions"),
    ("… sequential write", "3,633", "2,243", "600", "sequential write/instructions"),
    ("… random read", "1,108", "1,003", "300", "random read/instructions"),
    ("… from a set that the log holds", "", "", "300", "hot read/instructions"),
    ("… sequential read", "", "", "", "sequential read/instructions"),
    ("… the worst of 10,000 random writes", "", "", "", "random write/worst"),
    ("… mount", "", "", "", "mount/instructions"),
    ("… mount after a clean stop", "", "", "", "mount after a clean stop/instructions"),
    ("chip: programs a random write, durable", "16.0", "", "", "random write/programs"),
    ("… to a set that the log holds", "", "", "2", "hot write/programs"),
    ("… reads a random read", "8.5–10", "", "1.2", "random read/reads"),
    ("… from a set that the log holds", "", "", "1.2", "hot read/reads"),
    ("… reads of a mount", "27–85", "", "64 to 1,024", "mount/reads"),
    ("… reads of a mount after a clean stop", "", "", "16", "mount after a clean stop/reads"),
];

/// Kinds of calls, as the programs name them.
const KINDS: [&str; 14] = [
    "format",
    "mount",
    "mount after a clean stop",
    "first sequential write",
    "sequential write",
    "random write",
    "hot write",
    "sequential read",
    "random read",
    "hot read",
    "random read after a mount",
    "sequential write after a mount",
    "trim",
    "idle step",
];

/// A figure as people write numbers: thousands apart, no hundredths where they say nothing.
fn shown(figures: &Figures, name: &str) -> String {
    let Some(value) = figures.get(name) else {
        return "?".into();
    };
    let (whole, part) =
        value.split_once('.').map_or((value, None), |(whole, part)| (whole, Some(part)));
    let digits = whole.as_bytes();
    let mut text = String::new();
    for (at, digit) in digits.iter().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(char::from(*digit));
    }
    match part {
        Some(part) if part != "00" => format!("{text}.{part}"),
        _ => text,
    }
}

fn beside_dhara(arm: &Figures, riscv: &Figures) -> String {
    let mut text = String::from(
        "| | Dhara, `-Os` | Dhara, `-O2` | goal, at most | page store, `small` | `release` | `release`, RISC-V \
         | hybrid, `small` | `release` | `release`, RISC-V |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let builds = [("small", arm), ("release", arm), ("release", riscv)];
    for (what, os, o2, goal, name) in BESIDE_DHARA {
        let ours = |profile| {
            builds.map(|(build, figures)| {
                if name.is_empty() {
                    String::new()
                } else {
                    shown(figures, &format!("{build}/{profile}/{name}"))
                }
            })
        };
        let dhara = [what, os, o2, goal].map(String::from);
        let cells = [&dhara[..], &ours("paged"), &ours("split")].concat();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Everything about one profile, as it was found in one build.
fn all_calls(figures: &Figures, build: &str, profile: &str) -> String {
    let mut text = String::from(
        "| call | instructions | the worst | reads | programs | erases | stack, bytes |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for kind in KINDS {
        let cells = ["instructions", "worst", "reads", "programs", "erases", "stack"]
            .map(|what| shown(figures, &format!("{build}/{profile}/{kind}/{what}")));
        let _ = writeln!(text, "| {kind} | {} |", cells.join(" | "));
    }
    text
}

fn sizes(arm: &Figures, riscv: &Figures) -> String {
    let mut text = String::from(
        "| bytes | Cortex-M4F: code | constants | compiler's library \
         | RISC-V: code | constants | compiler's library |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for Bare { title, size, build, .. } in BARE {
        let _ = write!(text, "| {title} |");
        for figures in [arm, riscv] {
            for what in ["code", "constants", "library"] {
                let _ = write!(text, " {} |", shown(figures, &format!("{build}/{size}/{what}")));
            }
        }
        text.push('\n');
    }
    text
}

fn memory(arm: &Figures) -> String {
    let mut text =
        String::from("| bytes of RAM | tables | state | deepest stack |\n|---|---:|---:|---:|\n");
    for profile in ["paged", "paged, 16 KiB", "split", "small"] {
        let name = |what: &str| format!("release/{profile}/{what}");
        let depths = KINDS.map(|kind| {
            arm.get(&name(&format!("{kind}/stack"))).and_then(|depth| depth.parse::<u32>().ok())
        });
        let deepest = depths.into_iter().flatten().max().unwrap_or(0);
        let (tables, state) = (shown(arm, &name("ram/tables")), shown(arm, &name("ram/state")));
        let _ = writeln!(text, "| `{profile}` | {tables} | {state} | {deepest} |");
    }
    text
}

/// The largest functions of a program.
pub(crate) fn largest(program: &Program) -> String {
    let mut text = String::from("| bytes | function |\n|---:|---|\n");
    for (name, bytes) in program.functions_of_the_ftl().take(12) {
        let _ = writeln!(text, "| {bytes} | `{}` |", short(name));
    }
    text
}

/// A function's name without the types that all of them share.
fn short(name: &str) -> String {
    let mut short = name.to_owned();
    for (long, brief) in
        [("<impl ftl_core::paged::tables::store::PageFtl<D,P>>", "PageFtl"), ("ftl_core::", "")]
    {
        short = short.replace(long, brief);
    }
    short
}

/// What is done about figures that differ from those that are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differing {
    /// They are faults.
    Told,
    /// They are written down.
    Renewed,
}

/// Sets a table between its marks, or says that the page shows another.
fn keep_table(
    page: &mut String,
    mark: &str,
    table: &str,
    differing: Differing,
) -> Outcome<Option<String>> {
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let missing = || format!("docs/FIRMWARE.md has no marks for the table `{mark}`");
    let start = page.find(&open).ok_or_else(missing)? + open.len();
    let end = start + page[start..].find(&close).ok_or_else(missing)?;
    if page[start..end] == *table {
        return Ok(None);
    }
    Ok(match differing {
        Differing::Renewed => {
            page.replace_range(start..end, table);
            None
        }
        Differing::Told => Some(format!(
            "docs/FIRMWARE.md: the table `{mark}` shows other figures than firmware/figures"
        )),
    })
}

/// Keeps the page with the figures that are written down: sets its tables, or says which of them differ.
pub(crate) fn keep(
    file: &Path,
    arm: &Figures,
    riscv: &Figures,
    largest: &str,
    differing: Differing,
) -> Outcome<Vec<String>> {
    let mut page = fs::read_to_string(file).map_err(|error| said(file, &error))?;
    let tables = [
        ("beside dhara", beside_dhara(arm, riscv)),
        ("split", all_calls(arm, "release", "split")),
        ("small", all_calls(arm, "release", "small")),
        ("paged", all_calls(arm, "release", "paged")),
        ("paged, full", all_calls(arm, "release", "paged, full")),
        ("paged, 16 KiB", all_calls(arm, "release", "paged, 16 KiB")),
        ("paged, 16 KiB, full", all_calls(arm, "release", "paged, 16 KiB, full")),
        ("memory", memory(arm)),
        ("sizes", sizes(arm, riscv)),
    ];
    let mut faults = Vec::new();
    for (mark, table) in &tables {
        faults.extend(keep_table(&mut page, mark, table, differing)?);
    }
    if differing == Differing::Renewed {
        // The order of the largest functions changes with little things; it is shown, and not held.
        keep_table(&mut page, "largest", largest, differing)?;
        fs::write(file, page).map_err(|error| said(file, &error))?;
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Figures {
        let mut figures = Figures::default();
        figures.put("release/split/mount/instructions", "1705889".into());
        figures.put("release/split/mount/reads", "4412.00".into());
        figures.put("release/split/mount/erases", "0.07".into());
        figures
    }

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        let figures = some();
        assert_eq!(shown(&figures, "release/split/mount/instructions"), "1,705,889");
        assert_eq!(shown(&figures, "release/split/mount/reads"), "4,412");
        assert_eq!(shown(&figures, "release/split/mount/erases"), "0.07");
    }

    #[test]
    fn a_table_that_shows_other_figures_is_found_and_renewed() {
        let mut page = String::from("before\n<!-- t -->\nold\n<!-- /t -->\nafter\n");
        assert!(keep_table(&mut page, "t", "new\n", Differing::Told).unwrap().is_some());
        assert!(keep_table(&mut page, "t", "new\n", Differing::Renewed).unwrap().is_none());
        assert_eq!(page, "before\n<!-- t -->\nnew\n<!-- /t -->\nafter\n");
        assert!(keep_table(&mut page, "t", "new\n", Differing::Told).unwrap().is_none());
    }

    #[test]
    fn a_page_without_the_marks_is_refused() {
        assert!(
            keep_table(&mut String::from("nothing"), "t", "new\n", Differing::Renewed).is_err()
        );
    }
}
