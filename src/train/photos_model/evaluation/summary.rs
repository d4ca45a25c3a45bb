//! Mean and spread of each measure over the seeds.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::metrics::{mean, population_sd};
use crate::report::{PhotosEvaluation, PhotosReport, PhotosSummary, Spread};

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
    values.retain(|_, values| values.len() == seeds.len());
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
