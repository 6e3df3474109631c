//! Small worlds, each sequence and each cut of them: a part in each test run. `tandem torture --exhaustive` tries all.

use torture::exhaustive::{Order, Shard, SmallScript, Until, exhaustive, replay};
use torture::{FtlName, Unwatched};

fn walked(ftl: FtlName, shard: Shard) -> [u64; 3] {
    let (device, until) = (None, Until::Tried);
    let order = Order { ftl, bound: 1, shard, device, broken_max: 5, until };
    let all = exhaustive(&order, &Unwatched).expect("there are such devices");
    let broken = all.iter().flat_map(|walked| &walked.broken);
    let broken: Vec<String> =
        broken.map(|broken| format!("{}: {}", broken.script, broken.sentence)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    all.iter().fold([0; 3], |[states, transitions, lives], walked| {
        [states + walked.states, transitions + walked.transitions, lives + walked.lives]
    })
}

#[test]
fn no_promise_is_broken_in_a_part_of_the_small_worlds() {
    for ftl in FtlName::ALL {
        let [states, transitions, lives] = walked(ftl, Shard { number: 30, of: 400 });
        assert!(states > 1_000 && transitions > 20_000 && lives > 10_000, "{ftl:?}: {states}");
    }
}

#[test]
fn a_part_is_the_same_each_time_on_one_thread() {
    let part = || walked(FtlName::Paged, Shard { number: 300, of: 301 });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert_eq!(pool.install(part), pool.install(part));
}

#[test]
fn a_script_is_followed_and_its_operations_told() {
    let script: SmallScript =
        "paged-slc-4x1-c3-a0: ab cut@4:unstable / R dies@0".parse().expect("one");
    let replayed = replay(&script).expect("it can be followed");
    assert_eq!(replayed.broken, None);
    let told = |line: &str| replayed.history.iter().any(|told| told.contains(line));
    assert!(told("b: write sector 1") && told("power fails in") && told("dies"));
    let gone: SmallScript = "paged-slc-4x1-c3-a0: a cut@90:unstable".parse().expect("one");
    assert!(replay(&gone).unwrap_err().contains("has no operation 90"));
}
