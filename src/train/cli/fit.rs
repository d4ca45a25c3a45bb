//! Arguments of `train fit`, and the call into `experiments`, which fits one method and measures it.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::plan::PlanArgs;
use crate::device;
use crate::train::experiments::{Evaluator, FitRecord, FitRequest};
use crate::train::files::refuse_to_overwrite;
use crate::train::methods::MethodName;
use crate::train::run_lock::RunLock;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train fit --method asymvlm-vmf --features runs/features --out runs/asymvlm-vmf"
)]
pub(super) struct FitArgs {
    /// Method to fit, by its name.
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

pub(super) fn run(args: &FitArgs) -> Result<()> {
    let _lock = RunLock::take(&args.out)?;
    let numbers_path = FitRecord::path(&args.out);
    refuse_to_overwrite(&numbers_path, args.force)?;
    let (plan, device) = (args.plan.plan()?, device::by_name(&args.plan.device)?);
    let data = args.plan.data()?;
    let (name, seed) = (args.method, args.seed);
    let request = FitRequest { name, seed };
    let evaluator = Evaluator::new(&data, &device);
    let fit = evaluator.fit_into(&args.out, request, &plan, args.plan.features())?;
    for (dataset, numbers) in &fit.numbers {
        println!("{dataset}");
        for (metric, value) in numbers.iter().filter(|(m, _)| !m.is_point_of_figure()) {
            println!("  {:<28} {value:.4}", metric.to_string());
        }
    }
    println!("{}: all numbers", numbers_path.display());
    Ok(())
}
