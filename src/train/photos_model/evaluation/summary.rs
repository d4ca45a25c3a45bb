//! Mean and spread of each measure over the seeds.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::metrics::{mean, population_sd};
use crate::report::{PhotosEvaluation, PhotosReport, PhotosSummary, Spread};

/// Part of the path of measures that exist for the exported seed alone.
pub(super) const OF_EXPORTED: &str = ".int8.";

/// Puts the evaluations of all seeds together as `evaluation.json`.
///
/// # Errors
///
/// None of plain data.
pub fn report(seeds: Vec<PhotosEvaluation>) -> Result<PhotosReport> {
    Ok(PhotosReport {
        summary: summarize(&seeds)?,
        seeds,
    })
}

/// Takes mean and spread of each measure over the seeds.
///
/// # Errors
///
/// None of plain data.
pub fn summarize(seeds: &[PhotosEvaluation]) -> Result<PhotosSummary> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for evaluation in seeds {
        collect("", &serde_json::to_value(evaluation)?, &mut values);
    }
    values.remove("seed");
    values.retain(|path, values| values.len() == seeds.len() || path.contains(OF_EXPORTED));
    let spread = |values: Vec<f64>| Spread {
        mean: mean(&values),
        sd: population_sd(&values),
    };
    let measures = values.into_iter();
    Ok(PhotosSummary {
        n_seeds: seeds.len(),
        measures: measures
            .map(|(path, values)| (path, spread(values)))
            .collect(),
    })
}

/// Collects every number by the path of its keys.
fn collect(path: &str, value: &Value, values: &mut BTreeMap<String, Vec<f64>>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(&below(key), value, values);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                collect(&below(&i.to_string()), value, values);
            }
        }
        _ => {
            if let Some(number) = value.as_f64() {
                values.entry(path.to_owned()).or_default().push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluate::tests::sample;
    use super::*;

    #[test]
    fn measures_are_found_by_the_path_of_their_keys() {
        let summary = summarize(&[sample(1)]).expect("plain data");
        for path in [
            "vmf.recall.text_to_image.r1",
            "power_spherical.recall.image_to_text.r10",
            "vmf.hierarcaps.adjacent_ordered",
            "vmf.hierarcaps.r10",
            "power_spherical.expert.tau_c_nats",
            "vmf.outsiders.auroc",
            "vmf.outsiders.by_kind.noise",
            "vmf.int8.r1_loss",
            "vmf.hierarcaps.adjacent_ordered_by_level.2",
            "baselines.feature_norm.hierarcaps.auc",
        ] {
            assert!(summary.measures.contains_key(path), "{path}: {summary:?}");
        }
        assert!(
            !summary.measures.contains_key("seed"),
            "a seed is no measure"
        );
    }

    #[test]
    fn seeds_are_averaged_and_what_one_of_them_lacks_is_left_out() {
        let [mut first, mut second] = [1, 2].map(sample);
        second.families.vmf.int8 = None;
        first.cosine.hierarcaps_r10 = 0.5;
        first.families.vmf.expert.tau_c_nats = None;
        let report = report(vec![first, second]).expect("plain data");
        let summary = &report.summary;
        let expected = Spread {
            mean: 0.75,
            sd: 0.25,
        };
        assert_eq!(
            summary.measures["cosine.hierarcaps_r10"], expected,
            "½ and 1"
        );
        assert!(
            !summary.measures.contains_key("vmf.expert.tau_c_nats"),
            "only one seed has it"
        );
        assert!(
            summary.measures.contains_key("vmf.int8.r1_loss"),
            "only one seed is exported"
        );
        assert_eq!(summary.n_seeds, 2, "seeds");
        let written = serde_json::to_string(&report).expect("plain data");
        let read: PhotosReport = serde_json::from_str(&written).expect("as it was written");
        assert_eq!(read, report, "to the last digit");
    }
}
