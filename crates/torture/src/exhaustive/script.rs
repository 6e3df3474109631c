//! Scripts: what the host asked for, and what happened to the device, in a line that can be typed.
//!
//! ```text
//! slc4-a2: abcP cut@7:unstable / R dies@1
//! └ device └ letters └ the end   └ the next life: a mount, then its letters
//! ```

use std::fmt;
use std::str::FromStr;

use super::fates::{Alternative, Moment, OpFate};

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letter {
    /// Writes one sector.
    Write(u8),
    /// Writes a whole page of the main area, or two sectors where that is one.
    Page,
    /// Trims the first two sectors.
    Trim,
    /// Idle work.
    Idle,
    /// A clean stop. The life ends.
    Stop,
    /// Reads and compares everything.
    Read,
    /// Checks the FTL's own invariants.
    Check,
}

impl Letter {
    /// The requests that are enumerated.
    pub(super) const ALPHABET: [Self; 7] = [
        Self::Write(0),
        Self::Write(1),
        Self::Write(2),
        Self::Page,
        Self::Trim,
        Self::Idle,
        Self::Stop,
    ];

    const fn sign(self) -> char {
        match self {
            Self::Write(sector) => (b'a' + sector) as char,
            Self::Page => 'P',
            Self::Trim => 'T',
            Self::Idle => 'I',
            Self::Stop => 'Z',
            Self::Read => 'R',
            Self::Check => 'K',
        }
    }

    /// The letter in words.
    pub(super) fn told(self) -> String {
        match self {
            Self::Write(sector) => format!("{}: write sector {sector}", self.sign()),
            Self::Page => "P: write from sector 0 on, a page or two sectors".into(),
            Self::Trim => "T: trim sectors 0 and 1".into(),
            Self::Idle => "I: idle work".into(),
            Self::Stop => "Z: stop".into(),
            Self::Read => "R: read and compare everything".into(),
            Self::Check => "K: check the invariants".into(),
        }
    }

    fn from_sign(sign: char) -> Option<Self> {
        let all = Self::ALPHABET.into_iter().chain([Self::Read, Self::Check]);
        all.into_iter().find(|letter| letter.sign() == sign)
    }

    /// Several letters, as they are typed.
    pub(super) fn many(signs: &str) -> Option<Vec<Self>> {
        signs.chars().map(Self::from_sign).collect()
    }
}

/// How a life ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// It is the last one of the script.
    #[default]
    Open,
    /// Power is switched off at rest, or after a clean stop.
    Off,
    /// Power fails in this operation, counted from the life's beginning.
    Cut(u16, OpFate),
}

/// A life: a mount, requests, and an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptLife {
    /// A page that became unreadable before it, by its name.
    pub(super) rot: Option<String>,
    pub(super) letters: Vec<Letter>,
    /// What did not go as usual.
    pub(super) happened: Vec<(Moment, Alternative)>,
    pub(super) end: End,
}

impl ScriptLife {
    /// Whether nothing happens in it but a mount.
    pub(super) fn is_empty(&self) -> bool {
        let is_cut = matches!(self.end, End::Cut(..));
        self.letters.is_empty() && self.happened.is_empty() && self.rot.is_none() && !is_cut
    }
}

/// A whole script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallScript {
    pub(super) world: String,
    pub(super) lives: Vec<ScriptLife>,
}

impl SmallScript {
    /// How long it is: what counts when the shortest is told.
    pub(super) fn length(&self) -> usize {
        let lives = self.lives.iter().map(|life| {
            let harms = life.happened.len() + usize::from(life.rot.is_some());
            2 + life.letters.len() + 3 * harms
        });
        lives.sum()
    }
}

impl fmt::Display for ScriptLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.rot.as_ref().map(|page| format!("rot@{page}")));
        if !self.letters.is_empty() {
            words.push(self.letters.iter().map(|letter| letter.sign()).collect());
        }
        words.extend(self.happened.iter().map(|(moment, what)| {
            let (Moment::Read(number) | Moment::Op(number)) = moment;
            format!("{what}@{number}")
        }));
        match self.end {
            End::Open => {}
            End::Off => words.push("off".into()),
            End::Cut(number, fate) => words.push(format!("cut@{number}:{fate}")),
        }
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for SmallScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lives: Vec<String> = self.lives.iter().map(ScriptLife::to_string).collect();
        write!(f, "{}: {}", self.world, lives.join(" / "))
    }
}

impl FromStr for ScriptLife {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut life = Self::default();
        for word in text.split_whitespace() {
            if let Some(page) = word.strip_prefix("rot@") {
                life.rot = Some(page.into());
            } else if word == "off" {
                life.end = End::Off;
            } else if let Some(cut) = word.strip_prefix("cut@") {
                let (number, fate) = cut
                    .split_once(':')
                    .ok_or_else(|| format!("`{word}`: write cut@OPERATION:FATE"))?;
                life.end = End::Cut(numbered(number)?, fate.parse()?);
            } else if let Some((what, number)) = word.split_once('@') {
                let what: Alternative = what.parse()?;
                let number = numbered(number)?;
                let moment = match what {
                    Alternative::Dies => Moment::Read(number),
                    _ => Moment::Op(number),
                };
                life.happened.push((moment, what));
            } else {
                life.letters = Letter::many(word).ok_or_else(|| {
                    format!("`{word}`: the letters are a, b, c, P, T, I, Z, R and K")
                })?;
            }
        }
        Ok(life)
    }
}

fn numbered(number: &str) -> Result<u16, String> {
    number.parse().map_err(|_| format!("`{number}` is no number of an operation"))
}

impl FromStr for SmallScript {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (world, lives) = text
            .split_once(':')
            .filter(|(world, _)| !world.contains('@'))
            .ok_or("a script begins with its device and a colon, as in `slc4: abR`")?;
        let lives: Result<Vec<ScriptLife>, String> = lives.split('/').map(str::parse).collect();
        Ok(Self { world: world.trim().into(), lives: lives? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_is_written() {
        let text = "slc4: abPZ off / rot@S2:1 Ra dies@1 fails-unstable@3 cut@7:unstable-pair / R";
        let script: SmallScript = text.parse().expect("a script");
        assert_eq!(script.to_string(), text);
        assert_eq!(script.lives.len(), 3);
    }

    #[test]
    fn what_is_wrong_in_a_script_is_told() {
        let error = |text: &str| text.parse::<SmallScript>().unwrap_err();
        assert!(error("abR").contains("begins with its device"));
        assert!(error("slc4: abX").contains("the letters are"));
        assert!(error("slc4: a cut@x:dead").contains("no number"));
        assert!(error("slc4: a cut@1:lost").contains("no fate"));
        assert!(error("slc4: a cut@1").contains("OPERATION:FATE"));
        assert!(error("slc4: a falls@1").contains("nothing that happens"));
    }
}
