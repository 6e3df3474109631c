//! What a bound stands for: rounds, each of which is walked to its end before the next begins.
//!
//! | from | requests | harms | requests after a cut that is not the last |
//! |---|--:|--:|--:|
//! | a formatted device | N + 1 | 2 | 1 |
//! | each prepared state | N | 1 | 0 |
//! | each prepared state | N − 1 | 2 | 1 |

use super::script::Letter;
use super::visited::Budget;

/// A start, and what may happen behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) from: From,
    pub(super) budget: Budget,
}

/// Where a round begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Formatted,
    /// After each letter of the prepared scripts.
    Prepared,
}

/// Letters that prepare states: full devices that reclaim, full tables, rings of anchors near their end, stops.
const PREPARED: [&str; 7] = [
    "abTabPabTcIabPTcabPTbcTabPTcabTcPaTbPcTa",
    "aaaaaaaaaaaaaaaaZbbbbbbbbbbbbbbbbZcc",
    "PPPPPPPPPPPPPPPPIPPPPPPPPPPIZPPP",
    "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc",
    "PTaIPbTcIPPaTbIcPaPbPcTaTbTc",
    "aZbZcZaZPZTZaZbZaZcZbZ",
    "aaaaaaaaZaaaaaaaaPPPPPPPPZcI",
];

/// The rounds of a bound, from those with little harm on.
pub(super) fn rounds(bound: u8) -> Vec<Round> {
    if let Ok(text) = std::env::var("ROUND") {
        let numbers: Vec<u8> = text.split(',').filter_map(|word| word.parse().ok()).collect();
        let from = if numbers[0] == 0 { From::Formatted } else { From::Prepared };
        let budget = Budget {
            requests: numbers[1],
            harms: numbers[2],
            failures: numbers[3],
            rots: numbers[4],
            rests: numbers[5],
            after: numbers[6],
        };
        return vec![Round { from, budget }];
    }
    let round = |from, requests, harms: u8, after| {
        let budget = Budget { requests, harms, failures: 1, rots: 1, rests: 1, after };
        (requests > 0).then_some(Round { from, budget })
    };
    let rounds = [
        round(From::Prepared, bound, 1, 0),
        round(From::Formatted, bound + 1, 2, 1),
        round(From::Prepared, bound - 1, 2, 1),
        round(From::Prepared, bound - 1, 3, 0),
    ];
    rounds.into_iter().flatten().collect()
}

impl Round {
    /// The letters that prepare its states, short ones first.
    pub(super) fn prepared(self) -> Vec<Vec<Letter>> {
        if self.from == From::Formatted {
            return vec![Vec::new()];
        }
        let scripts = PREPARED.iter().filter_map(|script| Letter::many(script));
        let mut all: Vec<Vec<Letter>> = scripts
            .flat_map(|script| {
                (1..=script.len()).map(move |end| script[..end].to_vec()).collect::<Vec<_>>()
            })
            .collect();
        all.sort_by_key(Vec::len);
        all.dedup();
        all
    }
}

/// Every sequence of that many letters in which only the last one may stop.
pub(super) fn sequences(length: u8) -> Vec<Vec<Letter>> {
    let mut all: Vec<Vec<Letter>> = vec![Vec::new()];
    for _ in 0..length {
        let go_on = all.iter().filter(|letters| letters.last() != Some(&Letter::Stop));
        let longer = go_on.flat_map(|letters| {
            Letter::ALPHABET.map(|letter| letters.iter().copied().chain([letter]).collect())
        });
        all = longer.collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_all_there_are_and_none_goes_on_after_a_stop() {
        assert_eq!(sequences(1).len(), 7);
        assert_eq!(sequences(2).len(), 6 * 7);
        assert!(sequences(3).iter().all(|letters| !letters[..2].contains(&Letter::Stop)));
    }

    #[test]
    fn every_prepared_script_is_of_letters_that_there_are() {
        assert!(PREPARED.iter().all(|script| Letter::many(script).is_some()));
    }
}
