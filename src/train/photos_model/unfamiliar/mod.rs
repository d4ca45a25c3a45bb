//! Captions and pictures that are unlike those of the training: exemplars, thresholds, and shares detected.
//!
//! κ does not detect them: nonsense in Latin letters can get a large one.

mod centres;
mod outsider_texts;

use anyhow::{Context as _, Result};
use burn::tensor::Device;
use rand::seq::index::sample;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::metrics::quantile;
use crate::model::encoder::{Exemplars, ExemplarsConfig, ImageOutput};
use crate::train::features::rows::Rows;
use crate::weights::manifest::{UnfamiliarDetector, UnfamiliarDetectors};
use centres::{centres, unit};
pub use outsider_texts::outsider_texts;

/// Exemplars of captions, where the training has so many.
const MOST_CAPTIONS: usize = 1400;
/// Centres of pictures, where the training has so many.
const MOST_CENTRES: usize = 32;
/// Rows that are compared with all exemplars at once.
const ROWS_PER_PASS: usize = 4096;
/// Seed of the exemplars.
const SEED: u64 = 0;
/// Share of the development set's captions or pictures that lies below the value from which a threshold is taken.
const SHARE: f64 = 0.01;
/// The threshold as a part of this value: visitors' captions and pictures differ more from the training than held-out
/// ones.
const MARGIN: f64 = 0.9;

/// Captions or pictures as they are compared.
#[derive(Debug)]
pub struct Samples {
    /// Features of the training set, of which exemplars are made, `[n, width]`.
    pub train: Rows,
    /// Features of the development set, by which the threshold is chosen, `[n, width]`.
    pub dev: Rows,
    /// Other captions or pictures that the model can judge, by data set.
    pub familiar: Vec<(String, Rows)>,
    /// Captions or pictures that the model cannot judge, by kind.
    pub outsiders: Vec<(String, Rows)>,
}

/// Exemplars of both sides, unit vectors, with their thresholds and the shares detected.
#[derive(Debug)]
pub struct Unfamiliar {
    /// Exemplars of captions, `[n_exemplars, width]`, unit vectors.
    pub text: Rows,
    /// Centres of pictures, `[n_exemplars, width]`, unit vectors.
    pub image: Rows,
    /// What pictures are compared by.
    pub image_output: ImageOutput,
    /// Thresholds, with the shares of false alarms and of detections.
    pub detectors: UnfamiliarDetectors,
}

impl Unfamiliar {
    /// Draws captions, finds centres of pictures, chooses thresholds and measures them.
    ///
    /// # Errors
    ///
    /// No samples, or a device that fails.
    pub fn of(
        text: Samples,
        (image_output, image): (ImageOutput, Samples),
        device: &Device,
    ) -> Result<Self> {
        let captions = drawn(&text.train, MOST_CAPTIONS.min(text.train.n_rows()));
        let pictures = centres(&image.train, MOST_CENTRES.min(image.train.n_rows()), SEED);
        let of_text = detector(text, &captions, device)?;
        let of_image = detector(image, &pictures, device)?;
        Ok(Self {
            text: captions,
            image: pictures,
            image_output,
            detectors: UnfamiliarDetectors {
                text: of_text,
                image: of_image,
            },
        })
    }

    /// Number of exemplars of each side.
    #[must_use]
    pub fn config(&self) -> ExemplarsConfig {
        ExemplarsConfig {
            text: self.text.n_rows(),
            image: self.image.n_rows(),
            image_output: self.image_output,
        }
    }
}

/// Unit vectors of `n` of the rows, drawn at random.
fn drawn(rows: &Rows, n: usize) -> Rows {
    let chosen = sample(&mut ChaCha8Rng::seed_from_u64(SEED), rows.n_rows(), n);
    Rows {
        values: chosen.iter().flat_map(|row| unit(rows.row(row))).collect(),
        width: rows.width,
    }
}

fn detector(samples: Samples, exemplars: &Rows, device: &Device) -> Result<UnfamiliarDetector> {
    let nearest = Exemplars::of(exemplars.to_device(device));
    let cosines = |rows: Rows| -> Result<Vec<f64>> {
        let mut found = Vec::with_capacity(rows.n_rows());
        for values in rows.values.chunks(ROWS_PER_PASS * rows.width) {
            let rows = Rows {
                values: values.to_vec(),
                width: rows.width,
            };
            found.extend(Rows::from_device(nearest.nearest(rows.to_device(device)))?.values);
        }
        Ok(found.into_iter().map(f64::from).collect())
    };
    let mut of_dev = cosines(samples.dev)?;
    of_dev.sort_by(f64::total_cmp);
    let threshold = MARGIN * quantile(&of_dev, SHARE).context("no development set")?;
    let below = |kinds: Vec<(String, Rows)>| -> Result<Vec<(String, f64)>> {
        let share = |(kind, rows)| {
            let cosines = cosines(rows)?;
            let n_below = cosines.iter().filter(|cosine| **cosine < threshold).count();
            Ok((kind, n_below as f64 / cosines.len() as f64))
        };
        kinds.into_iter().map(share).collect()
    };
    Ok(UnfamiliarDetector {
        threshold,
        false_alarms: below(samples.familiar)?,
        detected: below(samples.outsiders)?,
    })
}

/// Table of the shares that the thresholds detect, by data set and kind.
#[must_use]
pub fn markdown(detectors: &UnfamiliarDetectors) -> String {
    let mut lines = vec!["| what | marked |".to_owned(), "|---|---|".to_owned()];
    for detector in [&detectors.text, &detectors.image] {
        let rows = detector.false_alarms.iter().chain(&detector.detected);
        lines.extend(rows.map(|(kind, share)| format!("| {kind} | {:.1} % |", 100.0 * share)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    /// Vectors near an axis.
    fn near(axis: usize, n: usize) -> Rows {
        let row = |i: usize| {
            let mut row = vec![0.0; 8];
            row[axis] = 1.0;
            row[(axis + 1) % 3] = 0.01 * i as f32;
            row
        };
        Rows {
            values: (0..n).flat_map(row).collect(),
            width: 8,
        }
    }

    #[test]
    fn what_lies_elsewhere_is_unfamiliar() {
        let samples = || Samples {
            train: near(0, 50),
            dev: near(0, 20),
            familiar: vec![("the same".to_owned(), near(0, 10))],
            outsiders: vec![("another axis".to_owned(), near(5, 10))],
        };
        let pictures = (ImageOutput::Features, samples());
        let found = Unfamiliar::of(samples(), pictures, &cpu()).expect("enough samples");
        assert_eq!(found.config().text, 50, "no more than there are captions");
        for detector in [&found.detectors.text, &found.detectors.image] {
            assert!(detector.false_alarms[0].1 < 0.2, "{detector:?}");
            assert_eq!(detector.detected[0].1, 1.0, "{detector:?}");
        }
        let table = markdown(&found.detectors);
        assert!(table.contains("| another axis | 100.0 % |"), "{table}");
    }
}
