//! The computer's clock, which tells how long a run took. A browser's WebAssembly has none that this library knows:
//! there every time is zero, and so are the rates of a result.

use std::time::Duration;

/// A moment on the clock.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(std::time::Instant);

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl Clock {
    /// This moment.
    pub(crate) fn now() -> Self {
        Self(std::time::Instant::now())
    }

    /// The time since.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// No moment.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
impl Clock {
    /// The only one.
    pub(crate) fn now() -> Self {
        Self
    }

    /// No time.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
