//! The small worlds that were tried so far, shard by shard, as `./ci shards` wrote them down: docs/TORTURE.md tells the
//! sum. `UPDATE_EXPECT=1` writes it.

mod page;

use std::env;
use std::fmt::Write as _;

const SHARDS: &str = include_str!("../shards.csv");
const HEADING: &str = "| FTL | shards of 4,096 | states | transitions | broken promises |";

/// What was found in a shard, or in several.
#[derive(Default)]
struct Count {
    shards: u64,
    states: u64,
    transitions: u64,
    broken: u64,
}

/// With separators of thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

fn sum(ftl: &str) -> Count {
    let mut sum = Count::default();
    for line in SHARDS.lines().skip(1) {
        let mut fields = line.split(',');
        if fields.next() != Some(ftl) {
            continue;
        }
        sum.shards += 1;
        assert_eq!(fields.next(), Some("2"), "{line}: the bound");
        assert_eq!(fields.next(), Some(&*format!("{}/4096", sum.shards)), "{line}: the next shard");
        let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok()).expect(line);
        sum.states += number();
        sum.transitions += number();
        sum.broken += number();
    }
    sum
}

#[test]
fn the_page_tells_the_sum_of_the_shards() {
    let mut table = format!("{HEADING}\n|---|--:|--:|--:|--:|\n");
    for (ftl, name) in [("paged", "page store"), ("hybrid", "hybrid")] {
        let Count { shards, states, transitions, broken } = sum(ftl);
        let [shards, states, transitions, broken] =
            [shards, states, transitions, broken].map(grouped);
        writeln!(table, "| {name} | {shards} | {states} | {transitions} | {broken} |")
            .expect("a string");
    }
    if env::var_os("UPDATE_EXPECT").is_some() {
        page::renew(HEADING, &table);
    } else {
        let stands = page::rows(HEADING).into_iter().eq(table.lines());
        assert!(stands, "docs/TORTURE.md is behind: run this with UPDATE_EXPECT=1");
    }
}
