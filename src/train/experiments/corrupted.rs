//! The test split of a cache under ELIP's corruptions: a folder beside the clean features with those of one side,
//! pictures or captions, for each corruption, what is missing there embedded; and what they do to recall.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::numbers::Numbers;
use crate::corruption::{Corruption, CorruptionKind, ImageCorruption, Misspelling};
use crate::metrics::mean;
use crate::metrics::retrieval::mean_impact;
use crate::report::{Impacted, Metric, Shift};
use crate::train::features::cache::{Cache, Tensors};
use crate::train::features::rows::Embedded;
use crate::train::files;
use crate::train::progress::Interrupt;
use crate::weights::shard::{Precision, write};

/// The folder beside the clean features.
pub const FOLDER: &str = "disturbed";
const INDEX: &str = "disturbed.json";

/// The side that is corrupted; the other one stays clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorruptedSide {
    /// The pictures are corrupted.
    Pictures,
    /// The captions are misspelt.
    Captions,
}

/// A corruption by name, as files hold it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CorruptionName {
    /// Name of its kind.
    pub kind: String,
    /// Severity, from 1 to 5 for pictures and to 7 for captions.
    pub severity: u8,
}

/// Features of one side of a test split, corrupted.
#[derive(Debug, Clone, PartialEq)]
pub struct CorruptedSplit {
    /// The corruption by name and severity.
    pub corruption: CorruptionName,
    /// The side that is corrupted.
    pub side: CorruptedSide,
    /// Corrupted features of that side, in the rows of the clean split.
    pub rows: Embedded,
}

/// Severities of the corruptions of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Severities {
    /// Severities of each of the nine published corruptions of pictures.
    pub pictures: Vec<u8>,
    /// Severities of each misspelling of captions, in twentieths of the words.
    pub captions: Vec<u8>,
}

impl Severities {
    /// Those of the papers: five of pictures, and of misspellings four.
    #[must_use]
    pub fn published() -> Self {
        Self {
            pictures: vec![1, 2, 3, 4, 5],
            captions: vec![1, 3, 5, 7],
        }
    }
}

/// List of the corruptions in a folder; `disturbed.json`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct CorruptedList {
    /// SHA-256 of each of the encoder's files.
    weights: Vec<String>,
    #[serde(rename = "disturbances")]
    corruptions: Vec<(CorruptionName, CorruptedSide)>,
}

impl<K: CorruptionKind> From<Corruption<K>> for CorruptionName {
    fn from(corruption: Corruption<K>) -> Self {
        Self {
            kind: corruption.kind().name().to_owned(),
            severity: corruption.severity(),
        }
    }
}

impl CorruptionName {
    fn file(&self) -> String {
        format!("{}-{}", self.kind, self.severity)
    }
}

impl CorruptedSplit {
    /// Adds it to the folder beside the clean features.
    ///
    /// # Errors
    ///
    /// The folder holds those of another encoder, or a file cannot be written.
    pub fn write(&self, clean: &Cache, features: &Path, precision: Precision) -> Result<()> {
        let folder = features.join(FOLDER);
        files::make_folder(&folder)?;
        let mut index = CorruptedList::read(&folder)?;
        if index.corruptions.is_empty() {
            index.weights.clone_from(&clean.config.weights);
        }
        index.check(clean, &folder)?;
        let records = [
            self.rows.features.record("features"),
            self.rows.activations.record("activations"),
        ];
        let name = self.corruption.file();
        let rows = folder.join(format!("{name}.safetensors"));
        files::put(&rows, write(&records, precision)?)?;
        // Written last, so that everything it lists is complete.
        index.corruptions.push((self.corruption.clone(), self.side));
        files::put_json(&folder.join(INDEX), &index)
    }

    /// All that lie beside clean features; none where there is no such folder.
    ///
    /// # Errors
    ///
    /// A file is missing or broken, or they are of another encoder or of another test split.
    pub fn read_all(clean: &Cache, features: &Path) -> Result<Vec<Self>> {
        let folder = features.join(FOLDER);
        let index = CorruptedList::read(&folder)?;
        index.check(clean, &folder)?;
        let all = index.corruptions.into_iter();
        all.map(|(corruption, side)| {
            let name = corruption.file();
            let mut tensors = Tensors::read(&folder, &name)?;
            let (features, activations) = (tensors.take("features")?, tensors.take("activations")?);
            let split = Self {
                rows: Embedded::new(features, activations),
                corruption,
                side,
            };
            let expected = match side {
                CorruptedSide::Pictures => clean.test.ids.images.len(),
                CorruptedSide::Captions => clean.test.ids.captions.len(),
            };
            let found = split.rows.features.n_rows();
            ensure!(
                found == expected,
                "{}: {name} has {found} rows, the clean features {expected}",
                folder.display()
            );
            Ok(split)
        })
        .collect()
    }
}

/// Embeds a test split under every corruption that does not lie beside its clean features yet, by what embeds its
/// pictures or its captions under one; returns how many lie there then.
///
/// # Errors
///
/// The user interrupted, the split cannot be embedded, or the folder cannot be written or holds those of another
/// encoder.
pub fn add_corruptions(
    pictures: impl Fn(Corruption<ImageCorruption>) -> Result<Embedded>,
    captions: impl Fn(Corruption<Misspelling>) -> Result<Embedded>,
    severities: &Severities,
    precision: Precision,
    (clean, features): (&Cache, &Path),
) -> Result<usize> {
    let (there, interrupt) = (listed(features)?, Interrupt::install());
    let add = |corruption: CorruptionName, side, embed: &dyn Fn() -> Result<Embedded>| {
        if there.contains(&corruption) {
            return Ok(());
        }
        let CorruptionName { kind, severity } = &corruption;
        let is_set = interrupt.is_set();
        ensure!(
            !is_set,
            "interrupted before {kind} {severity}; the same command goes on from there"
        );
        let split = CorruptedSplit {
            corruption,
            side,
            rows: embed()?,
        };
        split.write(clean, features, precision)
    };
    for corruption in all(ImageCorruption::published(), &severities.pictures) {
        let embed = || pictures(corruption);
        add(corruption.into(), CorruptedSide::Pictures, &embed)?;
    }
    for corruption in all(Misspelling::ALL, &severities.captions) {
        let embed = || captions(corruption);
        add(corruption.into(), CorruptedSide::Captions, &embed)?;
    }
    Ok(listed(features)?.len())
}

/// Every kind at every severity.
fn all<K: CorruptionKind>(kinds: &[K], severities: &[u8]) -> Vec<Corruption<K>> {
    let of = |&severity: &u8| {
        kinds
            .iter()
            .map(move |&kind| Corruption::new(kind, severity))
    };
    severities.iter().flat_map(of).collect()
}

/// The corruptions whose features lie beside clean ones already.
fn listed(features: &Path) -> Result<Vec<CorruptionName>> {
    let listed = CorruptedList::read(&features.join(FOLDER))?.corruptions;
    Ok(listed.into_iter().map(|(name, _)| name).collect())
}

impl CorruptedList {
    fn read(folder: &Path) -> Result<Self> {
        Ok(files::find_json(&folder.join(INDEX))?.unwrap_or_default())
    }

    fn check(&self, clean: &Cache, folder: &Path) -> Result<()> {
        ensure!(
            self.corruptions.is_empty() || self.weights == clean.config.weights,
            "{} holds features of another encoder than the clean ones beside it; remove it",
            folder.display()
        );
        Ok(())
    }
}

/// Recall under corruptions: each number for each corruption, for each kind in the mean of its severities, in the mean
/// of the kinds, and the share of it that is lost there, ELIP's mean multimodal impact.
#[must_use]
pub fn impact(clean: &Numbers, corrupted: &[(&CorruptionName, Numbers)]) -> Numbers {
    let mut numbers = Numbers::new();
    if corrupted.is_empty() {
        return numbers;
    }
    // Where truth is known, pictures look for their own captions: counting any true caption would reward captions that
    // say nothing.
    let has_own = clean.contains_key(&Metric::OwnRecallSum);
    let impacted = |of: &&Impacted| match of {
        Impacted::RecallSum | Impacted::ImageToText => !has_own,
        Impacted::OwnRecallSum | Impacted::ImageToOwnText => has_own,
        Impacted::TextToImage => true,
    };
    for &of in Impacted::ALL.iter().filter(impacted) {
        let found = corrupted
            .iter()
            .map(|(name, found)| (*name, found[&of.clean()]));
        let (shifts, mean) = over_corruptions(found);
        let impact = mean_impact(clean[&of.clean()], &[mean]);
        let shifts = shifts
            .into_iter()
            .chain(impact.map(|impact| (Shift::CorruptionImpact, impact)));
        numbers.extend(shifts.map(|(shift, value)| (Metric::Shifted(of, shift), value)));
    }
    numbers
}

/// Shares of pictures that are less certain under each corruption of pictures, for each kind in the mean of its
/// severities, and in the mean of the kinds; nothing without any.
#[must_use]
pub(super) fn less_certain(shares: &[(&CorruptionName, f64)]) -> Numbers {
    if shares.is_empty() {
        return Numbers::new();
    }
    let (shifts, _) = over_corruptions(shares.iter().copied());
    let shifts = shifts.into_iter();
    shifts
        .map(|(shift, value)| (Metric::CorruptedLessCertain(shift), value))
        .collect()
}

/// A number under each corruption, for each kind in the mean of its severities, and in the mean of the kinds, which
/// stands by itself, too.
fn over_corruptions<'a>(
    found: impl Iterator<Item = (&'a CorruptionName, f64)>,
) -> (Vec<(Shift, f64)>, f64) {
    let mut shifts = Vec::new();
    let mut by_kind: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (CorruptionName { kind, severity }, value) in found {
        shifts.push((Shift::AtSeverity(kind.clone().into(), *severity), value));
        by_kind.entry(kind).or_default().push(value);
    }
    let kinds: Vec<f64> = by_kind.values().map(|found| mean(found)).collect();
    for (kind, mean) in by_kind.into_keys().zip(&kinds) {
        shifts.push((Shift::Kind(kind.clone().into()), *mean));
    }
    let mean = mean(&kinds);
    shifts.push((Shift::Corrupted, mean));
    (shifts, mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rsum(shift: Shift) -> Metric {
        Metric::Shifted(Impacted::RecallSum, shift)
    }

    fn name(kind: &str, severity: u8) -> CorruptionName {
        let kind = kind.to_owned();
        CorruptionName { kind, severity }
    }

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
                (Metric::RecallSum, rsum),
                (Impacted::TextToImage.clean(), 0.0),
                (Impacted::ImageToText.clean(), 0.5),
            ])
        };
        let cases = cases.map(|(kind, rsum)| (name(kind, 5), numbers(rsum)));
        let cases: Vec<_> = cases.iter().map(|(d, n)| (d, n.clone())).collect();
        let found = impact(&numbers(503.5), &cases);
        let impact = |of| {
            found
                .get(&Metric::Shifted(of, Shift::CorruptionImpact))
                .copied()
        };
        let (mean, mmi) = (found[&rsum(Shift::Corrupted)], impact(Impacted::RecallSum));
        assert!((mean - 463.1).abs() < 0.05, "mean {mean}, printed 463.1");
        let is_printed = mmi.is_some_and(|mmi| (mmi - 0.080).abs() < 5e-4);
        assert!(is_printed, "MMI {mmi:?}, printed 8.0 %");
        assert_eq!(impact(Impacted::ImageToText), Some(0.0), "nothing lost");
        assert_eq!(
            impact(Impacted::TextToImage),
            None,
            "of nothing no share is lost"
        );
    }

    #[test]
    fn severities_of_a_kind_count_once() {
        let numbers = |value: f64| -> Numbers {
            let all = [
                Impacted::RecallSum,
                Impacted::TextToImage,
                Impacted::ImageToText,
            ];
            all.map(|of| (of.clean(), value)).into()
        };
        let (weak, strong, other) = (name("shot", 1), name("shot", 5), name("snow", 3));
        let cases = [
            (&weak, numbers(0.5)),
            (&strong, numbers(0.1)),
            (&other, numbers(0.7)),
        ];
        let found = impact(&numbers(1.0), &cases);
        let close = |shift: Shift, expected: f64| {
            let metric = rsum(shift);
            let error = (found[&metric] - expected).abs();
            assert!(
                error < 1e-12,
                "{metric}: {}, expected {expected}",
                found[&metric]
            );
        };
        close(Shift::AtSeverity("shot".into(), 5), 0.1);
        close(Shift::Kind("shot".into()), 0.3);
        close(Shift::Corrupted, 0.5);
        close(Shift::CorruptionImpact, 0.5);
    }
}
