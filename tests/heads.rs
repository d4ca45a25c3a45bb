//! Heads that bring two locked towers together, trained on features of a small made-up world.
//!
//! A program of its own: tests beside these would draw from the same random numbers of the device.
#![allow(missing_docs, reason = "an integration test has no users")]

use std::sync::Mutex;

use kappascope::device::cpu;
use kappascope::model::encoder::{HeadConfig, HeadInput, TowersConfig};
use kappascope::train::features::rows::Rows;
use kappascope::train::optimize::{Diverged, Optimizer};
use kappascope::train::photos_model::head_recipe::HeadRecipe;
use kappascope::train::photos_model::head_training::{TrainedHeads, train_heads, tune_last_stage};
use kappascope::train::photos_model::heads::CaptionedPictures;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

const WIDTH: usize = 384;
const IMAGE_WIDTH: usize = 1280;

/// Trainings draw from the same random numbers of the device.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Pictures of random content, which both towers tell in their own coordinates; two captions a picture.
fn pairs(n_pictures: usize, seed: u64) -> CaptionedPictures {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut images, mut captions) = (Vec::new(), Vec::new());
    for _ in 0..n_pictures {
        let content: [f32; 6] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let told = |i: usize, stride: usize| content[i * stride % 6] + 0.3;
        images.extend((0..IMAGE_WIDTH).map(|i| 4.0 * told(i, 5)));
        for _ in 0..2 {
            captions.extend((0..WIDTH).map(|i| told(i, 1) + rng.random_range(-0.1..0.1)));
        }
    }
    CaptionedPictures {
        images: Rows {
            values: images,
            width: IMAGE_WIDTH,
        },
        augmented: Vec::new(),
        captions: Rows {
            values: captions,
            width: WIDTH,
        },
        picture_of: (0..2 * n_pictures).map(|caption| caption / 2).collect(),
    }
}

fn towers() -> TowersConfig {
    let head = HeadConfig {
        hidden_width: 8,
        input: HeadInput::Plain,
    };
    TowersConfig {
        embed_dim: 8,
        text_head: head,
        image_head: head,
        ..TowersConfig::photographs()
    }
}

fn recipe() -> HeadRecipe {
    HeadRecipe {
        steps: 40,
        batch: 32,
        optimizer: Optimizer::AdamW {
            learning_rate: 1e-2,
            weight_decay: 0.5,
        },
        average_decay: 0.8,
        warmup: 4,
        measure_every: 10,
        ..HeadRecipe::default()
    }
}

/// One training at a time: the device's random numbers belong to the whole process.
fn train(recipe: &HeadRecipe) -> anyhow::Result<TrainedHeads> {
    let _turn = ONE_AT_A_TIME.lock().expect("no training panicked");
    let (train, unseen) = (pairs(64, 1), pairs(50, 2));
    train_heads(&towers(), recipe, &train, &unseen, &cpu())
}

fn trained() -> TrainedHeads {
    train(&recipe()).expect("trained")
}

#[test]
fn heads_bring_what_two_towers_tell_together() {
    let found = trained().retrieval;
    // By chance one of 50.
    assert!(found.text_to_image[0] > 0.3, "{found:?}");
    assert!(found.image_to_text[0] > 0.3, "{found:?}");
}

#[test]
fn heads_that_diverge_are_refused() {
    let recipe = HeadRecipe {
        optimizer: Optimizer::AdamW {
            learning_rate: f64::INFINITY,
            weight_decay: 0.0,
        },
        warmup: 0,
        ..recipe()
    };
    let error = train(&recipe).expect_err("no number");
    assert!(error.is::<Diverged>(), "{error:#}");
}

#[test]
fn the_same_seed_gives_the_same_heads() {
    let (one, other) = (trained(), trained());
    assert_eq!(one.retrieval, other.retrieval, "the same recalls");
    assert_eq!(one.step, other.step, "after the same step");
}

#[test]
fn a_last_stage_is_tuned_though_pictures_lack_features() {
    let device = cpu();
    // Features are compared by their square roots, as those of photographs are.
    let mut towers = towers();
    towers.image_head.input = HeadInput::SquareRoot;
    let stage = towers.image.init_last_stage(&device);
    let width = 7 * 7 * 192;
    let maps = |n_pictures: usize, seed: u64| {
        let pairs = pairs(n_pictures, seed);
        // Half of the pictures are empty: every feature of theirs is zero.
        let value = |i: usize| {
            if (i / width).is_multiple_of(2) {
                0.0
            } else {
                (i % 13) as f32 / 13.0
            }
        };
        let images = Rows {
            values: (0..n_pictures * width).map(value).collect(),
            width,
        };
        CaptionedPictures { images, ..pairs }
    };
    let (train, unseen) = (maps(8, 1), maps(4, 2));
    let recipe = HeadRecipe {
        steps: 3,
        batch: 8,
        ..recipe()
    };
    let _turn = ONE_AT_A_TIME.lock().expect("no training panicked");
    let heads = train_heads(&towers, &recipe, &pairs(8, 1), &pairs(4, 2), &device).expect("heads");
    let tuned = tune_last_stage(
        &towers,
        &recipe,
        (&stage, &heads),
        (&train, &unseen),
        &device,
    );
    let tuned = tuned.expect("no loss that is no number").heads;
    let features = tuned
        .tower_features(&unseen.images, &device)
        .expect("features");
    assert!(
        features.values.iter().all(|value| value.is_finite()),
        "of numbers"
    );
    assert!(
        features.values.iter().any(|value| *value > 0.0),
        "not all zero"
    );
}
