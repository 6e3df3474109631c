//! What the page asks, and what it is told.

use std::sync::Mutex;

use serde_json::{Value, json};
use sim::{Chosen, DeviceChoice, Options, Workload};
use web::question::answer;

/// The parts of an answer.
fn told(question: &Value, file: &[u8]) -> Vec<Value> {
    let parts = Mutex::new(Vec::new());
    answer(question.to_string().as_bytes(), file.to_vec(), &|told| {
        parts.lock().unwrap().push(serde_json::from_str(&told.text()).unwrap());
    });
    parts.into_inner().unwrap()
}

fn of_kind<'a>(parts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    parts.iter().filter(|part| part["told"] == kind).collect()
}

const LOAD: &str = "synth:ntfs?requests=6000&reads=30";

fn question(ask: &str, load: &str) -> Value {
    json!({
        "ask": ask, "device": "c3", "capacity": "256MiB", "slc": "8MiB", "system": "paged",
        "load": load, "frames": 60, "after": 5000, "seed": 3,
    })
}

#[test]
fn a_replay_is_told_frame_by_frame_and_ends_with_the_figures_of_the_library() {
    let parts = told(&question("replay", LOAD), &[]);
    let begun = of_kind(&parts, "begun");
    assert_eq!(begun[0]["requests"], 6_000);
    let command = "tandem replay 'synth:ntfs?requests=6000&reads=30' --system paged --device c3 \
                   --capacity 256MiB --slc 8MiB";
    assert_eq!(begun[0]["command"], command);
    let frames = of_kind(&parts, "frame");
    assert!((40..70).contains(&frames.len()), "{}", frames.len());
    let (first, last) = (frames[0], frames[frames.len() - 1]);
    assert_eq!((&first["requests"], &last["requests"]), (&json!(0), &json!(6_000)));
    assert_eq!(first["parts"][0]["done"]["operations"], json!({}));

    let choice =
        DeviceChoice { capacity: Some(256 << 20), slc: Some(8 << 20), ..DeviceChoice::named("c3") };
    let (workload, system) = (Workload::synthetic(LOAD).unwrap(), Chosen::parse("paged").unwrap());
    let options = Options::default();
    let result = sim::run(&workload, &options, &choice.setup().unwrap(), &system, &()).unwrap();
    let mut expected = serde_json::to_value(&result).unwrap();
    let [shown] = of_kind(&parts, "result")[..] else { panic!("one result") };
    let mut shown = shown.clone();
    for of_this_computer in ["wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"] {
        expected[of_this_computer] = Value::Null;
        shown[of_this_computer] = Value::Null;
    }
    expected["told"] = "result".into();
    assert_eq!(shown, expected);
    for (at, name) in ["slc", "mlc"].into_iter().enumerate() {
        let part = &last["parts"][at];
        assert_eq!((&part["name"], &part["done"]), (&json!(name), &shown["parts"][name]));
    }
    assert_eq!(last["elapsed_us"], shown["elapsed_us"]);
    let longest = frames.iter().filter_map(|frame| frame["writes"]["longest"].as_f64());
    assert_eq!(longest.reduce(f64::max), shown["write_us"]["max"].as_f64());
}

#[test]
fn a_cut_is_told_with_what_the_mount_found() {
    let parts = told(&question("cut", LOAD), &[]);
    let [found] = of_kind(&parts, "found")[..] else { panic!("{parts:?}") };
    assert_eq!((&found["sectors"]["lost"], &found["sectors"]["wrong"]), (&json!(0), &json!(0)));
    assert!(found["acknowledged"].as_u64() >= Some(5_000) && found["hit"]["verb"].is_string());
}

#[test]
fn a_file_is_replayed_and_a_bad_one_told() {
    let good = b"0,W,0,4096\n1000,R,0,4096\n2000,W,999999999488,8192\n";
    let parts = told(&question("replay", "mine.csv"), good);
    let [result] = of_kind(&parts, "result")[..] else { panic!("{parts:?}") };
    assert_eq!((&result["trace"], &result["requests"]["writes"]), (&json!("mine.csv"), &json!(2)));
    assert!(!of_kind(&parts, "note").is_empty(), "it was packed: {parts:?}");
    let command = of_kind(&parts, "begun")[0]["command"].as_str().unwrap();
    assert!(command.ends_with("--slc 8MiB --fit auto"), "{command}");

    let bad = told(&question("replay", "mine.csv"), b"0,W,0,4096\n1000,W,x,4096\n");
    let [failed] = &bad[..] else { panic!("{bad:?}") };
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("mine.csv") && reason.contains("line 2"), "{reason}");
    assert!(reason.ends_with("; the program's --lenient skips such lines"), "{reason}");
    for nothing in [&b""[..], &[0xFF; 64]] {
        assert_eq!(told(&question("replay", "mine.csv"), nothing)[0]["told"], "failed");
    }
    let no_question = told(&json!({"ask": "nothing"}), &[]);
    assert_eq!(no_question[0]["told"], "failed");
}

#[test]
fn what_there_is_to_choose_from_is_told() {
    let parts = told(&json!({"ask": "catalogue"}), &[]);
    assert_eq!(
        (&parts[0]["told"], &parts[0]["systems"][0]["name"]),
        (&json!("catalogue"), &json!("paged"))
    );
}
