//! Captions' uncertainty against what is known of them: information, levels of a hierarchy, length.

use std::collections::{BTreeMap, HashSet};

use super::numbers::Numbers;
use crate::metrics::{mean, quantile, spearman};
use crate::report::{Grouped, Metric};
use crate::train::features::cache::CaptionRow;

/// Captions of one length that make a point of the figure.
const MIN_CAPTIONS: usize = 20;
/// Quantiles of tables and figures, in percent: the median, the middle half, and eight of ten.
pub(super) const QUANTILES: [usize; 5] = [10, 25, 50, 75, 90];

/// Captions' uncertainty against the truth about them (information, levels of a hierarchy, tokens), and its quantiles.
pub(super) fn caption_numbers(
    uncertainty: &[f64],
    own: &[f64],
    captions: &[CaptionRow],
) -> Numbers {
    let mut numbers = Numbers::new();
    // Each caption once, as `train evaluate` counts: "a picture" is said of every scene.
    let mut seen = HashSet::new();
    let distinct = captions.iter().zip(uncertainty);
    let distinct = distinct.filter(|(caption, _)| seen.insert(caption.text.as_str()));
    let with_bits = distinct.filter_map(|(caption, u)| Some((caption.bits?, *u)));
    let (bits, of_bits): (Vec<f64>, Vec<f64>) = with_bits.unzip();
    let tokens: Vec<f64> = captions.iter().map(|c| c.n_tokens as f64).collect();
    let mut put = |metric, value: Option<f64>| numbers.extend(value.map(|value| (metric, value)));
    put(Metric::UncertaintyVsBitsDistinct, spearman(&of_bits, &bits));
    put(Metric::UncertaintyVsTokens, spearman(uncertainty, &tokens));
    let ordered = adjacent_levels_ordered(uncertainty, captions);
    put(Metric::AdjacentLevelsOrdered, ordered);
    for grouped in Grouped::ALL.iter().copied() {
        for (group, mut values) in groups(grouped, captions, uncertainty, own) {
            values.sort_by(f64::total_cmp);
            for percent in QUANTILES {
                let value = quantile(&values, percent as f64 / 100.0);
                if let Some(value) = value.filter(|_| values.len() >= MIN_CAPTIONS) {
                    numbers.insert(Metric::Quantile(grouped, group, percent), value);
                }
            }
        }
    }
    numbers
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "information is tens of bits"
)]
fn whole_bits(bits: f64) -> usize {
    bits.max(0.0).round() as usize
}

/// Values to be described by quantiles, by group of captions.
fn groups(
    grouped: Grouped,
    captions: &[CaptionRow],
    uncertainty: &[f64],
    own: &[f64],
) -> BTreeMap<usize, Vec<f64>> {
    let values = match grouped {
        Grouped::ScoreByLevel => own,
        _ => uncertainty,
    };
    let group = |caption: &CaptionRow| match grouped {
        Grouped::UncertaintyByTokens => Some(caption.n_tokens),
        Grouped::UncertaintyByLevel | Grouped::ScoreByLevel => caption.level,
        Grouped::UncertaintyByBits => caption.bits.map(whole_bits),
    };
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (caption, value) in captions.iter().zip(values) {
        if let Some(group) = group(caption) {
            groups.entry(group).or_default().push(*value);
        }
    }
    groups
}

/// Share of neighbouring levels of one hierarchy whose uncertainty falls; `None` where it is the same of all captions.
/// The levels of a hierarchy follow each other; a picture may have several.
fn adjacent_levels_ordered(uncertainty: &[f64], captions: &[CaptionRow]) -> Option<f64> {
    uncertainty.iter().find(|one| **one != uncertainty[0])?;
    let rows: Vec<(&CaptionRow, f64)> = captions.iter().zip(uncertainty.iter().copied()).collect();
    let falls = rows.windows(2).filter_map(|pair| {
        let [(vaguer, before), (fuller, after)] = pair else {
            return None;
        };
        let is_next = fuller.level? == vaguer.level? + 1 && fuller.image == vaguer.image;
        is_next.then(|| f64::from(u8::from(after < before)))
    });
    let falls: Vec<f64> = falls.collect();
    (!falls.is_empty()).then(|| mean(&falls))
}

/// Made-up captions for the tests of measures.
#[cfg(test)]
pub(super) mod fixture {
    use super::CaptionRow;

    /// Two captions of each of two pictures, of two levels.
    pub(in super::super) fn captions() -> Vec<CaptionRow> {
        let caption = |image: usize, level: usize, n_tokens, bits| CaptionRow {
            text: format!("caption {level} of {image}"),
            image,
            n_tokens,
            level: Some(level),
            bits: Some(bits),
        };
        vec![
            caption(0, 0, 1, 0.5),
            caption(0, 1, 4, 6.0),
            caption(1, 0, 2, 1.0),
            caption(1, 1, 5, 7.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::captions;
    use super::*;

    #[test]
    fn uncertainty_that_falls_with_information_is_seen() {
        let found = caption_numbers(&[0.9, 0.2, 0.8, 0.1], &[0.0; 4], &captions());
        for name in [
            Metric::UncertaintyVsBitsDistinct,
            Metric::UncertaintyVsTokens,
        ] {
            let error = (found[&name] + 1.0).abs();
            assert!(error < 1e-12, "{name} is {}, expected −1", found[&name]);
        }
        // Said thrice, the vaguest caption counts once.
        let mut said = captions();
        said.extend([said[0].clone(), said[0].clone()]);
        let uncertainty = [0.3, 0.2, 0.8, 0.1, 0.3, 0.3];
        let again =
            caption_numbers(&uncertainty, &[0.0; 6], &said)[&Metric::UncertaintyVsBitsDistinct];
        let once = caption_numbers(&uncertainty[..4], &[0.0; 4], &captions())
            [&Metric::UncertaintyVsBitsDistinct];
        assert_eq!(again, once, "Spearman over distinct captions");
        assert_eq!(found[&Metric::AdjacentLevelsOrdered], 1.0, "both pictures");
        let found = caption_numbers(&[0.9, 0.2, 0.1, 0.8], &[0.0; 4], &captions());
        assert_eq!(found[&Metric::AdjacentLevelsOrdered], 0.5, "one of two");
        let same = caption_numbers(&[0.5; 4], &[0.0; 4], &captions());
        let none = [Metric::AdjacentLevelsOrdered, Metric::UncertaintyVsTokens];
        let is_there = none.map(|metric| same.contains_key(&metric));
        assert_eq!(is_there, [false; 2], "which says the same of all");
    }
}
