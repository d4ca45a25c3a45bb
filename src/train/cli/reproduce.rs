//! `train reproduce`.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::plan::PlanArgs;
use crate::device;
use crate::train::data::dataset::Dataset;
use crate::train::experiments::{Campaign, report};
use crate::train::methods::MethodName;

/// What stands below the help of the command.
const EXAMPLES: &str = "Examples:
  train embed --out runs/features && train reproduce --seeds 5 --out public/evidence/scenes
  train reproduce --world coco --features runs/coco --measure-on runs/flickr30k --device cuda --batch 2048 --epochs 200 --rate-factor 1 --out runs/coco-results

What is in the folder is not done again; an interrupted run goes on.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReproduceArgs {
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
    /// Fit nothing: write report, figures and summary anew from the results that are there.
    #[arg(long)]
    report_only: bool,
    #[command(flatten)]
    plan: PlanArgs,
}

pub(super) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.report_only {
        return report::write(&args.out);
    }
    let (plan, device) = (args.plan.plan()?, device::by_name(&args.plan.device)?);
    let data = args.plan.data()?;
    let found = &data.own.config.dataset;
    let expected = args.world.slug();
    ensure!(
        *found == expected,
        "{} holds features of {found}, features of {expected} were expected",
        args.plan.features.display()
    );
    let campaign = Campaign {
        methods: if args.methods.is_empty() {
            &MethodName::ALL
        } else {
            &args.methods
        },
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
