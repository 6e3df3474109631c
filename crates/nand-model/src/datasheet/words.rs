//! What the parser of TOML says, in plain words.

use super::names::meant;

/// Returns the reason as one line: of a key that is not known, which was probably meant; of a value that does not
/// belong there, what does, and what was found.
///
/// ```
/// use nand_model::datasheet::in_plain_words;
/// let told = in_plain_words("unknown field `blcks`, expected one of `blocks`, `cell`");
/// assert_eq!(told, "unknown field `blcks`: did you mean `blocks`? Else one of `blocks`, `cell`");
/// let told = in_plain_words("invalid value: integer `300`, expected u8");
/// assert_eq!(told, "expected a whole number from 0 to 255, found `300`");
/// assert_eq!(in_plain_words("missing field `cell`"), "missing field `cell`");
/// ```
pub fn in_plain_words(message: &str) -> String {
    let message = message.trim().replace('\n', "; ");
    unknown_key(&message).or_else(|| wrong_value(&message)).unwrap_or(message)
}

fn unknown_key(message: &str) -> Option<String> {
    let (typed, known) =
        message.strip_prefix("unknown field `")?.split_once("`, expected one of ")?;
    let near = meant(typed, known.split('`').skip(1).step_by(2));
    (!near.is_empty()).then(|| format!("unknown field `{typed}`: {near}one of {known}"))
}

fn wrong_value(message: &str) -> Option<String> {
    let value = message.strip_prefix("invalid type: ");
    let value = value.or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = value.rsplit_once(", expected ")?;
    Some(format!("expected {}, found {}", belongs(expected), there(found)))
}

/// What belongs there, which the parser tells by the types of Rust.
fn belongs(expected: &str) -> String {
    let most = match expected.trim_start_matches("a nonzero ") {
        "u8" => u64::from(u8::MAX),
        "u16" => u64::from(u16::MAX),
        "u32" => u64::from(u32::MAX),
        "u64" | "usize" => u64::MAX,
        "f32" | "f64" => return "a number".into(),
        "a sequence" => return "a list".into(),
        "a map" => return "a table".into(),
        "a boolean" => return "true or false".into(),
        "a string" => return "a text in quotes".into(),
        _ => return expected.into(),
    };
    format!("a whole number from {} to {most}", u8::from(expected.starts_with("a nonzero ")))
}

/// What was found: the value alone, without its type.
fn there(found: &str) -> String {
    let types = ["integer ", "floating point ", "boolean ", "string ", "character "];
    let value = types.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found);
    let value = value.trim_end_matches(" as i128").trim_end_matches(" as u128");
    match value {
        "sequence" => "a list".into(),
        "map" => "a table".into(),
        value => value.into(),
    }
}
