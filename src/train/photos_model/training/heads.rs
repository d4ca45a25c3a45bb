//! Heads of all pictures and of folds, with the image tower's last stage where it is tuned: trained once and kept.

use std::path::Path;

use anyhow::Result;

use super::{N_FOLDS, SeedTraining, fresh_heads, restore, save};
use crate::train::features::rows::Rows;
use crate::train::photos_model::adapters::Fold;
use crate::train::photos_model::head_recipe::HeadRecipe;
use crate::train::photos_model::head_training::{TrainedHeads, train_heads, tune_last_stage};
use crate::train::photos_model::heads::{CaptionedPictures, Heads, features_of_maps};

impl SeedTraining<'_> {
    pub(super) fn heads(
        &self,
        folder: &Path,
        name: &str,
        seed: u64,
        pictures: &[usize],
    ) -> Result<Heads> {
        let path = folder.join(format!("{name}.safetensors"));
        if path.exists() {
            return restore(
                fresh_heads(&self.recipes, &self.towers, &self.device),
                &path,
            );
        }
        let recipe = HeadRecipe {
            seed,
            ..self.recipes.heads.clone()
        };
        let [train, dev] = self.tower_features()?;
        let (towers, device) = (&self.towers, &self.device);
        let mut trained = train_heads(towers, &recipe, &train.of_pictures(pictures), dev, device)?;
        say(name, seed, &trained);
        if let Some(stage) = &self.stage {
            let recipe = recipe.of_tuning(self.recipes.tuning_steps);
            let maps = (&self.train.of_pictures(pictures), &self.dev);
            trained = tune_last_stage(towers, &recipe, (stage, &trained), maps, device)?;
            say(&format!("{name} and last stage"), seed, &trained);
        }
        save(&trained.heads, &path)?;
        Ok(trained.heads)
    }

    /// Every [`N_FOLDS`]th picture, and heads that were trained on the others.
    pub(super) fn fold(&self, folder: &Path, fold: usize, seed: u64) -> Result<Fold> {
        let n_pictures = self.train.images.n_rows();
        let is_held_out = |picture: &usize| picture % N_FOLDS == fold;
        let (pictures, others): (Vec<usize>, Vec<usize>) = (0..n_pictures).partition(is_held_out);
        let name = format!("fold-{fold}");
        let heads = self.heads(folder, &name, seed, &others)?;
        Ok(Fold { heads, pictures })
    }

    /// Training and development pictures with the features that the imported tower gives of them.
    fn tower_features(&self) -> Result<&[CaptionedPictures; 2]> {
        if let Some(features) = self.features.get() {
            return Ok(features);
        }
        let of = |images: &Rows| match &self.stage {
            None => Ok(images.clone()),
            Some(stage) => features_of_maps(stage, images, &self.device),
        };
        let pairs = |pairs: &CaptionedPictures| {
            Ok::<_, anyhow::Error>(CaptionedPictures {
                images: of(&pairs.images)?,
                augmented: pairs.augmented.iter().map(of).collect::<Result<_>>()?,
                ..pairs.clone()
            })
        };
        let features = [pairs(&self.train)?, pairs(&self.dev)?];
        Ok(self.features.get_or_init(|| features))
    }

    /// The training pictures' features, each by the tower of the fold that has not seen it.
    pub(super) fn unseen_by(&self, folds: &[Fold]) -> Result<Rows> {
        let mut rows = vec![Vec::new(); self.train.images.n_rows()];
        let mut width = 0;
        for fold in folds {
            let maps = self.train.images.of(&fold.pictures);
            let features = fold.heads.tower_features(&maps, &self.device)?;
            width = features.width;
            for (i, picture) in fold.pictures.iter().enumerate() {
                rows[*picture] = features.row(i).to_vec();
            }
        }
        Ok(Rows {
            values: rows.concat(),
            width,
        })
    }
}

/// Says where a training of heads has come to.
fn say(name: &str, seed: u64, trained: &TrainedHeads) {
    let found = trained.retrieval;
    eprintln!(
        "{name}, seed {seed}: step {}, recall at 1, 5, 10 on development pictures {:.3?} of captions, {:.3?} of pictures",
        trained.step, found.text_to_image, found.image_to_text
    );
}
