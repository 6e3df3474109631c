//! How long criterion looks at a benchmark: long enough to tell a twentieth, short enough for all of them within
//! minutes. Flags of `cargo bench` say otherwise: `-- --measurement-time 10`.

use std::time::Duration;

use criterion::Criterion;

/// Criterion with this patience, unless the command line asks for another.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}
