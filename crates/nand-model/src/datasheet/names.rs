//! The devices that are built in, and which of their names was probably meant.

/// Embeds device files by name, so that a name and its file cannot disagree.
macro_rules! devices {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../devices/", $name, ".toml")))),*]
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

/// Of names that are known, the one that was probably meant; none where nothing is near.
///
/// ```
/// use nand_model::datasheet::{builtin_names, nearest};
/// assert_eq!(nearest("spi-nand", builtin_names()), Some("spi-nand-1g"));
/// assert_eq!(nearest("floppy", builtin_names()), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// As near as `clap` wants flags to be.
    const NEAR: f64 = 0.7;
    let near = |name: &'a str| (strsim::jaro_winkler(typed, name), name);
    let found = known.into_iter().map(near).filter(|(near, _)| *near > NEAR);
    found.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}
