//! Measurements of the photographs' model in tables: means over several trainings, by the paths of the measures.

use serde::Deserialize;

use super::evaluation::{EvidenceTable, Measured, UNIT};
use crate::explorer::extent::Extent;
use crate::family::Family;
use crate::report::{PhotosSummary, Spread};

/// Part of the `evaluation.json` of a model of photographs that the page reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PhotographsEvaluation {
    summary: PhotosSummary,
}

/// A question: its title, what its numbers are, its columns, and the paths of each row's measures, where `{}` stands
/// for the family.
struct Question {
    title: &'static str,
    about: &'static str,
    columns: &'static [&'static str],
    rows: &'static [(&'static str, &'static [&'static str])],
    scale: Option<Extent>,
}

const QUESTIONS: [Question; 4] = [
    Question {
        title: "Does a caption find its photograph?",
        about: "Share of captions, and of photographs, whose right answer came first or among the first ten of Flickr8k’s test \
                pictures.",
        columns: &[
            "caption → photograph, first",
            "first ten",
            "photograph → caption, first",
            "first ten",
        ],
        rows: &[
            (
                "by likelihood",
                &[
                    "{}.recall.text_to_image.r1",
                    "{}.recall.text_to_image.r10",
                    "{}.recall.image_to_text.r1",
                    "{}.recall.image_to_text.r10",
                ],
            ),
            (
                "by the encoder’s cosine",
                &[
                    "cosine.recall.text_to_image.r1",
                    "cosine.recall.text_to_image.r10",
                    "cosine.recall.image_to_text.r1",
                    "cosine.recall.image_to_text.r10",
                ],
            ),
        ],
        scale: Some(UNIT),
    },
    Question {
        title: "Does κ rise as captions say more?",
        about: "On HierarCaps, ladders of captions that were never trained on: share of neighbouring rungs that κ puts in order, \
                of all and of those with equally many words.",
        columns: &["neighbouring rungs", "of equal length"],
        rows: &[
            (
                "κ",
                &[
                    "{}.hierarcaps.adjacent_ordered",
                    "{}.hierarcaps.same_length_ordered",
                ],
            ),
            (
                "number of words",
                &[
                    "baselines.word_count.hierarcaps.adjacent_ordered",
                    "baselines.word_count.hierarcaps.same_length_ordered",
                ],
            ),
            (
                "the feature’s norm",
                &[
                    "baselines.feature_norm.hierarcaps.adjacent_ordered",
                    "baselines.feature_norm.hierarcaps.same_length_ordered",
                ],
            ),
        ],
        scale: Some(UNIT),
    },
    Question {
        title: "Does recall fall as uncertainty rises?",
        about: "Rank correlation of recall with ten levels of 1/κ; −1 is perfect. Captions of all levels, then those of people \
                alone.",
        columns: &[
            "caption → photograph",
            "photograph → caption",
            "people’s, caption → photograph",
            "photograph → caption",
        ],
        rows: &[(
            "by κ",
            &[
                "{}.spearman_levels_all.text_to_image",
                "{}.spearman_levels_all.image_to_text",
                "{}.spearman_levels.text_to_image",
                "{}.spearman_levels.image_to_text",
            ],
        )],
        scale: None,
    },
    Question {
        title: "Does it agree with people, and know what is no photograph?",
        about: "Kendall’s τ_c with people’s ratings of captions (Flickr8k-Expert), and how well drawings, noise and pictures of \
                text are told from photographs (area under the ROC curve; half is chance).",
        columns: &["agreement with people", "no photograph"],
        rows: &[
            ("by nats", &["{}.expert.tau_c_nats", "{}.outsiders.auroc"]),
            (
                "by the encoder’s cosine",
                &["{}.expert.tau_c_cosine", "cosine.outsiders.auroc"],
            ),
        ],
        scale: Some(UNIT),
    },
];

/// The tables under a family; a measure that is not there leaves its cell empty, and a row without any is left out.
pub fn photographs_tables(found: &PhotographsEvaluation, family: Family) -> Vec<EvidenceTable> {
    let n_seeds = found.summary.n_seeds;
    let seeds = match n_seeds {
        1 => "One training.".to_owned(),
        n => format!("Means over {n} trainings, ± standard deviation."),
    };
    let table = |question: &Question| {
        let row = |(name, paths): &(&str, &[&str])| {
            let cells = paths.iter().map(|path| found.measured(path, family));
            ((*name).to_owned(), cells.collect::<Vec<_>>())
        };
        let rows = question.rows.iter().map(row);
        EvidenceTable::new(
            question.title,
            format!("{} {seeds}", question.about),
            question.columns,
            rows.filter(|(_, cells)| cells.iter().any(Option::is_some))
                .collect(),
            &vec![question.scale; question.columns.len()],
        )
    };
    QUESTIONS.iter().map(table).collect()
}

impl PhotographsEvaluation {
    /// A sentence of what weights in eight bits cost, where that was measured.
    pub fn cost_of_eight_bits(&self, family: Family) -> Option<String> {
        let mean = |path| Some(self.spread(path, family)?.mean);
        let correlation = mean("{}.int8.kappa_spearman")?;
        let loss = 100.0 * mean("{}.int8.r1_loss")?;
        let direction = if loss < 0.0 { "higher" } else { "lower" };
        Some(format!(
            "Weights in eight bits against 32: rank correlation of κ {correlation:.4}, recall at 1 {direction} by {:.1} points.",
            loss.abs()
        ))
    }

    fn measured(&self, path: &str, family: Family) -> Option<Measured> {
        let Spread { mean, sd } = self.spread(path, family)?;
        Some(Measured::over_seeds(mean, sd, self.summary.n_seeds))
    }

    fn spread(&self, path: &str, family: Family) -> Option<Spread> {
        let family = match family {
            Family::VonMisesFisher => "vmf",
            Family::PowerSpherical => "power_spherical",
        };
        let path = path.replace("{}", family);
        self.summary.measures.get(&path).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_evaluation_tells_what_eight_bits_cost() {
        let file = include_str!("../../../../public/models/photos/evaluation.json");
        let found: PhotographsEvaluation = serde_json::from_str(file).expect("it is its form");
        for (family, expected) in [
            (Family::VonMisesFisher, "0.9993, recall at 1 lower by 0.2"),
            (Family::PowerSpherical, "0.9992, recall at 1 higher by 0.5"),
        ] {
            let expected = format!(
                "Weights in eight bits against 32: rank correlation of κ {expected} points."
            );
            let cost = found.cost_of_eight_bits(family);
            assert_eq!(cost, Some(expected), "as the model card has it");
        }
        let file = serde_json::json!({"summary": {"n_seeds": 1, "measures": {}}});
        let found: PhotographsEvaluation = serde_json::from_value(file).expect("it is its form");
        assert_eq!(
            found.cost_of_eight_bits(Family::VonMisesFisher),
            None,
            "not measured"
        );
    }

    #[test]
    fn measures_stand_under_their_family_and_missing_ones_leave_their_cells_empty() {
        let found = serde_json::json!({"seeds": [], "summary": {"n_seeds": 3, "measures": {
            "vmf.recall.text_to_image.r1": {"mean": 0.25, "sd": 0.5},
            "power_spherical.recall.text_to_image.r1": {"mean": 0.75, "sd": 0.0},
            "baselines.word_count.hierarcaps.adjacent_ordered": {"mean": 0.5, "sd": 0.0},
        }}});
        let found: PhotographsEvaluation = serde_json::from_value(found).expect("it is its form");
        let tables = photographs_tables(&found, Family::VonMisesFisher);
        let [recall, order, ..] = tables.as_slice() else {
            panic!("several questions");
        };
        let cell = Measured {
            value: 0.25,
            words: "0.250 ± 0.500".to_owned(),
            is_best: false,
        };
        let expected = (
            "by likelihood".to_owned(),
            vec![Some(cell), None, None, None],
        );
        assert_eq!(recall.rows, [expected], "the family that was asked for");
        assert_eq!(order.rows[0].0, "number of words", "what was measured");
    }
}
