//! Arguments of `train gallery`, and the calls that write or read a world's pictures and record its model's answers.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;

use crate::device;
use crate::explorer::World;
use crate::train::export::bundle;
use crate::train::files::refuse_to_overwrite;
use crate::train::gallery::photographs;
use crate::train::gallery::pictures;
use crate::train::gallery::recorded::WorldModel;
use crate::train::gallery::wall;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  train gallery --force\n  train gallery --world photos --force"
)]
pub(super) struct GalleryArgs {
    /// World whose gallery it is. The scenes' pictures are drawn; photographs must be there with their list.
    #[arg(long, default_value = "scenes", value_parser = world_parser())]
    world: World,
    /// Folder of the page's files; where the others are not given, they lie in it.
    #[arg(long, default_value = "public")]
    page: PathBuf,
    /// Folder of the pictures.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Folder of the model that answers for the pictures.
    #[arg(long)]
    model: Option<PathBuf>,
    /// File of the tour and the lessons, whose captions are answered, too.
    #[arg(long)]
    lessons: Option<PathBuf>,
    /// Folder of the recorded answers.
    #[arg(long)]
    examples: Option<PathBuf>,
    /// Folder of photographs with a list `manifest.json`, to make the page's wall of; without it the wall stays.
    #[arg(long)]
    wall: Option<PathBuf>,
    /// Write over pictures and answers that are there.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &GalleryArgs) -> Result<()> {
    let world = args.world;
    let place = |given: &Option<PathBuf>, usual: &str| {
        let usual = || args.page.join(usual);
        given.clone().unwrap_or_else(usual)
    };
    ensure!(
        args.wall.is_none() || world == World::Photographs,
        "--wall is of photographs; the wall of scenes is drawn"
    );
    let examples = place(&args.examples, world.examples());
    refuse_to_overwrite(&examples.join("start.json"), args.force)?;
    let folder = place(&args.out, world.gallery());
    let gallery = match world {
        World::Photographs => photographs::read(&folder)?,
        World::Scenes => {
            refuse_to_overwrite(&folder.join("gallery.json"), args.force)?;
            pictures::write(&folder)?;
            pictures::scene_pictures()
        }
    };
    let manifest = Path::new(world.manifest());
    let usual = manifest.parent().unwrap_or(manifest).display().to_string();
    let model = place(&args.model, &usual);
    let (session, self_test) = bundle::open_tested(&model, &device::cpu())?;
    let recorder = WorldModel {
        world,
        session: &session,
        self_test,
        gallery: &gallery,
    };
    recorder.record(&examples, &place(&args.lessons, world.lessons()))?;
    if world == World::Scenes {
        wall::write_drawings(&session, &examples)?;
    }
    if let Some(photographs) = &args.wall {
        wall::write(&session, &wall::read(photographs)?, [&folder, &examples])?;
    }
    Ok(())
}

fn world_parser() -> impl clap::builder::TypedValueParser<Value = World> {
    let names = World::ALL.map(World::slug);
    PossibleValuesParser::new(names).try_map(|name| {
        let world = World::from_slug(&name);
        world.ok_or("no world of this name")
    })
}
