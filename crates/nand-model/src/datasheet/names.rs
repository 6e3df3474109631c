//! The devices that are built in, and which of their names was probably meant.

/// Embeds device files by name, so that a name and its file cannot disagree.
macro_rules! devices {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../devices/", $name, ".toml")))),*]
    };
}

/// The devices that are built in: every file of `devices/`.
pub(super) const BUILTIN: [(&str, &str); 12] = devices! {
    "c1" "c2" "c3"
    "k9f2g08u0a" "k9gag08u0m"
    "spi-nand-1g"
    "tlc-pslc"
    "ko"
    "tiny" "tiny-slc" "tiny-mlc" "tiny-tlc"
};

/// The names of the built-in devices, in the order in which tables list them.
pub fn builtin_names() -> impl ExactSizeIterator<Item = &'static str> + Clone {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// Of names that are known, the one that was probably meant, whatever its case; none where nothing is near.
///
/// ```
/// use nand_model::datasheet::{builtin_names, nearest};
/// assert_eq!(nearest("spi-nand", builtin_names()), Some("spi-nand-1g"));
/// assert_eq!(nearest("C3", builtin_names()), Some("c3"));
/// assert_eq!(nearest("floppy", builtin_names()), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// As near as `clap` wants flags to be.
    const NEAR: f64 = 0.7;
    let typed = typed.to_ascii_lowercase();
    let near = |name: &'a str| (strsim::jaro_winkler(&typed, &name.to_ascii_lowercase()), name);
    let found = known.into_iter().map(near).filter(|(near, _)| *near > NEAR);
    found.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

/// A question, if one of the names is near enough to what was typed, and then the list of names.
///
/// ```
/// use nand_model::datasheet::meant;
/// assert_eq!(meant("hybird", ["hybrid", "paged"]), "did you mean `hybrid`? Else ");
/// assert_eq!(meant("floppy", ["hybrid", "paged"]), "");
/// ```
pub fn meant<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(typed, known);
    near.map_or_else(String::new, |name| format!("did you mean `{name}`? Else "))
}
