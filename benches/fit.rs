//! How fast a fit is at the paper's sizes, beside `fit.py`, which does the same in `PyTorch`:
//!
//! ```text
//! cargo bench --bench fit -- --device cpu
//! python benches/fit.py
//! ```
//!
//! `fit.md` holds what came of it.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark answers on standard output"
)]

use clap::Parser;
use kappascope::device::{Device, by_name};
use kappascope::model::adapter::{AdapterConfig, Family, MeanDirection};
use kappascope::train::memory::keep_freed_memory;
use kappascope::train::methods::{AsymVlm, ContrastiveLoss, Features, Training, seconds_of_steps};
use kappascope::train::optimize::Optimizer;

use burn::tensor::{Distribution, Tensor};

/// Random pairs, a number of steps.
#[derive(Debug, Parser)]
struct Args {
    /// Where to compute: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Pairs to draw batches from.
    #[arg(long, default_value_t = 600_000)]
    pairs: usize,
    /// Pairs in a batch.
    #[arg(long, default_value_t = 2048)]
    batch: usize,
    /// Numbers in a feature.
    #[arg(long, default_value_t = 512)]
    width: usize,
    /// Steps that are timed, after two that are not.
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Flag that `cargo bench` passes to every benchmark; without effect.
    #[arg(long, hide = true)]
    bench: bool,
}

fn features(args: &Args, device: &Device) -> Features {
    let rows = || Tensor::random([args.pairs, args.width], Distribution::Default, device);
    Features {
        texts: rows(),
        images: rows(),
        image_of_text: (0..args.pairs as i64).collect(),
    }
}

fn main() -> anyhow::Result<()> {
    keep_freed_memory();
    let args = Args::parse();
    let device = by_name(&args.device)?;
    device.seed(0);
    let sizes = AdapterConfig {
        embed_dim: args.width,
        hidden_width: 2 * args.width,
        hidden_layers: 3,
        mean_direction: MeanDirection::Learned,
    };
    let autodiff = device.clone().autodiff();
    let method = AsymVlm::new(
        &sizes,
        Family::VonMisesFisher,
        ContrastiveLoss::InfoNce,
        &autodiff,
    );
    let training = Training {
        optimizer: Optimizer::Sgd {
            learning_rate: 1e-2,
            momentum: 0.9,
            weight_decay: 5e-4,
        },
        batch: args.batch,
        epochs: 200,
        seed: 0,
    };
    let features = features(&args, &device);
    let processor_before = processor_seconds();
    let seconds = seconds_of_steps(method, &training, &features, args.steps)?;
    let rate = args.steps as f64 / seconds;
    println!("{}: {rate:.3} steps/s by the clock", args.device);
    if let (Some(before), Some(after)) = (processor_before, processor_seconds()) {
        // The two steps before the clock was started count too.
        let rate = (args.steps + 2) as f64 / (after - before);
        println!("{}: {rate:.3} steps per second of a core", args.device);
    }
    Ok(())
}

/// Seconds that this process has kept cores busy, where Linux says so: on a machine that is shared, a clock also
/// counts what others do.
fn processor_seconds() -> Option<f64> {
    /// Linux counts in hundredths of a second, whatever its timer does.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some((user + system) / TICKS_PER_SECOND)
}
