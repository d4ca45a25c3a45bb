//! How fast a load comes on, and how long it will take.

use std::collections::VecDeque;

use crate::explorer::number::file_size;
use crate::protocol::Progress;

/// Older marks say little of the rate now.
const WINDOW_MILLIS: f64 = 8_000.0;
/// Over a shorter time a rate is an accident.
const SHORTEST_MILLIS: f64 = 750.0;

/// When how many bytes had arrived, over the last seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransferRate {
    marks: VecDeque<(f64, u64)>,
}

impl TransferRate {
    /// Takes note of how many bytes have arrived; fewer than before are of another load.
    pub fn note(&mut self, millis: f64, bytes: u64) {
        if self.marks.back().is_some_and(|(_, last)| *last > bytes) {
            self.marks.clear();
        }
        self.marks.push_back((millis, bytes));
        let is_old = |mark: &(f64, u64)| mark.0 < millis - WINDOW_MILLIS;
        while self.marks.len() > 2 && self.marks.get(1).is_some_and(is_old) {
            self.marks.pop_front();
        }
    }

    /// Forgets everything, as when a load waits.
    pub fn rest(&mut self) {
        self.marks.clear();
    }

    /// Bytes that arrive in a second, where that can be told.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let ((from, first), (to, last)) = (self.marks.front()?, self.marks.back()?);
        let rate = (last - first) as f64 / (to - from) * 1e3;
        (to - from >= SHORTEST_MILLIS && rate > 0.0).then_some(rate)
    }

    /// A load in words: how much of its stage is there, and where that can be told how fast it comes and when it ends.
    pub fn words(&self, progress: &Progress) -> String {
        let Progress {
            loaded_bytes,
            stage_end_bytes,
            ..
        } = progress;
        let share = format!(
            "{} of {}",
            file_size(*loaded_bytes),
            file_size(*stage_end_bytes)
        );
        let Some(rate) = self.bytes_per_second() else {
            return share;
        };
        let rest = stage_end_bytes.saturating_sub(*loaded_bytes) as f64 / rate;
        format!(
            "{share} · {} a second · {}",
            file_size(whole(rate)),
            duration(rest)
        )
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are above zero and far below 2^53"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}

/// Seconds in words, rounded up.
fn duration(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{:.0} s left", seconds.ceil())
    } else if seconds < 5_400.0 {
        format!("{:.0} min left", (seconds / 60.0).ceil())
    } else {
        format!("{:.0} h left", (seconds / 3_600.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Stage;

    fn progress(loaded_bytes: u64) -> Progress {
        Progress {
            stage: Stage::TextEncoder,
            loaded_bytes,
            stage_end_bytes: 20_000_000,
            total_bytes: 90_000_000,
        }
    }

    #[test]
    fn a_steady_load_ends_when_it_says() {
        let mut pace = TransferRate::default();
        for second in 0..=10_u32 {
            pace.note(f64::from(second) * 1e3, u64::from(second) * 1_000_000);
        }
        let words = pace.words(&progress(10_000_000));
        assert_eq!(words, "10 MB of 20 MB · 1.0 MB a second · 10 s left");
    }

    #[test]
    fn what_was_slow_long_ago_counts_no_more() {
        let mut pace = TransferRate::default();
        pace.note(0.0, 0);
        pace.note(60_000.0, 1_000);
        for second in 61..=80_u32 {
            let bytes = 1_000 + u64::from(second - 60) * 500_000;
            pace.note(f64::from(second) * 1e3, bytes);
        }
        let rate = pace.bytes_per_second().expect("there was time");
        assert!((rate - 500_000.0).abs() < 1.0, "{rate} bytes a second");
    }

    #[test]
    fn no_rate_is_told_of_an_instant_a_standstill_or_another_load() {
        let mut pace = TransferRate::default();
        pace.note(0.0, 5);
        pace.note(10.0, 900_000);
        assert_eq!(pace.bytes_per_second(), None, "ten milliseconds");
        pace.note(2_000.0, 3);
        pace.note(4_000.0, 3);
        assert_eq!(pace.bytes_per_second(), None, "nothing arrived");
        assert_eq!(pace.words(&progress(3)), "0.0 kB of 20 MB");
    }

    #[test]
    fn long_times_are_told_in_minutes_and_hours() {
        assert_eq!(duration(0.2), "1 s left");
        assert_eq!(duration(100.0), "2 min left");
        assert_eq!(duration(10_000.0), "3 h left");
    }
}
