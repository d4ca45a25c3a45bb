//! Rate of a download, and the time that is left.

use std::collections::VecDeque;

use crate::explorer::number::file_size;
use crate::protocol::Progress;

/// Older marks are forgotten: the present rate is shown.
const WINDOW_MILLIS: f64 = 8_000.0;
/// Shortest time over which a rate is shown, in milliseconds; over a shorter one it would jump.
const SHORTEST_MILLIS: f64 = 750.0;

/// Marks of the last seconds: a time in milliseconds, and the bytes that had arrived by then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransferRate {
    marks: VecDeque<(f64, u64)>,
}

impl TransferRate {
    /// Adds a mark; fewer bytes than before are of another download.
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

    /// Forgets all marks, as when a download waits.
    pub fn rest(&mut self) {
        self.marks.clear();
    }

    /// The rate in bytes a second; `None` while it is not known.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let ((from, first), (to, last)) = (self.marks.front()?, self.marks.back()?);
        let rate = (last - first) as f64 / (to - from) * 1e3;
        (to - from >= SHORTEST_MILLIS && rate > 0.0).then_some(rate)
    }

    /// Progress of a download in words: the share of its stage and, where they are known, its rate and the time left.
    pub fn text(&self, progress: &Progress) -> String {
        let (loaded, end) = (progress.loaded_bytes, progress.stage_end_bytes);
        let share = format!("{} of {}", file_size(loaded), file_size(end));
        let Some(rate) = self.bytes_per_second() else {
            return share;
        };
        let seconds_left = end.saturating_sub(loaded) as f64 / rate;
        let (rate, left) = (file_size(whole(rate)), duration(seconds_left));
        format!("{share} · {rate} a second · {left}")
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

/// A duration with its unit, rounded up.
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
        let mut rate = TransferRate::default();
        for second in 0..=10_u32 {
            rate.note(f64::from(second) * 1e3, u64::from(second) * 1_000_000);
        }
        let text = rate.text(&progress(10_000_000));
        assert_eq!(text, "10 MB of 20 MB · 1.0 MB a second · 10 s left");
    }

    #[test]
    fn what_was_slow_long_ago_counts_no_more() {
        let mut rate = TransferRate::default();
        rate.note(0.0, 0);
        rate.note(60_000.0, 1_000);
        for second in 61..=80_u32 {
            let bytes = 1_000 + u64::from(second - 60) * 500_000;
            rate.note(f64::from(second) * 1e3, bytes);
        }
        let found = rate.bytes_per_second().expect("there was time");
        assert!((found - 500_000.0).abs() < 1.0, "{found} bytes a second");
    }

    #[test]
    fn no_rate_is_told_of_an_instant_a_standstill_or_another_load() {
        let mut rate = TransferRate::default();
        rate.note(0.0, 5);
        rate.note(10.0, 900_000);
        assert_eq!(rate.bytes_per_second(), None, "ten milliseconds");
        rate.note(2_000.0, 3);
        rate.note(4_000.0, 3);
        assert_eq!(rate.bytes_per_second(), None, "nothing arrived");
        assert_eq!(rate.text(&progress(3)), "0.0 kB of 20 MB");
    }

    #[test]
    fn long_times_are_told_in_minutes_and_hours() {
        assert_eq!(duration(0.2), "1 s left");
        assert_eq!(duration(100.0), "2 min left");
        assert_eq!(duration(10_000.0), "3 h left");
    }
}
