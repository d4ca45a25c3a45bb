//! The scale that all bars of a view share.

/// An interval that holds zero, with round ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// The left end, at most 0.
    pub lowest: f64,
    /// The right end, above 0.
    pub highest: f64,
    /// Whether there are values below the left end, whose bars are cut off there.
    pub is_cut: bool,
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            lowest: 0.0,
            highest: 1.0,
            is_cut: false,
        }
    }
}

/// Ratio of the side above zero to the side below it, where bars are cut off.
const FAVOUR: f64 = 5.0;

impl Extent {
    /// The smallest interval with round ends that holds zero and all finite values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (lowest, highest) = finite.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if lowest == highest {
            return Self::default();
        }
        let step = round_step((highest - lowest) / 4.0);
        Self {
            lowest: (lowest / step).floor() * step,
            highest: ((highest / step).ceil() * step).max(step),
            is_cut: false,
        }
    }

    /// An interval whose width goes to the values above zero, with room for `least` and for no more than `most`: nearly
    /// all that does not fit is far below zero, and bars as long as that would leave no room for those that matter.
    pub fn above_zero(values: impl Iterator<Item = f64>, [least, most]: [f64; 2]) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((0.0_f64, least), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let Self { highest, .. } = Self::of([high.min(most)]);
        let lowest = if low < 0.0 { -highest / FAVOUR } else { 0.0 };
        Self {
            lowest,
            highest,
            is_cut: low < lowest,
        }
    }

    /// Position of a value between the ends, from 0 to 1; values beyond an end stand at it.
    pub fn fraction(&self, value: f64) -> f64 {
        ((value - self.lowest) / (self.highest - self.lowest)).clamp(0.0, 1.0)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `size`.
pub(in crate::explorer) fn round_step(size: f64) -> f64 {
    let decade = 10_f64.powf(size.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    let step = steps.into_iter().find(|&step| step >= size);
    step.unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_round_and_hold_every_value() {
        let Extent {
            lowest, highest, ..
        } = Extent::of([-3.2, 17.9, 4.0]);
        assert_eq!([lowest, highest], [-10.0, 20.0], "for −3.2 to 17.9");
    }

    #[test]
    fn what_is_above_zero_has_most_of_the_width() {
        let extent = Extent::above_zero([-224.2, 117.1, 20.2].into_iter(), [22.4, 67.2]);
        let ends = [extent.lowest, extent.highest];
        assert_eq!(ends, [-16.0, 80.0], "the far ends are cut off");
        assert!(extent.is_cut, "and that is said: {extent:?}");
        let extent = Extent::above_zero([-0.1, 0.3].into_iter(), [22.4, 67.2]);
        let ends = [extent.lowest, extent.highest];
        assert_eq!(ends, [-6.0, 30.0], "little evidence is a short bar");
        assert!(!extent.is_cut, "nothing is cut off: {extent:?}");
        let extent = Extent::above_zero([0.5, 8.0].into_iter(), [1.0, 9.0]);
        assert_eq!(extent.lowest, 0.0, "nothing is below zero: {extent:?}");
    }

    #[test]
    fn zero_is_always_inside() {
        let nothing = [f64::NAN, f64::INFINITY];
        for values in [[3.0, 4.0], [-3.0, -4.0], [0.0, 0.0], nothing] {
            let extent = Extent::of(values);
            let holds_zero = extent.lowest <= 0.0 && extent.highest > 0.0;
            assert!(holds_zero, "{extent:?} for {values:?}");
        }
    }

    #[test]
    fn fractions_run_from_end_to_end() {
        let extent = Extent {
            lowest: -10.0,
            highest: 10.0,
            is_cut: false,
        };
        for (value, fraction) in [(-10.0, 0.0), (0.0, 0.5), (10.0, 1.0), (99.0, 1.0)] {
            assert_eq!(extent.fraction(value), fraction, "for {value}");
        }
    }
}
