//! Measurements of the shipped model, as `train evaluate` wrote them down, in tables.

use crate::explorer::extent::Extent;
use crate::explorer::number::{percent, three_significant};
use crate::family::Family;
use crate::report::{BitsCorrelation, BothWays, Evaluation, FamilyEvaluation, OutOfDistribution};

/// The files, beside that of the shipped model, of trainings that differ from it in their seed.
pub const OTHER_SEEDS: &[&str] = &["evaluation-seed-0.json", "evaluation-seed-2.json"];

/// A measured number with the words that a table shows for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The number, or its mean over several seeds.
    pub value: f64,
    /// The number as text, with its spread if there were several seeds.
    pub words: String,
    /// Whether it is the best of its column, or too near the best to part; false where no best is marked.
    pub is_best: bool,
}

impl Measured {
    /// A mean over several seeds with its standard deviation, or the number of the one seed that there is.
    pub(super) fn over_seeds(mean: f64, sd: f64, n_seeds: usize) -> Self {
        // Three decimals, so that a number and its spread end at the same place.
        let decimals = |value: f64| format!("{value:.3}").replace('-', "−");
        let words = match n_seeds {
            1 => decimals(mean),
            _ => format!("{} ± {}", decimals(mean), decimals(sd)),
        };
        Self {
            value: mean,
            words,
            is_best: false,
        }
    }
}

/// One question with its measured answers.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceTable {
    /// The question that the table answers, shown above it.
    pub title: &'static str,
    /// Meaning of the numbers and the unit they are in.
    pub about: String,
    /// Heading of each column.
    pub columns: Vec<&'static str>,
    /// The rows with their names; a number that was not measured is `None`.
    pub rows: Vec<(String, Vec<Option<Measured>>)>,
    /// The scale of each column's bars.
    pub scales: Vec<Extent>,
}

/// Scatter of this training and others, which differ in their seed, under a family.
pub fn scatter(own: &Evaluation, others: &[Evaluation], family: Family) -> EvidenceTable {
    let own = key_numbers(own.families.get(family));
    let others: Vec<_> = others
        .iter()
        .map(|other| key_numbers(other.families.get(family)))
        .collect();
    let row = |(i, (name, value)): (usize, &(&str, f64))| {
        let all = || others.iter().map(|other| other[i].1).chain([*value]);
        let (least, greatest) = (all().reduce(f64::min), all().reduce(f64::max));
        Some(((*name).to_owned(), vec![*value, least?, greatest?]))
    };
    table(
        "How much do results vary between trainings?",
        format!(
            "The same numbers of {} trainings that differ in their seed.",
            others.len() + 1
        ),
        &["this model", "least", "greatest"],
        own.iter().enumerate().filter_map(row).collect(),
        &[Some(UNIT); 3],
    )
}

/// The tables under a family.
pub fn evaluation_tables(evaluation: &Evaluation, family: Family) -> Vec<EvidenceTable> {
    let found = evaluation.families.get(family);
    vec![
        against_bits(found),
        by_level(found),
        recall(found, evaluation.n_scenes),
        attributes(found),
    ]
}

/// Share of pictures that are marked as out of distribution, in one sentence.
pub fn out_of_distribution_text(found: &OutOfDistribution) -> String {
    let scenes = percent(found.scenes);
    match found.photos {
        Some(photos) => format!(
            "Of {} photographs {} were marked “Not a drawing”, and {scenes} of the scenes.",
            found.n_photos,
            percent(photos)
        ),
        None => format!("Of the scenes {scenes} were marked “Not a drawing”."),
    }
}

/// The command that measures it again.
pub fn evaluation_command(evaluation: &Evaluation) -> String {
    let Evaluation { n_scenes, seed, .. } = evaluation;
    format!("cargo run --release -- evaluate --scenes {n_scenes} --seed {seed}")
}

/// Measures that a training is judged by, each with its heading.
fn key_numbers(found: &FamilyEvaluation) -> [(&'static str, f64); 8] {
    let bits = |key: &str| {
        found
            .kappa_vs_bits
            .get(key)
            .map_or(f64::NAN, |bits| bits.kappa)
    };
    let accuracies = found.attribute_accuracy.values().copied();
    [
        ("κ with the bits of all captions", bits("all")),
        ("of one attribute", bits("one_attribute")),
        ("of two or three attributes", bits("several_attributes")),
        (
            "neighbouring levels in order",
            found.adjacent_levels_ordered,
        ),
        (
            "full captions find their picture",
            found.recall_at_1.text_to_image,
        ),
        ("the attribute seen worst", accuracies.fold(1.0, f64::min)),
        (
            "recall against uncertainty (rank correlation), caption → picture",
            found.spearman_levels.text_to_image,
        ),
        (
            "the same, picture → caption",
            found.spearman_levels.image_to_text,
        ),
    ]
}

fn against_bits(found: &FamilyEvaluation) -> EvidenceTable {
    let names = [
        ("all", "all captions"),
        ("one_attribute", "one attribute"),
        ("several_attributes", "two or three attributes"),
    ];
    let rows = names.into_iter().filter_map(|(key, name)| {
        let BitsCorrelation {
            kappa,
            word_count,
            minus_feature_norm,
            n_captions,
        } = *found.kappa_vs_bits.get(key)?;
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

fn by_level(found: &FamilyEvaluation) -> EvidenceTable {
    let names = [
        "nothing said",
        "one attribute",
        "two or three",
        "one shape in full, a part of the rest",
        "everything",
    ];
    let columns = [
        &found.bits_by_level,
        &found.kappa_by_level,
        &found.nats_by_level,
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
            percent(found.adjacent_levels_ordered)
        ),
        &["bits", "κ", "nats for the true picture"],
        names.into_iter().enumerate().filter_map(row).collect(),
        &[None; 3],
    )
}

fn recall(found: &FamilyEvaluation, n_scenes: usize) -> EvidenceTable {
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
             scenes in all. Does recall fall as uncertainty rises? The rank correlation over ten levels is {} from captions \
             to pictures and {} from pictures to captions, where −1 is perfect.",
            three_significant(found.spearman_levels.text_to_image),
            three_significant(found.spearman_levels.image_to_text)
        ),
        &["caption → picture", "picture → caption"],
        vec![
            row("full captions", found.recall_at_1),
            row("in new wordings", found.recall_at_1_new_wording),
            row("of new compositions", found.recall_at_1_new_compositions),
            row("by the encoder’s cosine", found.recall_at_1_cosine),
        ],
        &[Some(UNIT); 2],
    )
}

fn attributes(found: &FamilyEvaluation) -> EvidenceTable {
    let row = |(name, accuracy): (&String, &f64)| {
        let cosine = found.attribute_accuracy_cosine.get(name)?;
        Some((name.clone(), vec![*accuracy, *cosine]))
    };
    table(
        "What can the model see?",
        "Share of scenes whose attribute was named rightly with captions alone.".into(),
        &["by likelihood", "by the encoder’s cosine"],
        found.attribute_accuracy.iter().filter_map(row).collect(),
        &[Some(UNIT); 2],
    )
}

/// Scale of a bar from 0 to 1, for shares.
pub(crate) const UNIT: Extent = Extent {
    lowest: 0.0,
    highest: 1.0,
    is_cut: false,
};

/// A table of numbers without a spread.
fn table(
    title: &'static str,
    about: String,
    columns: &'static [&'static str],
    rows: Vec<(String, Vec<f64>)>,
    scales: &[Option<Extent>],
) -> EvidenceTable {
    let alone = |value| {
        Some(Measured {
            value,
            words: three_significant(value),
            is_best: false,
        })
    };
    let rows = rows
        .into_iter()
        .map(|(name, values)| (name, values.into_iter().map(alone).collect()))
        .collect();
    EvidenceTable::new(title, about, columns, rows, scales)
}

impl EvidenceTable {
    /// A table whose columns have the scales given, widened where values lie below, or scales of their own.
    pub(crate) fn new(
        title: &'static str,
        about: String,
        columns: &[&'static str],
        rows: Vec<(String, Vec<Option<Measured>>)>,
        scales: &[Option<Extent>],
    ) -> Self {
        let column = |i: usize| {
            let cells = rows
                .iter()
                .filter_map(move |(_, cells)| cells.get(i)?.as_ref());
            cells.map(|measured| measured.value)
        };
        let scale = |(i, scale): (usize, &Option<Extent>)| {
            let own = Extent::of(column(i));
            match scale {
                Some(scale) => Extent {
                    lowest: scale.lowest.min(own.lowest),
                    highest: scale.highest.max(own.highest),
                    is_cut: false,
                },
                None => own,
            }
        };
        let scales = scales.iter().enumerate().map(scale).collect();
        Self {
            title,
            about,
            columns: columns.to_vec(),
            rows,
            scales,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Evaluation {
        let text = include_str!("../../../../public/models/scenes/evaluation.json");
        serde_json::from_str(text).expect("it is what train evaluate writes")
    }

    #[test]
    fn every_table_of_the_shipped_model_is_full() {
        for family in Family::ALL {
            for table in evaluation_tables(&shipped(), family) {
                assert!(table.rows.len() >= 3, "{}: {:?}", table.title, table.rows);
                assert_eq!(table.scales.len(), table.columns.len(), "{}", table.title);
                for (name, cells) in &table.rows {
                    assert_eq!(
                        cells.len(),
                        table.columns.len(),
                        "{name} in {}",
                        table.title
                    );
                    for (cell, scale) in cells.iter().zip(&table.scales) {
                        let value = cell.as_ref().expect("it was measured").value;
                        let inside = (scale.lowest..=scale.highest).contains(&value);
                        assert!(inside, "{value} of {name} on {scale:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_training_that_was_measured_is_compared() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/models/scenes");
        let files = std::fs::read_dir(folder).expect("the model is there");
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut seeds: Vec<String> = names
            .filter(|name| name.starts_with("evaluation-seed"))
            .collect();
        seeds.sort_unstable();
        assert_eq!(
            seeds, OTHER_SEEDS,
            "the files and those that the page fetches"
        );
    }

    #[test]
    fn the_least_and_the_greatest_are_over_all_trainings() {
        let mut other = shipped();
        other.families.vmf.adjacent_levels_ordered = 0.5;
        let table = scatter(&shipped(), &[other], Family::VonMisesFisher);
        let (name, cells) = &table.rows[3];
        let values = cells
            .iter()
            .map(|cell| cell.as_ref().map(|cell| cell.value));
        let own = Some(shipped().families.vmf.adjacent_levels_ordered);
        assert_eq!(values.collect::<Vec<_>>(), [own, Some(0.5), own], "{name}");
    }

    #[test]
    fn the_command_names_the_scenes_that_were_measured() {
        let evidence = shipped();
        let command = evaluation_command(&evidence);
        let n_scenes = format!("--scenes {}", evidence.n_scenes);
        assert!(command.contains(&n_scenes), "the command was {command}");
    }
}
