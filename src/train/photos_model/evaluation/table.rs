//! The summary as a table in Markdown, for the model card.

use super::summary::OF_EXPORTED;
use crate::report::PhotosSummary;

/// Text of a cell that its column has no value for.
const NOTHING: &str = "–";

/// A row of the table.
struct MeasureRow {
    label: &'static str,
    /// Target of the measure, such as `≥ .27`; empty if there is none.
    target: &'static str,
    /// Path of the measure below a family; `None` where κ has no part in it.
    measure: Option<&'static str>,
    /// Path of the same by the cosine.
    cosine: Option<&'static str>,
    /// Whether number of words and norm were measured as baselines of κ.
    has_baselines: bool,
    /// Digits behind the point.
    n_digits: usize,
}

/// Writes the table, a row each measure: mean ± standard deviation over the seeds, or the one seed's value.
#[must_use]
pub fn markdown(summary: &PhotosSummary) -> String {
    let seeds = match summary.n_seeds {
        1 => "one seed".to_owned(),
        n => format!("mean ± sd of {n} seeds"),
    };
    let mut lines = vec![
        format!(
            "| {seeds} | target | vMF | power spherical | cosine | word count | feature norm |"
        ),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rows().iter().map(|row| line(summary, row)));
    lines.push(String::new());
    lines.join("\n")
}

fn line(summary: &PhotosSummary, row: &MeasureRow) -> String {
    let at = |path: &str| cell(summary, path, row.n_digits);
    let below = |parent: &str| {
        let measure = row
            .measure
            .map(|measure| at(&format!("{parent}.{measure}")));
        measure.unwrap_or_else(|| NOTHING.to_owned())
    };
    let baseline = |parent: &str| match row.has_baselines {
        true => below(parent),
        false => NOTHING.to_owned(),
    };
    let cells = [
        row.label.to_owned(),
        row.target.to_owned(),
        below("vmf"),
        below("power_spherical"),
        row.cosine.map_or_else(|| NOTHING.to_owned(), at),
        baseline("baselines.word_count"),
        baseline("baselines.feature_norm"),
    ];
    format!("| {} |", cells.join(" | "))
}

fn cell(summary: &PhotosSummary, path: &str, n_digits: usize) -> String {
    let Some(spread) = summary.measures.get(path) else {
        return NOTHING.to_owned();
    };
    let mean = format!("{:.n_digits$}", spread.mean).replace('-', "−");
    match summary.n_seeds {
        _ if path.contains(OF_EXPORTED) => mean,
        1 => mean,
        _ => format!("{mean} ± {:.n_digits$}", spread.sd),
    }
}

#[rustfmt::skip] // A table.
fn rows() -> Vec<MeasureRow> {
    vec![
        scored("Flickr8k test, text → image, R@1", "≥ .27", "recall.text_to_image.r1", "cosine.recall.text_to_image.r1"),
        scored("… R@5", "", "recall.text_to_image.r5", "cosine.recall.text_to_image.r5"),
        scored("… R@10", "≥ .70", "recall.text_to_image.r10", "cosine.recall.text_to_image.r10"),
        scored("image → text (any of five), R@1", "≥ .36", "recall.image_to_text.r1", "cosine.recall.image_to_text.r1"),
        scored("… R@5", "", "recall.image_to_text.r5", "cosine.recall.image_to_text.r5"),
        scored("… R@10", "≥ .76", "recall.image_to_text.r10", "cosine.recall.image_to_text.r10"),
        ordered("S over ten levels, Flickr8k's captions, text → image", "≤ −.93", "spearman_levels.text_to_image"),
        ordered("… image → text", "≤ −.93", "spearman_levels.image_to_text"),
        ordered("S over ten levels, captions of all levels, text → image", "≤ −.98", "spearman_levels_all.text_to_image"),
        ordered("… image → text", "≤ −.98", "spearman_levels_all.image_to_text"),
        ordered("HierarCaps, neighbouring rungs with κ rising", "≥ .88", "hierarcaps.adjacent_ordered"),
        ordered("… of equal word count", "≥ .75", "hierarcaps.same_length_ordered"),
        ordered("… S over all levels, text → image", "≤ −.97", "hierarcaps.spearman"),
        ordered("… neighbouring levels told apart, AUC", "", "hierarcaps.auc"),
        ordered("… average precision", "", "hierarcaps.average_precision"),
        scored("… full captions among its pictures, R@10", "≥ .48", "hierarcaps.r10", "cosine.hierarcaps_r10"),
        scored("Flickr8k-Expert, Kendall's τ_c", "≥ .55", "expert.tau_c_nats", "vmf.expert.tau_c_cosine"),
        scored("none of the above, AUROC", "≥ .9", "outsiders.auroc", "cosine.outsiders.auroc"),
        without_kappa("… by the cosine of the ten nearest training pictures", "", "nearest_pictures.auroc"),
        quantized("int8, of the shipped seed: rank correlation of κ", "≥ .999", "int8.kappa_spearman"),
        quantized("… loss of R@1", "≤ .003", "int8.r1_loss"),
    ]
}

const fn scored(
    label: &'static str,
    target: &'static str,
    measure: &'static str,
    cosine: &'static str,
) -> MeasureRow {
    MeasureRow {
        label,
        target,
        measure: Some(measure),
        cosine: Some(cosine),
        has_baselines: false,
        n_digits: 3,
    }
}

const fn ordered(label: &'static str, target: &'static str, measure: &'static str) -> MeasureRow {
    MeasureRow {
        label,
        target,
        measure: Some(measure),
        cosine: None,
        has_baselines: true,
        n_digits: 3,
    }
}

const fn without_kappa(
    label: &'static str,
    target: &'static str,
    cosine: &'static str,
) -> MeasureRow {
    MeasureRow {
        label,
        target,
        measure: None,
        cosine: Some(cosine),
        has_baselines: false,
        n_digits: 3,
    }
}

const fn quantized(label: &'static str, target: &'static str, measure: &'static str) -> MeasureRow {
    MeasureRow {
        label,
        target,
        measure: Some(measure),
        cosine: None,
        has_baselines: false,
        n_digits: 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluate::tests::sample;
    use super::super::summary::summarize;
    use super::*;
    use crate::report::PhotosReport;
    use crate::train::pairs::picture_sets;
    use crate::weights::manifest::Manifest;

    #[test]
    fn every_row_quotes_measures_that_exist() {
        let mut evaluation = sample(0);
        // What a perfect model leaves undetermined.
        let measured = serde_json::to_string(&evaluation)
            .expect("plain data")
            .replace("null", "-0.5");
        evaluation = serde_json::from_str(&measured).expect("numbers where numbers may be");
        let summary = summarize(&[evaluation.clone(), evaluation]).expect("plain data");
        for row in rows() {
            let parents = [
                "vmf",
                "power_spherical",
                "baselines.word_count",
                "baselines.feature_norm",
            ];
            let n_parents = if row.has_baselines { 4 } else { 2 };
            let of_measure = row.measure.into_iter().flat_map(|measure| {
                let parents = parents.iter().take(n_parents);
                parents.map(move |parent| format!("{parent}.{measure}"))
            });
            let paths = of_measure.chain(row.cosine.map(str::to_owned));
            for path in paths {
                assert!(
                    summary.measures.contains_key(&path),
                    "{}: {path}",
                    row.label
                );
            }
        }
        let table = markdown(&summary);
        assert!(table.contains("| −0.500 ± 0.000 |"), "{table}");
        let n_columns = table.lines().map(|line| line.matches('|').count());
        assert!(n_columns.clone().all(|n| n == 8), "{table}");
        assert_eq!(n_columns.count(), 2 + rows().len(), "{table}");
    }

    #[test]
    fn readme_and_model_card_quote_the_committed_evaluation_exactly() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("it is committed");
        let report = read("public/models/photos/evaluation.json");
        let report: PhotosReport = serde_json::from_str(&report).expect("a report");
        let table = markdown(&report.summary);
        for file in ["README.md", "public/models/photos/MODEL_CARD.md"] {
            assert!(
                read(file).contains(&table),
                "{file} lacks this table:\n{table}"
            );
        }
    }

    #[test]
    fn the_model_card_quotes_the_committed_sets_exactly() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("it is committed");
        let manifest = read("public/models/photos/manifest.json");
        let manifest: Manifest = serde_json::from_str(&manifest).expect("a manifest");
        let sets = manifest.picture_sets.expect("it has sets");
        let table = picture_sets::markdown(&sets);
        let card = read("public/models/photos/MODEL_CARD.md");
        assert!(card.contains(&table), "the model card lacks {table}");
    }

    #[test]
    fn cells_without_a_value_say_so() {
        let table = markdown(&PhotosSummary::default());
        assert!(
            table.contains("| … loss of R@1 | ≤ .003 | – | – | – | – | – |"),
            "{table}"
        );
    }
}
