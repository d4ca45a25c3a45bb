//! Features to train on, and features to measure on, of one encoder.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::corrupted::CorruptedSplit;
use crate::train::features::cache::Cache;
use crate::train::methods::MethodName;
use crate::weights::manifest::Logits;

/// Features to train on, and features to measure on.
#[derive(Debug)]
pub struct EvaluationData {
    /// Features of the data set that is trained on, and measured on.
    pub own: Cache,
    /// Features of other data sets, to measure on.
    pub others: Vec<Cache>,
    /// Features of the own test split corrupted, one side at a time.
    pub corrupted: Vec<CorruptedSplit>,
    /// SHA-256 of each file of features, by its path; empty for features that lie in no files.
    pub hashes: BTreeMap<String, String>,
}

impl EvaluationData {
    /// Features of one data set.
    #[must_use]
    pub fn alone(own: Cache) -> Self {
        Self {
            own,
            others: Vec::new(),
            corrupted: Vec::new(),
            hashes: BTreeMap::new(),
        }
    }

    /// Features of several data sets, which must be of one encoder.
    ///
    /// # Errors
    ///
    /// They are of different encoders, or there is nothing to train or to measure on.
    pub fn new(own: Cache, others: Vec<Cache>) -> Result<Self> {
        ensure!(
            !own.train.ids.captions.is_empty(),
            "features of {} hold nothing to train on",
            own.config.dataset
        );
        for cache in std::iter::once(&own).chain(&others) {
            ensure!(
                cache.config.weights == own.config.weights,
                "features of {} are of the encoder {}, those of {} of another one, {}",
                own.config.dataset,
                own.config.model,
                cache.config.dataset,
                cache.config.model
            );
            ensure!(
                !cache.test.ids.captions.is_empty(),
                "features of {} hold nothing to measure on",
                cache.config.dataset
            );
        }
        Ok(Self {
            own,
            others,
            corrupted: Vec::new(),
            hashes: BTreeMap::new(),
        })
    }

    /// This data with corrupted copies of its own test split, on which methods are measured too.
    #[must_use]
    pub fn with_corrupted(self, corrupted: Vec<CorruptedSplit>) -> Self {
        Self { corrupted, ..self }
    }

    /// Reason why a method cannot be measured on these features; `None` if it can.
    #[must_use]
    pub fn why_not(&self, name: MethodName) -> Option<&'static str> {
        match name {
            MethodName::Bayesvlm | MethodName::BayesvlmCosine if !self.has_posterior() => Some(
                "it is about a linear last layer, which this encoder's captions do not go through",
            ),
            MethodName::Augmentation if !self.own.test.images.has_views() => {
                Some("the features hold no views of pictures, which `train embed --views` makes")
            }
            _ => None,
        }
    }

    /// Whether there is a last layer whose weights can be uncertain: that of captions, whose uncertainty is asked for.
    fn has_posterior(&self) -> bool {
        self.own.config.squared_text_norm > 0.0
    }

    /// The loss at whose logits the curvature of `BayesVLM` is taken, in words; `None` where it is not measured.
    pub(super) fn curvature(&self) -> Option<String> {
        let config = &self.own.config;
        let of_pictures = match config.squared_image_norm > 0.0 {
            true => "",
            false => "; pictures have no variance, their tower ends in no linear layer",
        };
        let logits = match config.logits {
            None => format!(
                "scale {}, CLIP's, as the model's folder says none",
                Logits::CLIP.scale
            ),
            Some(Logits { scale, bias: None }) => format!("scale {scale:.2}, the encoder's own"),
            Some(Logits {
                scale,
                bias: Some(bias),
            }) => {
                format!("scale {scale:.2} and bias {bias:.2} of a sigmoid loss, the encoder's own")
            }
        };
        self.has_posterior()
            .then(|| format!("{logits}{of_pictures}"))
    }

    /// This data with the hashes of its files.
    #[must_use]
    pub fn with_hashes(self, hashes: BTreeMap<String, String>) -> Self {
        Self { hashes, ..self }
    }

    /// The data sets that are measured on, with their names in results; the own one first.
    pub(super) fn measured(&self) -> Vec<(String, &Cache)> {
        let own = &self.own.config.dataset;
        let others = self.others.iter().map(|cache| {
            let config = &cache.config;
            (measured_name(own, &config.dataset, &config.noise), cache)
        });
        std::iter::once((own.clone(), &self.own))
            .chain(others)
            .collect()
    }
}

/// Name in results of another data set that was measured on. Only one that was not trained on is written with an
/// arrow, by which findings recognise it.
fn measured_name(own: &str, other: &str, noise: &str) -> String {
    match (other == own, noise.is_empty()) {
        (true, false) => format!("{own}, {noise}"),
        (false, false) => format!("{own} → {other}, {noise}"),
        (_, true) => format!("{own} → {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_trained_on_bears_an_arrow() {
        for (other, noise, expected) in [
            ("scenes", "shot 5, keyboard 7", "scenes, shot 5, keyboard 7"),
            ("elsewhere", "", "scenes → elsewhere"),
            ("elsewhere", "shot 5", "scenes → elsewhere, shot 5"),
        ] {
            assert_eq!(measured_name("scenes", other, noise), expected, "{other}");
        }
    }
}
