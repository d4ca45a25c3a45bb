//! The test split of a cache under ELIP's disturbances: a folder beside the clean features with those of one side, pictures
//! or captions, for each disturbance; and what they do to recall.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use super::measure::Numbers;
use crate::metrics::mean;
use crate::metrics::retrieval::mean_impact;
use crate::train::features::cache::{Cache, Tensors};
use crate::train::features::rows::Rows;
use crate::train::files;
use crate::weights::shard::{Precision, write};

/// The folder beside the clean features.
pub const FOLDER: &str = "disturbed";
const INDEX: &str = "disturbed.json";
/// The numbers of which ELIP reports the impact.
const IMPACT_ON: [&str; 3] = ["rsum", "t2i_recall_at_1", "i2t_recall_at_1"];

/// The side that is disturbed; the other one stays clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DisturbedSide {
    /// Pictures.
    Pictures,
    /// Captions.
    Captions,
}

/// What was done, to which side, and how much.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Disturbance {
    /// Which distortion or kind of slips.
    pub kind: String,
    /// Its severity, or level.
    pub severity: u8,
}

/// One side of a test split after a disturbance.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbed {
    /// What was done.
    pub disturbance: Disturbance,
    /// To which side.
    pub side: DisturbedSide,
    /// Features of that side, row by row those of the clean split.
    pub features: Rows,
    /// What the projection of that side was fed.
    pub activations: Rows,
}

/// What a folder holds; `disturbed.json`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Index {
    /// SHA-256 of each of the encoder's files.
    weights: Vec<String>,
    disturbances: Vec<(Disturbance, DisturbedSide)>,
}

impl Disturbance {
    fn file(&self) -> String {
        format!("{}-{}", self.kind, self.severity)
    }
}

impl Disturbed {
    /// Adds it to the folder beside the clean features.
    ///
    /// # Errors
    ///
    /// The folder holds those of another encoder, or a file cannot be written.
    pub fn write(&self, clean: &Cache, features: &Path, precision: Precision) -> Result<()> {
        let folder = features.join(FOLDER);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        let mut index = Index::read(&folder)?;
        if index.disturbances.is_empty() {
            index.weights.clone_from(&clean.config.weights);
        }
        index.check(clean, &folder)?;
        let records = [
            self.features.record("features"),
            self.activations.record("activations"),
        ];
        let name = self.disturbance.file();
        let rows = folder.join(format!("{name}.safetensors"));
        files::put(&rows, write(&records, precision)?)?;
        // Last: what it lists is whole.
        index
            .disturbances
            .push((self.disturbance.clone(), self.side));
        files::put(&folder.join(INDEX), serde_json::to_string_pretty(&index)?)
    }

    /// All that lie beside clean features; none where there is no such folder.
    ///
    /// # Errors
    ///
    /// A file is missing or broken, or they are of another encoder or of another test split.
    pub fn read_all(clean: &Cache, features: &Path) -> Result<Vec<Self>> {
        let folder = features.join(FOLDER);
        let index = Index::read(&folder)?;
        index.check(clean, &folder)?;
        let all = index.disturbances.into_iter();
        all.map(|(disturbance, side)| {
            let name = disturbance.file();
            let mut tensors = Tensors::read(&folder, &name)?;
            let disturbed = Self {
                features: tensors.take("features")?,
                activations: tensors.take("activations")?,
                disturbance,
                side,
            };
            let expected = match side {
                DisturbedSide::Pictures => clean.test.ids.images.len(),
                DisturbedSide::Captions => clean.test.ids.captions.len(),
            };
            let found = disturbed.features.n_rows();
            ensure!(
                found == expected,
                "{}: {name} has {found} rows, the clean features {expected}",
                folder.display()
            );
            Ok(disturbed)
        })
        .collect()
    }
}

/// The disturbances that lie beside clean features already.
///
/// # Errors
///
/// The list of them is broken.
pub fn listed(features: &Path) -> Result<Vec<Disturbance>> {
    let index = Index::read(&features.join(FOLDER))?;
    Ok(index.disturbances.into_iter().map(|(d, _)| d).collect())
}

impl Index {
    fn read(folder: &Path) -> Result<Self> {
        Ok(files::find_json(&folder.join(INDEX))?.unwrap_or_default())
    }

    fn check(&self, clean: &Cache, folder: &Path) -> Result<()> {
        ensure!(
            self.disturbances.is_empty() || self.weights == clean.config.weights,
            "{} holds features of another encoder than the clean ones beside it; remove it",
            folder.display()
        );
        Ok(())
    }
}

/// What disturbances do to recall: each number for each disturbance, for each kind in the mean of its severities, in the
/// mean of the kinds, and the share of it that is lost there, ELIP's mean multimodal impact.
#[must_use]
pub fn impact(clean: &Numbers, disturbed: &[(&Disturbance, Numbers)]) -> Numbers {
    let mut numbers = Numbers::new();
    if disturbed.is_empty() {
        return numbers;
    }
    for metric in IMPACT_ON {
        let mut by_kind: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (Disturbance { kind, severity }, found) in disturbed {
            numbers.insert(
                format!("disturbed_{metric}_{kind}_{severity}"),
                found[metric],
            );
            by_kind.entry(kind).or_default().push(found[metric]);
        }
        let kinds: Vec<f64> = by_kind.values().map(|found| mean(found)).collect();
        for (kind, mean) in by_kind.keys().zip(&kinds) {
            numbers.insert(format!("disturbed_{metric}_{kind}"), *mean);
        }
        numbers.insert(format!("disturbed_{metric}"), mean(&kinds));
        if let Some(impact) = mean_impact(clean[metric], &kinds) {
            numbers.insert(format!("disturbed_{metric}_mmi"), impact);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_impact_is_that_of_elips_printed_table() {
        // Table 7 of the paper: RSUM of ELIP, clean 503.5, in the mean of the disturbed 463.1, MMI 8.0 %.
        let cases = [
            ("shot", 480.0),
            ("impulse", 483.7),
            ("speckle", 485.0),
            ("defocus", 476.2),
            ("pixelate", 469.8),
            ("zoom", 368.6),
            ("snow", 448.3),
            ("jpeg", 496.9),
            ("keyboard", 399.3),
            ("sr", 484.3),
            ("formal", 502.4),
        ];
        let numbers = |rsum| {
            Numbers::from([
                ("rsum".to_owned(), rsum),
                ("t2i_recall_at_1".to_owned(), 0.0),
                ("i2t_recall_at_1".to_owned(), 0.5),
            ])
        };
        let cases = cases.map(|(kind, rsum)| {
            let kind = kind.to_owned();
            (Disturbance { kind, severity: 5 }, numbers(rsum))
        });
        let cases: Vec<_> = cases.iter().map(|(d, n)| (d, n.clone())).collect();
        let found = impact(&numbers(503.5), &cases);
        assert!(
            (found["disturbed_rsum"] - 463.1).abs() < 0.05,
            "mean {}, printed 463.1",
            found["disturbed_rsum"]
        );
        assert!(
            (found["disturbed_rsum_mmi"] - 0.080).abs() < 5e-4,
            "MMI {}, printed 8.0 %",
            found["disturbed_rsum_mmi"]
        );
        assert_eq!(found["disturbed_i2t_recall_at_1_mmi"], 0.0, "nothing lost");
        assert!(
            !found.contains_key("disturbed_t2i_recall_at_1_mmi"),
            "of nothing no share is lost"
        );
    }

    #[test]
    fn severities_of_a_kind_count_once() {
        let of = |kind: &str, severity| Disturbance {
            kind: kind.to_owned(),
            severity,
        };
        let numbers =
            |value: f64| -> Numbers { IMPACT_ON.map(|name| (name.to_owned(), value)).into() };
        let (weak, strong, other) = (of("shot", 1), of("shot", 5), of("snow", 3));
        let cases = [
            (&weak, numbers(0.5)),
            (&strong, numbers(0.1)),
            (&other, numbers(0.7)),
        ];
        let found = impact(&numbers(1.0), &cases);
        let close = |name: &str, expected: f64| {
            let found = found[name];
            assert!(
                (found - expected).abs() < 1e-12,
                "{name}: {found}, expected {expected}"
            );
        };
        close("disturbed_rsum_shot_5", 0.1);
        close("disturbed_rsum_shot", 0.3);
        close("disturbed_rsum", 0.5);
        close("disturbed_rsum_mmi", 0.5);
    }
}
