//! Arguments of `train reproduce`, the features and the plan that they select, and the calls into `experiments`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;
use clap::{Args, ValueEnum as _};

use super::disturb::{self, DisturbArgs};
use super::plan::PlanArgs;
use crate::device;
use crate::train::data::corruption::Corruptions;
use crate::train::data::dataset::Dataset;
use crate::train::experiments::check::{self, Check};
use crate::train::experiments::corrupted::Severities;
use crate::train::experiments::grid::Grid;
use crate::train::experiments::preset::{PresetRecipe, ReproducePreset};
use crate::train::experiments::{Campaign, EvaluationData, FitPlan, report};
use crate::train::methods::MethodName;
use crate::train::photos_model::frozen::{FrozenPhotos, PHOTOS};
use crate::train::photos_model::test_variants::VariantPlan;
use crate::train::run_lock::RunLock;
use crate::train::scenes_model::embed::{Amounts, embed};
use crate::weights::shard::Precision;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train reproduce --preset small --out runs/evidence-small
  train reproduce --preset full --features runs/evidence-features --out runs/evidence
  train reproduce --world photos --preset full --features runs/photos --root data/flickr8k \\
    --hierarcaps data/hierarcaps --out runs/evidence-photos
  train reproduce --preset small --train-scenes 10000 --all-severities --check public/evidence/scenes
  train embed --out runs/features && train reproduce --seeds 5 --out runs/papers
  train reproduce --world coco --features runs/coco --measure-on runs/flickr30k --device cuda --batch 2048 \\
    --epochs 200 --rate-factor 1 --out runs/coco-results

What is in the folder is not done again; an interrupted run goes on, fit by fit.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReproduceArgs {
    /// Source of pictures and captions: scenes, photos (--features being the folder of a `train photos`), or a data set
    /// as `train embed` calls it.
    #[arg(long = "world", value_name = "WORLD", default_value = "scenes", value_parser = parse_source)]
    source: FeatureSource,
    /// Amount of work: learning rates by a grid, features of scenes, and test pictures and captions of both worlds
    /// disturbed and in views, which are embedded if they are not there. Without a preset, learning rates are the
    /// published ones times --rate-factor.
    #[arg(long, value_enum)]
    preset: Option<ReproducePreset>,
    /// Scenes to train on, in place of a preset's number.
    #[arg(long, requires = "preset")]
    train_scenes: Option<usize>,
    /// Disturb test pictures and captions at every published severity, as the full preset does.
    #[arg(long, requires = "preset")]
    all_severities: bool,
    /// Number of seeds, from 0; 5 or a preset's number if not given.
    #[arg(long)]
    seeds: Option<u64>,
    /// Folder of the results.
    #[arg(long, required_unless_present = "check")]
    out: Option<PathBuf>,
    /// Fit a random tenth of the results in this folder again, on the same features, and say whether the numbers are
    /// the same; fails where they are not. Of photographs whose heads were trained anew they may be off by a tenth.
    #[arg(long, value_name = "FOLDER")]
    check: Option<PathBuf>,
    /// Share of the fits that is checked.
    #[arg(long, default_value_t = 0.1)]
    check_share: f64,
    /// Seed by which they are drawn; the time if not given.
    #[arg(long)]
    check_seed: Option<u64>,
    /// The methods; all of them, or a preset's, if not given.
    #[arg(long, value_enum, value_delimiter = ',')]
    methods: Vec<MethodName>,
    /// Fits at a time; on the CPU one for each core, up to four, if not given, elsewhere one.
    #[arg(long)]
    jobs: Option<usize>,
    /// Choose learning rates by a grid on validation data, with fits of so many passes; a preset's own number if not
    /// given.
    #[arg(long, value_name = "PASSES")]
    grid_epochs: Option<usize>,
    /// Folder of the model that embeds a preset's scenes.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Folder of Flickr8k, of the world of photos.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Folder of `HierarCaps`, to measure on too, of the world of photos.
    #[arg(long)]
    hierarcaps: Option<PathBuf>,
    /// Fit nothing: write report, figures and summary anew from the results that are there.
    #[arg(long)]
    report_only: bool,
    #[command(flatten)]
    plan: PlanArgs,
}

/// Source of the features on which the experiments are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeatureSource {
    Photos,
    Of(Dataset),
}

fn parse_source(name: &str) -> Result<FeatureSource, String> {
    match name {
        PHOTOS => Ok(FeatureSource::Photos),
        _ => Ok(FeatureSource::Of(Dataset::from_str(name, false)?)),
    }
}

impl FeatureSource {
    fn slug(self) -> String {
        match self {
            Self::Photos => PHOTOS.to_owned(),
            Self::Of(dataset) => dataset.slug(),
        }
    }
}

pub(super) fn run(args: &ReproduceArgs) -> Result<()> {
    if let Some(folder) = &args.check {
        return check(args, folder);
    }
    let out = args.out.as_deref().context("--out is missing")?;
    let _lock = RunLock::take(out)?;
    if args.report_only {
        return report::write(out);
    }
    let device = device::by_name(&args.plan.device)?;
    let recipe = args.recipe();
    let data = args.data(recipe.as_ref(), &device)?;
    let mut plan = match &recipe {
        Some(recipe) => args.plan.preset_plan(recipe)?,
        None => args.plan.plan()?,
    };
    let methods = args.methods(recipe.as_ref());
    let n_jobs = args.jobs.unwrap_or_else(|| usual_jobs(&args.plan.device));
    let of_preset = recipe.as_ref().map(|recipe| recipe.grid_epochs);
    plan.grid_epochs = args.grid_epochs.or(of_preset);
    if let Some(epochs) = plan.grid_epochs {
        let (plan, data, device, methods) = (&plan, &data, &device, &methods);
        let (folder, n_jobs) = (out, n_jobs);
        let grid = Grid {
            methods,
            plan,
            epochs,
            data,
            folder,
            device,
            n_jobs,
        };
        let chosen = grid.run()?;
        return campaign(
            args,
            FitPlan {
                learning_rates: chosen,
                ..plan.clone()
            },
            (data, methods),
        );
    }
    campaign(args, plan, (&data, &methods))
}

fn campaign(
    args: &ReproduceArgs,
    plan: FitPlan,
    (data, methods): (&EvaluationData, &[MethodName]),
) -> Result<()> {
    const SEEDS: u64 = 5;
    let device = device::by_name(&args.plan.device)?;
    let out = args.out.as_deref().context("--out is missing")?;
    let of_preset = args.preset.map(|preset| preset.recipe().seeds);
    let campaign = Campaign {
        methods,
        n_seeds: args.seeds.or(of_preset).unwrap_or(SEEDS),
        n_jobs: args.jobs.unwrap_or_else(|| usual_jobs(&args.plan.device)),
        plan: &plan,
        data,
        folder: out,
        device: (&args.plan.device, &device),
    };
    campaign.run()?;
    print!("{}", std::fs::read_to_string(out.join("report.md"))?);
    Ok(())
}

impl ReproduceArgs {
    fn recipe(&self) -> Option<PresetRecipe> {
        let mut recipe = self.preset?.recipe();
        if let Some(n_scenes) = self.train_scenes {
            recipe.scenes[0] = n_scenes;
        }
        if self.all_severities {
            recipe.severities = Severities::published();
        }
        Some(match self.source {
            FeatureSource::Photos => recipe.of_photos(),
            FeatureSource::Of(_) => recipe,
        })
    }

    fn methods(&self, recipe: Option<&PresetRecipe>) -> Vec<MethodName> {
        match (recipe, self.methods.is_empty()) {
            (_, false) => self.methods.clone(),
            (Some(recipe), true) => recipe.methods.clone(),
            (None, true) => MethodName::ALL.to_vec(),
        }
    }

    /// The features, embedded if a preset needs them.
    fn data(&self, recipe: Option<&PresetRecipe>, device: &Device) -> Result<EvaluationData> {
        ensure!(
            self.train_scenes.is_none() || self.source == FeatureSource::Of(Dataset::Scenes),
            "--train-scenes is the number of drawn scenes, and {} has none",
            self.source.slug()
        );
        if self.source == FeatureSource::Photos {
            return self.photos(recipe);
        }
        let features = self.plan.features_or(self.usual_features());
        if let (Some(recipe), FeatureSource::Of(Dataset::Scenes)) = (recipe, self.source) {
            self.embed(recipe, &features, device)?;
        }
        let data = self.plan.data_in(&features)?;
        let (found, expected) = (&data.own.config.dataset, self.source.slug());
        ensure!(
            *found == expected,
            "{} holds features of {found}, features of {expected} were expected",
            features.display()
        );
        Ok(data)
    }

    /// Folder of the features where none is named: one for each preset, and for each other number of scenes.
    fn usual_features(&self) -> PathBuf {
        let preset = self.preset.map(|preset| format!("{preset:?}"));
        let n_scenes = self.train_scenes.map(|n_scenes| n_scenes.to_string());
        let parts = ["runs/features".to_owned()].into_iter();
        let parts: Vec<String> = parts.chain(preset).chain(n_scenes).collect();
        PathBuf::from(parts.join("-").to_lowercase())
    }

    /// Features of photographs, those of the test split also disturbed as a preset has it.
    fn photos(&self, recipe: Option<&PresetRecipe>) -> Result<EvaluationData> {
        let photos = FrozenPhotos {
            run: self.plan.features().to_owned(),
            flickr8k: self
                .root
                .clone()
                .context("--root is missing: the folder of Flickr8k")?,
            hierarcaps: self.hierarcaps.clone(),
        };
        let variants = recipe.map(|recipe| VariantPlan {
            severities: recipe.severities.clone(),
            n_views: recipe.views,
        });
        // A folder that is missing is reported below, and not created by the lock.
        let _lock = match &variants {
            Some(_) if photos.run.exists() => self.lock(&photos.run)?,
            _ => None,
        };
        photos.data(variants.as_ref())
    }

    /// Lock of a folder of features that are added to; none where it is that of the results, which is locked already.
    fn lock(&self, features: &Path) -> Result<Option<RunLock>> {
        let is_elsewhere = self.out.as_deref() != Some(features);
        is_elsewhere.then(|| RunLock::take(features)).transpose()
    }

    /// Scenes, clean and disturbed, through the encoder; what is there is not done again.
    fn embed(&self, recipe: &PresetRecipe, features: &Path, device: &Device) -> Result<()> {
        let [train_scenes, test_scenes, task_scenes] = recipe.scenes;
        let _lock = self.lock(features)?;
        if !features.join("features.json").exists() {
            let amounts = Amounts {
                train_scenes,
                test_scenes,
                task_scenes,
                seed: 0,
                noise: Corruptions::default(),
                views: recipe.views,
            };
            // The command that embeds is the one that fits.
            let cache = embed(&self.model, &amounts, String::new(), device)?;
            cache.write(features, Precision::F32)?;
        }
        disturb::add_corruptions(&DisturbArgs {
            features: features.to_owned(),
            model: self.model.clone(),
            severities: recipe.severities.pictures.clone(),
            levels: recipe.severities.captions.clone(),
            f16: false,
            device: self.plan.device.clone(),
        })
    }
}

/// Fits some of a folder's results again, and compares them.
fn check(args: &ReproduceArgs, folder: &Path) -> Result<()> {
    let device = device::by_name(&args.plan.device)?;
    let data = args.data(args.recipe().as_ref(), &device)?;
    let seed = args.check_seed.unwrap_or_else(now);
    let check = Check {
        folder,
        share: args.check_share,
        seed,
        data: &data,
        device: &device,
    };
    let (table, is_repeated) = check::table(&check.run()?);
    println!("{table}\ndrawn with --check-seed {seed}");
    ensure!(is_repeated, "{} is not repeated", folder.display());
    Ok(())
}

/// Seconds since the beginning of 1970, UTC.
fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
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
