//! The code of the guides is compiled and run elsewhere in this repository; here it is compared with what they quote.

use std::fs;
use std::path::{Path, PathBuf};

use tidy::root;

/// A file of the repository.
fn text(path: &str) -> String {
    tidy::text(&root().join(path))
}

/// The pieces of Rust of a page.
fn pieces(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_guide_to_a_port_quotes_the_example_that_runs() {
    let (page, example) =
        (text("docs/PORTING.md"), text("crates/ftl-spi-nand/examples/porting/port.rs"));
    let pieces = pieces(&page);
    assert!(pieces.len() >= 7, "the guide has {} pieces of code", pieces.len());
    for piece in pieces {
        assert!(
            example.contains(piece),
            "the example does not have what the guide quotes:\n{piece}"
        );
    }
    // The example's own test holds the figure.
    let main = text("crates/ftl-spi-nand/examples/porting/main.rs");
    assert!(page.contains("takes 41,770 bytes") && main.contains("41_770"));
}

/// What is said of README's picture is what the picture shows.
#[test]
fn the_figures_beside_the_picture_are_those_in_it() {
    let picture = text("docs/pictures/ext4_server.svg");
    let shown = |bar: &str| -> f64 {
        let rest = picture.split(&format!("<title>{bar}: ")).nth(1).expect("a bar of that name");
        rest.split('<').next().expect("a title ends").parse().expect("a number")
    };
    let [paged, without, hybrid] = ["paged, 256MiB SLC", "paged, no SLC", "hybrid"].map(shown);
    let told = format!("paged {paged:.2}, paged without SLC {without:.2}, hybrid {hybrid:.2}]");
    for page in ["README.md", "docs/README.md"] {
        assert!(text(page).contains(&told), "{page} does not say: {told}");
    }
    let prose = format!(
        "makes it {without:.2} times as fast for the same money; the SLC adds a factor of {:.2}",
        paged / without
    );
    let readme = text("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&prose), "README.md does not say: {prose}");
}

/// Lines that are neither blank nor a comment.
fn lines_of_code(piece: &str) -> usize {
    let lines = piece.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// What `tandem size` tells of the code is what was measured.
#[test]
fn the_size_of_the_code_is_that_of_the_firmware() {
    let (page, told) = (text("docs/FIRMWARE.md"), text("crates/sim-cli/src/commands/size/code.rs"));
    let (_, table) = page.split_once("<!-- sizes -->").expect("the table of sizes");
    let (table, _) = table.split_once("<!-- /sizes -->").expect("its end");
    let rows = table.lines().filter(|line| line.contains('`'));
    let mut count = 0;
    for row in rows {
        count += 1;
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace(',', "_")).collect();
        let [_, _, arm, arm_constants, _, riscv, riscv_constants, ..] = &cells[..] else {
            panic!("{cells:?}")
        };
        let row = format!("{arm} + {arm_constants}, {riscv} + {riscv_constants}");
        assert!(told.contains(&row), "the table CODE lacks {row}");
    }
    assert!(count > 0, "the page has no sizes");
}

/// The pages in a folder.
fn pages_in(folder: &str) -> Vec<String> {
    let path = root().join(folder);
    let files = fs::read_dir(path).expect(folder).map(|file| file.expect("a file").path());
    let pages = files.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let names = pages.map(|path| path.file_name().expect("a name").to_owned());
    names.map(|name| format!("{folder}/{}", name.to_str().expect("text"))).collect()
}

/// What each crate says of itself.
fn pages_of_crates() -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let pages = crates.map(|entry| tidy::name(&entry.expect("a crate").path()) + "/README.md");
    pages.collect()
}

/// The pages for readers of every kind.
fn pages() -> Vec<String> {
    let others = ["README.md", "CONTRIBUTING.md", "examples/rp2040/README.md"].map(String::from);
    pages_in("docs").into_iter().chain(others).chain(pages_of_crates()).collect()
}

/// Shells take `?`, `&` and `*` for themselves: in examples they are in quotes. An interactive zsh takes `#` for a
/// word like any other: explanations are beside the examples.
#[test]
fn examples_of_pages_can_be_pasted() {
    let mut commands = 0;
    for page in pages() {
        let text = text(&page);
        let blocks = text.split("```console\n").skip(1);
        for block in blocks.filter_map(|rest| rest.split("```").next()) {
            // What a block with a prompt shows besides is what the command said.
            let prompted = block.lines().any(|line| line.starts_with("$ "));
            for line in block.lines().filter(|line| !prompted || line.starts_with("$ ")) {
                let quoted: String = line.split('\'').step_by(2).collect();
                let bare = quoted.trim_start_matches("$ ").trim_end_matches('&');
                let bare = bare.replace("&&", "");
                assert!(!bare.contains(['?', '&', '*', '#']), "{page}: quote {line}");
                commands += 1;
            }
        }
    }
    assert!(commands > 30, "{commands} commands");
}

#[test]
fn the_guide_to_a_system_of_ones_own_quotes_the_example_that_runs() {
    let (page, example) = (text("docs/YOUR-SYSTEM.md"), text("crates/sim-cli/examples/twice.rs"));
    let [piece] = pieces(&page)[..] else { panic!("the guide is one piece of code") };
    let told =
        example.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    assert_eq!(piece.trim(), told.trim());
    assert!(lines_of_code(piece) <= 60, "the guide promises 60 lines of code");
}

#[test]
fn the_guide_to_an_ftl_of_ones_own_quotes_the_test_that_runs() {
    let (page, toy) = (text("docs/YOUR-FTL.md"), text("crates/nand-model/tests/your_ftl.rs"));
    let [piece] = pieces(&page)[..] else { panic!("the guide is one piece of code") };
    let told = toy.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    assert_eq!(piece.trim(), told.trim());
    assert!(lines_of_code(piece) <= 80, "the guide promises 80 lines of code");
}

/// Of a cell: its figures, as they are written.
fn figures(cell: &str) -> Vec<String> {
    let is_part = |character: char| character.is_ascii_digit() || "+-.,".contains(character);
    let pieces = cell.split(|character: char| !is_part(character));
    let pieces = pieces.map(|piece| piece.trim_end_matches(['.', ',', '-']));
    pieces.filter(|piece| piece.contains(|c: char| c.is_ascii_digit())).map(String::from).collect()
}

#[test]
fn the_table_of_claims_has_the_figures_of_the_pages_that_it_names() {
    let index = text("docs/repro/CLAIMS.md");
    let mut quoted = 0;
    for section in index.split("\n## ").skip(1) {
        let heading = section.lines().next().expect("a heading");
        let links = heading.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let pages: String = links.map(|link| text(&format!("docs/repro/{link}"))).collect();
        for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, claim, _, ours, holds, _] = cells[..] else { panic!("four columns: {row}") };
            for figure in figures(ours) {
                assert!(pages.contains(&figure), "{claim}: no page of {heading} has {figure}");
                quoted += 1;
            }
            assert!(!holds.is_empty(), "{claim}: does it hold?");
        }
    }
    assert!(quoted > 30, "{quoted} figures");
}

/// The name of a heading in links to it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[test]
fn each_crate_says_in_few_lines_what_it_is() {
    let pages = pages_of_crates();
    assert!(pages.len() > 10);
    for page in pages {
        let lines = text(&page).lines().count();
        assert!((4..=20).contains(&lines), "{page}: {lines} lines");
    }
}

#[test]
fn the_readme_is_short() {
    let bytes = text("README.md").len();
    assert!(bytes <= 9 * 1024, "{bytes} bytes: the rest belongs to the book");
}

fn ends_in(path: &str, end: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == end)
}

/// The pages of the book.
fn chapters() -> Vec<String> {
    ["docs", "docs/repro", "docs/decisions"].into_iter().flat_map(pages_in).collect()
}

#[test]
fn the_book_has_every_page_once() {
    let summary = text("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut listed: Vec<String> = links.map(|link| format!("docs/{link}")).collect();
    listed.sort();
    let mut there = chapters();
    there.retain(|page| page != "docs/SUMMARY.md");
    there.sort();
    assert_eq!(listed, there, "docs/SUMMARY.md, and the pages in docs");
}

/// mdBook takes any page for one of its own: what a link to `../README.md` leads to is not in the book.
#[test]
fn the_book_links_to_no_page_outside() {
    for page in chapters() {
        let folder = Path::new(&page).parent().expect("a folder").components().count();
        let text = text(&page);
        let words: String = text.split("```").step_by(2).collect();
        for link in words.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().expect("a first piece");
            let up = path.split('/').filter(|part| *part == "..").count();
            assert!(up < folder || !ends_in(path, "md"), "{page}: {link}");
        }
    }
}

/// `./ci book` runs this on the book that it built.
#[test]
#[ignore = "the book must be built"]
fn links_of_the_built_book_lead_somewhere() {
    let root = root();
    let mut broken = Vec::new();
    for chapter in chapters().iter().filter(|page| *page != "docs/SUMMARY.md") {
        let page = chapter.replacen("docs", "book", 1).replace(".md", ".html");
        let page = root.join(page.replace("README", "index"));
        let html = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{chapter}: {error}"));
        let links = html.split(" href=\"").skip(1).chain(html.split(" src=\"").skip(1));
        for link in links.filter_map(|rest| rest.split('"').next()) {
            let (path, id) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            let has_id = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.contains(&format!("id=\"{id}\""))
            };
            let checked = !link.contains("://") && !link.contains(['<', ' ']);
            let in_book = path.is_empty() || ends_in(path, "html");
            if checked && (!target.exists() || in_book && !id.is_empty() && !has_id()) {
                broken.push(format!("{chapter}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut broken = Vec::new();
    let others = pages().into_iter().filter(|page| !page.starts_with("docs/"));
    for page in others.chain(chapters()) {
        // Odd pieces stand between fences.
        let words: String = text(&page).split("```").step_by(2).collect();
        let links = words.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let beside = Path::new(&page).parent().expect("a folder").join(path);
            let target = if path.is_empty() { PathBuf::from(&page) } else { beside };
            let target = root().join(target);
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.lines().any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            if !target.exists() || !heading.is_empty() && !has_heading() {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}
