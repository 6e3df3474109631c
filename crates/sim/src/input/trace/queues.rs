//! Open-CAS's files of a trace, one per queue, by their names.

/// Files that are one trace: those of all queues, whose names begin so.
const QUEUE: &str = "octf.trace.";

/// The beginning of the names of other files beside them.
const BESIDE: &str = "octf.";

/// Whether a file has the requests of one of Open-CAS's queues.
pub(super) fn is_queue(file: &str) -> bool {
    file.starts_with(QUEUE)
}

/// Whether a file stands beside those of the queues, and has no requests.
pub(super) fn is_beside_queues(file: &str) -> bool {
    file.starts_with(BESIDE) && !is_queue(file)
}
