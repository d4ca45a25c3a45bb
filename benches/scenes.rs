//! How fast a step of the scenes encoder's training is, beside `scenes.py`, which does the same in `PyTorch`:
//!
//! ```text
//! cargo bench --bench scenes -- --preset small
//! python benches/scenes.py --preset small
//! ```
//!
//! `fit.md` holds what came of it.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark answers on standard output"
)]

use std::time::Instant;

use clap::Parser;
use kappascope::device::{Device, by_name};
use kappascope::preprocess::ImagePreprocess;
use kappascope::preprocess::text::TextPreprocess;
use kappascope::scenes::Compositions;
use kappascope::train::memory::keep_freed_memory;
use kappascope::train::optimize::Checkpoint;
use kappascope::train::scenes_model::batch::{Batch, BatchMix, Pool};
use kappascope::train::scenes_model::clip::{self, TrainingData};
use kappascope::train::scenes_model::recipe::{Preset, ScenesRecipe, tokenizer_json};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

/// Steps of the training that is subtracted from the longer one, as both start and save alike.
const N_WARM: usize = 3;
/// Scenes to draw batches from: enough for a batch of either preset.
const N_SCENES: usize = 512;

/// A number of steps of a preset's encoder.
#[derive(Debug, Parser)]
struct Args {
    /// Sizes of the encoder and of its batches.
    #[arg(long, value_enum, default_value = "small")]
    preset: Preset,
    /// Where to compute: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Steps that are timed.
    #[arg(long, default_value_t = 12)]
    steps: usize,
    /// Flag that `cargo bench` passes to every benchmark; without effect.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Seconds that a training of so many steps takes, from its first weights to its last checkpoint.
fn seconds_of(
    recipe: &ScenesRecipe,
    data: &TrainingData<'_>,
    device: &Device,
) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let checkpoint = Checkpoint::new(folder.path(), recipe)?;
    let started = Instant::now();
    clip::train(&recipe.model, &recipe.clip, data, &checkpoint, device)?;
    Ok(started.elapsed().as_secs_f64())
}

/// Tokens of each group of a batch's captions, padded: what `scenes.py` takes as `--lengths`.
fn lengths(recipe: &ScenesRecipe, data: &TrainingData<'_>) -> anyhow::Result<Vec<usize>> {
    let clip = &recipe.clip;
    let mix = BatchMix {
        unknown: clip.unknown_words,
        full: clip.full_captions,
        pixel_noise: clip.pixel_noise,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let (n_scenes, n_probes) = (clip.batch, clip.probes);
    let batch = Batch::draw(
        &data.pool,
        n_scenes,
        n_probes,
        mix,
        data.tokenizer,
        &mut rng,
    )?;
    Ok(batch
        .texts
        .groups
        .iter()
        .map(|group| group.n_tokens)
        .collect())
}

fn main() -> anyhow::Result<()> {
    keep_freed_memory();
    let args = Args::parse();
    let device = by_name(&args.device)?;
    let mut recipe = ScenesRecipe::new(args.preset, 0);
    let tokenizer = tokenizer_json();
    let context = recipe.model.text_cfg.context_length;
    let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer.as_bytes(), context)?;
    let preprocess = ImagePreprocess::clip(recipe.model.vision_cfg.image_size);
    let data = TrainingData {
        pool: Pool::draw(N_SCENES, Compositions::Seen, 0, &preprocess),
        tokenizer: &tokenizer,
    };
    println!("tokens of each group: {:?}", lengths(&recipe, &data)?);
    let mut seconds = |n_steps: usize| {
        recipe.clip.steps = n_steps;
        seconds_of(&recipe, &data, &device)
    };
    let warm = seconds(N_WARM)?;
    let rate = args.steps as f64 / (seconds(N_WARM + args.steps)? - warm);
    println!("{}: {rate:.3} steps/s by the clock", args.device);
    Ok(())
}
