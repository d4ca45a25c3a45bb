//! Every method through `train reproduce` on a handful of made-up features.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::sync::{Mutex, PoisonError};

use kappascope::device::cpu;
use kappascope::train::methods::{Follow, MethodName, UncertaintyOf};
use kappascope::train::reproduce::cache::{
    Cache, CacheConfig, CaptionRow, IdMap, Rows, Split, Task, TaskIds,
};
use kappascope::train::reproduce::results::Results;
use kappascope::train::reproduce::{FitRequest, Given, Plan, fit_one, reproduce};

/// Burn's random numbers are the process's: who depends on a seed must be alone.
static ALONE: Mutex<()> = Mutex::new(());

/// Numbers that look random and are always the same.
fn rows(n: usize, width: usize, phase: f32) -> Rows {
    let values = (0_u16..).map(|i| (f32::from(i).powi(2) * 0.37 + phase).sin());
    Rows {
        values: values.take(n * width).collect(),
        width,
    }
}

fn split(n_images: usize) -> Split {
    let caption = |i: usize| CaptionRow {
        text: i.to_string(),
        image: i / 2,
        n_tokens: 1 + i % 3,
        level: Some(i % 2),
        bits: Some(1.0 + (i % 5) as f64),
    };
    Split {
        ids: IdMap {
            images: (0..n_images).map(|i| i.to_string()).collect(),
            captions: (0..2 * n_images).map(caption).collect(),
        },
        texts: rows(2 * n_images, 6, 0.1),
        images: rows(n_images, 6, 0.2),
        text_activations: rows(2 * n_images, 7, 0.3),
        image_activations: rows(n_images, 5, 0.4),
    }
}

fn cache() -> Cache {
    let ids = |name: &str, dummies: &[&str]| TaskIds {
        name: name.to_owned(),
        classes: vec!["a".to_owned(), "b".to_owned()],
        dummies: dummies.iter().map(|&text| text.to_owned()).collect(),
        n_templates: 1,
        labels: (0..8).map(|i| (i % 3 < 2).then_some(i % 3)).collect(),
    };
    let task = |ids: TaskIds, n_texts| Task {
        ids,
        texts: rows(n_texts, 6, 0.5),
        images: rows(8, 6, 0.6),
        text_activations: rows(n_texts, 7, 0.7),
        image_activations: rows(8, 5, 0.8),
    };
    Cache {
        config: CacheConfig {
            dataset: "scenes".to_owned(),
            model: "none".to_owned(),
            weights: Vec::new(),
            embed_dim: 6,
            squared_text_norm: 3.0,
            squared_image_norm: 4.0,
            noise: String::new(),
            seed: 0,
            command: String::new(),
        },
        train: split(12),
        test: split(20),
        tasks: vec![
            task(ids("shape", &[]), 2),
            task(ids("none_of_the_above", &["nothing"]), 3),
        ],
    }
}

fn plan(epochs: usize) -> Plan {
    Plan {
        batch: 10,
        epochs,
        rate_factor: 1.0,
        follow: Follow::Code,
        probvlm_uncertainty: UncertaintyOf::Inverse,
        deterministic_scale: None,
        hidden_width: Some(5),
        command: "train reproduce".to_owned(),
    }
}

#[test]
fn every_method_is_fitted_and_measured_and_nothing_twice() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = std::env::temp_dir().join(format!("kappascope-reproduce-{}", std::process::id()));
    let other = Cache {
        config: CacheConfig {
            dataset: "elsewhere".to_owned(),
            ..cache().config
        },
        ..cache()
    };
    let given = Given::new(cache(), vec![other]).expect("of one encoder");
    let device = cpu();
    let run = |n_seeds, epochs| {
        reproduce(
            &MethodName::ALL,
            n_seeds,
            &plan(epochs),
            &given,
            &folder,
            ("cpu", &device),
        )
    };
    run(1, 1).expect("the first seed");
    let first = Results::read(&folder.join("results.json")).expect("results");
    run(2, 1).expect("the second seed");
    let results = Results::read(&folder.join("results.json")).expect("results");
    let another_plan = run(2, 3);
    let files = [
        "tables.md",
        "recall-by-level.svg",
        "ablation.svg",
        "environment.json",
        "elsewhere-ablation.svg",
    ];
    let there = files.map(|name| folder.join(name).exists());
    std::fs::remove_dir_all(&folder).expect("the folder is the test's own");

    assert_eq!(there, [true; 5], "{files:?}");
    assert_eq!(
        results.datasets(),
        ["scenes", "scenes → elsewhere"],
        "both are measured on"
    );
    let (own, other) = (results.on("scenes"), results.on("scenes → elsewhere"));
    for metric in ["t2i_recall_at_1", "dummy_0_negative"] {
        let of = |results: &Results| results.values(MethodName::AsymvlmVmf, metric);
        assert_eq!(of(&own), of(&other), "the same features: {metric}");
    }
    assert_eq!(results.methods(), MethodName::ALL.to_vec(), "all methods");
    for name in MethodName::ALL {
        let n_seeds = if name.optimizer(Follow::Code).is_some() {
            2
        } else {
            1
        };
        for metric in ["t2i_recall_at_1", "accuracy_shape", "dummy_0_negative"] {
            let values = own.values(name, metric);
            assert_eq!(values.len(), n_seeds, "{name:?}, {metric}: {values:?}");
            let before = first.on("scenes").values(name, metric);
            assert_eq!(
                before[0], values[0],
                "{name:?}, {metric} is not measured again"
            );
        }
    }
    let error = another_plan.expect_err("the folder holds another plan");
    assert!(error.to_string().contains("epochs"), "{error}");
}

#[test]
fn a_seed_gives_the_same_numbers_again() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (given, device) = (Given::alone(cache()), cpu());
    let fit = |seed| {
        let request = FitRequest {
            name: MethodName::AsymvlmVmf,
            seed,
        };
        let measured = fit_one(request, &plan(2), &given, None, &device).expect("fitted");
        let mut numbers = measured[0].1.clone();
        numbers.retain(|name, _| !name.ends_with("seconds"));
        numbers
    };
    assert_eq!(fit(3), fit(3), "the same seed");
    assert_ne!(fit(3), fit(4), "another seed");
}
