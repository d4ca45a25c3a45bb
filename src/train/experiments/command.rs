//! The command lines of `train fit` and `train reproduce`.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::campaign::Campaign;
use super::corrupted::CorruptedSplit;
use super::evaluation_data::EvaluationData;
use super::run::{Evaluator, FitRequest, Plan};
use crate::device;
use crate::train::data::dataset::Dataset;
use crate::train::features::cache::Cache;
use crate::train::files::refuse_to_overwrite;
use crate::train::methods::{MethodName, UncertaintyOf, Variant};
use crate::train::optimize::Checkpoint;
use crate::train::provenance::command_line;

/// How to fit.
#[derive(Debug, Args)]
struct PlanArgs {
    /// Features that `train embed` wrote; with what `train disturb` put beside them, that is measured on too.
    #[arg(long, default_value = "runs/features")]
    features: PathBuf,
    /// Features of another data set by the same encoder, to measure on too; may be given several times.
    #[arg(long = "measure-on", value_name = "FEATURES")]
    measure_on: Vec<PathBuf>,
    /// Pairs in a batch; 2048 in the paper.
    #[arg(long, default_value_t = 1024)]
    batch: usize,
    /// Passes over the captions; 200 in the paper. ELIP's loss takes 20 to reach its full form.
    #[arg(long, default_value_t = 20)]
    epochs: usize,
    /// Factor on each method's published learning rate; above 1 because there are far fewer steps than in the paper.
    #[arg(long, default_value_t = 5.0)]
    rate_factor: f64,
    /// What to do where paper and released code differ.
    #[arg(long, value_enum, default_value = "code")]
    follow: Variant,
    /// What `ProbVLM` calls uncertainty.
    #[arg(long, value_enum, default_value = "inverse")]
    probvlm_uncertainty: UncertaintyOf,
    /// Where the factor of deterministic fine-tuning starts; 1 if not given, CLIP's is 14.3.
    #[arg(long)]
    deterministic_scale: Option<f32>,
    /// Width of hidden layers; 1024, or twice the features' where that is less.
    #[arg(long)]
    hidden_width: Option<usize>,
    /// Where to compute: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// `train fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train fit --method asymvlm-vmf --features runs/features --out runs/asymvlm-vmf"
)]
pub struct FitArgs {
    /// The method.
    #[arg(long, value_enum)]
    method: MethodName,
    /// Folder of the weights and the numbers; an interrupted fit goes on there.
    #[arg(long)]
    out: PathBuf,
    /// Seed of the weights and of the order of captions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write over a fit that is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    plan: PlanArgs,
}

/// `train reproduce`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  train embed --out runs/features && train reproduce --seeds 5 --out public/evidence/scenes\n  train reproduce --world coco --features runs/coco --measure-on runs/flickr30k --device cuda --batch 2048 --epochs 200 --rate-factor 1 --out runs/coco-results\n\nWhat is in the folder is not done again; an interrupted run goes on."
)]
pub struct ReproduceArgs {
    /// Where pictures and captions come from.
    #[arg(long, value_enum, default_value = "scenes")]
    world: Dataset,
    /// How many seeds, from 0.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// Folder of the results.
    #[arg(long)]
    out: PathBuf,
    /// The methods; all of them if not given.
    #[arg(long, value_enum, value_delimiter = ',')]
    methods: Vec<MethodName>,
    /// Fits at a time; on the CPU one for each core, up to four, if not given, elsewhere one.
    #[arg(long)]
    jobs: Option<usize>,
    #[command(flatten)]
    plan: PlanArgs,
}

impl PlanArgs {
    fn plan(&self) -> Result<Plan> {
        ensure!(
            self.batch > 1,
            "--batch is {}, at least 2 is needed",
            self.batch
        );
        ensure!(self.epochs > 0, "--epochs is 0, at least 1 is needed");
        ensure!(
            self.rate_factor > 0.0,
            "--rate-factor is {}, a positive number is needed",
            self.rate_factor
        );
        Ok(Plan {
            batch: self.batch,
            epochs: self.epochs,
            rate_factor: self.rate_factor,
            follow: self.follow,
            probvlm_uncertainty: self.probvlm_uncertainty,
            deterministic_scale: self.deterministic_scale,
            hidden_width: self.hidden_width,
            command: command_line(),
        })
    }

    fn data(&self) -> Result<EvaluationData> {
        let others = self.measure_on.iter().map(|folder| Cache::read(folder));
        let own = Cache::read(&self.features)?;
        let corrupted = CorruptedSplit::read_all(&own, &self.features)?;
        let data = EvaluationData::new(own, others.collect::<Result<_>>()?)?;
        Ok(data.with_corrupted(corrupted))
    }
}

/// Runs `train fit`.
///
/// # Errors
///
/// A fit is there already, the features cannot be read, or the user interrupted.
pub fn run_fit(args: &FitArgs) -> Result<()> {
    let numbers_path = args.out.join("numbers.json");
    refuse_to_overwrite(&numbers_path, args.force)?;
    let (plan, device) = (args.plan.plan()?, device::by_name(&args.plan.device)?);
    let data = args.plan.data()?;
    let request = FitRequest {
        name: args.method,
        seed: args.seed,
    };
    let measured = Evaluator::new(&data, &device).fit(request, &plan, Some(&args.out))?;
    Checkpoint::delete(&args.out);
    let json = serde_json::json!({
        "method": args.method,
        "seed": args.seed,
        "command": plan.command,
        "sizes": plan.sizes(data.own.config.embed_dim),
        "features_folder": args.plan.features,
        "features": data.own.config,
        "numbers": measured.iter().cloned().collect::<BTreeMap<_, _>>(),
    });
    std::fs::write(&numbers_path, serde_json::to_string_pretty(&json)?)
        .with_context(|| numbers_path.display().to_string())?;
    for (dataset, numbers) in &measured {
        println!("{dataset}");
        for (metric, value) in numbers.iter().filter(|(m, _)| !m.is_point_of_figure()) {
            println!("  {:<28} {value:.4}", metric.to_string());
        }
    }
    println!("{}: all numbers", numbers_path.display());
    Ok(())
}

/// Fits at a time: one for each core, while they leave the memory in peace; a GPU is busy with one.
fn usual_jobs(device: &str) -> usize {
    const MOST: usize = 4;
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    if device == "cpu" {
        n_cores.min(MOST)
    } else {
        1
    }
}

/// Runs `train reproduce`.
///
/// # Errors
///
/// The features are missing or of another world, or the user interrupted.
pub fn run_reproduce(args: &ReproduceArgs) -> Result<()> {
    let (plan, device) = (args.plan.plan()?, device::by_name(&args.plan.device)?);
    let data = args.plan.data()?;
    let found = &data.own.config.dataset;
    let expected = args.world.slug();
    ensure!(
        *found == expected,
        "{} holds features of {found}, features of {expected} were expected",
        args.plan.features.display()
    );
    let methods = if args.methods.is_empty() {
        MethodName::ALL.to_vec()
    } else {
        args.methods.clone()
    };
    let campaign = Campaign {
        methods: &methods,
        n_seeds: args.seeds,
        n_jobs: args.jobs.unwrap_or_else(|| usual_jobs(&args.plan.device)),
        plan: &plan,
        data: &data,
        folder: &args.out,
        device: (&args.plan.device, &device),
    };
    campaign.run()?;
    print!("{}", std::fs::read_to_string(args.out.join("report.md"))?);
    Ok(())
}
