//! Every method through `train reproduce` on a handful of made-up features.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::path::Path;

use clap::Parser as _;
use kappascope::device::cpu;
use kappascope::report::{Impacted, Metric, Retrieval, Shift};
use kappascope::train::cli::{Cli, run};
use kappascope::train::experiments::corrupted::{CorruptedSide, CorruptedSplit, CorruptionName};
use kappascope::train::experiments::results::Results;
use kappascope::train::experiments::{Campaign, EvaluationData, Evaluator, FitPlan, FitRequest};
use kappascope::train::features::cache::{
    Cache, CacheConfig, CaptionRow, IdMap, Split, Task, TaskIds,
};
use kappascope::train::features::probes::ProbeSentences;
use kappascope::train::features::rows::{Embedded, Rows};
use kappascope::train::methods::{MethodName, UncertaintyOf, Variant};
use kappascope::weights::manifest::Logits;
use kappascope::weights::shard::Precision;

/// Numbers that look random and are always the same.
fn rows(n: usize, width: usize, phase: f32) -> Rows {
    let values = (0_u16..).map(|i| (f32::from(i).powi(2) * 0.37 + phase).sin());
    Rows {
        values: values.take(n * width).collect(),
        width,
    }
}

/// Six features a row, and activations of a width.
fn embedded(n: usize, width: usize, phases: [f32; 2]) -> Embedded {
    Embedded::new(rows(n, 6, phases[0]), rows(n, width, phases[1]))
}

/// The same with a spread of views, of each picture another one.
fn seen(pictures: Embedded) -> Embedded {
    let n = pictures.features.n_rows();
    Embedded {
        view_spread: rows(n, 1, 0.5),
        ..pictures
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
            truths: None,
        },
        texts: embedded(2 * n_images, 7, [0.1, 0.3]),
        images: seen(embedded(n_images, 5, [0.2, 0.4])),
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
        texts: embedded(n_texts, 7, [0.5, 0.7]),
        images: embedded(8, 5, [0.6, 0.8]),
    };
    Cache {
        config: CacheConfig {
            dataset: "scenes".to_owned(),
            model: "none".to_owned(),
            weights: Vec::new(),
            embed_dim: 6,
            squared_text_norm: 3.0,
            squared_image_norm: 4.0,
            logits: None,
            views: 2,
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
        probes: Some(ProbeSentences {
            sentences: vec!["vague".to_owned(), "full".to_owned()],
            features: rows(2, 6, 0.4),
        }),
    }
}

fn plan(epochs: usize) -> FitPlan {
    FitPlan {
        batch: 10,
        epochs,
        rate_factor: 1.0,
        learning_rates: Default::default(),
        grid_epochs: None,
        follow: Variant::Code,
        probvlm_uncertainty: UncertaintyOf::Inverse,
        deterministic_scale: None,
        hidden_width: Some(5),
        command: "train reproduce".to_owned(),
    }
}

/// Measures the methods with a plan of one epoch into the folder, several at a time, and reads the results back.
fn measured(data: &EvaluationData, methods: &[MethodName], n_seeds: u64, folder: &Path) -> Results {
    let campaign = Campaign {
        methods,
        n_seeds,
        n_jobs: 2,
        plan: &plan(1),
        data,
        folder,
        device: ("cpu", &cpu()),
    };
    campaign.run().expect("measured");
    Results::read(&folder.join("results.json")).expect("results")
}

const RSUM: Metric = Metric::RecallSum;

/// Metric of the recall sum (RSUM) under this shift of the test split.
const fn rsum(shift: Shift) -> Metric {
    Metric::Shifted(Impacted::RecallSum, shift)
}

fn metrics(names: &[&str]) -> Vec<Metric> {
    let names = names.iter();
    names.map(|name| name.parse().expect("a metric")).collect()
}

/// Of each method, one value a seed and measure, of which the first is that of the run with one seed.
fn check_that_seeds_are_measured_once(first: &Results, all: &Results) {
    assert_eq!(all.methods(), MethodName::ALL.to_vec(), "all methods");
    for name in MethodName::ALL {
        let n_seeds = if name.optimizer(Variant::Code).is_some() {
            2
        } else {
            1
        };
        for metric in metrics(&["t2i_recall_at_1", "accuracy_shape", "dummy_0_negative"]) {
            let values = all.values(name, &metric);
            assert_eq!(values.len(), n_seeds, "{name:?}, {metric}: {values:?}");
            let before = first.values(name, &metric);
            assert_eq!(
                before[0], values[0],
                "{name:?}, {metric} is not measured again"
            );
        }
    }
}

#[test]
fn every_method_is_fitted_and_measured_and_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let folder = folder.path();
    let other = Cache {
        config: CacheConfig {
            dataset: "elsewhere".to_owned(),
            ..cache().config
        },
        ..cache()
    };
    let data = EvaluationData::new(cache(), vec![other]).expect("of one encoder");
    let device = cpu();
    let run = |n_seeds, epochs| {
        let campaign = Campaign {
            methods: &MethodName::ALL,
            n_seeds,
            n_jobs: 2,
            plan: &plan(epochs),
            data: &data,
            folder,
            device: ("cpu", &device),
        };
        campaign.run()
    };
    std::fs::write(folder.join("notes.md"), "# By hand\n").expect("a folder to write to");
    run(1, 1).expect("the first seed");
    let first = Results::read(&folder.join("results.json")).expect("results");
    run(2, 1).expect("the second seed");
    let results = Results::read(&folder.join("results.json")).expect("results");
    let another_plan = run(2, 3);
    let files = [
        "report.md",
        "summary.json",
        "figures.json",
        "findings.json",
        "environment.json",
    ];
    let there = files.map(|name| folder.join(name).exists());

    assert_eq!(there, [true; 5], "{files:?}");
    let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    assert!(
        report.ends_with("\n# By hand\n"),
        "what was written by hand is kept: {report}"
    );
    assert_eq!(
        results.datasets(),
        ["scenes", "scenes → elsewhere"],
        "both are measured on"
    );
    let (own, other) = (results.on("scenes"), results.on("scenes → elsewhere"));
    for metric in metrics(&["t2i_recall_at_1", "dummy_0_negative"]) {
        let of = |results: &Results| results.values(MethodName::AsymvlmVmf, &metric);
        assert_eq!(of(&own), of(&other), "the same features: {metric}");
    }
    check_that_seeds_are_measured_once(&first.on("scenes"), &own);
    let error = another_plan.expect_err("the folder holds another plan");
    assert!(error.to_string().contains("epochs"), "{error}");
}

#[test]
fn bayesvlm_is_measured_at_the_encoders_own_logits_and_the_report_says_so() {
    let reproduce = |logits: Option<Logits>, squared_image_norm| {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = cache();
        cache.config.logits = logits;
        cache.config.squared_image_norm = squared_image_norm;
        let data = EvaluationData::alone(cache);
        assert_eq!(data.why_not(MethodName::Bayesvlm), None, "captions do");
        let methods = [MethodName::Bayesvlm, MethodName::BayesvlmCosine];
        let results = measured(&data, &methods, 1, folder.path());
        let report = std::fs::read_to_string(folder.path().join("report.md")).expect("a report");
        assert_eq!(results.methods().len(), 2, "{report}");
        report
    };
    let bias = None;
    let own = |scale, bias| Some(Logits { scale, bias });
    for (logits, squared_image_norm, said) in [
        (None, 4.0, "scale 100, CLIP's"),
        (own(14.25, bias), 4.0, "scale 14.25, the encoder's own`"),
        (own(9.5, Some(-3.0)), 0.0, "bias -3.00 of a sigmoid loss"),
        (own(9.5, bias), 0.0, "pictures have no variance"),
    ] {
        let report = reproduce(logits, squared_image_norm);
        assert!(report.contains(said), "{said} in {report}");
    }
}

#[test]
fn the_spread_of_views_is_measured_where_views_were_embedded() {
    let of_images = |results: &Results| {
        let metric = Metric::LevelRecall(Retrieval::ImageToText, 0);
        results.values(MethodName::Augmentation, &metric).len()
    };
    let mut without = cache();
    without.test.images = embedded(20, 5, [0.2, 0.4]);
    let data = EvaluationData::alone(without);
    let why_not = data.why_not(MethodName::Augmentation);
    assert!(
        why_not.is_some_and(|why| why.contains("--views")),
        "{why_not:?}"
    );
    let data = EvaluationData::alone(cache());
    assert_eq!(data.why_not(MethodName::Augmentation), None, "with views");
    let folder = tempfile::tempdir().expect("a folder for the test");
    let results = measured(&data, &[MethodName::Augmentation], 2, folder.path());
    assert_eq!(of_images(&results), 1, "the same for every seed");
}

#[test]
fn a_seed_gives_the_same_numbers_again() {
    let (data, device) = (EvaluationData::alone(cache()), cpu());
    let fit = &|seed| {
        let request = FitRequest {
            name: MethodName::AsymvlmVmf,
            seed,
        };
        let evaluator = Evaluator::new(&data, &device);
        let measured = evaluator.fit(request, &plan(2), None).expect("fitted");
        let mut numbers = measured[0].1.clone();
        numbers.retain(|metric, _| !metric.to_string().ends_with("seconds"));
        numbers
    };
    let alone = fit(3);
    assert_ne!(alone, fit(4), "another seed");
    // Side by side, as the fits of a campaign are.
    std::thread::scope(|scope| {
        let others = [4, 3, 5].map(|seed| scope.spawn(move || fit(seed)));
        let [_, again, _] = others.map(|other| other.join().expect("fitted"));
        assert_eq!(again, alone, "the same seed");
    });
}

fn corruption(kind: &str) -> CorruptionName {
    CorruptionName {
        kind: kind.to_owned(),
        severity: 5,
    }
}

/// Pictures that became others, and captions that did not change.
fn corrupted() -> [CorruptedSplit; 2] {
    let test = cache().test;
    [
        CorruptedSplit {
            corruption: corruption("shot"),
            side: CorruptedSide::Pictures,
            rows: embedded(20, 5, [0.9, 1.0]),
        },
        CorruptedSplit {
            corruption: corruption("keyboard"),
            side: CorruptedSide::Captions,
            rows: test.texts,
        },
    ]
}

/// Where captions were corrupted, every picture is as certain as it was, and nothing is said of that.
fn is_measured_of_corrupted_pictures_alone(results: &Results, name: MethodName) {
    let less_certain = |shift| results.values(name, &Metric::CorruptedLessCertain(shift));
    let shot = less_certain(Shift::AtSeverity("shot".into(), 5));
    assert_eq!(less_certain(Shift::Corrupted), shot, "{name:?}: one kind");
    let keyboard = less_certain(Shift::AtSeverity("keyboard".into(), 5));
    assert!(keyboard.is_empty(), "{name:?}: captions");
    let n_both = results.values(name, &Metric::PictureMoreCertain).len();
    assert!(n_both <= shot.len(), "{name:?}: of every uncertain picture");
}

#[test]
fn every_method_is_measured_on_corrupted_pictures_and_captions() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let folder = folder.path();
    let reproduce = |data: &EvaluationData, folder: &Path| {
        let results = measured(data, &MethodName::ALL, 1, folder);
        let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
        (results, report)
    };
    let (clean, plain_report) = reproduce(&EvaluationData::alone(cache()), folder);
    // What was measured before there were corruptions is measured anew, to the same numbers and some more.
    let (results, report) = reproduce(
        &EvaluationData::alone(cache()).with_corrupted(corrupted().into()),
        folder,
    );
    let mut of_other_pictures = cache();
    let [pictures, _] = corrupted();
    of_other_pictures.test.images = seen(pictures.rows);
    let (others, _) = reproduce(
        &EvaluationData::alone(of_other_pictures),
        &folder.join("others"),
    );
    assert!(!plain_report.contains("## Disturbed"), "{plain_report}");
    assert!(report.contains("## Disturbed"), "{report}");
    let environment = std::fs::read_to_string(folder.join("environment.json")).expect("it");
    assert!(environment.contains("\"keyboard\""), "{environment}");
    for name in MethodName::ALL {
        let value = |metric: &Metric| match results.values(name, metric)[..] {
            [value] => value,
            ref others => panic!("{name:?}, {metric}: one number was expected, not {others:?}"),
        };
        let (on_clean, shot, keyboard) = (
            value(&RSUM),
            value(&rsum(Shift::AtSeverity("shot".into(), 5))),
            value(&rsum(Shift::AtSeverity("keyboard".into(), 5))),
        );
        assert_eq!(clean.values(name, &RSUM), [on_clean], "{name:?}, clean");
        assert_eq!(
            keyboard, on_clean,
            "{name:?}: these captions are the clean ones"
        );
        assert_eq!(
            others.values(name, &RSUM),
            [shot],
            "{name:?}: as if the pictures were these"
        );
        let expected = (on_clean - (shot + keyboard) / 2.0) / on_clean;
        let found = value(&rsum(Shift::CorruptionImpact));
        assert!(
            (found - expected).abs() < 1e-12,
            "{name:?}: MMI {found}, expected {expected}"
        );
        is_measured_of_corrupted_pictures_alone(&results, name);
    }
    for (name, n_expected) in [
        (MethodName::Prolip, 1),
        (MethodName::ImageVmf, 1),
        (MethodName::Clip, 0),
    ] {
        let of_pictures = results.values(name, &Metric::CorruptedLessCertain(Shift::Corrupted));
        assert_eq!(of_pictures.len(), n_expected, "{name:?}");
    }
}

#[test]
fn corrupted_features_are_read_as_written_beside_their_own_clean_ones_alone() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (folder, clean) = (folder.path(), cache());
    let none = CorruptedSplit::read_all(&clean, folder).expect("no folder");
    assert!(none.is_empty(), "no folder is no corruptions");
    for split in corrupted() {
        let written = split.write(&clean, folder, Precision::F32);
        written.expect("a folder for the test");
    }
    let read = CorruptedSplit::read_all(&clean, folder).expect("whole");
    assert_eq!(read, corrupted(), "as written");
    let mut other_encoder = clean.clone();
    other_encoder.config.weights = vec!["another".to_owned()];
    let mut other_split = clean;
    other_split.test = split(21);
    for (cache, part) in [
        (other_encoder, "another encoder"),
        (other_split, "shot-5 has 20 rows, the clean features 21"),
    ] {
        let error = CorruptedSplit::read_all(&cache, folder).expect_err("not beside these");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn one_command_disturbs_the_test_scenes_and_another_tells_what_it_costs() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = root.join("public/models/scenes").display().to_string();
    let train = |words: &str| {
        let words = words.replace("MODEL", &model).replace("F/", &path("f"));
        let words = words.replace("OUT", &path("out"));
        run(&Cli::try_parse_from(words.split(' ')).expect("a command"))
    };
    train(
        "train embed --model MODEL --train-scenes 4 --test-scenes 8 --task-scenes 4 --views 2 --out F/",
    )
    .expect("embedded");
    let spread = Cache::read(Path::new(&path("f"))).expect("written");
    let spread = spread.test.images.view_spread.values;
    let is_of_each = spread.len() == 8 && spread.iter().all(|one| *one > 0.0 && *one < 1.0);
    assert!(is_of_each, "views of each scene: {spread:?}");
    let disturb = "train disturb F/ --model MODEL --severities 1,5 --levels 5";
    train(disturb).expect("disturbed");
    train(disturb).expect("nothing is left to do");
    train("train reproduce --features F/ --methods clip --seeds 1 --out OUT").expect("measured");
    let results = Results::read(&Path::new(&path("out")).join("results.json")).expect("results");
    let metrics: Vec<String> = results
        .metrics(MethodName::Clip)
        .into_iter()
        .filter(|metric| matches!(metric, Metric::Shifted(Impacted::OwnRecallSum, _)))
        .map(Metric::to_string)
        .collect();
    for kind in [
        "gaussian", "shot", "impulse", "speckle", "defocus", "zoom", "snow", "jpeg", "pixelate",
        "keyboard", "spelling",
    ] {
        let of_kind = metrics.iter().filter(|metric| metric.contains(kind));
        let n_severities = if ["keyboard", "spelling"].contains(&kind) {
            1
        } else {
            2
        };
        assert_eq!(of_kind.count(), n_severities + 1, "{kind} in {metrics:?}");
    }
    let lost = Metric::Shifted(Impacted::OwnRecallSum, Shift::CorruptionImpact);
    let lost = results.values(MethodName::Clip, &lost);
    assert!(lost[0] > 0.0, "noise costs recall, not {lost:?}");
}

#[test]
fn rates_are_chosen_on_validation_data_and_a_folder_is_repeated_by_its_own_settings() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = root.join("public/models/scenes").display().to_string();
    let train = |words: &str| {
        let words = words.replace("MODEL", &model).replace("F/", &path("f"));
        let words = words.replace("OUT", &path("out"));
        run(&Cli::try_parse_from(words.split(' ')).expect("a command"))
    };
    train("train embed --model MODEL --train-scenes 20 --test-scenes 12 --task-scenes 4 --out F/")
        .expect("embedded");
    let fit = "train reproduce --features F/ --methods clip,pfe,asymvlm-vmf --seeds 2 --batch 16 --epochs 2 \
        --grid-epochs 1 --out OUT";
    let fit = fit.split_whitespace().collect::<Vec<_>>().join(" ");
    train(&fit).expect("fitted");
    let json = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(Path::new(&path("out")).join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    let (rates, environment) = (json("learning-rates.json"), json("environment.json"));
    for method in ["pfe", "asymvlm-vmf"] {
        assert_rate_is_chosen(&rates, &environment, method);
    }
    assert_eq!(
        environment["steps"],
        2 * (20 * 7_usize).div_ceil(16),
        "{environment}"
    );
    assert!(
        environment["features_sha256"]["train.safetensors"].is_string(),
        "{environment}"
    );
    assert!(
        environment["sessions"][0]["machine"].is_string(),
        "{environment}"
    );
    train("train reproduce --features F/ --check OUT --check-share 1").expect("repeated");
    train("train reproduce --features F/ --methods asymvlm-vmf --seeds 1 --epochs 60 --rate-factor 1e30 --out OUT-nan")
        .expect("that it diverges is a result");
    train("train reproduce --features F/ --check OUT-nan --check-share 1").expect("diverges again");
    train(&fit.replace("clip,pfe", "clip,pfe,prolip")).expect("a method more");
    let rate = &json("environment.json")["learning_rates"]["prolip"];
    assert!(rate.is_f64(), "the rate of what was added: {rate}");
    let results = Path::new(&path("out")).join("results.json");
    let wrong = std::fs::read_to_string(&results).expect("results");
    let wrong: Vec<String> = wrong.lines().map(changed).collect();
    std::fs::write(&results, wrong.join("\n")).expect("the test's own folder");
    let error = train("train reproduce --features F/ --check OUT --check-share 1");
    let error = error.expect_err("these are not its numbers").to_string();
    assert!(error.contains("is not repeated"), "{error}");
}

/// The grid's rates were tried, a rate between their edges was chosen, and the method was fitted with it.
fn assert_rate_is_chosen(rates: &serde_json::Value, environment: &serde_json::Value, method: &str) {
    let tried = rates["tried"][method].as_array().expect("rates");
    let tried: Vec<f64> = tried
        .iter()
        .filter_map(|one| one["learning_rate"].as_f64())
        .collect();
    for rate in [1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2] {
        assert!(tried.contains(&rate), "{method} without {rate}: {tried:?}");
    }
    let chosen = rates["chosen"][method].as_f64().expect("a rate");
    let edges = [tried[0], tried[tried.len() - 1]];
    let is_last = [1e-5, 1.0].contains(&chosen);
    assert!(
        is_last || !edges.contains(&chosen),
        "{method}: {chosen} is the edge of {tried:?}"
    );
    let (chosen, fitted) = (
        &rates["chosen"][method],
        &environment["learning_rates"][method],
    );
    assert!(
        chosen.is_f64() && chosen == fitted,
        "{method}: {chosen}, fitted with {fitted}"
    );
}

/// A row of results with another value.
fn changed(row: &str) -> String {
    match row.split_once("\"value\":") {
        Some((start, end)) => format!("{start}\"value\":7{}", &end[end.find('}').unwrap_or(0)..]),
        None => row.to_owned(),
    }
}
