//! What a stranger does with the library: no feature is needed.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::sync::Mutex;

use nand_model::part::Nanos;
use sim::engine::replay::{Look, RunObserver, run_watched};
use sim::input::workload::Reading;
use sim::{
    Chosen, DeviceChoice, Failure, Observer, Op, Options, Request, RunResult, Setup, Stop, Workload,
};

fn tiny() -> Setup {
    DeviceChoice::named("tiny").setup().unwrap()
}

fn replayed(workload: &Workload, system: &str, observer: &dyn Observer) -> RunResult {
    let system = Chosen::parse(system).unwrap();
    sim::run(workload, &Options::default(), &tiny(), &system, observer).unwrap()
}

/// Reads and writes of a kibibyte each, in turns, at four places, a millisecond apart.
fn requests(count: u64) -> Vec<Request> {
    let ops = [Op::Write, Op::Read];
    let request = |at: u64| {
        Request::new(
            Nanos::from_micros(1_000 * (at + 7)),
            ops[(at % 2) as usize],
            at / 2 % 4 * 1024,
            1024,
        )
    };
    (0..count).map(request).collect()
}

#[test]
fn requests_in_memory_take_the_times_of_the_datasheet() {
    let workload = Workload::of_requests("in turns", requests(80)).unwrap();
    let result = replayed(&workload, "page-slc", &());
    assert_eq!((result.trace.as_str(), result.device.as_str()), ("in turns", "tiny"));
    assert_eq!((result.requests.reads, result.requests.writes), (40, 40));
    assert_eq!(result.verified_reads, 40 * 1024 / u64::from(tiny().part.sector_bytes.get()));
    // A page of the SLC, without a bus: 25 us to read, 200 us to program.
    assert_eq!((result.read_us.mean, result.write_us.mean), (Some(25.0), Some(200.0)));
    assert_eq!((result.write_us.max, result.slc.pages.host_program), (Some(200.0), 40));
}

#[test]
fn a_file_in_memory_is_replayed_like_its_requests() {
    let line = |request: &Request| {
        let Request { time, op, offset, length, .. } = request;
        format!("{},{},{offset},{length}\n", time.get() / 1_000, op.letter())
    };
    let text: String = requests(80).iter().map(line).collect();
    let of_bytes = Workload::of_bytes("trace.csv", text.into_bytes(), Reading::default());
    let of_requests = Workload::of_requests("in turns", requests(80)).unwrap();
    let [bytes, requests] =
        [of_bytes, of_requests].map(|workload| replayed(&workload, "paged", &()));
    assert_eq!((bytes.requests, bytes.response_us), (requests.requests, requests.response_us));
    assert_eq!((bytes.parts, bytes.energy_mj), (requests.parts, requests.energy_mj));
}

#[test]
fn a_record_has_every_request_and_every_block() {
    let workload = Workload::of_requests("in turns", requests(4_000)).unwrap();
    let options = Options { record: true, ..Options::default() };
    let systems = ["page-slc", "paged"].map(|name| Chosen::parse(name).unwrap());
    let outcomes = sim::run_all(&workload, &options, &tiny(), &systems, &()).unwrap();
    for outcome in outcomes {
        let (result, record) = (outcome.result, outcome.record.unwrap());
        let times = || record.responses.ops.iter().zip(&record.responses.times);
        let total: Nanos = times().map(|(_, time)| *time).fold(Nanos::ZERO, |sum, time| sum + time);
        assert_eq!((total.as_micros_f64(), times().count()), (result.response_us.total, 4_000));
        let longest = times().filter(|(op, _)| **op == Op::Read).map(|(_, time)| *time).max();
        assert_eq!(longest.map(Nanos::as_micros_f64), result.read_us.max);
        let erased = |part: &str| -> u64 {
            record
                .wear
                .get(part)
                .map_or(0, |blocks| blocks.iter().map(|count| u64::from(*count)).sum())
        };
        assert_eq!((erased("slc"), erased("mlc")), (result.slc.erases, result.mlc.erases));
        assert!(result.slc.erases > 0, "the run is long enough to wear something");
        assert!(record.wear.values().all(|blocks| !blocks.is_empty()));
    }
}

/// Stops a run after 6,000 requests, when even a system with a thread of its own has begun; and keeps what it is told.
#[derive(Default)]
struct StoppingObserver {
    stop: Stop,
    last: Cell<(Option<f64>, u64)>,
    is_done: Cell<bool>,
}

impl Observer for StoppingObserver {
    fn at(&self, fraction: Option<f64>, requests: u64) {
        self.last.set((fraction, requests));
        if requests >= 6_000 {
            self.stop.request();
        }
    }

    fn done(&self) {
        self.is_done.set(true);
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

#[test]
fn a_run_that_is_stopped_has_a_result_of_what_it_did() {
    let workload = Workload::of_requests("long", requests(20_000)).unwrap();
    let observer = StoppingObserver::default();
    let result = replayed(&workload, "page-slc", &observer);
    let (fraction, requests) = observer.last.get();
    assert!(result.partial && observer.is_done.get());
    let share = f64::from(u32::try_from(requests).unwrap()) / 20_000.0;
    assert_eq!((result.requests.total(), fraction), (requests, Some(share)));
    assert!((6_000..20_000).contains(&requests), "{requests}");
}

#[test]
fn what_cannot_be_replayed_is_told_with_its_place() {
    let refused = |request: Request| {
        let requests = [requests(2), vec![request]].concat();
        let refused = Workload::of_requests("mine", requests).unwrap_err().to_string();
        assert!(refused.starts_with("mine, request 3: expected "), "{refused}");
        refused
    };
    let [request] = requests(1)[..] else { panic!("one request") };
    assert!(refused(Request { length: 0, ..request }).ends_with("at least a byte, found none"));
    assert!(refused(Request { length: 1 << 40, ..request }).contains("at most 33554432 bytes"));
    assert!(refused(Request { offset: u64::MAX, ..request }).contains("64 bits"));
    let late = Request { time: Nanos::new(u64::MAX), ..request };
    assert!(refused(late).contains("100 years"));
    let beyond = Request { offset: 1 << 40, ..request };
    let workload = Workload::of_requests("mine", vec![request, beyond]).unwrap();
    let system = Chosen::parse("paged").unwrap();
    let beyond = sim::run(&workload, &Options::default(), &tiny(), &system, &()).unwrap_err();
    assert!(beyond.to_string().starts_with("mine, request 2: the request ends at"), "{beyond}");
    assert!(matches!(Chosen::parse("pages").map(drop), Err(reason) if reason.contains("paged")));
    let none = Workload::of_requests("nothing", Vec::new()).unwrap();
    let none = sim::run(&none, &Options::default(), &tiny(), &system, &()).unwrap_err();
    assert!(matches!(none, Failure::Trace(_)), "{none}");
}

#[test]
#[cfg(not(feature = "compression"))]
fn a_compression_that_was_left_out_is_told() {
    let packed = [&[0x28, 0xB5, 0x2F, 0xFD][..], &[0; 100]].concat();
    let workload = Workload::of_bytes("trace.zst", packed, Reading::default());
    let system = Chosen::parse("paged").unwrap();
    let told = sim::run(&workload, &Options::default(), &tiny(), &system, &()).unwrap_err();
    assert!(told.to_string().contains("made without Zstandard"), "{told}");
}

/// Looks on, and adds up what it sees.
#[derive(Default)]
struct CountingObserver {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    looks: u64,
    requests: u64,
    written: u64,
    answers: u64,
    took: Nanos,
    /// Pages that are programmed in the SLC, at the first look and at the last.
    filled: [u64; 2],
}

impl Observer for CountingObserver {}

impl RunObserver for CountingObserver {
    fn every(&self) -> NonZeroU32 {
        NonZeroU32::new(100).unwrap()
    }

    fn look(&self, look: &Look<'_>) {
        let mut seen = self.seen.lock().unwrap();
        let hardware = look.system.hardware();
        let slc = hardware.part("slc").unwrap();
        let filled = slc.filled.iter().copied().map(u64::from).sum();
        assert_eq!(slc.programmed, filled * slc.page_bytes);
        if seen.looks == 0 {
            assert_eq!((look.requests, look.answers.len()), (0, 0));
            seen.filled[0] = filled;
        }
        seen.filled[1] = filled;
        seen.looks += 1;
        assert!(look.requests >= seen.requests && look.system.now() >= look.begun);
        (seen.requests, seen.written) = (look.requests, look.written);
        seen.answers += look.answers.len() as u64;
        look.answers.iter().for_each(|answer| seen.took += answer.took);
    }
}

#[test]
fn who_looks_on_sees_every_answer_and_changes_nothing() {
    let workload = Workload::of_requests("long", requests(3_001)).unwrap();
    let curious = CountingObserver::default();
    let system = Chosen::parse("paged").unwrap();
    let options = Options::default();
    let watched = run_watched(&workload, &options, &tiny(), &system, &curious).unwrap();
    let alone = replayed(&workload, "paged", &());
    let seen = curious.seen.into_inner().unwrap();
    assert_eq!((seen.requests, seen.answers, seen.written), (3_001, 3_001, 1_501 * 1024));
    // Groups of 32: every 128 requests, and a batch ends at 1,024.
    assert!((20..32).contains(&seen.looks), "{}", seen.looks);
    assert!(seen.filled[0] != seen.filled[1], "{:?}", seen.filled);
    assert!((seen.took.as_micros_f64() - watched.response_us.total).abs() < 1e-6);
    assert_eq!((watched.response_us, watched.parts), (alone.response_us, alone.parts));
    assert_eq!((watched.energy_mj, watched.elapsed_us), (alone.energy_mj, alone.elapsed_us));
}
