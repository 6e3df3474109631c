//! Rankings of results whose figures are given.

use sim::engine::result::RunResult;
use sim::engine::systems::NotRun;

use super::*;

/// A result of that system: its mean response time, its price, and its SLC.
fn run(system: &str, micros: f64, dollars: f64, slc: u64) -> RunResult {
    let text = format!(
        r#"{{"schema":2,"system":"{system}","device":"c3","slc_bytes":{slc},"parallel":false,"open_loop":false,
        "trace":"t","passes":1,"seed":null,"partial":false,"skipped_lines":0,"requests":{{"reads":0,"writes":1,
        "trims":0,"flushes":0,"sectors_read":0,"sectors_written":1}},"response_us":{TIMES},"read_us":{TIMES},
        "write_us":{TIMES},"response_by_cause_us":{{"reads":{CAUSES},"writes":{CAUSES},"trims":{CAUSES},
        "flushes":{CAUSES}}},"slc":{REGION},"mlc":{REGION},"write_amplification":1.0,"energy_mj":{micros},
        "cost_usd":{dollars},"price_source":"a","ram_bytes":1,"factors":null,"filter":null,"throttle":null,
        "hash":null,"verified_reads":0,"wall_s":0.0,"busy_s":0.0,"requests_per_s":0.0,"nand_ops_per_s":0.0}}"#
    );
    let mut run: RunResult = serde_json::from_str(&text).unwrap();
    (run.response_us.total, run.response_us.mean) = (micros, Some(micros));
    run
}

const TIMES: &str =
    r#"{"total":0.0,"mean":null,"p50":null,"p90":null,"p99":null,"p999":null,"max":null}"#;
const CAUSES: &str = r#"{"waiting":0.0,"host":0.0,"reclaim":0.0,"fold":0.0,"write_back":0.0,"wear_leveling":0.0,
    "scan":0.0,"meta":0.0}"#;
const REGION: &str = r#"{"erases":0,"erase_count":{"min":0,"mean":0.0,"max":0,"stddev":0.0},"pages":{"host_read":0,
    "host_program":0,"gc_read":0,"gc_program":0,"wl_read":0,"wl_program":0,"scan_read":0,"meta_read":0,
    "meta_program":0}}"#;

/// The answer of a ranking, and the standings in its order.
fn answer(runs: &[&RunResult], pairs: &[Pair<'_>]) -> (String, Vec<(String, Standing)>) {
    let ranking = Ranking::of(comparison::Ranking::of(runs, pairs).unwrap(), false);
    let places = ranking.places.iter().map(|place| (place.label.clone(), place.standing));
    (ranking.answer().join("\n"), places.collect())
}

const SLC: u64 = 256 << 20;

#[test]
fn an_slc_that_gains_less_than_it_costs_is_not_taken_and_its_price_is_told() {
    let conventional = run("conventional", 2_450.0, 67.62, 0);
    let [with, without] = [run("paged", 1_000.0, 70.38, SLC), run("paged", 1_015.0, 67.62, 0)];
    let pairs = [Pair { with: &with, without: Ok(&without) }];
    let (said, places) = answer(&[&conventional, &with], &pairs);
    assert!(said.contains("Take paged, without SLC: it has the most speed"), "{said}");
    assert!(said.contains("2.41 times as fast as conventional for the same money"), "{said}");
    assert!(said.contains("Is the SLC of paged worth it? No: 256MiB make it 1.01 times"), "{said}");
    assert!(said.contains("The SLC costs $2.76, and would be worth it up to $1.01"), "{said}");
    assert!(
        said.contains("Which FTL, without SLC ($67.62): paged is 2.41 times as fast as"),
        "{said}"
    );
    let order: Vec<&str> = places.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(order, ["paged, no SLC", "paged, 256MiB SLC", "conventional"]);
}

#[test]
fn an_slc_that_gains_what_it_costs_is_told_as_that() {
    for (before, price, told) in [
        (1_055.0, 105.0, "It makes no difference for the money, within 2 %"),
        (1_360.0, 130.0, "It gains what it costs, give or take a quarter"),
    ] {
        let [with, without] = [run("paged", 1_000.0, price, SLC), run("paged", before, 100.0, 0)];
        let (said, _) = answer(&[&with], &[Pair { with: &with, without: Ok(&without) }]);
        assert!(said.contains(&format!("worth it? {told}: 256MiB make")), "{said}");
    }
}

#[test]
fn of_equal_ones_for_the_same_money_the_one_that_lasts_longest_is_taken() {
    let with_life = |system, time, price, years| {
        let mut run = run(system, time, price, SLC);
        run.mlc.lifetime_years = Some(years);
        run
    };
    let hybrid = with_life("hybrid", 1_000.0, 70.38, 2.2);
    for (time, price, years, taken) in [
        (1_010.0, 70.38, 10.0, "paged"),
        (1_010.0, 70.38, 2.2, "hybrid"),
        (1_010.0, 71.0, 10.0, "hybrid"),
        (1_030.0, 70.38, 10.0, "hybrid"),
    ] {
        let paged = with_life("paged", time, price, years);
        let (said, places) = answer(&[&hybrid, &paged], &[]);
        assert_eq!(places[0].0, taken, "{said}");
        let is_equal = said.contains("none has clearly more speed for the money");
        assert_eq!(is_equal, time < 1_020.0, "{said}");
        let lasts = "For the same money, paged lasts longest.";
        assert_eq!(said.contains(lasts), taken == "paged", "{said}");
    }
}

#[test]
fn an_slc_that_gains_more_than_it_costs_is_taken() {
    let conventional = run("conventional", 2_400.0, 67.62, 0);
    let [with, without] = [run("paged", 1_000.0, 70.38, SLC), run("paged", 1_400.0, 67.62, 0)];
    let hybrid = run("hybrid", 1_600.0, 70.38, SLC);
    let pairs = [
        Pair { with: &hybrid, without: Ok(&conventional) },
        Pair { with: &with, without: Ok(&without) },
    ];
    let (said, places) = answer(&[&conventional, &hybrid, &with], &pairs);
    assert_eq!(places[0], ("paged, 256MiB SLC".into(), Standing::Taken));
    assert!(said.contains("Take paged with 256MiB of SLC"), "{said}");
    assert!(
        said.contains("Is the SLC of paged worth it? Yes: 256MiB make it 1.40 times"),
        "{said}"
    );
    assert!(said.contains("Is the SLC of hybrid worth it? Yes: 256MiB make it 1.50"), "{said}");
    assert!(said.contains("(hybrid without SLC is conventional)"), "{said}");
    assert!(
        said.contains("with 256MiB of SLC ($70.38): paged is 1.60 times as fast as hybrid"),
        "{said}"
    );
}

#[test]
fn what_loses_data_is_left_out_with_its_speed_and_named_as_what_would_change_the_answer() {
    let conventional = run("conventional", 319.0, 67.62, 0);
    let (map, cache) = (run("page-mlc", 200.0, 67.62, 0), run("pslc", 100.0, 67.62, 0));
    let (said, places) = answer(&[&conventional, &map, &cache], &[]);
    assert!(
        said.contains(
            "Take conventional, without SLC: it has the most speed for the money of those that keep"
        ),
        "{said}"
    );
    assert!(
        said.contains("pslc (3.19 times as fast as conventional) and page-mlc (1.59"),
        "{said}"
    );
    assert!(
        said.contains("If data might be lost with the power, it would be pslc, with 3.19"),
        "{said}"
    );
    assert_eq!(places[1].1, Standing::LosesData);
}

#[test]
fn prices_of_different_sources_are_not_divided() {
    let conventional = run("conventional", 6_934.0, 67.62, 0);
    let mut scm = run("multi-scm", 1.0, 13.4, 0);
    scm.price_source = "b".into();
    assert_eq!(scm.against(&conventional).ec, None);
    let (said, places) = answer(&[&conventional, &scm], &[]);
    assert!(said.contains("Take conventional") && !said.contains("less money"), "{said}");
    assert!(
        said.contains("of other sources and years") && said.contains("of multi-scm of b"),
        "{said}"
    );
    assert_eq!(places[1].1, Standing::PricedElsewhere);
}

#[test]
fn another_demand_has_another_answer() {
    let conventional = run("conventional", 1_000.0, 10.0, 0);
    let (cheap, dear) = (run("paged", 500.0, 10.0, 0), run("hybrid", 250.0, 100.0, SLC));
    let pairs = [Pair { with: &dear, without: Err(&NotRun::BuiltForBoth) }];
    let (said, _) = answer(&[&conventional, &cheap, &dear], &pairs);
    assert!(said.contains("Take paged"), "{said}");
    assert!(
        said.contains("If speed alone counted, it would be hybrid, 2.00 times as fast"),
        "{said}"
    );
    assert!(
        said.contains("Not run without SLC: hybrid, which cannot do without its SLC"),
        "{said}"
    );
}

#[test]
fn a_system_that_lacks_only_the_room_is_not_said_to_need_its_slc() {
    let conventional = run("conventional", 1_000.0, 10.0, 0);
    let (paged, ko) = (run("paged", 500.0, 10.0, SLC), run("ko", 700.0, 10.0, SLC));
    let reason = NotRun::Unfit("it needs 13 blocks, and there are 12".into());
    let pairs = [
        Pair { with: &paged, without: Err(&reason) },
        Pair { with: &ko, without: Err(&NotRun::BuiltForBoth) },
    ];
    let (said, _) = answer(&[&conventional, &paged, &ko], &pairs);
    for sentence in [
        "Not run without SLC: ko, which cannot do without its SLC.",
        "Not run without SLC: paged, which does not fit the device at this size without it: it needs 13 blocks, and \
         there are 12.",
    ] {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn without_any_time_nothing_is_taken() {
    let none = run("conventional", 0.0, 1.0, 0);
    let (said, places) = answer(&[&none, &run("paged", 0.0, 1.0, 0)], &[]);
    assert_eq!(said, "No request took any time: nothing to compare.");
    assert_eq!(places[0].1, Standing::Unmeasured);
}
