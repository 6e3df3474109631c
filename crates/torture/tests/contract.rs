//! `docs/CONTRACT.md` has a row for each sentence of the contract on `NandDevice`; what a row names exists, and worlds
//! play it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use torture::played::{Play, Played};
use torture::worlds::{Choice, Reported, Worlds, worlds};
use torture::{Fate, FtlName, Unwatched};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// Returns the sentences of the contract, in order, without marks and links.
fn sentences() -> Vec<String> {
    let file = text("crates/ftl-iface/src/nand.rs");
    let docs = file.lines().take_while(|line| !line.starts_with("pub trait"));
    let lines = docs.filter_map(|line| line.strip_prefix("///")).map(str::trim);
    let from = lines.skip_while(|line| *line != "# What the caller promises");
    let lines: Vec<&str> = from.take_while(|line| !line.starts_with("# Example")).collect();
    let mut all = Vec::new();
    // What stands between a heading and its bullets introduces them.
    for part in lines.join("\n").split("\n# ") {
        let part = part.replace("\n\nThe same holds", "\n- The same holds");
        let bullets = part.split("\n- ").skip(1);
        all.extend(bullets.flat_map(|bullet| split(bullet.split("\n\n").next().unwrap_or(""))));
    }
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn split(bullet: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut left = bullet.replace('\n', " ");
    left.retain(|char| char != '*');
    // Of a link only its text stays.
    while let Some((before, link)) = left.split_once('[') {
        let (name, after) = link.split_once(']').expect("a link");
        let after = match after.strip_prefix('(') {
            Some(target) => target.split_once(')').expect("a link").1,
            None => after,
        };
        plain += before;
        plain += name;
        left = after.to_owned();
    }
    plain += &left;
    let mut sentences = Vec::new();
    let mut rest = plain.as_str();
    while let Some(end) = rest.find(". ") {
        let (sentence, after) = rest.split_at(end + 1);
        sentences.push(sentence.trim().to_owned());
        rest = after;
    }
    sentences.push(rest.trim().to_owned());
    sentences
}

/// Returns the cells of the rows of both tables.
fn rows() -> Vec<Vec<String>> {
    let page = text("docs/CONTRACT.md");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells)
        .filter(|row| !row[0].starts_with("**") && row[0] != "sentence" && row[0] != "what")
        .collect()
}

#[test]
fn every_sentence_of_the_contract_has_a_row_and_no_row_is_of_another() {
    let told: Vec<String> =
        rows().into_iter().filter(|row| row.len() == 4).map(|row| row[0].clone()).collect();
    assert_eq!(told, sentences());
    assert!(told.len() > 40, "{told:?}");
}

/// Returns everything that a cell names.
fn names(cell: &str) -> Vec<String> {
    let fates: Vec<&str> =
        Fate::ROWS.into_iter().filter(|row| cell.contains(&format!("`{row}`"))).collect();
    let mut left = cell.to_owned();
    for fate in &fates {
        left = left.replace(&format!("`{fate}`"), "");
    }
    let plays = left.split(',').map(str::trim).filter(|name| !name.is_empty());
    plays.map(str::to_owned).chain(fates.iter().map(|fate| (*fate).to_owned())).collect()
}

#[test]
fn every_row_names_what_plays_it_and_a_test() {
    let plays: BTreeSet<String> = Play::ALL.iter().map(Play::to_string).collect();
    let mut named = BTreeSet::new();
    let tests = tests_of(&["crates/torture", "crates/nand-model"]);
    for row in rows() {
        let (played, shown) = (&row[row.len() - 2], &row[row.len() - 1]);
        for name in names(played) {
            let is_known = plays.contains(&name)
                || Fate::ROWS.contains(&name.as_str())
                || name.starts_with("every ");
            assert!(is_known, "nothing plays \"{name}\": {}", row[0]);
            named.insert(name);
        }
        let test = shown.trim_matches('`');
        assert!(tests.contains(test), "there is no test `{test}`: {}", row[0]);
    }
    let unnamed: Vec<&String> = plays.difference(&named).collect();
    assert!(unnamed.is_empty(), "in no row: {unnamed:?}");
}

/// Returns the names of all functions in the crates' tests and sources.
fn tests_of(crates: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders: Vec<PathBuf> = crates.iter().map(|path| root().join(path)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let file = fs::read_to_string(path).expect("a file");
                let tests = file.split("#[test]\n").skip(1);
                let name =
                    |test: &str| test.split("fn ").nth(1)?.split('(').next().map(str::to_owned);
                names.extend(tests.filter_map(name));
            }
        }
    }
    names
}

/// Returns what the worlds of the page store did; they are run once.
fn paged() -> &'static Worlds {
    static PAGED: OnceLock<Worlds> = OnceLock::new();
    PAGED.get_or_init(|| lived(FtlName::Paged))
}

fn lived(ftl: FtlName) -> Worlds {
    let (seeds, told) = (50_000..50_400, Reported::Whole);
    let choice = Choice { ftl, seeds, kept: None, broken_max: usize::MAX, told };
    let outcome = worlds(&choice, &Unwatched).expect("worlds can be drawn");
    let broken: Vec<String> = outcome.broken.iter().map(ToString::to_string).collect();
    assert_eq!(broken, [] as [&str; 0]);
    outcome
}

fn unplayed(played: &Played, by_itself: &[Play]) -> Vec<Play> {
    let missing = |play: &&Play| played.of(**play) == 0 && !by_itself.contains(play);
    Play::ALL.iter().filter(missing).copied().collect()
}

#[test]
fn worlds_play_all_of_it() {
    let outcome = paged();
    assert_eq!(unplayed(&outcome.played, &[]), []);
    let fates = Fate::ROWS.iter().enumerate();
    let unmet: Vec<_> = fates.filter(|(row, _)| outcome.tally.by_fate(*row).tried == 0).collect();
    assert_eq!(unmet, []);
}

/// The hybrid FTL has no map, and no settings that may change; another shape is not told to it yet.
#[test]
fn worlds_of_the_hybrid_play_what_there_is() {
    use Play::{MapLost, NoSpareBlock, NothingLost, OtherSettings, OtherShape};
    let none = [MapLost, NothingLost, NoSpareBlock, OtherSettings, OtherShape];
    assert_eq!(unplayed(&lived(FtlName::Hybrid).played, &none), []);
}

#[test]
fn worlds_lose_pages_of_every_kind_by_themselves() {
    use Play::{AnchorLost, DataLost, HeaderLost, MapLost, NothingLost};
    let played = paged().played;
    for lost in [DataLost, MapLost, AnchorLost, HeaderLost, NothingLost] {
        assert!(played.of(lost) > 10, "{lost}: {}", played.of(lost));
    }
}
