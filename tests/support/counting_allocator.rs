//! The most memory that a step holds at one time, counted where it is asked for.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;

#[cfg(not(target_arch = "wasm32"))]
use peak_alloc::PeakAlloc;

#[cfg(not(target_arch = "wasm32"))]
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;
/// One step is counted at a time.
#[cfg(not(target_arch = "wasm32"))]
static TURN: Mutex<()> = Mutex::new(());

/// What a step cost.
pub(crate) struct Cost {
    /// Bytes that it held at its peak beyond those before it.
    pub(crate) peak_bytes: usize,
    /// Time that it took.
    pub(crate) time: Duration,
}

/// The cost of a step, and its result.
///
/// Tests beside it count, too, so all that take memory take their turn here.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn cost_of<T>(step: impl FnOnce() -> T) -> (Cost, T) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let start = Instant::now();
    let result = step();
    let time = start.elapsed();
    let peak_bytes = ALLOCATOR.peak_usage().saturating_sub(before);
    (Cost { peak_bytes, time }, result)
}

/// The result of a step; nothing is counted here, and there is no clock.
#[cfg(target_arch = "wasm32")]
pub(crate) fn cost_of<T>(step: impl FnOnce() -> T) -> (Cost, T) {
    let (peak_bytes, time) = (0, Duration::ZERO);
    (Cost { peak_bytes, time }, step())
}
