//! Samples for the detectors of unfamiliar captions and pictures.

use std::collections::HashSet;

use anyhow::Result;

use super::{SeedTraining, TrainedModel};
use crate::train::features::rows::Rows;
use crate::train::photos_model::unfamiliar::{Samples, Unfamiliar};

impl SeedTraining<'_> {
    /// Exemplars and detectors of captions and pictures that are unlike those of the training.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn unfamiliar(&self, model: &TrainedModel) -> Result<Unfamiliar> {
        let text = |rows: &Rows| {
            let features = rows.to_device(&self.device);
            Rows::from_device(self.towers.text_head.input.apply(features))
        };
        let image = |rows: &Rows| model.heads.compared(rows, &self.device);
        let mut dev_texts = self.dev.captions.clone();
        dev_texts.append(self.unseen_truths());
        let mut texts = vec![
            (
                "Flickr8k's test captions".to_owned(),
                text(&self.test.captions)?,
            ),
            ("vaguer truths of them".to_owned(), text(&self.test.vaguer)?),
        ];
        let mut images = vec![(
            "Flickr8k's test pictures".to_owned(),
            image(&self.test.images)?,
        )];
        if let Some([of_images, of_texts]) = &self.hierarcaps {
            texts.push((
                "HierarCaps' captions of all levels".to_owned(),
                text(of_texts)?,
            ));
            images.push((
                "HierarCaps' pictures (of COCO)".to_owned(),
                image(of_images)?,
            ));
        }
        let outsiders = |kinds: &[(String, Rows)], read: &dyn Fn(&Rows) -> Result<Rows>| {
            let kinds = kinds
                .iter()
                .map(|(kind, rows)| Ok((kind.clone(), read(rows)?)));
            kinds.collect::<Result<_>>()
        };
        let texts = Samples {
            train: text(&self.texts)?,
            dev: text(&dev_texts)?,
            familiar: texts,
            outsiders: outsiders(&self.outsider_texts, &text)?,
        };
        let images = Samples {
            train: image(&self.train.images)?,
            dev: image(&self.dev.images)?,
            familiar: images,
            outsiders: outsiders(&self.outsiders, &image)?,
        };
        Unfamiliar::of(texts, (model.heads.image_output(), images), &self.device)
    }

    /// Vaguer truths of the development set that are none of the training's.
    fn unseen_truths(&self) -> Rows {
        let known: HashSet<&String> = self.data.train.vaguer.iter().collect();
        let mut unseen = Rows::empty(self.dev_vaguer.width);
        for (row, truth) in self.data.dev.vaguer.iter().enumerate() {
            if !known.contains(truth) {
                unseen.values.extend_from_slice(self.dev_vaguer.row(row));
            }
        }
        unseen
    }
}
