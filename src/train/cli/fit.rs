//! `train fit`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::plan::PlanArgs;
use crate::device;
use crate::train::experiments::{Evaluator, FitRequest};
use crate::train::files::{put_json, refuse_to_overwrite};
use crate::train::methods::MethodName;
use crate::train::optimize::Checkpoint;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train fit --method asymvlm-vmf --features runs/features --out runs/asymvlm-vmf"
)]
pub(super) struct FitArgs {
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

pub(super) fn run(args: &FitArgs) -> Result<()> {
    let numbers_path = args.out.join("numbers.json");
    refuse_to_overwrite(&numbers_path, args.force)?;
    let (plan, device) = (args.plan.plan()?, device::by_name(&args.plan.device)?);
    let data = args.plan.data()?;
    let (name, seed) = (args.method, args.seed);
    let request = FitRequest { name, seed };
    let measured = Evaluator::new(&data, &device).fit(request, &plan, Some(&args.out))?;
    Checkpoint::delete(&args.out);
    let json = serde_json::json!({
        "method": name,
        "seed": seed,
        "command": plan.command,
        "sizes": plan.sizes(data.own.config.embed_dim),
        "features_folder": args.plan.features,
        "features": data.own.config,
        "numbers": measured.iter().cloned().collect::<BTreeMap<_, _>>(),
    });
    put_json(&numbers_path, &json)?;
    for (dataset, numbers) in &measured {
        println!("{dataset}");
        for (metric, value) in numbers.iter().filter(|(m, _)| !m.is_point_of_figure()) {
            println!("  {:<28} {value:.4}", metric.to_string());
        }
    }
    println!("{}: all numbers", numbers_path.display());
    Ok(())
}
