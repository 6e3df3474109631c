//! The computer's clocks, which tell how long a run took, and how long a processor worked on it. A browser's
//! WebAssembly has none that this library knows: there every time is zero, and so are the rates of a result.

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

/// A moment of this thread's processor time: while the thread waits, or another one has the processor, it stands still.
#[cfg(unix)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock(Duration);

#[cfg(unix)]
impl ThreadClock {
    /// This moment.
    pub(crate) fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Self(time.try_into().unwrap_or_default())
    }

    /// The processor time since.
    pub(crate) fn elapsed(&self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

/// Elsewhere a thread's processor time is not known, and what passed meanwhile stands for it.
#[cfg(not(unix))]
pub(crate) use Clock as ThreadClock;
