//! What was measured of the shipped model, as `train evaluate` wrote it down, in tables.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number::percent;
use super::scale::Extent;
use crate::numerics::Family;

/// The part of `evaluation.json` that the page shows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Evidence {
    /// Test scenes.
    pub n_scenes: usize,
    /// Their seed.
    pub seed: u64,
    outside: Outside,
    vmf: OfFamily,
    power_spherical: OfFamily,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Outside {
    scenes: f64,
    photos: f64,
    n_photos: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct OfFamily {
    recall_at_1: BothWays,
    recall_at_1_new_wording: BothWays,
    recall_at_1_new_compositions: BothWays,
    recall_at_1_cosine: BothWays,
    spearman_levels: BothWays,
    adjacent_levels_ordered: f64,
    attribute_accuracy: BTreeMap<String, f64>,
    attribute_accuracy_cosine: BTreeMap<String, f64>,
    kappa_vs_bits: BTreeMap<String, AgainstBits>,
    nats_by_level: Vec<f64>,
    bits_by_level: Vec<f64>,
    kappa_by_level: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct BothWays {
    text_to_image: f64,
    image_to_text: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct AgainstBits {
    kappa: f64,
    word_count: f64,
    minus_feature_norm: f64,
    n_captions: usize,
}

/// One question with its measured answers.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceTable {
    /// The question.
    pub title: &'static str,
    /// What the numbers are.
    pub about: String,
    /// What each column holds.
    pub columns: &'static [&'static str],
    /// The rows with their names.
    pub rows: Vec<(String, Vec<f64>)>,
    /// The scale of each column's bars.
    pub scales: Vec<Extent>,
}

impl Evidence {
    /// The tables under a law.
    pub fn tables(&self, family: Family) -> Vec<EvidenceTable> {
        let measured = match family {
            Family::VonMisesFisher => &self.vmf,
            Family::PowerSpherical => &self.power_spherical,
        };
        vec![
            measured.against_bits(),
            measured.by_level(),
            measured.recall(self.n_scenes),
            measured.attributes(),
        ]
    }

    /// How well pictures from elsewhere are told, in one sentence.
    pub fn outside_words(&self) -> String {
        let Outside {
            scenes,
            photos,
            n_photos,
        } = self.outside;
        format!(
            "Of {n_photos} photographs {} were called foreign, and {} of the scenes.",
            percent(photos),
            percent(scenes)
        )
    }

    /// The command that measures it again.
    pub fn command(&self) -> String {
        let Self { n_scenes, seed, .. } = self;
        format!("cargo run --release -- evaluate --scenes {n_scenes} --seed {seed}")
    }
}

impl OfFamily {
    fn against_bits(&self) -> EvidenceTable {
        let names = [
            ("all", "all captions"),
            ("one_attribute", "one attribute"),
            ("several_attributes", "two or three attributes"),
        ];
        let rows = names.into_iter().filter_map(|(key, name)| {
            let AgainstBits {
                kappa,
                word_count,
                minus_feature_norm,
                n_captions,
            } = *self.kappa_vs_bits.get(key)?;
            Some((
                format!("{name} ({n_captions})"),
                vec![kappa, word_count, minus_feature_norm],
            ))
        });
        table(
            "Does κ follow the information of the words?",
            "Rank correlation with the true bits of a caption; 1 is perfect. Beside κ stand two baselines that need no adapter.".into(),
            &["κ", "number of words", "minus the feature’s norm"],
            rows.collect(),
            &[Some(UNIT); 3],
        )
    }

    fn by_level(&self) -> EvidenceTable {
        let names = [
            "nothing said",
            "one attribute",
            "two or three",
            "one shape in full, a part of the rest",
            "everything",
        ];
        let columns = [
            &self.bits_by_level,
            &self.kappa_by_level,
            &self.nats_by_level,
        ];
        let row = |(i, name): (usize, &str)| {
            let values: Option<Vec<f64>> = columns
                .iter()
                .map(|column| column.get(i).copied())
                .collect();
            Some((format!("{}. {name}", i + 1), values?))
        };
        table(
            "Do vaguer captions get a lower κ?",
            format!(
                "Means over captions of five levels. κ rises between {} of neighbouring levels.",
                percent(self.adjacent_levels_ordered)
            ),
            &["bits", "κ", "nats for the true picture"],
            names.into_iter().enumerate().filter_map(row).collect(),
            &[None; 3],
        )
    }

    fn recall(&self, n_scenes: usize) -> EvidenceTable {
        let row = |name: &str, ways: BothWays| {
            (
                name.to_owned(),
                vec![ways.text_to_image, ways.image_to_text],
            )
        };
        table(
            "Does a caption find its picture?",
            format!(
                "Share of full captions whose picture came first among a thousand, and of pictures whose caption did; {n_scenes} test \
                 scenes in all. Recall falls as uncertainty rises: the rank correlation is {:.3}, where −1 is perfect.",
                self.spearman_levels.text_to_image
            ),
            &["caption → picture", "picture → caption"],
            vec![
                row("full captions", self.recall_at_1),
                row("in new wordings", self.recall_at_1_new_wording),
                row("of new compositions", self.recall_at_1_new_compositions),
                row("by CLIP’s cosine", self.recall_at_1_cosine),
            ],
            &[Some(UNIT); 2],
        )
    }

    fn attributes(&self) -> EvidenceTable {
        let row = |(name, accuracy): (&String, &f64)| {
            let cosine = self.attribute_accuracy_cosine.get(name)?;
            Some((name.clone(), vec![*accuracy, *cosine]))
        };
        table(
            "What can the model see?",
            "Share of scenes whose attribute was named rightly with captions alone.".into(),
            &["by likelihood", "by CLIP’s cosine"],
            self.attribute_accuracy.iter().filter_map(row).collect(),
            &[Some(UNIT); 2],
        )
    }
}

/// From nothing to perfect.
const UNIT: Extent = Extent {
    lowest: 0.0,
    highest: 1.0,
};

/// A table whose columns have the scales given, widened where values lie below, or scales of their own.
fn table(
    title: &'static str,
    about: String,
    columns: &'static [&'static str],
    rows: Vec<(String, Vec<f64>)>,
    scales: &[Option<Extent>],
) -> EvidenceTable {
    let scale = |(i, scale): (usize, &Option<Extent>)| {
        let own = Extent::of(rows.iter().filter_map(|(_, values)| values.get(i).copied()));
        match scale {
            Some(scale) => Extent {
                lowest: scale.lowest.min(own.lowest),
                highest: scale.highest.max(own.highest),
            },
            None => own,
        }
    };
    let scales = scales.iter().enumerate().map(scale).collect();
    EvidenceTable {
        title,
        about,
        columns,
        rows,
        scales,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Evidence {
        let text = include_str!("../../public/models/scenes/evaluation.json");
        serde_json::from_str(text).expect("it is what train evaluate writes")
    }

    #[test]
    fn every_table_of_the_shipped_model_is_full() {
        for family in Family::ALL {
            for table in shipped().tables(family) {
                assert!(table.rows.len() >= 3, "{}: {:?}", table.title, table.rows);
                assert_eq!(table.scales.len(), table.columns.len(), "{}", table.title);
                for (name, values) in &table.rows {
                    assert_eq!(
                        values.len(),
                        table.columns.len(),
                        "{name} in {}",
                        table.title
                    );
                    for (value, scale) in values.iter().zip(&table.scales) {
                        let inside = (scale.lowest..=scale.highest).contains(value);
                        assert!(inside, "{value} of {name} on {scale:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_command_names_the_scenes_that_were_measured() {
        let evidence = shipped();
        let command = evidence.command();
        let n_scenes = format!("--scenes {}", evidence.n_scenes);
        assert!(command.contains(&n_scenes), "the command was {command}");
    }
}
