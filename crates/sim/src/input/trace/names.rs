//! From typed names to files: a file, a folder, or a pattern such as `traces/*.csv`.
//!
//! Files in a folder are sorted by name, with numbers in names compared as numbers. blktrace's files of one disk, one
//! per processor (`sda.blktrace.0`, `sda.blktrace.1` …), are one trace, and so are Open-CAS's of one folder, one per
//! queue (`octf.trace.0` …).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::queues::{is_beside_queues, is_queue};

/// Files that are one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Its name in messages.
    pub name: String,
    /// One file, or one per processor.
    pub paths: Vec<PathBuf>,
}

/// The files that a name stands for, in order.
pub fn expand(name: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(name);
    if path.is_dir() {
        let entries =
            std::fs::read_dir(path).map_err(|reason| format!("{name} cannot be read: {reason}"))?;
        let paths = traces(entries.filter_map(|entry| Some(entry.ok()?.path())));
        return if paths.is_empty() { Err(format!("{name} holds no file")) } else { Ok(paths) };
    }
    // A file may have any name, so an existing file has precedence over a pattern.
    if path.exists() || !name.contains(['*', '?', '[']) {
        return Ok(vec![path.into()]);
    }
    let found = glob::glob(name).map_err(|error| format!("`{name}` is no pattern: {error}"))?;
    let paths = traces(found.filter_map(Result::ok));
    if paths.is_empty() { Err(format!("no file is called like `{name}`")) } else { Ok(paths) }
}

/// Those that may be traces, sorted.
fn traces(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.filter(|path| is_trace(path)).collect();
    if paths.iter().any(|path| is_queue(&file_name(path))) {
        paths.retain(|path| !is_beside_queues(&file_name(path)));
    }
    paths.sort_by(|one, other| by_number(&one.to_string_lossy(), &other.to_string_lossy()));
    paths
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Files, those of one disk's processors or queues together.
pub fn grouped(paths: Vec<PathBuf>) -> Vec<Files> {
    let mut groups: Vec<(Option<String>, Files)> = Vec::new();
    for path in paths {
        let name = path.to_string_lossy().into_owned();
        let disk = disk(&name).or_else(|| queues(&path));
        let known = groups.iter_mut().find(|(known, _)| known.is_some() && *known == disk);
        match known {
            Some((_, files)) => files.paths.push(path),
            None => groups.push((disk, Files { name, paths: vec![path] })),
        }
    }
    for (disk, files) in &mut groups {
        if let (Some(disk), count @ 2..) = (disk, files.paths.len()) {
            files.name = format!("{disk}.* ({count} files)");
        }
    }
    groups.into_iter().map(|(_, files)| files).collect()
}

/// The name of a blktrace file before its processor's number, whatever its compression.
fn disk(name: &str) -> Option<String> {
    const MARK: &str = ".blktrace";
    let plain = [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|ending| name.strip_suffix(ending));
    let (disk, processor) = plain.unwrap_or(name).rsplit_once('.')?;
    let is_number = !processor.is_empty() && processor.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && disk.ends_with(MARK)).then(|| disk.into())
}

/// The common name of the queues of the file's folder.
fn queues(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    is_queue(file).then(|| path.with_file_name("octf.trace").to_string_lossy().into_owned())
}

/// Whether a file of a folder may be a trace: not a folder, not hidden, and not a README.
fn is_trace(path: &Path) -> bool {
    let name = file_name(path);
    path.is_file() && !name.starts_with('.') && !name.starts_with("README")
}

/// Names in natural order: `day-2` before `day-10`.
fn by_number(one: &str, other: &str) -> Ordering {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (mut one, mut other) = (one, other);
    loop {
        let (first, second) = (digits(one), digits(other));
        if first > 0 && second > 0 {
            let number = |text: &str, length: usize| {
                let digits = text[..length].trim_start_matches('0');
                (digits.len(), digits.to_owned())
            };
            let order = number(one, first).cmp(&number(other, second));
            if order.is_ne() {
                return order;
            }
            (one, other) = (&one[first..], &other[second..]);
            continue;
        }
        match (one.chars().next(), other.chars().next()) {
            (Some(left), Some(right)) if left == right => {
                (one, other) = (&one[left.len_utf8()..], &other[right.len_utf8()..]);
            }
            (left, right) => return left.cmp(&right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_in_which_people_count() {
        let mut names = ["day-10.csv", "day-2.csv", "day-1.csv", "day.csv", "day-02b.csv"];
        names.sort_by(|one, other| by_number(one, other));
        assert_eq!(names, ["day-1.csv", "day-2.csv", "day-02b.csv", "day-10.csv", "day.csv"]);
    }

    #[test]
    fn files_of_one_disk_are_one_trace() {
        let paths = ["a/sda.blktrace.1", "a/b.csv", "a/sda.blktrace.0.gz", "a/sdb.blktrace.0"];
        let groups = grouped(paths.iter().map(PathBuf::from).collect());
        let queues = ["a/octf.trace.0", "b/octf.trace.0", "a/octf.trace.1"];
        let folders = grouped(queues.iter().map(PathBuf::from).collect());
        assert_eq!(folders[0].name, "a/octf.trace.* (2 files)");
        assert_eq!((folders[1].paths.len(), folders.len()), (1, 2));
        let names: Vec<&str> = groups.iter().map(|files| files.name.as_str()).collect();
        assert_eq!(names, ["a/sda.blktrace.* (2 files)", "a/b.csv", "a/sdb.blktrace.0"]);
        assert_eq!(groups[0].paths, [PathBuf::from(paths[0]), PathBuf::from(paths[2])]);
    }

    #[test]
    fn a_folder_and_a_pattern_name_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2.csv", "10.csv", "README.md", ".hidden", "x[1].txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let named = |name: &str| {
            let paths = expand(&folder.path().join(name).to_string_lossy())?;
            let file = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            Ok::<_, String>(paths.iter().map(file).collect::<Vec<String>>())
        };
        assert_eq!(named("").unwrap(), ["2.csv", "10.csv", "x[1].txt"]);
        assert_eq!(named("*.csv").unwrap(), ["2.csv", "10.csv"]);
        assert_eq!(named("x[1].txt").unwrap(), ["x[1].txt"]);
        assert_eq!(named("missing.csv").unwrap(), ["missing.csv"]);
        std::fs::write(folder.path().join("octf.csv"), "").unwrap();
        assert_eq!(named("oct*").unwrap(), ["octf.csv"]);
        std::fs::write(folder.path().join("octf.trace.0"), "").unwrap();
        assert_eq!(named("oct*").unwrap(), ["octf.trace.0"], "the other has none of its requests");
        assert!(named("*.zip").unwrap_err().contains("no file is called like"));
    }
}
