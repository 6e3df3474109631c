//! Whole files, read to their end: the seeds that fuzzing starts from, and excerpts of real traces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sim::input::trace::Op;
use sim::input::trace::formats::{self, FORMATS, Recognised};
use sim::input::trace::reader::Reader;

#[test]
fn every_format_has_a_good_seed_for_fuzzing() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/trace");
    let mut found = BTreeSet::new();
    for seed in fs::read_dir(seeds).expect("seeds") {
        let path = seed.expect("a seed").path();
        let name = path.display().to_string();
        let mut reader = Reader::open(std::slice::from_ref(&path), &name, None, false)
            .expect("a format that is known");
        let mut requests = 0;
        while reader.next_request().expect("a good line").is_some() {
            requests += 1;
        }
        assert!(requests > 0, "{name}");
        if let Recognised::As(format, _) = formats::recognise(&fs::read(&path).expect("bytes")) {
            found.insert(format.name);
        }
    }
    let all: BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(found, all);
}

/// Requests and bytes of one kind.
type Sum = (u64, u64);

/// Excerpts of real traces, and the reads and the writes in each. They belong to others and do not lie in the
/// repository: the variable `TANDEM_TRACES` names a folder of them, and what is not there is not tested. Counts
/// and sums of bytes were found by other means than these readers. With `--nocapture` the speed of each is
/// told.
const EXCERPTS: [(&str, Sum, Sum); 13] = [
    ("cloudphysics_2h.vscsi.zst", (46_974, 1_797_412_352), (66_898, 2_408_565_760)),
    ("financial1_head10000.spc.zst", (4_077, 25_437_696), (5_923, 29_841_408)),
    ("iozone_100k.disksim.zst", (0, 0), (100_000, 36_855_717_888)),
    ("mqsim_tpcc_small.mqsim.zst", (4_381, 36_315_136), (2_618, 23_403_520)),
    ("mqsim_wsrch_small.mqsim.zst", (24_779, 382_085_120), (4, 32_768)),
    ("msr_excerpt_80w.csv.zst", (2_020, 3_792_896), (7_980, 51_017_216)),
    ("msr_hm0_sample1000.csv.zst", (508, 6_108_672), (492, 3_580_928)),
    ("pixel6a_telegram_exec.csv.zst", (24_094, 1_514_070_016), (227_785, 4_788_330_496)),
    ("pixel6a_telegram_install.csv.zst", (0, 0), (5_320, 146_984_960)),
    ("pixel6a_video_edit.csv.zst", (273_007, 33_236_930_560), (40_819, 217_636_864)),
    ("sqlitewal_ext4.csv.zst", (4, 16_384), (5_003, 69_115_904)),
    ("win11_boot.csv.zst", (156_028, 3_997_415_424), (16_259, 321_587_200)),
    ("ycsb_ext4.blkparse.zst", (9_039, 1_047_625_728), (848, 251_944_960)),
];

#[test]
fn every_request_of_a_real_trace_is_read() {
    let Some(folder) = std::env::var_os("TANDEM_TRACES").map(PathBuf::from) else { return };
    for (name, reads, writes) in EXCERPTS {
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        let start = Instant::now();
        let mut reader = Reader::open(&[path], name, None, false).expect("a format that is known");
        let (mut read, mut written, mut others) = ((0, 0), (0, 0), 0);
        while let Some(request) = reader.next_request().expect("a good line") {
            match request.op {
                Op::Read => read = (read.0 + 1, read.1 + request.length),
                Op::Write => written = (written.0 + 1, written.1 + request.length),
                Op::Trim | Op::Flush => others += 1,
            }
        }
        let requests = read.0 + written.0;
        let micros = start.elapsed().as_micros().max(1);
        println!("{name}: {requests} requests in {} ms, {} thousand a second", micros / 1_000, {
            u128::from(requests) * 1_000 / micros
        });
        assert_eq!((read, written, others), (reads, writes, 0), "{name}");
    }
}
